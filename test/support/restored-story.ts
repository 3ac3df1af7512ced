/** What happens after a start, said to two doors; reads of everything that can be asked. */
import { type AssetId, USD } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_KIND, SIDE, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';
import type { OrderRequests } from '../../src/gateway/orders/intake.ts';
import type { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import type { PreparedCancel } from '../../src/gateway/orders/prepared.ts';
import type { ActionAnswer, Reply } from '../../src/gateway/orders/requests.ts';
import { source, usd } from './margin-desk.ts';
import { cancelRequest, createRequest, NO_HISTORY, NOW, replaceRequest } from './order-desk.ts';
import { orderPage } from './pages.ts';
import { ASSETS, definitionOf, LOT, type Restored, type RestoredDoors, USERS } from './restored-doors.ts';

const READS = 7;

/** What happens after a start, said to both doors. */
export class RestoredStory {
  readonly doors: RestoredDoors;
  #sequence = 1_000;
  #trade = 0;
  /** Orders of which nothing but a read has been heard, by index. */
  readonly #still: Set<number>;
  readonly #trades: { readonly marketIndex: number; readonly tradeId: number }[] = [];

  constructor(doors: RestoredDoors) {
    this.doors = doors;
    this.#still = new Set(doors.orders.keys());
  }

  step(what: number, pick: number): void {
    const steps: readonly (() => void)[] = [
      () => this.#end(pick),
      () => this.#match(pick),
      () => this.#match(pick),
      () => this.#decide(pick),
      () => this.#replaced(pick),
      () => this.#triggered(pick),
      () => this.#cancel(pick),
      () => this.#askReplace(pick),
      () => this.#create(pick),
      () => this.#create(pick),
      () => this.#cancelAll(pick),
      () => this.#table(pick),
      () => this.#read(pick),
      () => this.#record(pick),
    ];
    steps[what % steps.length]?.();
  }

  /** Everything that can be asked. */
  readAll(): void {
    for (let pick = 0; pick < USERS.length * READS; pick += 1) this.#read(pick);
    for (const index of this.doors.orders.keys()) this.#record(index);
  }

  #word(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  #pick(pick: number): Restored | undefined {
    return this.doors.orders[pick % this.doors.orders.length];
  }

  /** An order that has not been touched: after that the market would have to be followed. */
  #untouched(pick: number, isFit: (order: Restored) => boolean): Restored | undefined {
    const fit = [...this.#still].filter((index) => isFit(this.doors.orders[index] as Restored));
    const index = fit[pick % fit.length];
    if (index === undefined) return undefined;
    this.#still.delete(index);
    return this.doors.orders[index];
  }

  #end(pick: number): void {
    const order = this.#untouched(pick, () => true);
    if (order === undefined) return;
    const end = pick % 2 === 0 ? ORDER_END.userRequested : ORDER_END.expired;
    const word = { ...this.#about(order), end, faultReason: 0 as const };
    this.doors.both((manager) => manager.onEnded(word));
  }

  #about({ row }: Restored): { marketIndex: number; sequence: number; order: number; timeNs: TimestampNs } {
    return { marketIndex: row.marketIndex, sequence: this.#word(), order: row.orderSequence, timeNs: NOW };
  }

  /** One lot of two orders that rest. */
  #match(pick: number): void {
    const maker = this.#untouched(pick, rests);
    if (maker === undefined) return;
    const { marketIndex, side } = maker.row;
    const taker = this.#untouched(pick, (one) => {
      return rests(one) && one.row.marketIndex === marketIndex && one.row.side !== side;
    });
    if (taker === undefined) return;
    this.#trade += 1;
    const match = {
      ...{ marketIndex, sequence: this.#word(), tradeId: this.#trade, timeNs: NOW, takerSide: taker.row.side },
      ...{ makerOrder: maker.row.orderSequence, takerOrder: taker.row.orderSequence, price: maker.row.price },
      ...{ quantity: LOT as RawQuantity, makerFeeRate: -100, takerFeeRate: 500 },
    };
    this.#trades.push({ marketIndex, tradeId: this.#trade });
    this.doors.both((manager) => manager.onMatched(match));
  }

  #decide(pick: number): void {
    const trade = this.#trades.shift();
    const fees = { makerFee: 0n as Amount18, takerFee: usd('0.1') };
    const flags = { isLiquidation: false, isAutoDeleverage: false };
    this.doors.both((manager) => {
      if (trade !== undefined && pick % 3 === 0) {
        manager.onFillRolledBack({ ...trade, timeNs: NOW, makerReason: 10, takerReason: 1 });
      } else if (trade !== undefined) manager.onFillConfirmed({ ...trade, ...fees, ...flags, timeNs: NOW });
      for (const asset of ASSETS) {
        manager.onMarketDecided({ marketIndex: definitionOf(asset).marketIndex, sequence: this.#sequence });
      }
      manager.onJournalFlushed({ sequence: this.#sequence, checkpoint: this.#sequence - 3 });
    });
  }

  #replaced(pick: number): void {
    const order = this.#untouched(pick, rests);
    if (order === undefined) return;
    const price = (order.row.price + 5 * (pick % 9)) as RawPrice;
    const quantity = (order.row.quantity + LOT * (pick % 3)) as RawQuantity;
    const none = { triggerKind: TRIGGER.none, triggerPrice: 0 as RawPrice, timestampNs: NOW };
    const word = { ...this.#about(order), ...none, price, quantity };
    this.doors.both((manager) => manager.onReplaced(word));
  }

  #triggered(pick: number): void {
    const order = this.#untouched(pick, ({ row }) => row.triggerState === TRIGGER_STATE.dormant);
    if (order === undefined) return;
    const word = { ...this.#about(order), triggerPrice: order.row.triggerPrice, quantity: order.row.enabledQuantity };
    this.doors.both((manager) => manager.onTriggered(word));
  }

  #cancel(pick: number): void {
    const order = this.#pick(pick);
    if (order === undefined) return;
    const { user, row } = order;
    const request = cancelRequest(row.orderId, user);
    const cancel = { ...request.cancel, asset: assetOf(order) };
    this.doors.both((manager) => {
      const checked = manager.requests.checkCancel({ ...request, cancel }, { user, now: NOW, looksUp: true });
      if (!checked.ok) return checked.reject.code;
      return refuse(manager, order, (reply) => manager.requests.reserveCancel(checked.value, reply));
    });
  }

  #askReplace(pick: number): void {
    const order = this.#pick(pick);
    if (order === undefined) return;
    const { user, row } = order;
    const newQuantity = (row.quantity + LOT * (pick % 5)) as RawQuantity;
    const asked = replaceRequest({ user, orderId: row.orderId, newQuantity });
    this.doors.both((manager) => {
      const checked = manager.requests.checkReplace(
        { ...asked, asset: assetOf(order) },
        { user, now: NOW, looksUp: true },
      );
      if (!checked.ok) return checked.reject.code;
      return refuse(manager, order, (reply) => manager.requests.reserveReplace(checked.value, reply));
    });
  }

  #create(pick: number): void {
    const user = userAt(pick);
    const asset = ASSETS[pick % 2] as AssetId;
    const quantity = LOT * (1 + (pick % 40));
    // Some name an order that is there.
    const id = `order-${pick % 9}${pick % 2 === 0 ? '' : '-new'}`;
    const side = pick % 3 === 0 ? SIDE.buy : SIDE.sell;
    const account = pick % 5 === 0 ? 1 : 0;
    const signed = { baseAsset: { id: asset, text: asset }, account, isSpot: account === 0 };
    const request = createRequest({ user, id, side, price: 150_000, quantity }, signed);
    this.doors.both((manager) => {
      const checked = manager.requests.checkCreate(request, { user, now: NOW, looksUp: true });
      if (!checked.ok) return checked.reject.code;
      return refuse(manager, { definition: definitionOf(asset) }, (reply) => {
        const reserved = manager.requests.reserveCreate(checked.value, NOW, reply);
        return reserved.ok ? { ok: true, value: reserved.value.requestId } : reserved;
      });
    });
  }

  #cancelAll(pick: number): void {
    const user = userAt(pick);
    const orderIds = this.doors.orders.slice(0, 3).map(({ row }) => row.orderId);
    this.doors.both((manager) => [
      marketsOf(manager.requests.checkCancelAll({ user, assetId: null })),
      cancelsOf(manager.requests.ordersToCancel({ user, assetId: null, orderIds })),
    ]);
  }

  /** Clearing's word on a balance, a position, a price, a market. */
  #table(pick: number): void {
    const at = { user: userAt(pick), subAccount: 1, asset: ASSETS[pick % 2] as AssetId };
    this.doors.both((manager) => {
      if (pick % 4 === 0) manager.onBalanceChanged({ ...at, asset: USD, owned: usd(9_000), locked: usd(0) });
      else if (pick % 4 === 1) {
        manager.margin.onPositionChanged({ ...at, base: usd(pick % 5), quote: usd(-100), entry: usd(100) });
      } else if (pick % 4 === 2) manager.margin.onOraclePrice(at.asset, source(usd(1_900 + (pick % 7))));
      else manager.onMarketChanged({ ...definitionOf(at.asset), takerFeeRate: 500 + (pick % 3) });
    });
  }

  #read(pick: number): void {
    const user = userAt(pick);
    const subAccount = pick % 2;
    const asset = [USD, ...ASSETS][pick % 3] as AssetId;
    const page = { user, marketIndex: null, subAccounts: null, page: 0, limit: 100 };
    this.doors.both((manager) => {
      const reads: readonly (() => unknown)[] = [
        () => manager.funds({ user, subAccount, asset }),
        () => orderPage(manager, NO_HISTORY, { ...page, openOnly: true }),
        () => orderPage(manager, NO_HISTORY, { ...page, openOnly: false }),
        () => manager.inventory(user, null),
        () => manager.margin.capacity(user, 1, NOW),
        () => manager.margin.view(NOW).figures(user, null),
        () => manager.margin.view(NOW).positions(user, { assetId: null, subAccounts: null }, NOW),
      ];
      return reads[pick % READS]?.();
    });
  }

  #record(pick: number): void {
    const order = this.#pick(pick);
    if (order === undefined) return;
    const { user, row } = order;
    this.doors.both((manager) => manager.order({ user, marketIndex: row.marketIndex, orderId: row.orderId }));
  }
}

