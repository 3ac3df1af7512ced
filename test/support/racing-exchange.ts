/**
 * A plain exchange (plain-exchange.ts) in which users also move money out of an account while their orders are on the way:
 * what an action takes is set aside at the gateway, booked by a plain clearing when its turn comes, and freed by the answer,
 * which the gateway receives at any time later.
 */

import assert from 'node:assert/strict';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { BOB } from './names.ts';
import { BASE, NOW } from './order-fixture.ts';
import { PlainExchange, USERS } from './plain-exchange.ts';

interface Action {
  readonly user: UserId;
  readonly asset: AssetId;
  readonly amount: bigint;
  readonly free: () => void;
}

export class RacingExchange extends PlainExchange {
  /** Sent, not answered. */
  readonly actions: Action[] = [];
  booked = 0;

  /** Of what is available from a third to four thirds. */
  transfer(pick: number): void {
    const user = USERS[pick % 2] ?? BOB;
    const asset = (pick >> 1) % 2 === 0 ? USD : BASE;
    const from = { user, subAccount: this.accountOf(user), asset };
    const { available } = this.manager.funds(from);
    const amount = ((available * BigInt(1 + ((pick >> 2) % 4))) / 3n) as Amount18;
    const taken = this.manager.setAsides.take({ from, amount, leaves: true }, NOW);
    const isCovered = amount <= available || amount <= 0n;
    // A margin account needs the capacity too, in which a booked action counts twice until its answer is received.
    const mayTake = isCovered && (taken.ok || from.subAccount === 0);
    assert.equal(taken.ok, mayTake, 'an action takes what is available, and no more');
    if (taken.ok && amount > 0n) this.actions.push({ user, asset, amount, free: taken.value.free });
  }

  /** Clearing's turn with the oldest action: books it, or as if it had found something else in the way. */
  decideAction(pick: number): void {
    const action = this.actions.shift();
    if (action === undefined) return;
    if (pick % 4 !== 0) this.#book(action);
    this.fromClearing.push(action.free);
  }

  #book({ user, asset, amount }: Action): void {
    const key = `${user}/${asset}`;
    const owned = ((this.owned.get(key) ?? 0n) - amount) as Amount18;
    assert.ok(owned >= 0n, 'what was set aside is there');
    this.owned.set(key, owned);
    this.booked += 1;
    const row = { user, subAccount: this.accountOf(user), asset, owned, locked: 0n as Amount18 };
    this.fromClearing.push(() => this.manager.onBalanceChanged(row));
  }

  override settle(): void {
    while (this.actions.length > 0) this.decideAction(1);
    super.settle();
  }
}
