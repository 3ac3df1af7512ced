/**
 * What a user has and what markets do, as tables or as JSON: `ringbook balances`, `orders`, `trades`, `ledger`, `positions`,
 * `sessions`, `markets`, `klines`.
 *
 * Those of a user log in with a session that only reads, and end it: nothing that they do could change anything.
 */
import { type ClientOptions, RingbookClient } from '../client/client.ts';
import type { LedgerPage, LedgerQuery, LedgerRow } from '../client/ledger.ts';
import type { Market, OrderRecord, Page } from '../client/replies.ts';
import type { UserOrderQuery } from '../client/user-reads.ts';
import { formatRaw } from '../core/decimal.ts';
import { parseIsoTime } from '../tools/iso-time.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  EXIT,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';
import { SIGNER_HELP, SIGNER_OPTIONS, signersOf } from './signer-options.ts';
import { jsonLine, textTable, timeText } from './table.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  json: { type: 'boolean', default: false },
  limit: { type: 'string', default: '100' },
  status: { type: 'string' },
  interval: { type: 'string', default: '1m' },
  end: { type: 'string' },
  kind: { type: 'string' },
  account: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

/** What was read: for programs as it is, for people a table. */
interface View {
  readonly rows: unknown;
  readonly titles: readonly string[];
  readonly cells: readonly (readonly string[])[];
  /** Columns of numbers. */
  readonly right: readonly number[];
}

interface ReadCommand {
  readonly name: string;
  readonly summary: string;
  /** Behind the name. */
  readonly usage: string;
  readonly about: string;
  readonly options: readonly OptionName[];
  readonly example: string;
  /** Whether it is of a user. */
  readonly isPrivate: boolean;
  /** Positionals: none, perhaps a market, or a market. */
  readonly market: 'none' | 'optional' | 'required';
  read(client: RingbookClient, values: Values, market: string | undefined): Promise<View>;
}

const OPTION_HELP = {
  limit: '  --limit N          rows at most, 1 to 1000  (default 100)\n',
  status: '  --status STATUS    closed, completed, cancelled, expired, rejected, pending, partial or open\n',
  interval: '  --interval I       like 30S, 1m, 4h, 1D   (default 1m)\n',
  end: '  --end ID           end this session, and its streams, and list what is left\n',
  kind: '  --kind KIND        like trade, trading_fee, deposit, withdrawal, transfer\n',
  account: '  --account N        rows of one sub-account\n',
  from: '  --from TIME        from a UTC day or time on, like 2026-11-29 or 2026-11-29T09:41:26Z\n',
  to: '  --to TIME          before it\n',
} as const;
type OptionName = keyof typeof OPTION_HELP;

const JSON_HELP =
  '  --json             the rows as one line of JSON, as the client has them; nanoseconds are texts of digits\n';
const LIMIT_MAX = 1_000;

function commandOf(command: ReadCommand): Command {
  const { name, summary, usage, about, options, example, isPrivate, market } = command;
  const known = new Set<string>([...options, 'json', 'oms', 'mds', 'ops', ...(isPrivate ? SIGNERS : [])]);
  return {
    name,
    summary,
    help: `usage: ringbook ${name}${usage} [options]

${about}

${options.map((option) => OPTION_HELP[option]).join('')}${JSON_HELP}${isPrivate ? `${SIGNER_HELP}\n` : ''}${ADDRESS_HELP}

example:
  ringbook ${example}
`,
    async run(argv) {
      const offered = Object.fromEntries(Object.entries(OPTIONS).filter(([option]) => known.has(option)));
      // What a command does not have is refused as unknown, and has its default.
      const parsed = parseOptions(argv, offered as typeof OPTIONS);
      const values = { ...DEFAULTS, ...parsed.values };
      const [named, ...others] = parsed.positionals;
      const isMissing = market === 'required' && named === undefined;
      if (isMissing || others.length > 0 || (market === 'none' && named !== undefined)) {
        throw usageError(`${name} takes ${POSITIONALS[market]}: ringbook ${example}`);
      }
      await show(command, values, named);
      return EXIT.done;
    },
  };
}

const SIGNERS: readonly string[] = Object.keys(SIGNER_OPTIONS);
const DEFAULTS = { limit: OPTIONS.limit.default, interval: OPTIONS.interval.default };
const POSITIONALS = { none: 'no argument', optional: 'one MARKET or none', required: 'one MARKET' } as const;

