// tier: quick
/** Nothing is approved beyond what the vault has (MON-05): the fact in the ledger, what it stops, and what ends it. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type HoldingsParts, type Units, VaultHoldings } from '../../../src/chain/vault-holdings.ts';
import { isApprovalStopped } from '../../../src/clearing/funds/vault-deviations.ts';
import type { WithdrawalRow } from '../../../src/clearing/rows.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { AssetId, ChainId } from '../../../src/core/ids.ts';
import { type Amount18, ONE_18 } from '../../../src/core/units.ts';
import { CHAINS, ChainsWorld, tokenOn } from '../../support/chains-world.ts';
import { acceptedValue, codeOf, PlainTables, reply } from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';

const [ONE, TWO] = CHAINS as [ChainId, ChainId];
const units = (amount: number): bigint => BigInt(amount) * ONE_18;

class DeviationWorld extends ChainsWorld {
  static filled(): DeviationWorld {
    const world = ChainsWorld.opened(2) as DeviationWorld;
    for (const at of [0, 1]) for (const one of [ALICE, BOB]) world.deposit(at, units(100), one);
    for (const at of [0, 1]) assert.equal(world.withdraw(at, units(30)), null);
    return world;
  }
}

function lacks(world: ChainsWorld, amount: bigint, chainId: ChainId = ONE): boolean {
  const input = { chainId, asset: USD, missing: amount as Amount18 };
  return (
    acceptedValue(reply(world.send({ kind: 'vaultDeviation', request: world.request(), ...input })))['is_stopped'] ===
    true
  );
}

function accept(world: ChainsWorld, amount: bigint, asset: AssetId = USD, chainId: ChainId = ONE): string | null {
  const input = { chainId, asset, amount: amount as Amount18 };
  return codeOf(reply(world.send({ kind: 'acceptDeviation', request: world.request(), ...input })));
}

function statuses(world: ChainsWorld): string[] {
  return world.rows().map(({ chainId, status }) => `${CHAINS.indexOf(chainId)} ${status}`);
}

suite('approvals beyond the vault (MON-05)', () => {
  test('while the vault lacks something, nothing of the asset is approved there; elsewhere it is', () => {
    const world = DeviationWorld.filled();
    assert.equal(lacks(world, 1n), true, 'the smallest shortage, as no tolerance is set');
    for (const at of [0, 1]) world.checkpoint(at);
    assert.deepEqual(statuses(world), ['0 filled', '1 signing']);
    world.cancel(world.rows()[0] as WithdrawalRow);
    assert.equal(world.wealth(), units(200), 'it may be cancelled meanwhile');
    assert.equal(world.withdraw(0, units(10)), null, 'and asked for: it waits');
    assert.equal(lacks(world, 0n), false);
    world.checkpoint(0);
    assert.deepEqual(statuses(world), ['0 cancelled', '1 signing', '0 signing']);
  });

  test('what was to be signed before is not published until it ends', () => {
    const world = DeviationWorld.filled();
    world.checkpoint(0);
    lacks(world, 5n);
    const { user, place, sequence } = world.rows()[0] as WithdrawalRow;
    const approval = { user, place, sequence, signatures: ['11'.repeat(65)] };
    const sign = (): string | null =>
      codeOf(reply(world.send({ kind: 'approvalSigned', request: world.request(), ...approval })));
    assert.equal(sign(), 'SERVICE_UNAVAILABLE');
    lacks(world, 0n);
    assert.equal(sign(), null);
    assert.equal(world.rows()[0]?.status, 'approved');
  });

  test('a tolerance is a share of what the ledger has there, and equal is allowed', () => {
    const world = DeviationWorld.filled();
    const body = { approval_deviation_tolerance: '0.05' };
    world.send({ kind: 'putConfig', request: 1, config: 'settings', key: '', method: 'patch', body });
    assert.equal(lacks(world, units(10)), false, '5 % of 200');
    assert.equal(lacks(world, units(10) + 1n), true);
    world.execute(1);
    assert.equal(isApprovalStopped(world.state, USD, TWO), false, 'of that chain alone');
  });

  test('an operator accepts so much; more stops again, and a shortage that has ended is accepted no longer', () => {
    const world = DeviationWorld.filled();
    lacks(world, units(3));
    assert.equal(accept(world, units(3) - 1n), null);
    assert.equal(isApprovalStopped(world.state, USD, ONE), true);
    assert.equal(accept(world, units(3)), null);
    assert.equal(isApprovalStopped(world.state, USD, ONE), false);
    world.checkpoint(0);
    assert.deepEqual(statuses(world)[0], '0 signing');
    assert.equal(lacks(world, units(3) + 1n), true);
    assert.equal(lacks(world, units(3)), false);
    lacks(world, 0n);
    assert.equal(lacks(world, 1n), true, 'another one');
    assert.equal(accept(world, 1n, '99' as AssetId), 'ASSET_NOT_FOUND');
    assert.equal(accept(world, 1n, USD, '000000000000000009' as ChainId), 'CHAIN_NOT_FOUND');
  });

  test('it is a fact: over a kill it is still stopped, and what is accepted is accepted', () => {
    const world = DeviationWorld.filled();
    const tables = new PlainTables();
    lacks(world, units(2));
    accept(world, units(1));
    for (const missing of [units(2), units(1)]) {
      lacks(world, missing);
      const hash = stateHash(world.state);
      tables.checkpoint(world.state);
      world.state = tables.load();
      assert.equal(stateHash(world.state), hash);
      assert.equal(isApprovalStopped(world.state, USD, ONE), missing > units(1));
    }
    lacks(world, 0n);
    tables.checkpoint(world.state);
    assert.equal(tables.load().vaultDeviations.size, 0);
  });
});

/** What is compared, of two tokens of the asset on the first chain, and one on the second. */
class Compared {
  readonly world = DeviationWorld.filled();
  readonly held = new Map<ChainId, Map<string, bigint> | null>();
  bookings: number | null = 0;
  readonly sent: string[] = [];
  readonly shown: string[] = [];
  readonly holdings: VaultHoldings;

