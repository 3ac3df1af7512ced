// tier: quick, 8 s
/** Simulated chains and approvals when another node takes over (cluster.md 8): one directory for all, a name for each epoch. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { DepositRequest } from '../../src/chain/chain-operations.ts';
import { openSharedChains } from '../../src/chain/shared-chains.ts';
import { emptyChain, SimulatedChain } from '../../src/chain/simulated-chain.ts';
import { freshCursor } from '../../src/clearing/funds/chain-cursor.ts';
import type { OperatorCommand } from '../../src/clearing/inputs.ts';
import type { WithdrawalRow } from '../../src/clearing/rows.ts';
import type { ChainId, UserId } from '../../src/core/ids.ts';
import { rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import type { Amount18, TimestampNs } from '../../src/core/units.ts';
import { CHAIN_DEV, SEED_USER_A, SEED_USER_B, seedAddress } from '../../src/operator/seed-data.ts';
import { ClearingFixture, mined, refusal } from '../support/clearing-fixture.ts';
import { propertyParameters } from '../support/property.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const DEV = CHAIN_DEV as ChainId;
const USER = SEED_USER_A as UserId;
const OTHER = SEED_USER_B as UserId;
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
const GONE = rejected(reject('SERVICE_UNAVAILABLE', 'the leader is gone'));
const leads = (): boolean => true;

/** A cluster whose first leader has opened the chains of the seed. */
async function cluster(): Promise<ClearingFixture> {
  const fixture = await ClearingFixture.seeded();
  await fixture.chains.stop();
  await fixture.takeOver(1, leads);
  return fixture;
}

suite('chains that a cluster shares', () => {
  test('the next leader reads what the one before wrote, and nothing that it writes later', async () => {
    const directory = join(temporaryDirectory(), 'not', 'there', 'yet');
    const first = await openSharedChains(directory, 3);
    const chain = new SimulatedChain(emptyChain(DEV, 0n));
    chain.mine(2, 0n);
    await first.save(chain.state());
    await first.cursors.save(DEV, 'deposit', { ...freshCursor('0d'.repeat(20)), nextBlock: 2 });
    const second = await openSharedChains(directory, 5);
    assert.equal((await second.load(DEV))?.head, 2);
    assert.equal((await second.cursors.load(DEV, 'deposit'))?.nextBlock, 2);
    chain.mine(5, 0n);
    await first.save(chain.state());
    await first.cursors.save(DEV, 'deposit', { ...freshCursor('0d'.repeat(20)), nextBlock: 7 });
    assert.equal((await second.load(DEV))?.head, 2);
    assert.equal((await (await openSharedChains(directory, 5)).load(DEV))?.head, 2, 'its own name is opened as it is');
    assert.equal((await (await openSharedChains(directory, 6)).load(DEV))?.head, 2, 'the newest before is copied');
    assert.equal((await second.cursors.load(DEV, 'deposit'))?.nextBlock, 2);
    assert.deepEqual(readdirSync(directory).sort(), ['epoch-5', 'epoch-6'], 'the own one and the one before are kept');
  });

  test('chains of a node that was alone are taken as they are', async () => {
    const fixture = await ClearingFixture.seeded();
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    await fixture.chains.stop();
    await fixture.takeOver(1, leads);
    assert.equal(fixture.usd(), 5n * UNIT);
    assert.equal((await fixture.chains.simulated.counters(DEV, USER, 0)).ok, true);
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    assert.equal(fixture.usd(), 10n * UNIT);
    assert.deepEqual(fixture.failures, []);
    await fixture.chains.stop();
  });

  test('any writes by leaders that are over, in any order, are of no later leader', async () => {
    const step = fc.record({ by: fc.nat(3), blocks: fc.integer({ min: 1, max: 3 }), takesOver: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        const directory = temporaryDirectory();
        let epoch = 1;
        const leaders = [{ epoch, files: await openSharedChains(directory, epoch), head: 0 }];
        for (const { by, blocks, takesOver } of steps) {
          const writer = leaders[leaders.length - 1 - (by % leaders.length)];
          assert.ok(writer !== undefined);
          writer.head += blocks;
          const chain = new SimulatedChain(emptyChain(DEV, 0n));
          chain.mine(writer.head, 0n);
          await writer.files.save(chain.state());
          const leader = leaders.at(-1);
          assert.ok(leader !== undefined);
          assert.equal((await leader.files.load(DEV))?.head ?? 0, leader.head);
          if (!takesOver) continue;
          epoch += 1;
          const files = await openSharedChains(directory, epoch);
          assert.equal((await files.load(DEV))?.head ?? 0, leader.head, 'the leader of before, as it is now');
          leaders.push({ epoch, files, head: leader.head });
        }
        rmSync(directory, { recursive: true });
      }),
      propertyParameters(10),
    );
  });
});

