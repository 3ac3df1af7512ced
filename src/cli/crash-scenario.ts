/**
 * A crash of a market, played on a node of the dev profile and watched over its public API: many leveraged longs against
 * three shorts, a gap of 40 % into a thin book, a second fall while the backstop holds what the book did not take, and
 * buyers who return.
 *
 *   open ─▶ thin book ─▶ gap ─▶ liquidations ─▶ take-overs ─▶ second fall ─▶ auto-deleveraging ─▶ buyers return ─▶ report
 *
 * Users, funds and prices are made through the operator API. Everything that is printed was published by the node: the
 * stream of what is at risk, the streams of two of the users, reads of the operator API.
 */
import type { AccountEvent } from '../client/account.ts';
import { RingbookClient } from '../client/client.ts';
import type { EventStream } from '../client/event-stream.ts';
import { generateSeed, keyFromSeed } from '../client/keys.ts';
import type { AtRisk } from '../client/margin.ts';
import type { Backstop, OperatorClient } from '../client/operator.ts';
import type { OrderEvent } from '../client/order-events.ts';
import type { UserTrade } from '../client/replies.ts';

interface CrashOptions {
  readonly oms: string;
  readonly operator: OperatorClient;
  /** Longs, 4 … CRASH_ACCOUNTS_MAX. */
  readonly accounts: number;
  readonly print: (line: string) => void;
}

interface CrashReport {
  /** Longs with a position that the node closed, at least in part, on the book. */
  readonly liquidated: number;
  readonly takenOver: number;
  /** Trades of auto-deleveraging of the three shorts. */
  readonly deleveraged: number;
  readonly capital: string;
  /** What is wrong at the end; empty when the node adds up and no account is left below its maintenance margin. */
  readonly faults: readonly string[];
}

/** The backstop has a sub-account for each account taken over, and at most 254 (AMB-63). */
export const CRASH_ACCOUNTS_MAX = 200;

const MARKET = '2';
const MARGIN = { account: 1, isSpot: false } as const;
const IOC = { kind: 'IOC' } as const;
const PRICE = 3_000;
const GAP_PRICE = 1_800;
const SECOND_PRICE = 1_600;
/**
 * Collateral of the longs in thousandths of what they buy, from the most to the least leveraged. An order is taken with
 * the margin of the next lower step (MON-07): 14.5 % of 3,000 and the fee here.
 */
const COLLATERAL_FROM = 150;
const COLLATERAL_TO = 650;
/** Shares of the shorts in the sales, percent, and their collateral in thousandths of it. */
const SHORTS: readonly (readonly [share: number, collateral: number])[] = [
  [50, 400],
  [30, 150],
  [20, 120],
];
/** The thin book: bids as percent of what is long, and their prices. */
const BIDS: readonly (readonly [share: number, price: number])[] = [
  [4, 1_790],
  [4, 1_760],
  [4, 1_720],
];
/** Lines shown of the streams of one party. */
const LINES_SHOWN = 12;
/** Longs with streams that are read, the most leveraged: which of them sells into the thin book is not fixed. */
const LONGS_WATCHED = 8;
const AT_ONCE = 8;
const LOOK_MS = 250;
/** What each part may take; also the longest barrier. */
const PART_MS_MAX = 60_000;
const RICH_USD = 100_000_000;

interface Party {
  readonly name: string;
  readonly client: RingbookClient;
}

/** What the streams of a party have published, as lines. */
interface Watched {
  readonly name: string;
  readonly lines: string[];
}

class CrashScenario {
  readonly #options: CrashOptions;
  readonly #startMs = performance.now();
  readonly #parties: Party[] = [];
  readonly #streams: { close(): void }[] = [];
  #atRisk: AtRisk | null = null;
  #shown = '';

