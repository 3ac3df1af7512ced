/**
 * A start with many resting orders, phase by phase in one thread: rows into clearing's memory, the recount, the mark of
 * the restart, what is sent, and its processing by gateway and market. CPU time, because a
 * start runs on three threads; `test/reliability/scale.ts` measures the time until the node is ready.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkLedger } from '../src/clearing/checks.ts';
import { applyBatch } from '../src/clearing/clearing.ts';
import type { EffectSinks, RecordSink } from '../src/clearing/effect-codec.ts';
import { recoverParts } from '../src/clearing/recovery.ts';
import { liveOrders, restore } from '../src/clearing/restoring.ts';
import type { ClearingState } from '../src/clearing/state.ts';
import { loadState } from '../src/clearing/tables.ts';
import { assert, must } from '../src/core/assert.ts';
import { SIDE } from '../src/core/order-terms.ts';
import type { TimestampNs } from '../src/core/units.ts';
import { type Views, viewsOf } from '../src/core/views.ts';
import { readBalance, readRestored, UserTexts } from '../src/gateway/event-codec.ts';
import { OrderManager } from '../src/gateway/orders/order-manager.ts';
import { HostedMarket } from '../src/matching/hosted-market.ts';
import { RestoredCommandReader } from '../src/matching/market-commands.ts';
import { type RetriedPublication, RetryBuffer } from '../src/runtime/retry-buffer.ts';
import { BalanceChanged, MarketRestored, OrderRecord, OrderRestoredAtBoot } from '../src/schema/generated/messages.ts';
import { LmdbDurability } from '../src/storage/lmdb-durability.ts';
import { LARGE_DATA_LOTS } from '../test/support/large-data.ts';
import { makeLargeRows } from '../test/support/large-rows.ts';
import { ID_KEY, NO_HISTORY, RecordingSink } from '../test/support/order-fixture.ts';
import type { BenchResult, BenchRow, Scale } from './bench-kit.ts';

const SIZES = {
  small: { users: 1_000, orders: 5_000, triggers: 1_000 },
  full: { users: 20_000, orders: 200_000, triggers: 40_000 },
} as const;
const TAPE_BYTES = 1 << 20;
const HASH_SEED = 1n;

/** Stores one record and passes it on. */
class Tape implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(TAPE_BYTES), 0, TAPE_BYTES);
  records = 0;
  readonly #received: (typeId: number, views: Views) => void;
  #typeId = 0;

  constructor(received: (typeId: number, views: Views) => void = () => undefined) {
    this.#received = received;
  }

  claim(typeId: number): number {
    this.#typeId = typeId;
    return 0;
  }

  commit(): void {
    this.records += 1;
    this.#received(this.#typeId, this.views);
  }
}

