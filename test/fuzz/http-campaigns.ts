/**
 * Campaigns against the HTTP side of both listeners.
 *
 *   bodies    well-framed requests of every route with nearly right bodies: exactly one answer each
 *   heads     nearly right heads, lengths and chunks, on a connection each, in pieces: any clear answer or a close
 *
 * A 5xx other than 503, 504 and 505 is a fault everywhere, and so is a well-framed request without an answer.
 */
import type { Campaign, Case } from './campaign.ts';
import type { Dice } from './dice.ts';
import { exchange, KeptConnection } from './http-target.ts';
import { hitBytes, mutatedJson, NUMBERS, STRINGS } from './json-mutation.ts';
import { FUZZ_KEY, type SeedBody } from './seeds.ts';

export interface HttpTarget {
  readonly ports: () => { readonly oms: number; readonly mds: number };
  readonly token: () => string;
  readonly bodies: readonly SeedBody[];
}

const READS: readonly string[] = [
  ...['/markets', '/market/2', '/registry/assets', '/registry/vaults', '/registry/risk-parameters', '/system/time'],
  ...['/nonce/ID', '/orders/user/ID', '/orders/user/ID/2', '/orders/user/ID/2/f-limit', '/trades/user/ID'],
  ...['/trades/user/ID/2', '/positions/ID', '/positions/ID/2', '/positions/close-all/ID/1', '/inventory/user/ID'],
  ...[
    '/margin/user/ID',
    '/solvency/user/ID',
    '/multisig/config/ID',
    '/limits/ID',
    '/api-doc.json',
    '/orders',
    '/control',
  ],
];
const MARKET_READS: readonly string[] = [
  ...['/marketdepth/2', '/klines/2', '/trades', '/trades/2', '/ticker/2', '/tickers', '/trades/events', '/tickers/ws'],
];
const QUERIES: readonly string[] = [
  ...['page=0', 'limit=1000', 'limit=1', 'open_only=true', 'sub_account=0', 'sub_account=1', 'include_positions=true'],
  ...['end_timestamp_ns=1800000000000000000', 'max_ts=0', 'page=%30', 'limit', '=', '&', '&&', 'page=0&page=1', '%'],
  ...['limit=%F0%9F%98%80', 'page=1%00', 'page=+1', 'open_only=TRUE', 'cancel_on_disconnect=true', 'sequence=true'],
];
const SEGMENTS: readonly string[] = [
  ...['%', '%0', '%zz', '%00', '%2F', '%2f..%2f', '..', '.', '%C3%28', '%ED%A0%80', '%F8%88%80%80%80', '@', '%40'],
  ...['2%00', '0', '-1', '99999999999999999999', '__proto__', 'a'.repeat(300), `${'7e'.repeat(20)}@000000000000007a69`],
];

/** A path, mostly one that exists. */
function pathOf(dice: Dice, paths: readonly string[]): string {
  const segments = dice.pick(paths).replace('ID', FUZZ_KEY.id).split('/');
  if (dice.once(4)) segments[1 + dice.below(segments.length - 1)] = dice.pick(SEGMENTS);
  if (dice.once(20)) segments.push(dice.pick(SEGMENTS));
  const query = dice.once(2) ? '' : `?${[dice.pick(QUERIES), dice.pick(QUERIES)].slice(dice.below(2)).join('&')}`;
  const value = dice.once(3) ? encodeURIComponent(dice.pick([...NUMBERS, ...STRINGS.slice(0, 8)])) : null;
  return segments.join('/') + (value === null ? query : query.replace(/=[^&]*/, `=${value}`));
}

/** Up to the length of the body, which is right whatever the body becomes. */
function headOf(method: string, path: string, headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...headers, ''].join('\r\n');
}

/** Head, length and body in as many pieces as the body has; in one where it has one. */
function framedPieces({ frame, pieces }: Case): Uint8Array[] {
  const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const head = Buffer.from(`${frame}${length === 0 ? '' : `Content-Length: ${length}\r\n`}\r\n`);
  return pieces.length <= 1 ? [Buffer.concat([head, ...pieces])] : [head, ...pieces];
}

