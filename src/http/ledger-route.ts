/** The read of a user's ledger (LDG-01; wire-additions.md). */
import { isLedgerEntry, type LedgerSelection, ledgerReply } from '../codec/ledger-page.ts';
import { LEDGER_KIND, LEDGER_PAGE } from '../codec/shapes/ledger-shapes.ts';
import { ASSET_ID, COUNT } from '../codec/shapes/shape-kit.ts';
import { parseAssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { LIMIT_QUERY, ONE_ACCOUNT_QUERY, TIME_QUERIES } from './api/query-docs.ts';
import { answer, type GatewayRoute, sessionRoute } from './oms-kit.ts';
import { oneAccountOf, pageAt, timesOf } from './path-values.ts';
import type { Query } from './query.ts';

const EXAMPLE =
  '{"ledger":[{"n":1840,"sequence":73893,"timestamp_ns":1770000004000000000,"sub_account":1,"asset":"0","leg":null,"kind":"trading_fee",' +
  '"amount":"-0.122","balance_after":"9999.878","reference":"1/88017"}],"limit":100,"has_next_page":true,"next_before":1840}';

type Asked = Omit<LedgerSelection, 'user'>;

export const LEDGER_ROUTE: GatewayRoute = sessionRoute({
  method: 'GET',
  path: '/account/ledger/{user_id}',
  area: 'Account',
  auth: 'session',
  cost: 'historyPage',
  summary: 'Every change of your balances',
  description: [
    'Newest first, with the balance after each: the amounts of one balance add up to it, from its opening row on. The legs of a',
    'position are balances of their own. Reserved amounts are no change. A page may have fewer rows than `limit`, or none, and',
    'the next one begins at `next_before`. Rows are durable within a second; how long they are kept is the venue’s to say.',
  ].join(' '),
  query: [
    { name: 'before', shape: COUNT, summary: 'rows with a smaller `n`: `next_before` of the page before' },
    LIMIT_QUERY,
    ...TIME_QUERIES,
    ONE_ACCOUNT_QUERY,
    { name: 'asset', shape: ASSET_ID, summary: 'only this one, `0` for USD' },
    { name: 'kind', shape: LEDGER_KIND, summary: 'only this one' },
  ],
  reply: LEDGER_PAGE,
  errors: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  example: { query: 'limit=100', reply: EXAMPLE },
  read: ({ query }) => askedOf(query),
  serve: async ({ services }, call, { user }, asked) => {
    const found = await services.queries.ledgerPage(user, asked);
    answer(call, found, (rows) => ledgerReply(rows, asked.limit));
  },
});

function askedOf(query: Query): Outcome<Asked> {
  const page = pageAt(query);
  if (!page.ok) return page;
  const times = timesOf(query);
  if (!times.ok) return times;
  const accounts = oneAccountOf(query);
  if (!accounts.ok) return accounts;
  const before = query.whole('before');
  if (!before.ok) return before;
  if (before.value !== null && before.value > BigInt(Number.MAX_SAFE_INTEGER))
    return rejected(reject('INVALID_REQUEST', 'before is out of range', 'before'));
  const asset = query.one('asset');
  if (!asset.ok) return asset;
  if (asset.value !== null && parseAssetId(asset.value) === null)
    return rejected(reject('INVALID_REQUEST', 'asset is the id of an asset', 'asset'));
  const kind = query.one('kind');
  if (!kind.ok) return kind;
  if (kind.value !== null && !isLedgerEntry(kind.value))
    return rejected(reject('INVALID_REQUEST', 'kind is one of the kinds of the ledger', 'kind'));
  return accepted({
    ...times.value,
    subAccount: accounts.value?.[0] ?? null,
    asset: asset.value,
    entry: kind.value,
    before: before.value === null ? null : Number(before.value),
    limit: page.value.limit,
  });
}