async function show({ read, isPrivate }: ReadCommand, values: Values, market: string | undefined): Promise<void> {
  // Ending a session needs one that may change something.
  const scope = values.end === undefined ? 'read' : 'full';
  const user: Partial<ClientOptions> = isPrivate
    ? { ...signersOf(values), scope }
    : { mds: checkAddresses(values.mds, 'mds') };
  const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...user });
  try {
    const { rows, titles, cells, right } = await read(client, values, market);
    process.stdout.write(values.json ? jsonLine(rows) : textTable([titles, ...cells], new Set(right)));
    if (isPrivate && scope === 'read') await client.logout();
  } finally {
    client.close();
  }
}

function limitOf({ limit }: Values): number {
  const count = positiveInteger(limit, '--limit');
  if (count > LIMIT_MAX) throw usageError(`--limit is at most ${LIMIT_MAX}`);
  return count;
}

/** The asset as people name it. */
async function namesOf(client: RingbookClient): Promise<(assetId: string) => string> {
  await client.assets.read();
  return (assetId) => client.assets.symbolOf(assetId) ?? assetId;
}

export const balancesCommand: Command = commandOf({
  name: 'balances',
  summary: 'show your balances',
  usage: '',
  about: 'Balances of all sub-accounts, and what margin accounts are worth. Positions have a command of their own.',
  options: [],
  example: 'balances --as a',
  isPrivate: true,
  market: 'none',
  async read(client) {
    const [inventory, figures, nameOf] = await Promise.all([
      client.inventory(),
      client.margin.figures(),
      namesOf(client),
    ]);
    const cells = [...inventory].flatMap(([index, { kind, name, spot }]) => {
      const { equity = '', available = '' } = figures.get(index) ?? {};
      const assets = [...spot].map(([assetId, amount]) => [nameOf(assetId), amount]);
      return (assets.length === 0 ? [['-', '0']] : assets).map(([asset = '', amount = ''], row) =>
        row === 0 ? [String(index), name, kind, asset, amount, equity, available] : ['', '', '', asset, amount, '', ''],
      );
    });
    const rows = [...inventory].map(([subAccount, account]) => ({
      subAccount,
      ...account,
      margin: figures.get(subAccount) ?? null,
    }));
    const titles = ['account', 'name', 'kind', 'asset', 'amount', 'equity USD', 'available USD'];
    return { rows, titles, cells, right: [0, 4, 5, 6] };
  },
});

/** Live orders, all pages, up to the limit. */
async function openOrders(
  client: RingbookClient,
  assetId: string | null,
  limit: number,
): Promise<readonly OrderRecord[]> {
  const found: OrderRecord[] = [];
  for (let page: number | null = 0; page !== null && found.length < limit; ) {
    const { items, nextPage }: Page<OrderRecord> = await client.orders({ openOnly: true, page, limit: LIMIT_MAX });
    found.push(...items.filter((order) => assetId === null || order.assetId === assetId));
    page = nextPage;
  }
  return found.slice(0, limit);
}

const STATUSES = ['open', 'pending', 'partial', 'cancelled', 'completed', 'closed', 'expired', 'rejected'] as const;

function statusOf(text: string): NonNullable<UserOrderQuery['status']> {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined) throw usageError(`--status takes one of ${STATUSES.join(', ')}, not "${text}"`);
  return status;
}

export const ordersCommand: Command = commandOf({
  name: 'orders',
  summary: 'show your orders',
  usage: ' [MARKET]',
  about: 'Orders that live, in one market or in all; with --status orders of a status, newest first.',
  options: ['status', 'limit'],
  example: 'orders ETH --as a',
  isPrivate: true,
  market: 'optional',
  async read(client, values, market) {
    const limit = limitOf(values);
    const status = values.status === undefined ? null : statusOf(values.status);
    const nameOf = await namesOf(client);
    const assetId = market === undefined ? null : await client.assets.idOf(market);
    const inMarket = assetId === null ? {} : { assetId };
    const rows =
      status === null
        ? await openOrders(client, assetId, limit)
        : (await client.history.orders({ ...inMarket, status, limit })).items;
    const cells = rows.map((order) => [
      timeText(order.timestampNs),
      nameOf(order.assetId),
      order.side,
      order.limitPrice ?? 'market',
      order.quantity ?? `${order.amount} USD`,
      order.confirmedFilledQuantity,
      order.status,
      triggerText(order),
      order.orderId,
    ]);
    const titles = ['time', 'market', 'side', 'price', 'quantity', 'filled', 'status', 'trigger', 'order'];
    return { rows, titles, cells, right: [3, 4, 5] };
  },
});

