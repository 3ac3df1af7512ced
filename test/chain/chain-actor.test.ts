// tier: quick
/** Simulated chains against a real clearing state: deposits are credited exactly once, whatever is killed when. */
import assert from 'node:assert/strict';
import { afterEach, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { DepositRequest } from '../../src/chain/chain-operations.ts';
import { PUBLIC_APPROVAL_ADDRESS } from '../../src/chain/key-file.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import {
  CHAIN_DEV,
  CHAIN_ONE,
  SEED_FUNDS,
  SEED_USER_A,
  SEED_USER_B,
  seedAddress,
} from '../../src/operator/seed-data.ts';
import { ClearingFixture, mined, refusal } from '../support/clearing-fixture.ts';
import { acceptedValue } from '../support/clearing-world.ts';

const DEV = CHAIN_DEV as ChainId;
const ONE = CHAIN_ONE as ChainId;
const USER = SEED_USER_A as UserId;
const UNIT = 10n ** 18n;
const DEPOSIT: DepositRequest = {
  user: USER,
  token: seedAddress('5a'),
  baseUnits: 5_000_000n,
  from: seedAddress('aa'),
  approve: true,
  senderAllowed: true,
  confirm: true,
};
const ON_ONE: DepositRequest = { ...DEPOSIT, token: seedAddress('c0') };

const started: ClearingFixture[] = [];

async function seeded(autoMine = false, minesByItself = false): Promise<ClearingFixture> {
  const fixture = await ClearingFixture.seeded(autoMine, minesByItself);
  started.push(fixture);
  return fixture;
}

async function head(fixture: ClearingFixture, chain: ChainId): Promise<number | null> {
  const vault = await fixture.chains.simulated.vault(chain);
  return vault.ok ? vault.value.head : null;
}

