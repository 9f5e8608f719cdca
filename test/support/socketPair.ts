// Two ends of a connected stream socket, in this process.

import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

export async function socketPair(): Promise<readonly [net.Socket, net.Socket]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-pair-'));
  const file = path.join(folder, 's');
  const server = net.createServer();
  try {
    await new Promise<void>((resolve) => server.listen(file, resolve));
    const accepted = new Promise<net.Socket>((resolve) => server.once('connection', resolve));
    const here = net.connect(file);
    return [here, await accepted];
  } finally {
    server.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
