// Replaces dns.promises.lookup in the extension host, which Cordon shares: names come from the JSON file
// $CORDON_TEST_NAMES ({"name": ["address", …]}), every lookup is added to $CORDON_TEST_LOOKUPS, one name a line.
'use strict';

const dns = require('node:dns');
const fs = require('node:fs');

exports.activate = () => {
  dns.promises.lookup = async (name, options = {}) => {
    fs.appendFileSync(process.env.CORDON_TEST_LOOKUPS, `${name}\n`);
    const names = JSON.parse(fs.readFileSync(process.env.CORDON_TEST_NAMES, 'utf8'));
    const found = (names[name] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    if (found.length === 0)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    return options.all ? found : found[0];
  };
};
