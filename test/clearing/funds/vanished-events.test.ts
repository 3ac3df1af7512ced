// tier: quick
/** Payouts and settlements that a reorganisation has dropped, in clearing: taken back once, exactly; every step is checked by a full recount. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { AssetId, ChainId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18, SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import {
  acceptedValue,
  CHAIN,
  ClearingWorld,
  codeOf,
  PlainTables,
  reply,
  TOKEN,
  user,
} from '../../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../../support/names.ts';

const CHAIN_ID = CHAIN as ChainId;
const UNIT = 1_000_000n;
const ETH_TOKEN = '6b'.repeat(20).padEnd(64, '0');
const VAULT = `${'0d'.repeat(20).padEnd(64, '0')}@${CHAIN}`;
const TARGET = '7c'.repeat(20).padEnd(64, '0');
const SETTLER = user('5e');
const SIGNATURE = '11'.repeat(65);

class ReorgWorld extends ClearingWorld {
  readonly #next = new Map<UserId, number>();

  static opened(): ReorgWorld {
    const world = new ReorgWorld();
    const put = (config: 'chain' | 'vault' | 'settler', key: string, body: object): void => {
      world.send({ kind: 'putConfig', request: 1, config, key, method: 'put', body });
    };
    world.put('putAsset', USD, { symbol: 'USD', tokens: [{ token: TOKEN, chain_id: CHAIN, decimals: 6 }] });
    world.put('putAsset', ETH, { symbol: 'ETH', tokens: [{ token: ETH_TOKEN, chain_id: CHAIN, decimals: 18 }] });
    put('chain', CHAIN, { kind: 'simulated', approval_validity_s: 3_600 });
    put('vault', VAULT, { administrators: ['5d'.repeat(20)], quorum: 1 });
    put('settler', SETTLER, { chain_id: CHAIN, executor: 'e3'.repeat(20) });
    world.deposit(ALICE, TOKEN, 100n * UNIT);
    world.deposit(ALICE, ETH_TOKEN, 10n * ONE_18);
    world.deposit(BOB, TOKEN, 5_000n * UNIT);
    return world;
  }

  deposit(to: UserId, token: string, baseUnits: bigint): void {
    const depositNonce = this.#next.get(to) ?? 0;
    this.#next.set(to, depositNonce + 1);
    const tx = `${to.slice(0, 32)}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId: CHAIN_ID, tx, logIndex: 0, user: to, token, baseUnits, depositNonce };
    this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  withdraw(usd: string, nonce: number | null = null): string | null {
    const [whole = '0', parts = ''] = usd.split('.');
    const amount = (BigInt(whole) * ONE_18 + BigInt(parts.padEnd(18, '0'))) as Amount18;
    const terms = { token: TOKEN, chainId: CHAIN_ID, amount, target: TARGET, nonce, isShort: false };
    return codeOf(reply(this.send({ kind: 'withdraw', request: this.request(), user: ALICE, ...terms })));
  }

  /** The delay is over, and each row at its counter is approved. */
  approve(): void {
    this.nowNs = (this.nowNs + 3_600n * SECOND_NS) as TimestampNs;
    this.send({ kind: 'withdrawalsDue' });
    this.send({ kind: 'vaultCheckpoint', request: this.request(), chainId: CHAIN_ID, blockTime: 0 });
    for (const { row } of this.state.withdrawals.all()) {
      if (row.status !== 'signing') continue;
      const { place, sequence } = row;
      const name = { user: row.user, place, sequence, signatures: [SIGNATURE] };
      this.send({ kind: 'approvalSigned', request: this.request(), ...name });
    }
  }

  withdrew(nonce: number, usd: number): unknown {
    const event = { chainId: CHAIN_ID, user: ALICE, token: TOKEN, nonce, baseUnits: BigInt(usd) * UNIT };
    return acceptedValue(reply(this.send({ kind: 'withdrew', request: this.request(), ...event })))['result'];
  }

  payoutVanished(nonce: number, usd: number, counter: number): unknown {
    const event = { chainId: CHAIN_ID, user: ALICE, token: TOKEN, nonce, baseUnits: BigInt(usd) * UNIT, counter };
    return acceptedValue(reply(this.send({ kind: 'payoutVanished', request: this.request(), ...event })))['result'];
  }

  /** Gives 1 ETH for 3,000 USD, executed. */
  settled(nonce: number): void {
    const legs = { chainId: CHAIN_ID, mode: 'spot', tokenOut: ETH_TOKEN, tokenIn: TOKEN, settler: SETTLER } as const;
    const amounts = { amountOut: ONE_18 as Amount18, amountIn: (3_000n * ONE_18) as Amount18 };
    const terms = { user: ALICE, subAccount: 0, ...legs, ...amounts, vault: null, maker: null, expiresNs: null };
    this.send({ kind: 'settle', request: this.request(), ...terms, nonce, blockTime: 0, shortfall: null });
    const units = { baseUnitsOut: ONE_18, baseUnitsIn: 3_000n * UNIT };
    const event = { user: ALICE, subAccount: 0, nonce, ...legs, ...units };
    const answer = reply(this.send({ kind: 'settled', request: this.request(), ...event }));
    assert.deepEqual(acceptedValue(answer), { result: 'executed', next: nonce + 1 });
  }

  settlementVanished(nonce: number, counter: number): unknown {
    const legs = { tokenOut: ETH_TOKEN, baseUnitsOut: ONE_18, tokenIn: TOKEN, baseUnitsIn: 3_000n * UNIT };
    const event = { chainId: CHAIN_ID, user: ALICE, subAccount: 0, nonce, ...legs, counter };
    return acceptedValue(reply(this.send({ kind: 'settlementVanished', request: this.request(), ...event })))['result'];
  }

  statuses(): readonly string[] {
    return this.state.withdrawals.ofUser(ALICE).map(({ row }) => `${row.nonce} ${row.status}`);
  }

  /** Owned USD and ETH of Alice, and the units of both in the vault. */
  figures(): readonly string[] {
    const held = (token: string): bigint => this.state.vaultTokens.get(`${token}@${CHAIN}`)?.baseUnits ?? 0n;
    const owned = [USD, ETH].map((asset) => format18(this.owned(ALICE, asset as AssetId)));
    return [...owned, String(held(TOKEN) / UNIT), String(held(ETH_TOKEN) / ONE_18)];
  }
}