  constructor(options: CrashOptions) {
    this.#options = options;
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
    for (const { client } of this.#parties) client.close();
  }

  async run(): Promise<CrashReport> {
    const { operator, accounts } = this.#options;
    await operator.liftRateLimits();
    await operator.setPrice(MARKET, String(PRICE));
    const longs = await this.#open(accounts);
    const { shorts, bidder, dealer } = await this.#others(accounts);
    await this.#trade(longs, shorts);
    this.#print(
      `${accounts} accounts are long 1 ETH each at ${PRICE}, with ${COLLATERAL_FROM / 10} to ${COLLATERAL_TO / 10} % of it as collateral`,
    );
    const watched = await Promise.all(longs.slice(0, LONGS_WATCHED).map((long) => this.#watch(long)));
    const winner = await this.#watch(shorts.at(-1) as Party);
    await this.#watchAtRisk(bidder);
    await this.#bid(bidder, accounts);
    this.#print(`the book is thin: bids for ${BIDS.reduce((sum, [share]) => sum + share, 0)} % of it`);

    await this.#fall(dealer, bidder, GAP_PRICE);
    await this.#until(
      'the backstop takes over what the book does not',
      async () => (await this.#backstop()).length > 0,
    );
    await this.#until('no account is below its maintenance margin', () => this.#isHealthy());
    for (const liquidated of shownOf(watched)) this.#printLines(liquidated);

    await this.#fall(dealer, bidder, SECOND_PRICE);
    await this.#until('profitable shorts are closed against the backstop', async () =>
      hasDeleveraged(await operator.backstop()),
    );
    await this.#settle();
    this.#printLines(winner);

    await this.#buy(bidder, accounts);
    await this.#until('the backstop has sold everything', async () => (await this.#backstop()).length === 0);
    return this.#report(longs, shorts);
  }

  #print(line: string): void {
    const seconds = ((performance.now() - this.#startMs) / 1_000).toFixed(1);
    this.#options.print(`${seconds.padStart(6)} s  ${line}`);
  }

  // ---- parties

  async #party(name: string, usd: number): Promise<Party> {
    const key = keyFromSeed(generateSeed());
    const client = new RingbookClient({ oms: this.#options.oms, key });
    const party = { name, client };
    this.#parties.push(party);
    await client.login();
    const grant = { userId: key.userId, subAccount: 1, assetId: '0', amount: usd.toFixed(2) };
    await this.#options.operator.faucet(grant);
    return party;
  }

  async #open(count: number): Promise<readonly Party[]> {
    const longs: Party[] = [];
    for (let from = 0; from < count; from += AT_ONCE) {
      const indices = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
      const collateral = (index: number): number =>
        COLLATERAL_FROM + ((COLLATERAL_TO - COLLATERAL_FROM) * index) / Math.max(1, count - 1);
      longs.push(
        ...(await Promise.all(
          indices.map((index) => this.#party(`long ${index}`, (PRICE * collateral(index)) / 1_000)),
        )),
      );
    }
    return longs;
  }

  async #others(count: number): Promise<{
    readonly shorts: readonly Party[];
    readonly bidder: Party;
    readonly dealer: Party;
  }> {
    const shorts: Party[] = [];
    for (const [at, [share, collateral]] of SHORTS.entries()) {
      shorts.push(await this.#party(`short ${at}`, (count * PRICE * share * collateral) / 100_000));
    }
    return { shorts, bidder: await this.#party('bidder', RICH_USD), dealer: await this.#party('dealer', RICH_USD) };
  }

  async #send(party: Party, side: 'Buy' | 'Sell', quantity: number, price: number, isIoc = false): Promise<void> {
    const ticket = { assetId: MARKET, side, quantity: quantity.toFixed(4), price: price.toFixed(2), target: MARGIN };
    const order = await party.client.order({ ...ticket, ...(isIoc ? { timeInForce: IOC } : {}) });
    const { status, reason } = await party.client.create(order);
    if (status !== 'Received')
      throw new Error(`${party.name}: ${side} ${quantity} at ${price} is ${status}: ${reason}`);
  }

  /** The shorts sell what the longs buy. */
  async #trade(longs: readonly Party[], shorts: readonly Party[]): Promise<void> {
    for (const [at, [share]] of SHORTS.entries()) {
      await this.#send(shorts[at] as Party, 'Sell', (longs.length * share) / 100, PRICE);
    }
    for (let from = 0; from < longs.length; from += AT_ONCE) {
      await Promise.all(longs.slice(from, from + AT_ONCE).map((long) => this.#send(long, 'Buy', 1, PRICE, true)));
    }
    await this.#settle();
  }

  async #bid(bidder: Party, count: number): Promise<void> {
    for (const [share, price] of BIDS) await this.#send(bidder, 'Buy', (count * share) / 100, price);
  }

  /** A small trade at the new price is the mark, the oracle follows. */
  async #fall(dealer: Party, bidder: Party, price: number): Promise<void> {
    this.#print(`the price falls to ${price}`);
    if (price < GAP_PRICE) await bidder.client.cancelAll();
    await this.#send(bidder, 'Buy', 0.01, price);
    await this.#options.operator.setPrice(MARKET, String(price));
    await this.#send(dealer, 'Sell', 0.01, price, true);
  }

  async #buy(bidder: Party, count: number): Promise<void> {
    await bidder.client.cancelAll();
    await this.#send(bidder, 'Buy', 2 * count, SECOND_PRICE);
    this.#print(`buyers are back at ${SECOND_PRICE}`);
  }

  // ---- what the node publishes

  async #watch({ name, client }: Party): Promise<Watched> {
    const lines: string[] = [];
    const keep = <T>(stream: EventStream<T>, textOf: (event: T) => string | null): void => {
      this.#streams.push(stream);
      stream.listen((event) => {
        const text = textOf(event);
        if (text !== null) lines.push(text);
      });
    };
    keep(await client.orderEvents(), orderLine);
    keep(await client.userTrades(), tradeLine);
    keep(await client.account.events(), accountLine);
    return { name, lines };
  }

