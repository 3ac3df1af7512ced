// tier: quick
/** A market that is full answers so, whatever has ended before: no slot is missing to an order that was let in. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { MarketFixture, only } from '../support/market-fixture.ts';
import { LIFE_NS, START_NS, type Told } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const ORDERS = 7;
const USERS = ['ada', 'bob', 'cyd'] as const;
const FAR_NS = 2n * LIFE_NS;

const step = fc.record({
  kind: fc.constantFrom(
    ...(['create', 'create', 'create', 'trigger', 'child', 'cancel', 'cancelAll', 'ask', 'wait', 'replace'] as const),
    ...(['trade', 'settle'] as const),
  ),
  user: fc.constantFrom(...USERS),
  idLength: fc.integer({ min: 3, max: 40 }),
  any: fc.nat({ max: 1_000 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A market of seven orders. */
class SmallMarket {
  readonly fixture = new MarketFixture({ ordersMax: ORDERS, firstCapacity: 1, rememberedIdsPerUserMax: 4 });
  accepted = 0;
  refused = 0;
  /** Every order that there ever was. */
  readonly #names: { user: string; id: string }[] = [];

  play({ kind, user, idLength, any }: Step): void {
    const { fixture } = this;
    const one = this.#names.at(-1 - (any % 12)) ?? { user, id: 'none' };
    const id = `${this.#names.length}`.padEnd(idLength, '-');
    const lifeNs = any % 3 === 0 ? 5n : LIFE_NS;
    if (kind === 'create')
      this.#created({ user, id }, fixture.buy(id, 2, 100, { user, lifeNs, postOnly: any % 2 === 0 }));
    else if (kind === 'trigger') this.#created({ user, id }, fixture.buy(id, 2, 90, { user, lifeNs, above: 99 }));
    else if (kind === 'child')
      this.#created({ user: one.user, id }, fixture.sell(id, 1, 300, { user: one.user, above: 99, parent: one.id }));
    else if (kind === 'trade') this.#created({ user: 'eve', id }, fixture.sell(id, 3, 100, { user: 'eve' }));
    else if (kind === 'cancel' || kind === 'ask') fixture.cancel(one.id, { user: one.user });
    else if (kind === 'cancelAll') fixture.cancelAll({ user });
    else if (kind === 'wait') fixture.wait(any % 16 === 0 ? LIFE_NS : 3n);
    else if (kind === 'settle') fixture.runTriggers();
    else fixture.replace(one.id, { user: one.user, price: 95 + (any % 10), timestampNs: START_NS + BigInt(any) });
  }

  #created(name: { user: string; id: string }, told: readonly Told[]): void {
    const isIn = only(told, 'accepted').length > 0;
    this[isIn ? 'accepted' : 'refused']++;
    if (isIn) this.#names.push(name);
  }

  /** Everything ends; then as many as there may be come in, and no more. */
  checkRoom(): void {
    const { fixture } = this;
    fixture.wait(FAR_NS);
    fixture.settleAll();
    const create = (i: number): unknown => fixture.buy(`last ${i}`, 1, 1, { user: 'fay' })[0]?.[0];
    for (let i = 0; i < ORDERS; i++) assert.equal(create(i), 'accepted');
    assert.equal(create(ORDERS), 'createRefused');
  }
}

suite('a full market', () => {
  test('whatever rests, waits, trades and ends in whatever order, there is space for as many orders as it may hold and none more (AMB-08)', () => {
    let [accepted, refused] = [0, 0];
    const playAll = (steps: readonly Step[]): void => {
      const market = new SmallMarket();
      for (const each of steps) market.play(each);
      market.checkRoom();
      accepted += market.accepted;
      refused += market.refused;
    };
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), playAll),
      propertyParameters(60),
    );
    assert.ok(accepted > 500 && refused > 500, `${accepted} came in, ${refused} did not`);
  });
});