suite('a takeover', () => {
  test('what was not credited is, what was is not again; without a cursor too', async () => {
    const fixture = await cluster();
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    // The leader dies before the record of this one is stored.
    fixture.fault = (command) => (command.kind === 'deposit' ? new Promise(() => undefined) : null);
    void fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, baseUnits: 7_000_000n });
    const file = join(fixture.directory, 'epoch-1', 'chains', `${DEV}.json`);
    while (!existsSync(file) || (await (await openSharedChains(fixture.directory, 1)).load(DEV))?.transactions !== 2)
      await new Promise((done) => setTimeout(done, 2));
    assert.equal(fixture.usd(), 5n * UNIT);
    fixture.fault = null;
    await fixture.takeOver(2, leads);
    assert.equal(fixture.usd(), 12n * UNIT);
    await fixture.chains.stop();
    rmSync(join(fixture.directory, 'epoch-2', 'evm'), { recursive: true });
    await fixture.takeOver(3, leads);
    assert.equal(fixture.usd(), 12n * UNIT);
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    assert.equal(fixture.usd(), 17n * UNIT);
    assert.deepEqual([fixture.failures, fixture.stops], [[], []]);
    await fixture.chains.stop();
  });

  test('a leader without its lease mines nothing and answers no call; with it again it goes on', async () => {
    const fixture = await cluster();
    let hasLease = true;
    await fixture.chains.stop();
    await fixture.takeOver(2, () => hasLease);
    mined(await fixture.chains.simulated.deposit(DEV, DEPOSIT));
    hasLease = false;
    const { simulated } = fixture.chains;
    assert.equal(refusal(await simulated.deposit(DEV, DEPOSIT)), 'SERVICE_UNAVAILABLE');
    assert.equal(refusal(await simulated.mine(DEV, 1)), 'SERVICE_UNAVAILABLE');
    fixture.world.nowNs = (fixture.world.nowNs + 3_600n * 1_000_000_000n) as TimestampNs;
    fixture.chains.wake();
    assert.equal(fixture.chains.isBusy(), false);
    assert.equal(fixture.usd(), 5n * UNIT);
    hasLease = true;
    mined(await simulated.deposit(DEV, DEPOSIT));
    assert.equal(fixture.usd(), 10n * UNIT);
    // The lease ends while a transaction is mined: another leader may have the chain from before.
    fixture.fault = (command) => {
      if (command.kind === 'deposit') hasLease = false;
      return null;
    };
    assert.equal(refusal(await simulated.deposit(DEV, DEPOSIT)), 'TIMEOUT_UNKNOWN_STATE');
    assert.deepEqual(fixture.failures, []);
    await fixture.chains.stop();
  });

  test('of one counter of a vault the leaders sign the same bytes, whatever of them is stored', {
    timeout: 60_000,
  }, async () => {
    const event = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('withdraw' as const), user: fc.constantFrom(USER, OTHER) }),
      },
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant('pass' as const), s: fc.integer({ min: 1, max: 4_000 }) }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('takeOver' as const) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('lose' as const), isLost: fc.boolean() }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('payOut' as const), user: fc.constantFrom(USER, OTHER) }) },
    );
    const seen = { signed: 0, again: 0, paid: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 40 }), async (events) => {
        const fixture = await cluster();
        for (const user of [USER, OTHER])
          mined(await fixture.chains.simulated.deposit(DEV, { ...DEPOSIT, user, baseUnits: 500_000_000n }));
        const rows = (): readonly WithdrawalRow[] => [...fixture.world.state.withdrawals.all()].map(({ row }) => row);
        /** By counter: what was signed last, and until when that is valid. */
        const signed = new Map<string, { readonly bytes: string; readonly validUntil: number }>();
        let isLost = false;
        fixture.fault = (command: OperatorCommand) => {
          if (command.kind !== 'approvalSigned') return null;
          const row = rows().find(
            ({ user, place, sequence }) =>
              user === command.user && place === command.place && sequence === command.sequence,
          );
          assert.ok(row !== undefined, 'only a stored row is signed');
          assert.equal(row.status, 'signing', 'a row is signed when its checkpoint is stored');
          const key = `${row.user}/${row.nonce}`;
          const bytes = command.signatures.join();
          const before = signed.get(key);
          if (before !== undefined && before.bytes !== bytes)
            assert.ok(before.validUntil < row.validUntil - 3_600 + 1, 'the one before has ended');
          if (before?.bytes === bytes) seen.again += 1;
          signed.set(key, { bytes, validUntil: row.validUntil });
          seen.signed += 1;
          return isLost ? Promise.resolve(GONE) : null;
        };
        let epoch = 1;
        for (const one of events) {
          switch (one.kind) {
            case 'withdraw':
              fixture.world.send({
                ...{ kind: 'withdraw', request: fixture.world.request(), user: one.user, token: DEPOSIT.token },
                ...{ chainId: DEV, amount: UNIT as Amount18, target: seedAddress('7c'), nonce: null, isShort: false },
              });
              break;
            case 'pass': {
              fixture.world.nowNs = (fixture.world.nowNs + BigInt(one.s) * 1_000_000_000n) as TimestampNs;
              fixture.world.send({ kind: 'withdrawalsDue' });
              for (const row of rows()) fixture.chains.onClearingEvent({ kind: 'withdrawalChanged', row });
              await fixture.chains.simulated.mine(DEV, 1);
              break;
            }
            case 'takeOver':
              // The one before dies with its memory, at any point of its steps.
              epoch += 1;
              void fixture.chains.stop();
              await fixture.takeOver(epoch, leads);
              for (const row of rows()) fixture.chains.onClearingEvent({ kind: 'withdrawalChanged', row });
              break;
            case 'lose':
              isLost = one.isLost;
              break;
            case 'payOut': {
              const row = rows().find(({ user, status }) => user === one.user && status === 'approved');
              if (row === undefined) break;
              const { user, nonce } = row;
              const call = { user, nonce, overrides: {}, confirm: true };
              const paid = await fixture.chains.simulated.withdraw(DEV, call);
              if (paid.ok && paid.value.status === 'mined') seen.paid += 1;
            }
          }
        }
        assert.deepEqual(fixture.failures, []);
        await fixture.chains.stop();
        rmSync(fixture.directory, { recursive: true });
      }),
      propertyParameters(12),
    );
    assert.ok(seen.signed > 0 && seen.paid > 0 && seen.again > 0, JSON.stringify(seen));
  });
});