function userAt(pick: number): (typeof USERS)[number] {
  return USERS[Math.floor(pick / READS) % USERS.length] as (typeof USERS)[number];
}

function rests({ row }: Restored): boolean {
  const isLive = row.triggerState === TRIGGER_STATE.live && row.kind === ORDER_KIND.limit;
  return isLive && row.parentId === '' && row.quantity - row.filledQuantity >= LOT;
}

function assetOf({ definition }: Restored): { readonly id: AssetId; readonly text: string } {
  return { id: definition.assetId, text: definition.assetId };
}

/** A request whose market answers that it knows no such order. @returns what the sender was answered, or why not. */
function refuse(
  manager: OrderManager,
  { definition }: Pick<Restored, 'definition'>,
  reserve: (reply: Reply) => Outcome<number>,
): string | readonly ActionAnswer[] {
  const answers: ActionAnswer[] = [];
  const reserved = reserve({ answer: (answer) => answers.push(answer), hops: null });
  if (!reserved.ok) return reserved.reject.code;
  const { marketIndex } = definition;
  const rejectCode = REJECT_CODE.ORDER_NOT_FOUND;
  manager.requests.onAck({ requestId: reserved.value, marketIndex, sequence: 0, timeNs: NOW, rejectCode });
  return answers;
}

/** Without the markets themselves. */
function marketsOf(outcome: ReturnType<OrderRequests['checkCancelAll']>): unknown {
  return outcome.ok ? outcome.value.map(({ definition }) => definition.marketIndex) : outcome.reject.code;
}

function cancelsOf(outcome: Outcome<readonly PreparedCancel[]>): unknown {
  return outcome.ok
    ? outcome.value.map(({ market, orderId }) => [market.definition.marketIndex, orderId])
    : outcome.reject.code;
}
