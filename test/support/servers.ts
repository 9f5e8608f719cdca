// The servers of a test world. They write down every query, connection, request and datagram: a test that says "nothing
// got out" asks them, never the program that tried.

import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import dnsPacket from 'dns-packet';
import type { Content } from './registry.js';
import { ADDRESS, HOST_PORT } from './worldMessages.js';
import type { Answers, Family, Seen } from './worldMessages.js';

export interface Notebook {
  readonly seen: Seen;
  readonly note: (kind: keyof Seen, line: string) => void;
  readonly forget: () => void;
  /** Resolves when nothing has been noted for a while: what the kernel has accepted for the servers is read by then. */
  readonly quiet: () => Promise<void>;
}

const QUIET_MS = 60;

export function createNotebook(): Notebook {
  const seen = {
    queries: [] as string[],
    connections: [] as string[],
    requests: [] as string[],
    datagrams: [] as string[],
  };
  let last = 0;
  return {
    seen,
    note(kind, line) {
      last = Date.now();
      seen[kind].push(line);
    },
    async quiet() {
      do await sleep(QUIET_MS);
      while (Date.now() - last < QUIET_MS);
    },
    forget() {
      for (const lines of Object.values(seen)) lines.length = 0;
    },
  };
}

const WEB: Answers = { A: [[ADDRESS.web]], AAAA: [[ADDRESS.web6]] };
const only4 = (address: string): Answers => ({ A: [[address]] });

/** What the world's DNS server knows from the start; all else does not exist. */
function firstZone(): Map<string, Answers> {
  const zone = new Map<string, Answers>([
    ['web.example.com', WEB],
    ['api.example.com', WEB],
    ['deep.api.example.com', WEB],
    ['example.com', WEB],
    ['git.example.com', WEB],
    ['npm.example.com', WEB],
    ['pypi.example.com', WEB],
    ['web.example.net', WEB],
    ['four.example.com', only4(ADDRESS.web)],
    ['six.example.com', { AAAA: [[ADDRESS.web6]] }],
    // the first address refuses, the second answers
    ['half.example.com', { A: [['93.184.216.37', ADDRESS.web]] }],
    ['hole.example.com', only4(ADDRESS.hole)],
    ['unreachable.example.com', only4(ADDRESS.unreachable)],
    ['noroute.example.com', only4('93.184.217.1')],
    ['internal.example.com', only4(ADDRESS.private)],
    ['loop.example.com', only4('127.0.0.1')],
    ['loop6.example.com', { AAAA: [['::1']] }],
    ['mapped.example.com', { AAAA: [['::ffff:127.0.0.1']] }],
    ['metadata.example.com', only4(ADDRESS.metadata)],
    ['broken.example.com', { rcode: 'SERVFAIL' }],
    ['slow.example.com', { ...only4(ADDRESS.web), delayMs: 1500 }],
  ]);
  for (let at = 0; at < 10; at += 1) zone.set(`h${at}.example.com`, WEB);
  return zone;
}

export interface Names {
  readonly set: (name: string, answers: Answers) => void;
}

interface Dns extends Names {
  readonly answer: (packet: Buffer, reply: (bytes: Buffer) => void) => void;
}

function createDns(notebook: Notebook): Dns {
  const zone = firstZone();
  const asked = new Map<string, number>();

  function addresses(answers: Answers, name: string, family: Family): readonly string[] {
    const key = `${family} ${name}`;
    const times = asked.get(key) ?? 0;
    asked.set(key, times + 1);
    const sequence = answers[family] ?? [];
    return sequence[times] ?? sequence.at(-1) ?? [];
  }

  return {
    set(name, answers) {
      zone.set(name, answers);
      for (const family of ['A', 'AAAA']) asked.delete(`${family} ${name}`);
    },
    answer(packet, reply) {
      const query = dnsPacket.decode(packet);
      const question = query.questions?.[0];
      if (question === undefined) return;
      const name = question.name.toLowerCase();
      notebook.note('queries', `${question.type} ${name}`);
      const answers = zone.get(name);
      // rcode is the low four bits of the flags (RFC 1035, 4.1.1)
      const code =
        answers === undefined
          ? 3
          : { NOERROR: 0, SERVFAIL: 2, REFUSED: 5 }[answers.rcode ?? 'NOERROR'];
      const { type } = question;
      const found =
        answers !== undefined && (type === 'A' || type === 'AAAA')
          ? addresses(answers, name, type).map((data) => ({
              type,
              name: question.name,
              ttl: 1,
              data,
            }))
          : [];
      const bytes = dnsPacket.encode({
        type: 'response',
        id: query.id ?? 0,
        flags: dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | code,
        questions: [question],
        answers: found,
      });
      setTimeout(() => reply(bytes), answers?.delayMs ?? 0);
    },
  };
}

async function serveDnsOverUdp(dns: Dns, address: string): Promise<void> {
  const socket = dgram.createSocket('udp4');
  socket.on('message', (packet, peer) =>
    dns.answer(packet, (bytes) => socket.send(bytes, peer.port, peer.address)),
  );
  socket.bind(53, address);
  await once(socket, 'listening');
}

function serveDnsOverTcp(dns: Dns, notebook: Notebook, address: string): Promise<void> {
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      dns.answer(chunk.subarray(2), (bytes) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(bytes.length);
        socket.write(Buffer.concat([length, bytes]));
      });
    });
  });
  return listen(server, notebook, 'dns', address, 53);
}