  constructor() {
    const { world } = this;
    for (const at of [0, 1]) this.held.set(CHAINS[at] as ChainId, new Map([[tokenOn(at), units(200)]]));
    const parts: HoldingsParts = {
      registry: () => world.state,
      held: () => this.held as ReadonlyMap<ChainId, Units | null>,
      bookings: () => this.bookings,
      booked: async () => {
        const rows = [...world.state.vaultDeviations.values()];
        const deviations = rows.map((row) => ({
          ...row,
          isStopped: isApprovalStopped(world.state, row.asset, row.chainId),
        }));
        return { tokens: [...world.state.vaultTokens.values()], deviations };
      },
      lacks: async (chainId, asset, missing) => {
        this.sent.push(`${CHAINS.indexOf(chainId)} ${asset} ${missing / ONE_18}`);
        return lacks(world, missing, chainId);
      },
      changed: () => undefined,
      explained: () => new Map(),
      approvals: (chainId, asset, missing, isStopped) =>
        this.shown.push(`${CHAINS.indexOf(chainId)} ${asset} ${missing / ONE_18} ${isStopped}`),
    };
    this.holdings = new VaultHoldings(parts);
  }

  has(at: number, amount: number): void {
    this.held.get(CHAINS[at] as ChainId)?.set(tokenOn(at), units(amount));
  }
}

suite('what the chains show of vaults (MON-05, AMB-116)', () => {
  test('clearing gets what a vault lacks when it has changed; a surplus elsewhere does not stand for it', async () => {
    const compared = new Compared();
    await compared.holdings.compare();
    assert.deepEqual(compared.sent, []);
    compared.has(0, 195);
    compared.has(1, 300);
    for (let round = 0; round < 3; round += 1) await compared.holdings.compare();
    assert.deepEqual([compared.sent, compared.shown], [['0 0 5'], ['0 0 5 true']]);
    assert.equal(compared.holdings.isStopped(ONE, tokenOn(0)), true);
    assert.deepEqual(
      [compared.holdings.isStopped(TWO, tokenOn(1)), compared.holdings.isStopped(ONE, tokenOn(1))],
      [false, false],
    );
    assert.equal(compared.holdings.deviations.get(USD), units(95));
    accept(compared.world, units(5));
    await compared.holdings.compare();
    assert.deepEqual(compared.holdings.stops, []);
    assert.deepEqual([compared.sent.length, compared.shown.at(-1)], [1, '0 0 5 false']);
    compared.has(0, 200);
    await compared.holdings.compare();
    assert.deepEqual(compared.sent, ['0 0 5', '0 0 0']);
  });

  test('what is not known now proves nothing: no majority, or events that are being booked', async () => {
    const compared = new Compared();
    compared.has(0, 150);
    compared.bookings = null;
    await compared.holdings.compare();
    assert.deepEqual(compared.sent, []);
    compared.bookings = 1;
    await compared.holdings.compare();
    assert.deepEqual(compared.sent, ['0 0 50']);
    compared.held.set(ONE, null);
    await compared.holdings.compare();
    assert.equal(compared.holdings.stops.length, 1, 'stopped as before');
    assert.deepEqual(compared.sent, ['0 0 50']);
  });

  test('a node that starts has the stop of before from the ledger, and ends it when the vault has enough', async () => {
    const compared = new Compared();
    lacks(compared.world, units(7));
    compared.held.set(ONE, null);
    await compared.holdings.compare();
    assert.deepEqual(compared.shown, ['0 0 7 true']);
    compared.held.set(ONE, new Map([[tokenOn(0), units(200)]]));
    await compared.holdings.compare();
    assert.deepEqual([compared.sent, compared.shown.at(-1)], [['0 0 0'], '0 0 7 false']);
  });
});