suite('chain actor', () => {
  afterEach(async () => {
    for (const fixture of started.splice(0)) {
      assert.deepEqual(fixture.failures, []);
      await fixture.chains.stop();
    }
  });

  test('a confirmed deposit is answered when it is credited, once, pooled into account 0 (DEP-10, AMT-06)', async () => {
    const fixture = await seeded();
    const answer = mined(await fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, baseUnits: 1_234_567n }));
    const { tx: _tx, ...rest } = answer;
    assert.equal(rest.status, 'mined');
    assert.deepEqual([rest.revert, rest.nonce, rest.head - (rest.block ?? 0)], [null, 0, 0]);
    assert.equal(fixture.usd(), 1_234_567_000_000_000_000n);
    assert.equal(fixture.deposits, 1);
    await fixture.chains.simulated.mine(DEV, 3);
    await fixture.restart();
    await fixture.chains.simulated.mine(DEV, 3);
    assert.equal(fixture.usd(), 1_234_567_000_000_000_000n);
    assert.deepEqual(await fixture.chains.simulated.counters(DEV, USER, 0), {
      ok: true,
      value: { depositCounts: 1, withdrawalCounts: 0, settlementCounts: 0 },
    });
  });

  test('with n−1 confirmations a deposit is not yet credited, with n it is (DEP-08, DEP-17)', async () => {
    const fixture = await seeded();
    const answer = mined(await fixture.chains.simulated.deposit(ONE, { ...ON_ONE, confirm: false }));
    assert.equal(answer.head, answer.block);
    await fixture.chains.simulated.mine(ONE, 2);
    assert.equal(fixture.usd(), 0n);
    await fixture.chains.simulated.mine(ONE, 1);
    assert.equal(fixture.usd(), 5n * UNIT);
    const confirmed = mined(await fixture.chains.simulated.deposit(ONE, ON_ONE));
    assert.equal(confirmed.head, (confirmed.block ?? 0) + 3);
    assert.equal(fixture.usd(), 10n * UNIT);
  });

  test("the confirmations of a vault override its chain's, at once (DEP-21)", async () => {
    const fixture = await seeded();
    const key = `${seedAddress('0e')}@${ONE}`;
    mined(await fixture.chains.simulated.deposit(ONE, { ...ON_ONE, confirm: false }));
    await fixture.put('vault', key, {
      administrators: [PUBLIC_APPROVAL_ADDRESS],
      quorum: 1,
      confirmations: { deposit: 1 },
    });
    assert.ok((await fixture.chains.simulated.vault(ONE)).ok);
    assert.equal(fixture.usd(), 5n * UNIT);
  });

  test('killed between the write of the chain and the credit, the deposit is credited once (DEP-10, AMB-74)', async () => {
    const fixture = await seeded();
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    const reached = new Promise<void>((resolve) => {
      fixture.fault = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    void fixture.chains.simulated.deposit(DEV, DEPOSIT);
    await reached;
    assert.equal(fixture.chains.isBusy(), true);
    assert.equal(fixture.usd(), 5n * UNIT);
    await fixture.restart();
    assert.equal(fixture.usd(), 10n * UNIT);
    assert.equal(mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT)).nonce, 2);
    assert.equal(fixture.usd(), 15n * UNIT);
  });

  test('killed between the credit and its answer, the deposit is not credited again (DEP-10)', async () => {
    const fixture = await seeded();
    const reached = new Promise<void>((resolve) => {
      fixture.fault = async (command) => {
        await fixture.command(command);
        resolve();
        return new Promise(() => undefined);
      };
    });
    void fixture.chains.simulated.deposit(DEV, DEPOSIT);
    await reached;
    assert.equal(fixture.usd(), 5n * UNIT);
    await fixture.restart();
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    assert.equal(fixture.usd(), 10n * UNIT);
  });

  test('a busy clearing gets it again, and credits once', async () => {
    const fixture = await seeded();
    let refusals = 2;
    fixture.fault = () => {
      refusals -= 1;
      return refusals >= 0 ? Promise.resolve(rejected(reject('SERVICE_UNAVAILABLE', 'busy'))) : null;
    };
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    assert.equal(fixture.usd(), 5n * UNIT);
    assert.equal(fixture.deposits, 1);
    assert.equal(fixture.chains.isBusy(), false);
  });

  test('deposits of many users at once are each credited, in the order of their counters', async () => {
    const fixture = await seeded();
    const users = [USER, SEED_USER_B as UserId];
    const calls = Array.from({ length: 20 }, (_, at) => ({
      ...DEPOSIT,
      user: users[at % 2] ?? USER,
      confirm: at % 3 > 0,
    }));
    const answers = await Promise.all(calls.map((call) => fixture.chains.simulated.deposit(DEV, call)));
    assert.deepEqual(
      answers.map((answer) => mined(answer).nonce),
      calls.map((_, at) => Math.floor(at / 2)),
    );
    for (const user of users) assert.equal(fixture.usd(user), 50n * UNIT);
    assert.equal(fixture.deposits, 20);
  });

  test('what the vault refuses is reverted and credits nothing (DEP-01, DEP-02, DEP-05)', async () => {
    const fixture = await seeded();
    const reverted = async (call: Partial<DepositRequest>): Promise<string | null> => {
      const answer = mined(await fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, ...call }));
      assert.equal(answer.status, 'reverted');
      return answer.revert;
    };
    assert.equal(await reverted({ approve: false }), 'TransferFromFailed');
    assert.equal(await reverted({ senderAllowed: false }), 'DepositorNotApproved');
    assert.equal(await reverted({ baseUnits: 0n }), 'ZeroAmount');
    assert.equal(await reverted({ baseUnits: 999_999n }), 'FirstDepositBelowMinimum');
    assert.equal(fixture.deposits, 0);
  });

  test('an unknown chain, vault or token is refused by its name, and nothing is mined', async () => {
    const fixture = await seeded();
    const bare = '0000000000000000ff';
    await fixture.put('chain', bare, { kind: 'simulated' });
    const before = await head(fixture, DEV);
    assert.equal(
      refusal(await fixture.chains.simulated.deposit('0000000000000000ee' as ChainId, DEPOSIT)),
      'CHAIN_NOT_FOUND',
    );
    assert.equal(refusal(await fixture.chains.simulated.deposit(bare as ChainId, DEPOSIT)), 'VAULT_NOT_FOUND');
    assert.equal(
      refusal(await fixture.chains.simulated.mint(DEV, { ...DEPOSIT, token: ON_ONE.token, to: DEPOSIT.from })),
      'ASSET_NOT_FOUND',
    );
    assert.equal(refusal(await fixture.chains.simulated.vault(bare as ChainId)), 'VAULT_NOT_FOUND');
    assert.equal(await head(fixture, DEV), before);
  });

  test('a token that is put later is known at once; minted balances are there, and spent by deposits', async () => {
    const fixture = await seeded();
    const mint = { token: seedAddress('99'), to: seedAddress('aa'), baseUnits: 7n };
    assert.equal(refusal(await fixture.chains.simulated.mint(DEV, mint)), 'ASSET_NOT_FOUND');
    const body = { symbol: 'NEW', tokens: [{ token: mint.token, chain_id: DEV, decimals: 0 }] };
    acceptedValue(await fixture.command({ kind: 'putAsset', method: 'put', assetId: '9' as AssetId, body }));
    mined(await fixture.chains.simulated.mint(DEV, mint));
    mined(await fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, token: mint.token, baseUnits: 5n }));
    assert.deepEqual(await fixture.chains.simulated.balance(DEV, mint.to, mint.token), { ok: true, value: 2n });
    assert.equal(fixture.world.owned(USER, '9' as AssetId), 5n * UNIT);
    const vault = await fixture.chains.simulated.vault(DEV);
    assert.ok(vault.ok);
    assert.equal(vault.value.vault, `${seedAddress('0d')}@${DEV}`);
    assert.deepEqual([...vault.value.balances], [[mint.token, 5n]]);
    assert.deepEqual([vault.value.administrators, vault.value.quorum], [[PUBLIC_APPROVAL_ADDRESS], 1]);
  });

  test('the deposits of the seed give A and B what operator-api.md 9 lists, before the transfers', async () => {
    const fixture = await seeded();
    for (const user of [SEED_USER_A, SEED_USER_B] as UserId[]) {
      for (const { token, decimals, deposit } of SEED_FUNDS) {
        const baseUnits = deposit * 10n ** BigInt(decimals);
        mined(await fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, user, token, baseUnits }));
      }
      const owned = ['0', '1', '2', '3'].map((asset) => fixture.world.owned(user, asset as AssetId));
      assert.deepEqual(owned, [1_000_000n * UNIT, 10n * UNIT, 200n * UNIT, 50_000n * UNIT]);
    }
  });

  test('blocks that are due are mined and confirm deposits; a chain never goes back over a restart', async () => {
    const fixture = await seeded(true);
    const answer = mined(await fixture.chains.simulated.deposit(ONE, { ...ON_ONE, confirm: false }));
    fixture.world.nowNs = (fixture.world.nowNs + 2_999_999_999n) as typeof fixture.world.nowNs;
    assert.equal(await head(fixture, ONE), answer.head + 2);
    assert.equal(fixture.usd(), 0n);
    fixture.world.nowNs = (fixture.world.nowNs + 1n) as typeof fixture.world.nowNs;
    assert.equal(await head(fixture, ONE), answer.head + 3);
    assert.equal(fixture.usd(), 5n * UNIT);
    await fixture.restart();
    assert.equal(await head(fixture, ONE), answer.head + 3);
  });

  test('the timer mines what is due and credits what that confirms, by itself', async () => {
    const fixture = await seeded(true, true);
    mined(await fixture.chains.simulated.deposit(ONE, { ...ON_ONE, confirm: false }));
    fixture.world.nowNs = (fixture.world.nowNs + 3_000_000_000n) as typeof fixture.world.nowNs;
    while (fixture.usd() === 0n) await wait(10);
    assert.equal(fixture.usd(), 5n * UNIT);
  });

  test('every configured provider is listed, without a fault', async () => {
    const fixture = await seeded();
    const providers = await fixture.chains.simulated.providers(DEV);
    assert.ok(providers.ok);
    assert.deepEqual(
      providers.value,
      [0, 1, 2].map((provider) => ({ provider, fault: 'none' })),
    );
  });

  test('after a stop nothing is begun', async () => {
    const fixture = await seeded();
    await fixture.chains.stop();
    assert.equal(refusal(await fixture.chains.simulated.deposit(DEV, DEPOSIT)), 'SERVICE_UNAVAILABLE');
    assert.equal(fixture.chains.isBusy(), false);
  });

  test('a node that was off for a month starts without a word: nothing else calls a simulated vault (AMB-85)', async () => {
    const fixture = await seeded();
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    fixture.world.nowNs = (fixture.world.nowNs + 30n * 86_400_000_000_000n) as typeof fixture.world.nowNs;
    await fixture.restart();
    const vault = await fixture.chains.simulated.vault(DEV);
    assert.ok(vault.ok);
    assert.deepEqual([vault.value.escapeMode, vault.value.lastCheckpointNs], [false, fixture.world.nowNs]);

    assert.ok((await fixture.chains.simulated.escape(DEV)).ok);
    await assert.rejects(fixture.restart(), /is in escape mode/);
    fixture.acceptsEscape = [DEV];
    await fixture.restart();
    const ended = await fixture.chains.simulated.vault(DEV);
    assert.equal(ended.ok && ended.value.escapeMode, false);
  });

  test('a deposit of a token that no asset has is mined and unclaimed, and no deviation once it is registered (AMB-74, AMB-116)', async () => {
    const fixture = await seeded();
    const token = seedAddress('98');
    const answer = mined(await fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, token, baseUnits: 5n }));
    assert.deepEqual([answer.status, answer.nonce], ['mined', 0]);
    assert.equal(fixture.world.state.unclaimed.size, 1);
    const body = { symbol: 'NEW', tokens: [{ token, chain_id: DEV, decimals: 0 }] };
    acceptedValue(await fixture.command({ kind: 'putAsset', method: 'put', assetId: '9' as AssetId, body }));
    assert.equal((await fixture.chains.deviations()).get('9' as AssetId), 0n);
    const credit = { kind: 'creditUnclaimed', chainId: DEV, user: USER, counter: 0 } as const;
    acceptedValue(await fixture.command(credit));
    assert.equal(fixture.world.owned(USER, '9' as AssetId), 5n * UNIT);
    assert.equal((await fixture.chains.deviations()).get('9' as AssetId), 0n);
  });
});