function credentials(dice: Dice, target: HttpTarget): string[] {
  const good = [`Authorization: Bearer ${target.token()}`, `User-Id: ${FUZZ_KEY.id}`];
  if (!dice.once(6)) return good;
  const bad = ['Authorization: Bearer', 'Authorization: Basic eA==', 'User-Id: x', `User-Id: 0x${FUZZ_KEY.id}`];
  return dice.pick([[], good.slice(1), [dice.pick(bad)], [...good, dice.pick(bad)], [...good, ...good]]);
}

/** One request with a right length, whatever its body is. */
function framed(dice: Dice, target: HttpTarget): Case {
  if (dice.once(5)) {
    const method = dice.once(5) ? dice.pick(['PUT', 'DELETE', 'PATCH', 'OPTIONS']) : 'GET';
    return { frame: headOf(method, pathOf(dice, READS), credentials(dice, target)), pieces: [] };
  }
  const { method, path, body } = dice.pick(target.bodies);
  const bytes = mutatedJson(dice, body);
  const cut = dice.below(bytes.length + 1);
  const pieces = dice.once(10) ? [bytes.subarray(0, cut), bytes.subarray(cut)] : [bytes];
  return { frame: headOf(method, path, credentials(dice, target)), pieces };
}

/** 503 and 504 are answers of the service, 505 is the HTTP parser's to another version than 1.1. */
const DECLARED = new Set([503, 504, 505]);

const faultOf = (status: number): string | null =>
  status >= 500 && !DECLARED.has(status) ? `answered ${status}` : null;

export function bodyCampaign(target: HttpTarget, parallel: number): Campaign {
  const idle = Array.from({ length: parallel }, () => new KeptConnection(() => target.ports().oms));
  return {
    name: 'bodies',
    parallel,
    make: (dice) => framed(dice, target),
    run: async (given) => {
      const connection = idle.pop() ?? new KeptConnection(() => target.ports().oms);
      const { wasUsed } = connection;
      // A listener may end a kept connection while the next request is on its way: that one goes on a fresh one.
      const status =
        (await connection.ask(framedPieces(given))) ?? (wasUsed ? await connection.ask(framedPieces(given)) : null);
      idle.push(connection);
      return status === null ? 'no answer' : faultOf(status);
    },
    end: () => {
      for (const connection of idle) connection.close();
    },
  };
}

// ---- heads

const LENGTHS: readonly string[] = [
  ...['0', '1', '5', '-1', '+5', '5,5', ' 5', '5 ', '0x5', '05', '', 'abc', '4294967296', '18446744073709551616'],
  ...['999999999999999999999999', '1048577', '16777217'],
];
const CODINGS: readonly string[] = [
  'chunked',
  'Chunked',
  'identity',
  'gzip, chunked',
  'chunked, chunked',
  'xchunked',
  '',
];
const STRANGE_LINES: readonly string[] = [
  ...['X', ': y', 'X y: z', 'X:\0', 'X: a\rb', ' folded', '\tfolded', 'Host: a\r\nHost: b', 'X\0Y: 1', 'é: é'],
  ...['Expect: 100-continue', 'Connection: close', 'Connection: upgrade, close', 'Upgrade: h2c', 'Trailer: X'],
  ...['Upgrade: websocket\r\nConnection: Upgrade', 'Sec-WebSocket-Key: short', 'Sec-WebSocket-Version: 8'],
  ...[
    'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13',
  ],
  ...[
    'traceparent: 00-0-0-0',
    `Sec-WebSocket-Protocol: ${'a,'.repeat(500)}`,
    'Content-Type: text/plain',
    'Cookie: a=b',
  ],
];
const STARTS: readonly string[] = [
  ...['GET / HTTP/1.0', 'GET / HTTP/2.0', 'GET /', 'GET  / HTTP/1.1', 'get /markets HTTP/1.1', ' GET / HTTP/1.1'],
  ...[
    'PRI * HTTP/2.0',
    'OPTIONS * HTTP/1.1',
    'CONNECT x:1 HTTP/1.1',
    'GET http://x/markets HTTP/1.1',
    'HEAD / HTTP/1.1',
  ],
  ...['TRACE / HTTP/1.1', 'BREW /pot HTTP/1.1', 'GET /\0 HTTP/1.1', 'GET /é HTTP/1.1', `${'A'.repeat(300)} / HTTP/1.1`],
  ...[
    `GET /${'a'.repeat(5_000)} HTTP/1.1`,
    `GET /${'a/'.repeat(2_000)} HTTP/1.1`,
    'GET /markets#x HTTP/1.1',
    '\u0016\u0003\u0001',
  ],
];