function triggerText({ triggerAbovePrice: above, triggerBelowPrice: below }: OrderRecord): string {
  return above !== null ? `>= ${above}` : below !== null ? `<= ${below}` : '-';
}

export const tradesCommand: Command = commandOf({
  name: 'trades',
  summary: 'show your confirmed trades',
  usage: ' [MARKET]',
  about: 'Your confirmed trades, in one market or in all, newest first.',
  options: ['limit'],
  example: 'trades ETH --limit 20 --as a',
  isPrivate: true,
  market: 'optional',
  async read(client, values, market) {
    const limit = limitOf(values);
    const nameOf = await namesOf(client);
    const { items: rows } = await client.history.trades({
      limit,
      ...(market === undefined ? {} : { assetId: market }),
    });
    const cells = rows.map((trade) => [
      timeText(trade.timestampNs),
      nameOf(trade.assetId),
      trade.isBuyer ? 'Buy' : 'Sell',
      trade.price,
      trade.quantity,
      trade.tradingFee ?? '-',
      trade.isMaker ? 'maker' : 'taker',
      String(trade.subAccount),
      String(trade.tradeId),
      trade.orderId,
    ]);
    const titles = ['time', 'market', 'side', 'price', 'quantity', 'fee USD', 'as', 'account', 'trade', 'order'];
    return { rows, titles, cells, right: [3, 4, 5, 7, 8] };
  },
});

export const ledgerCommand: Command = commandOf({
  name: 'ledger',
  summary: 'show every change of your balances',
  usage: ' [ASSET]',
  about:
    'Every change of your balances, of one asset or of all, newest first, with the balance after it. The legs of a position are balances of their own.',
  options: ['kind', 'account', 'from', 'to', 'limit'],
  example: 'ledger USD --from 2026-11-29 --as a',
  isPrivate: true,
  market: 'optional',
  async read(client, values, asset) {
    const limit = limitOf(values);
    const nameOf = await namesOf(client);
    const rows = await ledgerRows(client, limit, {
      ...(asset === undefined ? {} : { asset }),
      ...(values.kind === undefined ? {} : { kind: values.kind }),
      ...accountOf(values),
      ...timesOf(values),
    });
    const cells = rows.map((row) => [
      timeText(row.timestampNs),
      String(row.subAccount),
      row.leg === null ? nameOf(row.asset) : `${nameOf(row.asset)} of ${nameOf(row.leg)}`,
      row.kind,
      row.amount,
      row.balanceAfter,
      row.reference ?? '-',
    ]);
    const titles = ['time', 'account', 'balance', 'kind', 'amount', 'after', 'reference'];
    return { rows, titles, cells, right: [1, 4, 5] };
  },
});

/** Pages until there are as many rows as wanted, or no more: a page may have fewer than its limit. */
async function ledgerRows(client: RingbookClient, limit: number, query: LedgerQuery): Promise<readonly LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for (let before: number | null | undefined; before !== null && rows.length < limit; ) {
    const place = before === undefined ? {} : { before };
    const page: LedgerPage = await client.ledger({ ...query, ...place, limit: limit - rows.length });
    rows.push(...page.rows);
    before = page.nextBefore;
  }
  return rows;
}

function accountOf({ account }: Values): Pick<LedgerQuery, 'subAccount'> {
  if (account === undefined) return {};
  if (!/^[0-9]{1,3}$/.test(account)) throw usageError(`--account takes the number of a sub-account, not "${account}"`);
  return { subAccount: Number(account) };
}

/** `--to` is exclusive, the service's `end_time` is not. */
function timesOf({ from, to }: Values): Pick<LedgerQuery, 'startNs' | 'endNs'> {
  const timeOf = (text: string, option: string): bigint => {
    const timeNs = parseIsoTime(text);
    if (timeNs === null) throw usageError(`${option} takes a UTC day or time like 2026-11-29T09:41:26Z, not "${text}"`);
    return timeNs;
  };
  return {
    ...(from === undefined ? {} : { startNs: timeOf(from, '--from') }),
    ...(to === undefined ? {} : { endNs: timeOf(to, '--to') - 1n }),
  };
}