async function listen(
  server: net.Server,
  notebook: Notebook,
  label: string,
  address: string,
  port: number,
): Promise<void> {
  server.on('connection', () => notebook.note('connections', `${label} ${address}:${port}`));
  server.listen(port, address);
  await once(server, 'listening');
}

/** git-http-backend(1) as a CGI program: the smart protocol, for clone, fetch and push. */
function serveGit(
  content: Content,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): void {
  const [pathInfo = '', query = ''] = (request.url ?? '').split('?');
  const header = (name: string) => request.headers[name]?.toString() ?? '';
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: '/usr/bin:/bin',
      GIT_PROJECT_ROOT: content.repositories,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: header('git-protocol'),
      REQUEST_METHOD: request.method ?? '',
      PATH_INFO: pathInfo,
      QUERY_STRING: query,
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      REMOTE_ADDR: request.socket.remoteAddress ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const lines = head.subarray(0, end).toString().split('\r\n');
    const headers = lines.map((line) => line.split(/: */u, 2) as [string, string]);
    const status = headers.find(([name]) => name.toLowerCase() === 'status');
    response.writeHead(status === undefined ? 200 : Number.parseInt(status[1], 10), headers.flat());
    response.write(head.subarray(end + 4));
  });
  child.on('close', () => response.end());
}

function respond(content: Content, notebook: Notebook): http.RequestListener {
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    notebook.note(
      'requests',
      `${request.method ?? ''} ${request.headers.host ?? ''}${url.pathname}`,
    );
    if (url.pathname.startsWith('/fixture.git')) {
      serveGit(content, request, response);
      return;
    }
    if (url.pathname === '/zeros') {
      response.end(Buffer.alloc(Number(url.searchParams.get('bytes'))));
      return;
    }
    // asked for by npm as /cordon-fixture and as /cordon-fixture/
    const file =
      content.files.get(url.pathname) ?? content.files.get(url.pathname.replace(/\/$/u, ''));
    response.writeHead(file === undefined ? 404 : 200, {
      'content-type': file?.type ?? 'text/plain',
    });
    response.end(file?.body ?? 'not here\n');
  };
}

/** A port whose queue is full: the kernel drops further SYNs, so that a connect neither succeeds nor fails. */
async function serveHole(): Promise<void> {
  const script = [
    'import socket, sys',
    'listener = socket.socket()',
    `listener.bind(('${ADDRESS.hole}', 80))`,
    'listener.listen(0)',
    'waiting = [socket.socket() for _ in range(4)]',
    'for client in waiting:',
    '    client.setblocking(False)',
    '    client.connect_ex(listener.getsockname())',
    "print('full', flush=True)",
    'sys.stdin.read()', // ends with us
  ].join('\n');
  const child = spawn('/usr/bin/python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
}

async function listenForDatagrams(
  notebook: Notebook,
  address: string,
  port: number,
): Promise<void> {
  const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
  socket.on('message', (bytes) =>
    notebook.note('datagrams', `${address}:${port} ${bytes.length} bytes`),
  );
  socket.bind(port, address);
  await once(socket, 'listening');
}

/** Starts all of it in the network namespace of this process. */
export async function startServers(content: Content, notebook: Notebook): Promise<Names> {
  const dns = createDns(notebook);
  const text = (line: string) =>
    net.createServer((socket) => void socket.on('error', () => socket.destroy()).end(line));
  const starting: Promise<void>[] = [
    serveDnsOverUdp(dns, '127.0.0.1'),
    serveDnsOverTcp(dns, notebook, '127.0.0.1'),
    serveDnsOverUdp(dns, ADDRESS.foreignDns),
    serveDnsOverTcp(dns, notebook, ADDRESS.foreignDns),
    serveHole(),
  ];
  const tls = { key: content.key, cert: content.certificate };
  for (const address of [
    ADDRESS.web,
    ADDRESS.web6,
    ADDRESS.other,
    ADDRESS.private,
    ADDRESS.metadata,
  ]) {
    const listener = respond(content, notebook);
    const echo = net.createServer(
      (socket) => void socket.on('error', () => socket.destroy()).pipe(socket),
    );
    starting.push(
      listen(http.createServer(listener), notebook, 'web', address, 80),
      listen(https.createServer(tls, listener), notebook, 'web', address, 443),
      listen(echo, notebook, 'echo', address, 7),
      listenForDatagrams(notebook, address, 443),
    );
  }
  for (const address of ['127.0.0.1', '::1']) {
    starting.push(listenForDatagrams(notebook, address, HOST_PORT.database));
  }
  starting.push(
    listen(text('database\n'), notebook, 'host', '127.0.0.1', HOST_PORT.database),
    listen(text('neighbour\n'), notebook, 'host', '127.0.0.1', HOST_PORT.neighbour),
    listen(text('six\n'), notebook, 'host', '::1', HOST_PORT.six),
    listen(http.createServer(respond(content, notebook)), notebook, 'host', '127.0.0.1', 80),
  );
  const abstract = text('abstract\n').on('connection', () =>
    notebook.note('connections', 'abstract socket'),
  );
  abstract.listen('\0cordon-test-host');
  starting.push(once(abstract, 'listening').then(() => undefined));
  await Promise.all(starting);
  return dns;
}