  #printLines({ name, lines }: Watched): void {
    this.#print(`what ${name} got on its streams:`);
    for (const line of lines.slice(0, LINES_SHOWN)) this.#options.print(`            ${line}`);
    if (lines.length > LINES_SHOWN) this.#options.print(`            and ${lines.length - LINES_SHOWN} more`);
    lines.length = 0;
  }

  async #watchAtRisk({ client }: Party): Promise<void> {
    const stream = await client.margin.atRiskStream();
    this.#streams.push(stream);
    stream.listen((view) => {
      this.#atRisk = view;
    });
  }

  async #backstop(): Promise<Backstop['subAccounts']> {
    const { subAccounts } = await this.#options.operator.backstop();
    return subAccounts.filter(({ state }) => state !== 'closed');
  }

  async #isHealthy(): Promise<boolean> {
    const { accounts } = await this.#options.operator.accountsAtRisk();
    return accounts.every((account) => !account.maintenanceSurplus.startsWith('-') && account.liquidation === null);
  }

  /** Prints what changes until it is so. @throws Error after PART_MS_MAX. */
  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + PART_MS_MAX;
    while (!(await isSo())) {
      if (performance.now() > endMs) throw new Error(`after ${PART_MS_MAX / 1_000} s it is not so that ${what}`);
      await this.#show();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    await this.#show();
    this.#print(what);
  }

  /** One line of figures, if it differs from the last. */
  async #show(): Promise<void> {
    const { operator } = this.#options;
    const [risk, { capital, subAccounts }] = await Promise.all([operator.accountsAtRisk(1_000), operator.backstop()]);
    const long = this.#atRisk?.assets.get(MARKET)?.long;
    const stream =
      long === undefined
        ? 'nothing at risk'
        : `long ${long.quantity} ETH at risk, liquidated at ${cents(long.liquidationPrice ?? '-')}`;
    const liquidated = risk.accounts.filter(({ liquidation }) => liquidation !== null).length;
    const open = subAccounts.filter(({ state }) => state !== 'closed');
    const held = open.reduce((sum, { positions }) => sum + Number(positions.get(MARKET) ?? 0), 0);
    const backstop = `backstop: ${open.length} accounts, ${held.toFixed(2)} ETH, capital ${cents(capital)}`;
    const line = `${stream}; under liquidation ${liquidated}; ${backstop}`;
    if (line === this.#shown) return;
    this.#shown = line;
    this.#print(line);
  }

  async #settle(): Promise<void> {
    await this.#options.operator.barrier(PART_MS_MAX);
  }

  // ---- the end

  async #report(longs: readonly Party[], shorts: readonly Party[]): Promise<CrashReport> {
    await this.#settle();
    const { operator } = this.#options;
    const trades = async (parties: readonly Party[]): Promise<readonly (readonly UserTrade[])[]> => {
      const all: (readonly UserTrade[])[] = [];
      for (const { client } of parties) all.push((await client.trades({ limit: 1_000 })).items);
      return all;
    };
    const ofLongs = await trades(longs);
    const ofShorts = await trades(shorts);
    const { capital, subAccounts } = await operator.backstop();
    const faults: string[] = [];
    for (const [asset, difference] of await operator.ledgerDifferences()) {
      if (difference !== '0') faults.push(`the ledger of asset ${asset} is off by ${difference}`);
    }
    for (const { userId, maintenanceSurplus } of (await operator.accountsAtRisk(1_000)).accounts) {
      if (maintenanceSurplus.startsWith('-')) faults.push(`${userId} is ${maintenanceSurplus} below maintenance`);
    }
    return {
      liquidated: ofLongs.filter((rows) => rows.some(({ isLiquidation }) => isLiquidation)).length,
      takenOver: subAccounts.length,
      deleveraged: ofShorts.flat().filter(({ isAutoDeleverage }) => isAutoDeleverage).length,
      capital,
      faults,
    };
  }
}

