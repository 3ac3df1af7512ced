/**
 * The log of the evidence for everybody, the evidence of an order for its user, and what the venue owes (EVD-01, EVD-09, EVD-10, LIA-04,
 * LIA-05).
 */
import {
  CONSISTENCY,
  LIABILITIES,
  LOG_HEAD,
  LOG_KEYS,
  LOG_TILE,
  ORDER_EVIDENCE,
  OWN_LIABILITIES,
} from '../codec/shapes/evidence-shapes.ts';
import { COUNT } from '../codec/shapes/shape-kit.ts';
import { parseAssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { readTilePath } from '../core/tile-paths.ts';
import type { ProofRequest } from '../gateway/queries/evidence-thread.ts';
import { BOOLEAN_WORD } from './api/query-docs.ts';
import { type GatewayRoute, nothing, publicRoute, type RequestParts, type RouteKit, sessionRoute } from './oms-kit.ts';
import { NO_MARKET } from './path-values.ts';
import type { HttpCall } from './uws-http.ts';

const OFF: Reject = reject('NOT_FOUND', 'this node signs no log of evidence');
const NO_ORDER: Reject = reject('ORDER_NOT_FOUND', 'the log has no row of this order');
const BAD_TILE: Reject = reject('NOT_FOUND', 'a path of C2SP tlog-tiles, like tile/0/000');
const PUBLIC = { method: 'GET', area: 'Evidence', auth: 'public', cost: 'publicRead' } as const;
/** What a history page costs. */
const STATEMENT_UNITS = 5n;
const JSON_MEDIA = 'application/json';
/** An order, or an entry of a quote set: the id of the set, a colon and its number. */
const ORDER_ID_FORM = /^[!-~]{1,140}$/;
const HASH = 'SeJHSmsEKLdUxkaBHb7ZRaXhut+kkG5C9Gr2cxr+KMw=';
const VKEY = 'ringbook.example/log/1+4836e25f+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c';
const NOTE = `ringbook.example/log/1\\n70\\n${HASH}\\n\\n\u2014 ringbook.example/log/1 SDbiX15N3NI6X4wvELHdTuaUTBhONQA6gmrCiqYKM8hL1iAn/gd+lqDZK2jUDJUZUGrCYqHJvgJbi20qGVNrk4wQCAk=\\n`;

const STATED_EXAMPLE = `"v":1,"origin":"ringbook.example/log/1","certificates":["${NOTE}"],"checkpoint":"${NOTE}","note":"${NOTE}","records":[{"leaf":"cmluZ2Jvb2s=","index":"69","path":["${HASH}"],"entries":[{"index":3,"salt":"${HASH}","row":"e30=","path":["${HASH}"]}]}]`;

async function answerProof(kit: RouteKit, call: HttpCall, request: ProofRequest, media: string): Promise<void> {
  const { proofs } = kit.services;
  if (proofs === null) return call.refuse(OFF);
  const reply = await proofs.read(request);
  if (reply.kind === 'refused') call.refuse(reply.reject);
  else call.replyAs(reply.kind === 'bytes' ? reply.bytes : reply.text, media);
}

/** A tile whose number has so many groups, and perhaps a width: `x001/x234/067.p/8`. */
function tileRoute(segments: number, example: Readonly<Record<string, string>>): GatewayRoute {
  const names = ['index', 'more', 'further', 'last'].slice(0, segments).map((name) => `{${name}}`);
  return publicRoute({
    ...PUBLIC,
    path: `/evidence/tile/{level}/${names.join('/')}`,
    summary: `Hashes of the tree: a path with ${segments} part${segments === 1 ? '' : 's'} behind the level`,
    description:
      'C2SP tlog-tiles: 256 hashes of a level, or with `.p/W` the first W of them, as far as the newest head goes. Entries are not served.',
    media: 'application/octet-stream',
    reply: LOG_TILE,
    errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { path: { level: '0', ...example }, reply: '""' },
    read: ({ head }) => {
      const tile = readTilePath(`tile/${head.parameters.join('/')}`);
      return tile === null ? rejected(BAD_TILE) : accepted({ kind: 'tile', ...tile } as const);
    },
    serve: (kit, call, tile) => answerProof(kit, call, tile, 'application/octet-stream'),
  });
}

function sizesOf({ query }: RequestParts): Outcome<ProofRequest> {
  const [from, to] = [query.whole('from'), query.whole('to')];
  if (!from.ok) return from;
  if (!to.ok) return to;
  for (const [name, size] of [
    ['from', from.value],
    ['to', to.value],
  ] as const) {
    if (size === null || size > BigInt(Number.MAX_SAFE_INTEGER))
      return rejected(reject('INVALID_REQUEST', `${name} is a size of the tree`, name));
  }
  return accepted({ kind: 'consistency', from: Number(from.value), to: Number(to.value) });
}

export const EVIDENCE_ROUTES: readonly GatewayRoute[] = [
  publicRoute({
    ...PUBLIC,
    path: '/system/key',
    summary: 'The keys of the log of the evidence',
    description: 'Pin the verifier key of the venue from another place than this one.',
    reply: LOG_KEYS,
    errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: {
      reply: `{"origin":"ringbook.example/log/1","venue_key":"${VKEY}","notes":["${NOTE}"],"witnesses":[],"quorum":0}`,
    },
    read: nothing,
    serve: (kit, call) => answerProof(kit, call, { kind: 'keys' }, JSON_MEDIA),
  }),
  publicRoute({
    ...PUBLIC,
    path: '/evidence/checkpoint',
    summary: 'The newest head of the log',
    description:
      'One is made each second if the log has grown. With the cosignatures of witnesses where there are some.',
    media: 'text/plain',
    reply: LOG_HEAD,
    errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { reply: `"${NOTE}"` },
    read: nothing,
    serve: (kit, call) => answerProof(kit, call, { kind: 'checkpoint' }, 'text/plain; charset=utf-8'),
  }),
  tileRoute(1, { index: '000' }),
  tileRoute(2, { index: '000.p', more: '1' }),
  tileRoute(3, { index: 'x001', more: '234.p', further: '5' }),
  tileRoute(4, { index: 'x001', more: 'x234', further: '067.p', last: '5' }),
  publicRoute({
    ...PUBLIC,
    path: '/evidence/consistency',
    summary: 'That the log only grew between two sizes',
    query: [
      { name: 'from', shape: COUNT, summary: 'the older size' },
      { name: 'to', shape: COUNT, summary: 'the newer one, at most that of the newest head' },
    ],
    reply: CONSISTENCY,
    errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { query: 'from=1&to=1', reply: '{"from":1,"to":1,"proof":[]}' },
    read: sizesOf,
    serve: (kit, call, request) => answerProof(kit, call, request, JSON_MEDIA),
  }),
  sessionRoute({
    method: 'GET',
    path: '/evidence/order/{asset_id}/{order_id}',
    area: 'Evidence',
    auth: 'session',
    cost: 'historyPage',
    summary: 'The evidence of one of your orders',
    description:
      'Your rows of the order and its public trades, proven to be under a head; `ringbook evidence verify` checks the file offline. Of an entry of a quote set the id is that of the set, a colon and its number.',
    query: [
      {
        name: 'complete',
        shape: BOOLEAN_WORD,
        summary: 'with all of your rows between the first and the last of the order',
      },
    ],
    reply: ORDER_EVIDENCE,
    errors: ['MARKET_NOT_FOUND', 'ORDER_NOT_FOUND', 'EVIDENCE_EXPIRED', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: {
      path: { asset_id: '1', order_id: 'demo-order-1' },
      reply: `{"v":1,"origin":"ringbook.example/log/1","certificates":["${NOTE}"],"checkpoint":"${NOTE}","claim":{"asset_id":"1","order_id":"demo-order-1","user":"${'8a'.repeat(32)}"},"records":[{"leaf":"cmluZ2Jvb2s=","index":"69","path":["${HASH}"],"entries":[{"index":3,"salt":"${HASH}","row":"e30=","path":["${HASH}"]}]}],"signed":[{"entry":[0,0],"text":"e30=","signatures":"AAAA"}]}`,
    },
    read: ({ query }) => query.flag('complete'),
    serve: (kit, call, { user }, isComplete) => {
      const [market = '', orderId = ''] = call.head.parameters;
      const assetId = parseAssetId(market);
      if (assetId === null) return call.refuse(NO_MARKET);
      if (!ORDER_ID_FORM.test(orderId)) return call.refuse(NO_ORDER);
      return answerProof(kit, call, { kind: 'order', user, assetId, orderId, isComplete }, JSON_MEDIA);
    },
  }),
  publicRoute({
    ...PUBLIC,
    path: '/proof/liabilities',
    addressUnits: STATEMENT_UNITS,
    summary: 'What the venue states that it owes',
    description:
      'The newest statement, with the row of the log that has its hash, proven to be under a head. None yet is a 404 as no evidence is.',
    reply: LIABILITIES,
    errors: ['NOT_FOUND', 'EVIDENCE_EXPIRED', 'SERVICE_UNAVAILABLE'],
    example: { reply: `{${STATED_EXAMPLE}}` },
    read: nothing,
    serve: (kit, call) => answerProof(kit, call, { kind: 'liabilities', user: null }, JSON_MEDIA),
  }),
  sessionRoute({
    method: 'GET',
    path: '/proof/liabilities/{user_id}',
    area: 'Evidence',
    auth: 'session',
    cost: 'historyPage',
    summary: 'That what you are owed is in what the venue states that it owes',
    description:
      'The newest statement and every chunk of it that is owed to you, with its path; `ringbook proof verify` checks the file offline.',
    reply: OWN_LIABILITIES,
    errors: ['NOT_FOUND', 'EVIDENCE_EXPIRED', 'SERVICE_UNAVAILABLE'],
    example: {
      reply: `{${STATED_EXAMPLE},"user":"{user_id}","assets":[{"asset_id":"0","chunks":[{"amount":"10000000000000000000000","nonce":"${HASH}","sub":0,"i":0,"k":2,"n":12,"last":"${HASH}","index":4,"path":[{"sum":"0","hash":"${HASH}"}]}]}]}`,
    },
    read: nothing,
    serve: (kit, call, { user }) => answerProof(kit, call, { kind: 'liabilities', user }, JSON_MEDIA),
  }),
];