export const positionsCommand: Command = commandOf({
  name: 'positions',
  summary: 'show your margin positions',
  usage: ' [MARKET]',
  about: 'Open positions of margin accounts, in one market or in all, and flat ones that can be closed.',
  options: [],
  example: 'positions --as a',
  isPrivate: true,
  market: 'optional',
  async read(client, _values, market) {
    const [rows, nameOf] = await Promise.all([client.margin.positions(market), namesOf(client)]);
    const cells = rows.map((position) => [
      String(position.subAccount),
      nameOf(position.assetId),
      position.side,
      position.size,
      position.entryPrice ?? '-',
      position.markPrice ?? '-',
      position.unrealizedPnl ?? '-',
      position.margin ?? '-',
      position.liquidationPrice ?? '-',
    ]);
    const titles = ['account', 'market', 'side', 'size', 'entry', 'mark', 'PnL USD', 'margin USD', 'liquidation'];
    return { rows, titles, cells, right: [0, 3, 4, 5, 6, 7, 8] };
  },
});

export const sessionsCommand: Command = commandOf({
  name: 'sessions',
  summary: 'show and end your sessions',
  usage: '',
  about:
    'Your sessions, oldest first, the one of this command the last of them: who may act and read for you, and from where.',
  options: ['end'],
  example: 'sessions --as a',
  isPrivate: true,
  market: 'none',
  async read(client, { end }) {
    if (end !== undefined) await client.endSession(end);
    const rows = await client.sessions();
    const cells = rows.map(({ id, scope, createdNs, lastUsedNs, address }) => [
      id,
      scope,
      timeText(createdNs),
      timeText(lastUsedNs),
      address ?? '-',
    ]);
    return { rows, titles: ['session', 'scope', 'created', 'last used', 'address'], cells, right: [] };
  },
});

/** 1e-6 of the notional as percent. */
function percent(rate: number): string {
  return `${formatRaw(rate, 4)} %`;
}

export const marketsCommand: Command = commandOf({
  name: 'markets',
  summary: 'show the markets, their rules and prices',
  usage: '',
  about: 'Every market with its rules, fees and best prices.',
  options: [],
  example: 'markets',
  isPrivate: false,
  market: 'none',
  async read(client) {
    const [markets, tickers, nameOf] = await Promise.all([client.markets(), client.tickers(), namesOf(client)]);
    const tickerOf = new Map(tickers.map((ticker) => [ticker.assetId, ticker]));
    const rows = markets.map((market) => ({
      symbol: client.assets.symbolOf(market.assetId),
      ...market,
      ticker: tickerOf.get(market.assetId) ?? null,
    }));
    const cells = rows.map(({ ticker, ...market }) => [
      market.assetId,
      nameOf(market.assetId),
      market.status,
      ...rulesOf(market),
      ticker?.markPrice ?? '-',
      ticker?.bestBid?.price ?? '-',
      ticker?.bestAsk?.price ?? '-',
    ]);
    const rules = ['tick', 'lot', 'smallest', 'maker fee', 'taker fee'];
    return {
      rows,
      titles: ['id', 'market', 'status', ...rules, 'mark', 'bid', 'ask'],
      cells,
      right: [0, 3, 4, 5, 6, 7, 8, 9, 10],
    };
  },
});

function rulesOf({ tickSize, quantityDecimals, minOrderSize, makerFeeRate, takerFeeRate }: Market): readonly string[] {
  return [tickSize, formatRaw(1, quantityDecimals), minOrderSize, percent(makerFeeRate), percent(takerFeeRate)];
}

export const klinesCommand: Command = commandOf({
  name: 'klines',
  summary: 'show candles of a market',
  usage: ' MARKET',
  about: 'The newest candles of a market, oldest first; one without trades is left out.',
  options: ['interval', 'limit'],
  example: 'klines ETH --interval 5m --limit 12',
  isPrivate: false,
  market: 'required',
  async read(client, values, market = '') {
    const { items: rows } = await client.klines(market, { interval: values.interval, limit: limitOf(values) });
    const cells = rows.map((row) => [
      timeText(row.openTimestampNs),
      row.open,
      row.high,
      row.low,
      row.close,
      row.volume,
    ]);
    return { rows, titles: ['from', 'open', 'high', 'low', 'close', 'volume USD'], cells, right: [1, 2, 3, 4, 5] };
  },
});