function chunked(dice: Dice, body: Buffer): Buffer {
  const sizes = [
    body.length.toString(16),
    `${body.length.toString(16)};x=y`,
    'FFFFFFFF',
    '-1',
    'g',
    '',
    '0',
    '00005',
    '5 ',
  ];
  const size = dice.once(2) ? (sizes[0] ?? '') : dice.pick(sizes);
  const ends = ['0\r\n\r\n', '0\r\n\r\n', '0\r\nX: y\r\n\r\n', '0\n\n', '0\r\n', '', '1\r\n'];
  return Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n'), Buffer.from(dice.pick(ends))]);
}

function looseHead(dice: Dice, target: HttpTarget): Buffer {
  const isRead = dice.once(2);
  const { method, path, body } = dice.pick(target.bodies);
  const bytes = isRead ? Buffer.alloc(0) : dice.once(2) ? Buffer.from(body) : mutatedJson(dice, body);
  const start = dice.once(4)
    ? dice.pick(STARTS)
    : `${isRead ? 'GET' : method} ${isRead ? pathOf(dice, [...READS, ...MARKET_READS]) : path} HTTP/1.1`;
  const lines = ['Host: x', ...credentials(dice, target)];
  const framing = dice.below(6);
  if (framing < 3 && bytes.length > 0) lines.push(`Content-Length: ${bytes.length}`);
  if (framing === 1 || framing === 4) lines.push(`Content-Length: ${dice.pick(LENGTHS)}`);
  if (framing === 2 || framing === 5) lines.push(`Transfer-Encoding: ${dice.pick(CODINGS)}`);
  for (let left = dice.below(3); left > 0; left -= 1) {
    lines.splice(dice.below(lines.length + 1), 0, dice.pick(STRANGE_LINES));
  }
  if (dice.once(25))
    for (let index = 0; index < 300; index += 1) lines.push(`X-${index}: ${'y'.repeat(dice.below(50))}`);
  if (dice.once(25)) lines.push(`X-Long: ${'z'.repeat(dice.pick([4_000, 16_000, 100_000]))}`);
  const end = dice.once(10) ? dice.pick(['\n', '\r', '\r\n \r\n']) : '\r\n';
  const head = Buffer.from(`${[start, ...lines].join(end)}${end}${end}`, 'latin1');
  return Buffer.concat([head, framing === 2 || framing === 5 ? chunked(dice, bytes) : bytes]);
}

function loose(dice: Dice, target: HttpTarget): Case {
  let bytes = looseHead(dice, target);
  if (dice.once(6)) bytes = Buffer.concat([bytes, looseHead(dice, target)]); // pipelined
  if (dice.once(4)) bytes = hitBytes(dice, bytes);
  if (dice.once(2)) return { frame: '', pieces: [bytes] };
  const cuts = Array.from({ length: 1 + dice.below(4) }, () => dice.below(bytes.length + 1)).sort((a, b) => a - b);
  return { frame: '', pieces: [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length)) };
}

export function headCampaign(target: HttpTarget, parallel: number): Campaign {
  let turn = 0;
  return {
    name: 'heads',
    parallel,
    make: (dice) => loose(dice, target),
    run: async ({ pieces }) => {
      turn += 1;
      const port = turn % 4 === 0 ? target.ports().mds : target.ports().oms;
      const { statuses } = await exchange(port, pieces, { answers: 0, idleMs: 25, pauseMs: 1 });
      const strange = statuses.find((status) => Number.isNaN(status));
      if (strange !== undefined) return 'an answer that is no HTTP';
      return statuses.map(faultOf).find((fault) => fault !== null) ?? null;
    },
    end: () => undefined,
  };
}