suite('events that a reorganisation has dropped', () => {
  test('AMB-74, NON-04: payouts are taken back into their rows, the highest counter first, each once; they are paid again or expire', () => {
    const world = ReorgWorld.opened();
    for (const [nonce, usd] of [20, 30].entries()) {
      assert.equal(world.withdraw(String(usd)), null);
      world.approve();
      assert.equal(world.withdrew(nonce, usd), 'executed');
    }
    assert.deepEqual(world.figures(), ['50', '10', '5050', '10']);
    assert.equal(world.payoutVanished(0, 20, 0), 'duplicate', 'not the highest');
    assert.equal(world.payoutVanished(1, 30, 2), 'duplicate', 'the counter of the vault has passed it');
    assert.equal(world.payoutVanished(1, 30, 0), 'restored');
    assert.equal(world.payoutVanished(1, 30, 0), 'duplicate');
    assert.equal(world.payoutVanished(0, 20, 0), 'restored');
    assert.deepEqual(world.statuses(), ['0 approved', '1 approved']);
    assert.deepEqual(world.figures(), ['50', '10', '5100', '10']);
    assert.equal(world.withdraw('1'), null);
    assert.deepEqual(world.statuses(), ['0 approved', '1 approved', '2 queued']);
    assert.equal(world.withdrew(0, 20), 'executed');
    assert.equal(world.withdrew(0, 20), 'duplicate');
    const [row] = [...world.state.withdrawals.all()].filter(({ row }) => row.status === 'approved');
    assert.ok(row !== undefined);
    const { place, sequence } = row.row;
    const lapse = { user: ALICE, place, sequence, blockTime: 2 ** 40, counter: 1 };
    world.send({ kind: 'approvalLapsed', request: world.request(), ...lapse });
    assert.deepEqual(world.statuses(), ['0 executed', '1 expired', '1 queued']);
    assert.deepEqual(world.figures(), ['79', '10', '5080', '10']);
  });

  test('AMB-74: without its row the counter follows the vault, and nothing is paid or returned', () => {
    const world = ReorgWorld.opened();
    world.withdraw('20');
    world.approve();
    world.withdrew(0, 20);
    assert.equal(world.payoutVanished(0, 21, 0), 'unknown');
    assert.deepEqual(world.figures(), ['80', '10', '5080', '10']);
    assert.equal(world.withdrew(0, 20), 'unmatched', 'it came again: the chain stops');
    assert.equal(world.withdraw('1', 0), null);
  });

  test('AMB-74, DEP-23: settlements are reversed, each once, below zero in account 0 for what was spent', () => {
    const world = ReorgWorld.opened();
    world.settled(0);
    world.settled(1);
    assert.deepEqual(world.figures(), ['6100', '8', '11100', '8']);
    assert.equal(world.withdraw('4100'), null);
    world.approve();
    assert.equal(world.withdrew(0, 4_100), 'executed');
    assert.deepEqual(world.figures(), ['2000', '8', '7000', '8']);
    assert.equal(world.settlementVanished(0, 0), 'duplicate', 'not the highest');
    assert.equal(world.settlementVanished(1, 2), 'duplicate', 'the counter of the vault has passed it');
    assert.equal(world.settlementVanished(1, 0), 'reversed');
    assert.equal(world.settlementVanished(1, 0), 'duplicate');
    assert.deepEqual(world.figures(), ['-1000', '9', '4000', '9']);
    assert.equal(world.settlementVanished(0, 0), 'reversed');
    assert.deepEqual(world.figures(), ['-4000', '10', '1000', '10']);
    assert.equal(world.withdraw('1'), 'INSUFFICIENT_INVENTORY');
    world.deposit(ALICE, TOKEN, 4_000n * UNIT);
    world.settled(0);
    assert.deepEqual(world.figures(), ['3000', '9', '8000', '9']);
  });

  test('AMB-85, DEP-23: withdrawals that no approval binds end before the balance is below zero', () => {
    const world = ReorgWorld.opened();
    world.settled(0);
    assert.equal(world.withdraw('2900'), null);
    assert.equal(world.withdraw('150'), null);
    assert.equal(world.settlementVanished(0, 0), 'reversed');
    assert.deepEqual(world.statuses(), ['0 cancelled', '1 cancelled']);
    assert.deepEqual(world.figures(), ['100', '10', '5100', '10']);
  });

  test('what was taken back survives a start as it was', () => {
    const world = ReorgWorld.opened();
    world.withdraw('20');
    world.approve();
    world.withdrew(0, 20);
    world.settled(0);
    world.payoutVanished(0, 20, 0);
    world.settlementVanished(0, 0);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
  });
});