export async function run(scale: Scale): Promise<BenchResult> {
  const size = SIZES[scale];
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-bench-'));
  try {
    await makeLargeRows(directory, size);
    const durability = new LmdbDurability(directory);
    const rows: BenchRow[] = [];
    const timed = <T>(label: string, work: () => T): T => {
      const before = process.cpuUsage();
      const result = work();
      const { user, system } = process.cpuUsage(before);
      rows.push({ label, value: (user + system) / 1_000, unit: 'ms of CPU' });
      return result;
    };
    const recovery = durability.recover();
    const state = timed('rows into memory', () => loadState(recovery.rows));
    timed('recount', () => checkLedger(state));
    const mark = { kind: 'restarted', clean: false } as const;
    timed('mark of the restart', () =>
      applyBatch(state, { timeNs: recovery.lastTimeNs, inputs: [mark], verdicts: [] }, []),
    );
    const told = timed('rows into memory, and sent', () => walk(durability, new Tape(), new Tape()));
    const gateway = new GatewayReader(state);
    timed('the same, and the gateway', () => walk(durability, new Tape(gateway.received), new Tape()));
    const market = new MarketReader(state, recovery.lastTimeNs);
    timed('the same, and the markets', () => walk(durability, new Tape(), new Tape(market.received)));
    await durability.close();
    const orders = size.orders + size.triggers;
    assert(gateway.manager.ordersInMemory === orders, 'the gateway has every order');
    assert(market.lots() === size.orders * LARGE_DATA_LOTS, 'the books have every lot');
    const checks = `${orders} orders of ${size.users} users at the gateway and in the books, ${told} words`;
    return { name: 'recovery', rows, checks };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Clearing's part of a start, its mark apart. @returns the number of messages. */
function walk(durability: LmdbDurability, gateway: Tape, market: Tape): number {
  const recovery = durability.recover();
  const parts = recoverParts(recovery, {});
  let part = parts.next();
  while (part.done !== true) part = parts.next();
  const { state } = part.value;
  for (const _ of restore(state, liveOrders(state), sinksOf(gateway, market), {
    durability,
    nowNs: recovery.lastTimeNs,
  }));
  return gateway.records + market.records;
}

function sinksOf(gateway: Tape, market: Tape): EffectSinks {
  return { gateway, data: new Tape(), shards: [market], market: () => market };
}

/** The gateway's part that processes orders and balances. */
class GatewayReader {
  readonly #users = new UserTexts();
  readonly manager = new OrderManager({ sink: new RecordingSink(), history: NO_HISTORY, idKey: ID_KEY });

  constructor(state: ClearingState) {
    for (const { definition, sequence } of state.markets) this.manager.restoreMarket(definition, sequence);
  }

  readonly received = (typeId: number, v: Views): void => {
    if (typeId === OrderRestoredAtBoot.typeId)
      this.manager.restoreOrder(v, OrderRestoredAtBoot.orderAt, readRestored(v, 0));
    else if (typeId === BalanceChanged.typeId) this.manager.onBalanceChanged(readBalance(v, 0, this.#users));
  };
}

/** Market engines, and the opening of their books. */
class MarketReader {
  readonly #markets: readonly HostedMarket[];
  readonly #nowNs: TimestampNs;
  readonly #reader = new RestoredCommandReader();

  constructor(state: ClearingState, nowNs: TimestampNs) {
    const retryBuffer = new RetryBuffer(new DiscardingPublication());
    const to = { clearing: retryBuffer, gateway: retryBuffer, data: new DiscardingPublication() };
    const begin = { oraclePrice: null, hashSeed: HASH_SEED };
    this.#markets = state.markets.map(({ definition }) => new HostedMarket(definition, to, begin));
    this.#nowNs = nowNs;
  }

  readonly received = (typeId: number, v: Views): void => {
    if (typeId === OrderRestoredAtBoot.typeId) {
      const market = this.#at(OrderRecord.marketIndex(v, OrderRestoredAtBoot.orderAt));
      market.engine.restoreOrder(this.#reader.read(v, 0, market.moneyUnit));
    } else if (typeId === MarketRestored.typeId) {
      const position = { sequence: MarketRestored.sequence(v, 0), lastTradeId: MarketRestored.lastTradeId(v, 0) };
      this.#at(MarketRestored.marketIndex(v, 0)).finishRestore({ ...position, nowNs: this.#nowNs });
    }
  };

  lots(): number {
    let lots = 0;
    for (const { engine } of this.#markets) {
      for (const side of [SIDE.buy, SIDE.sell]) engine.forEachLevel(side, (_price, quantity) => (lots += quantity));
    }
    return lots;
  }

  #at(index: number): HostedMarket {
    return must(this.#markets[index], 'a word names a market');
  }
}

/** Accepts every record and discards it. */
class DiscardingPublication implements RetriedPublication {
  readonly views: Views = viewsOf(new ArrayBuffer(TAPE_BYTES), 0, TAPE_BYTES);

  claim(): number {
    return 0;
  }
  commit(): void {}
  flush(): void {}
  hasRoom(): boolean {
    return true;
  }
  wantRoom(): void {}
  needsResync(): boolean {
    return false;
  }
}