function hasDeleveraged({ subAccounts }: Backstop): boolean {
  return subAccounts.some(({ adlClosed }) => [...adlClosed.values()].some((quantity) => quantity !== '0'));
}

/** A decimal with two digits after the point, cut off. */
function cents(decimal: string): string {
  const point = decimal.indexOf('.');
  return point < 0 ? decimal : decimal.slice(0, point + 3);
}

function orderLine(event: OrderEvent): string | null {
  if (event.kind === 'Created' || !('reason' in event)) return null;
  return `order ${event.orderId}: ${event.kind} ${event.reason ?? ''}`;
}

function tradeLine({ status, orderId, price, quantity, isBuyer, isLiquidation, isAutoDeleverage }: UserTrade): string {
  const flags = `${isLiquidation ? ', liquidation' : ''}${isAutoDeleverage ? ', auto-deleverage' : ''}`;
  return `trade ${status}: ${isBuyer ? 'bought' : 'sold'} ${quantity} at ${price}, order ${orderId}${flags}`;
}

function accountLine(event: AccountEvent): string {
  return event.kind === 'PositionCleared' ? `position of market ${event.asset} cleared` : event.kind;
}

/** The first that was liquidated on the book, and the first with a cleared position if that is another. */
function shownOf(watched: readonly Watched[]): ReadonlySet<Watched> {
  const first = (part: RegExp): Watched[] =>
    watched.filter(({ lines }) => lines.some((line) => part.test(line))).slice(0, 1);
  const shown = new Set([...first(/, liquidation$/), ...first(/^position of market/)]);
  return shown.size > 0 ? shown : new Set(watched.slice(0, 1));
}

/** Plays it. @throws Error when the node does not do a part of it in time. */
export async function playCrash(options: CrashOptions): Promise<CrashReport> {
  const scenario = new CrashScenario(options);
  try {
    return await scenario.run();
  } finally {
    scenario.close();
  }
}
