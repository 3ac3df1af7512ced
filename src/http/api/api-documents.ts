/**
 * The documents of a service: `/api-doc.json`, `/async-api.json`, `/api-reference` and the files of that page (DOC-01
 * to DOC-04). Served from memory: the pages are read with the listener; the two documents of the tables are made when one is first
 * read, which takes some 10 ms, because most nodes never serve them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonObject } from '../../codec/json-tree.ts';
import { assert } from '../../core/assert.ts';
import { reject } from '../../core/reject.ts';
import { type StaticDocument, staticDocument } from '../static-document.ts';
import { MARKET_DATA_PATH } from '../user-read-routes.ts';
import type { HttpCall } from '../uws-http.ts';
import { asyncApi } from './async-api.ts';
import { openApi, type ServiceInfo } from './open-api.ts';
import { ASSETS, packageRoot, pageFiles } from './page-files.ts';
import type { RouteDoc, StreamDoc } from './route-doc.ts';

export type ServiceName = 'orders' | 'market-data';

/** The routes and streams of a service. */
export interface ServiceTables {
  readonly routes: readonly RouteDoc[];
  readonly streams: readonly StreamDoc[];
}

const TITLES: Readonly<Record<ServiceName, string>> = {
  orders: 'ringbook: orders',
  'market-data': 'ringbook: market data',
};

const MANNERS =
  'Every path with GET has HEAD. A query member that a path does not have is 400, and its name stands in `details.field`; a target of more than 4,096 bytes is 414, a head of more than 8,192 is 431.';

const DESCRIPTIONS: Readonly<Record<ServiceName, string>> = {
  orders:
    'Orders, accounts and private streams. Integers above 2^53, all nanosecond times among them, are plain JSON integers: never send them through a double. ' +
    'Every refusal is one envelope; nothing has changed when you read it. Paths stand at the root; there is no version in them. ' +
    `${MANNERS} ` +
    'A client opts into v1 of the streams by a subprotocol. There is no route to refresh a token and none to change a key.',
  'market-data':
    'Public market data: no session, the budget that all share. Integers above 2^53, all nanosecond times among them, are plain JSON integers: never send them through a double. ' +
    `${MANNERS} ` +
    'Every stream begins with a `subscriptions` frame. Paths stand at the root; there is no version in them.',
};

const JSON_POLICY = "default-src 'none'; frame-ancestors 'none'";
const BELOW = `${MARKET_DATA_PATH}/`;
const NO_FILE = reject('NOT_FOUND', 'no such path');

/** Further patterns of the listener that has the trading page. */
export const TRADE_PAGE_PATTERNS: readonly string[] = ['/', `${ASSETS}/*`];

export interface TradePageParts {
  /** Whether the page offers the keys of the seeded users. */
  readonly offersKeys: boolean;
  /** Whether the listener has `/dev/faucet`. */
  readonly hasFaucet: boolean;
}

/** The page to watch and to trade, with its files. */
export function tradePage({ offersKeys, hasFaucet }: TradePageParts): ReadonlyMap<string, StaticDocument> {
  return pageFiles({
    url: '/',
    base: ASSETS,
    html: 'trade/index.html',
    data: {
      ...(offersKeys ? { keys: 'dev' } : {}),
      ...(hasFaucet ? { faucet: 'dev' } : {}),
    },
  });
}

export class ApiDocuments {
  readonly #byPath: ReadonlyMap<string, StaticDocument>;
  readonly #makers: ReadonlyMap<string, () => string>;
  readonly #made = new Map<string, StaticDocument>();

  /** @param offersKeys whether the page offers the keys of the seeded users. @param page a further page, with its files. */
  constructor(
    service: ServiceName,
    { routes, streams }: ServiceTables,
    offersKeys = false,
    page: ReadonlyMap<string, StaticDocument> = new Map(),
  ) {
    const info = infoOf(service);
    this.#makers = new Map([
      ['/api-doc.json', () => openApi(info, routes)],
      ['/async-api.json', () => asyncApi(info, streams)],
    ]);
    this.#byPath = new Map([
      ...pageFiles({
        url: '/api-reference',
        base: '/api-reference',
        html: 'index.html',
        data: offersKeys ? { keys: 'dev' } : {},
      }),
      ...page,
    ]);
  }

  /** Replies with the document of the path, at the root or below MARKET_DATA_PATH, or 404. */
  answer(call: HttpCall): void {
    const { path } = call.head;
    const own = path.startsWith(BELOW) ? path.slice(MARKET_DATA_PATH.length) : path;
    const document = this.#byPath.get(own) ?? this.#fromTable(own);
    if (document === null) call.refuse(NO_FILE);
    else call.replyDocument(document);
  }

  #fromTable(path: string): StaticDocument | null {
    const made = this.#made.get(path);
    if (made !== undefined) return made;
    const text = this.#makers.get(path)?.();
    if (text === undefined) return null;
    const document = staticDocument('application/json', Buffer.from(text), JSON_POLICY);
    this.#made.set(path, document);
    return document;
  }
}

export function infoOf(service: ServiceName): ServiceInfo {
  const manifest = parseJsonObject(readFileSync(join(packageRoot(), 'package.json')), { fractions: 'text' });
  const version = manifest.ok ? manifest.value.get('version') : undefined;
  assert(typeof version === 'string', 'package.json names a version');
  return { title: TITLES[service], description: DESCRIPTIONS[service], version };
}
