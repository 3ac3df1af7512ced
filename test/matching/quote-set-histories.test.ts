// tier: quick
/**
 * Quote sets against fills, decisions of clearing that come late, and cancels, in random histories: beside a plain model of what rests, and beside
 * what clearing counts, which decides every fill at once (QTE-01, QTE-02, QTE-07, QTE-08).
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { MarketFixture } from '../support/market-fixture.ts';
import { BUY, SELL, type Told } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const PRICES = { 0: [100, 99, 98], 1: [101, 102, 103] } as const;
type Side = typeof BUY | typeof SELL;

type Step =
  | { readonly act: 'quotes'; readonly bids: readonly number[]; readonly asks: readonly number[]; readonly lag: number }
  | { readonly act: 'take'; readonly side: Side; readonly lots: number; readonly confirms: boolean }
  | { readonly act: 'decide' }
  | { readonly act: 'cancel'; readonly side: Side; readonly place: number };

const lots = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 3 });
const side = fc.constantFrom<Side>(BUY, SELL);
const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant('quotes' as const), bids: lots, asks: lots, lag: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('take' as const),
      side,
      lots: fc.integer({ min: 1, max: 8 }),
      confirms: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('decide' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), side, place: fc.nat(2) }) },
);

interface Entry {
  rests: number;
  isOver: boolean;
}

interface Trade {
  readonly told: Told;
  readonly entry: Entry;
  readonly revision: number;
  readonly lots: number;
  readonly confirms: boolean;
}

class History {
  readonly fixture: MarketFixture = new MarketFixture();
  /** What rests, by side and price. */
  readonly #entries: Record<Side, Map<number, Entry>> = {
    0: new Map<number, Entry>(),
    1: new Map<number, Entry>(),
  };
  /** What rests of each order as clearing counts it. */
  readonly #counted = new Map<number, { readonly side: Side; readonly price: number; rests: number }>();
  readonly #ids = new Map<number, string>();
  readonly #traded: Readonly<Record<Side, number[]>> = { 0: [0], 1: [0] };
  readonly #pending: Trade[] = [];
  #revision = 0;
  #takers = 0;

  do(step: Step): void {
    if (step.act === 'quotes') this.#quotes(step);
    else if (step.act === 'take') this.#take(step);
    else if (step.act === 'decide') this.#decide();
    else this.#cancel(step);
    for (const of of [BUY, SELL] as const) assert.deepEqual(this.fixture.levels(of), this.#levels(of), step.act);
  }

  /** Clearing's last decisions arrive: then its count is what rests, as behind a crash. */
  settle(): void {
    while (this.#pending.length > 0) this.do({ act: 'decide' });
    for (const of of [BUY, SELL] as const) {
      const counted = [...this.#counted.values()].filter(({ side: own, rests }) => own === of && rests > 0);
      const sum = new Map<number, number>();
      for (const { price, rests } of counted) sum.set(price, (sum.get(price) ?? 0) + rests);
      const expected = [...sum].sort(([a], [b]) => (of === BUY ? b - a : a - b));
      assert.deepEqual(this.fixture.levels(of), expected, 'what clearing counts');
    }
  }

  #levels(of: Side): [number, number][] {
    return PRICES[of].flatMap((price) => {
      const rests = this.#entries[of].get(price)?.rests ?? 0;
      return rests > 0 ? [[price, rests] as [number, number]] : [];
    });
  }

  #quotes({ bids, asks, lag }: Extract<Step, { act: 'quotes' }>): void {
    this.fixture.wait(1n);
    this.#revision += 1;
    const seen = { 0: 0, 1: 0 };
    const sent = { 0: [] as [number, number][], 1: [] as [number, number][] };
    for (const [of, wanted] of [
      [BUY, bids],
      [SELL, asks],
    ] as const) {
      const counts = this.#traded[of];
      const total = counts.at(-1) as number;
      seen[of] = counts.at(-1 - Math.min(lag, counts.length - 1)) as number;
      sent[of] = PRICES[of].flatMap((price, at) => ((wanted[at] ?? 0) > 0 ? [[price, wanted[at] as number]] : []));
      let unseen = total - seen[of];
      const rests = new Map(sent[of]);
      for (const [price, quantity] of [...sent[of]].reverse()) {
        const off = Math.min(unseen, quantity);
        rests.set(price, quantity - off);
        unseen -= off;
      }
      const now = new Map<number, Entry>();
      for (const [price, quantity] of rests) {
        if (quantity === 0) continue;
        const kept = this.#entries[of].get(price);
        const isKept = kept !== undefined && kept.rests > 0;
        now.set(price, isKept ? kept : { rests: 0, isOver: false });
        (now.get(price) as Entry).rests = quantity;
      }
      for (const [price, entry] of this.#entries[of]) if (now.get(price) !== entry) entry.isOver = true;
      this.#entries[of] = now;
    }
    const told = this.fixture.quotes(sent[BUY], sent[SELL], { boughtSeen: seen[BUY], soldSeen: seen[SELL] });
    for (const [name, of, price, order, , rests, number] of told as [
      string,
      Side,
      number,
      number,
      number,
      number,
      number,
    ][]) {
      if (name === 'quoteCreated') {
        this.#counted.set(order, { side: of, price, rests });
        this.#ids.set(order, `mm:${number}`);
      } else if (name === 'quoteResized' || name === 'quoteKept') {
        const counted = this.#counted.get(order);
        assert.ok(counted !== undefined, 'what is changed is known');
        counted.rests = rests;
      } else if (name === 'quoteLeft' || name === 'quoteOut') this.#counted.delete(order);
    }
  }

  #take({ side: of, lots: wanted, confirms }: Extract<Step, { act: 'take' }>): void {
    this.#takers += 1;
    const words = { user: 'eve', tif: TIF.ioc };
    const name = `t${this.#takers}`;
    const told = of === BUY ? this.fixture.sell(name, wanted, 98, words) : this.fixture.buy(name, wanted, 103, words);
    for (const event of told) {
      const [kind, , , maker, , price, quantity] = event as [string, number, number, number, number, number, number];
      if (kind !== 'matched') continue;
      const entry = this.#entries[of].get(price);
      assert.ok(entry !== undefined, 'only entries rest');
      entry.rests -= quantity;
      this.#traded[of].push((this.#traded[of].at(-1) as number) + quantity);
      this.#pending.push({ told: event, entry, revision: this.#revision, lots: quantity, confirms });
      const counted = this.#counted.get(maker);
      assert.ok(counted !== undefined, 'a fill is of an entry that clearing has');
      if (confirms) counted.rests -= quantity;
    }
  }

  #decide(): void {
    const trade = this.#pending.shift();
    if (trade === undefined) return;
    const { told, entry, revision, lots: quantity, confirms } = trade;
    const tradeId = told[2] as number;
    if (!confirms) {
      const { counterpartyAtFault, insufficientInventory } = ROLLBACK_REASON;
      this.fixture.rollback(told, counterpartyAtFault, insufficientInventory);
      // Of an earlier revision, or of an entry that is over, nothing comes back.
      if (revision === this.#revision && !entry.isOver) entry.rests += quantity;
    }
    this.fixture.engine.settled(tradeId);
    this.fixture.engine.checkInvariants();
  }

  #cancel({ side: of, place }: Extract<Step, { act: 'cancel' }>): void {
    const price = PRICES[of][place] as number;
    const entry = this.#entries[of].get(price);
    if (entry === undefined || entry.rests === 0) return;
    const found = [...this.#counted].filter(([, counted]) => counted.side === of && counted.price === price);
    for (const [order] of found) {
      const told = this.fixture.cancel(this.#ids.get(order) as string);
      if (!told.some(([name]) => name === 'ended')) continue;
      this.#counted.delete(order);
      entry.rests = 0;
      entry.isOver = true;
    }
  }
}

suite('histories of quote sets', () => {
  test('QTE-07: the book is what a plain model says, and clearing counts the same once all is decided', () => {
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 1, maxLength: 40 }), (steps) => {
        const history = new History();
        for (const step of steps) history.do(step);
        history.settle();
      }),
      propertyParameters(400),
    );
  });
});
