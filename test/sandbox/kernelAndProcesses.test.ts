import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { test } from 'node:test';
import { attemptInside, attemptOutside, each } from '../support/breaches.js';
import { compiled, cordonCommand, createPlace } from '../support/sandbox.js';
import type { Attempt } from '../support/breaches.js';

const AF = {
  unix: 1,
  inet: 2,
  netlink: 16,
  packet: 17,
  bluetooth: 31,
  alg: 38,
  vsock: 40,
  xdp: 44,
};
const STREAM = '1';
const DGRAM = '2';
const RAW = '3';
const SEQPACKET = '5';

test('calls that lead into the kernel’s rarely watched corners are refused', async (t) => {
  const place = createPlace(t);
  const refused: Readonly<Record<string, readonly Attempt[]>> = {
    EPERM: [
      ['keyctl'],
      ['add-key'],
      ['request-key'],
      ['userfaultfd'],
      ['bpf'],
      ['perf'],
      ['open-by-handle', '/etc', 'passwd'],
      ['fanotify'],
      ['quotactl'],
      ['clock'],
    ],
    ENOSYS: [['io-uring'], ['x32'], ['unknown-call', '9999']],
    EAFNOSUPPORT: [
      ['socket', `${AF.vsock}`, STREAM, '0'],
      ['socket', `${AF.alg}`, SEQPACKET, '0'],
      ['socket', `${AF.packet}`, RAW, '0'],
      ['socket', `${AF.bluetooth}`, RAW, '0'],
      ['socket', `${AF.xdp}`, RAW, '0'],
      ['socket', `${AF.netlink}`, RAW, '9'],
      ['socket', `${AF.netlink}`, RAW, '15'],
    ],
    EPROTONOSUPPORT: [
      ['socket', `${AF.unix}`, DGRAM, '0'],
      ['socket', `${AF.unix}`, RAW, '0'],
    ],
  };
  const attempts = Object.values(refused).flat();
  const expected = Object.fromEntries(
    Object.entries(refused).flatMap(([errno, list]) => Object.entries(each(list, errno))),
  );
  assert.deepEqual(await attemptInside(place, [], attempts), expected);
  const usual: readonly Attempt[] = [
    ['socket', `${AF.unix}`, STREAM, '0'],
    ['socket', `${AF.inet}`, STREAM, '0'],
    ['socket', `${AF.inet}`, DGRAM, '0'],
    ['socket', `${AF.netlink}`, RAW, '0'],
  ];
  assert.deepEqual(await attemptInside(place, [], usual), each(usual, 'done'));
});

test('programs of the 32-bit table cannot pass the filter by it', async (t) => {
  const place = createPlace(t);
  const outcomes = await attemptInside(place, [], [['i386']]);
  assert.notEqual(outcomes['i386'], 'done');
});

test('some of these calls work on the host: it was the boundary that refused them', async (t) => {
  const place = createPlace(t);
  const attempts: readonly Attempt[] = [
    ['keyctl'],
    ['add-key'],
    ['socket', `${AF.unix}`, DGRAM, '0'],
    ['i386'],
  ];
  assert.deepEqual(await attemptOutside(place, attempts), each(attempts, 'done'));
});

test('pid 1 and everything outside is out of reach of every process inside', async (t) => {
  const place = createPlace(t);
  const host = spawn('sleep', ['60'], { stdio: 'ignore' });
  t.after(() => host.kill());
  const pid = String(host.pid);
  const attempts: readonly Attempt[] = [
    ['seize', '1'],
    ['attach', '1'],
    ['open-writable', '/proc/1/mem'],
    ['open', '/proc/1/mem'],
    ['open', '/proc/1/environ'],
    ['list', '/proc/1/root'],
    ['list', '/proc/1/fd'],
    ['list', '/proc/1/cwd'],
    ['take-descriptor', '1', '0'],
    ['setns', '/proc/1/ns/mnt'],
    ['nested', 'seize', '1'],
    ['nested', 'list', '/proc/1/root'],
    ['signal', pid, '9'],
    ['signal', pid, '0'],
    ['open', `/proc/${pid}/environ`],
    ['attach', pid],
  ];
  const outcomes = await attemptInside(place, [], attempts);
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
  assert.equal(host.exitCode ?? host.signalCode, null, 'the host’s process lives');
});

test('pid 1 survives every signal that a process inside can send', async (t) => {
  const place = createPlace(t);
  const script = 'for s in 1 2 3 6 9 11 15 19; do kill -$s 1; done; echo still here';
  const { code, stdout } = await place.cordon([], ['sh', '-c', script]);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'still here\n' });
});

test('no launch leaves pid 1 open to a program that attacks it at once', async (t) => {
  const place = createPlace(t);
  for (let round = 0; round < 20; round += 1) {
    const { stdout } = await place.cordon([], [compiled('breach'), 'attach', '1']);
    assert.equal(stdout, 'EPERM\n');
  }
});

test('no descriptor is inherited, whatever was open when the command was started', async (t) => {
  const place = createPlace(t);
  const folder = openSync(place.outside, 'r');
  t.after(() => {
    closeSync(folder);
  });
  const [program = '', ...args] = cordonCommand(
    [],
    ['sh', '-c', 'ls /proc/self/fd; echo x > /proc/self/fd/7/escaped'],
  );
  const child = spawn(program, args, {
    cwd: place.workspace,
    env: place.environment,
    stdio: ['ignore', 'pipe', 'pipe', folder, folder, folder, folder, folder],
  });
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '0\n1\n2\n3\n' }, '3 is the listing’s own');
  const { stdout: listing } = await place.host(['ls', place.outside]);
  assert.equal(listing, 'file\n');
});

test('privileges cannot be gained by executing a set-user-id program', async (t) => {
  const place = createPlace(t);
  const result = await place.cordon(
    [],
    ['sh', '-c', 'grep -E "^(NoNewPrivs|CapEff|CapBnd|CapAmb)" /proc/self/status'],
  );
  assert.equal(
    result.stdout.replace(/\t/g, ' '),
    'CapEff: 0000000000000000\nCapBnd: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\n',
  );
});

test('settings of the kernel cannot be written', async (t) => {
  const place = createPlace(t);
  const outcomes = await attemptInside(
    place,
    [],
    [
      ['open-writable', '/proc/sys/kernel/core_pattern'],
      ['open-writable', '/proc/sysrq-trigger'],
      ['open-writable', '/sys/kernel/mm/transparent_hugepage/enabled'],
      ['open', '/dev/kmsg'],
      ['open', '/dev/kvm'],
      ['open', '/dev/fuse'],
      ['open', '/dev/net/tun'],
      ['mkdir', '/sys/fs/cgroup/breach'],
      ['nested', 'open-writable', '/proc/sys/kernel/core_pattern'],
    ],
  );
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
});

test('programs that bring their own sandbox still start', async (t) => {
  const place = createPlace(t);
  const { code, stderr } = await place.cordon(
    [],
    [
      ...[
        'bwrap',
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
        '--unshare-net',
        '--unshare-pid',
      ],
      ...['sh', '-c', 'echo nested > here && exit 0; exit 3'],
    ],
  );
  assert.equal(code, 3, `starts, and what it makes read-only is: ${stderr}`);
});
