// tier: quick
/** The approval signer: the vectors of wire.md 13, one live approval for a counter, limits, and files of keys. */

import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  APPROVALS_PER_HOUR_MAX,
  KeySigner,
  SETTLEMENTS_PER_USER_HOUR_MAX,
  type SigningRequest,
} from '../../src/chain/approval-signer.ts';
import { approvedBefore } from '../../src/chain/approved-before.ts';
import { readKeyFile } from '../../src/chain/key-file.ts';
import { WithdrawalApprovals, withdrawalRequest } from '../../src/chain/withdrawal-approvals.ts';
import type { SignedApprovalRow, WithdrawalRow } from '../../src/clearing/rows.ts';
import type { ChainId, UserId } from '../../src/core/ids.ts';
import { accepted } from '../../src/core/outcome.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { propertyParameters } from '../support/property.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { USER_42 } from '../support/wire-vectors.ts';

const address = (byte: string): string => byte.repeat(20).padEnd(64, '0');
const CHAIN = '000000000000007a69' as ChainId;
const KEY = 'a1'.repeat(32);
const ADMINISTRATOR = '5d5c99edf529335160ff180fa141dd4967fc00d2';
const SIGNATURE =
  '5ecc2d8ad5d92a87250d6bf133d61526ddc1d5e3b4db63ebc13b5832c950726776c9552685b6f3aec252dec450af195f0f77b00c7702a767ba6605f4134d4e131b';
const APPROVAL = {
  token: address('5a'),
  baseUnits: 1_000n,
  user: USER_42 as UserId,
  nonce: 0n,
  validUntil: 1_900_000_000n,
  epochHash: 'ee'.repeat(32),
  target: address('7c'),
};
const VAULT = { key: `${address('0d')}@${CHAIN}`, address: address('0d'), administrators: [ADMINISTRATOR], quorum: 1 };
type WithdrawalRequest = Extract<SigningRequest, { kind: 'withdrawal' }>;
const REQUEST: WithdrawalRequest = {
  kind: 'withdrawal',
  chainId: CHAIN,
  vault: VAULT,
  approval: APPROVAL,
  validFrom: 1_900_000_000 - 3_600,
};

const ROW = {
  ...{ user: USER_42, place: 0, sequence: 1, chainId: CHAIN, token: APPROVAL.token, asset: '0', status: 'signing' },
  ...{ target: APPROVAL.target, epochHash: APPROVAL.epochHash, nonce: 0, validUntil: 0, payout: 0n },
} as unknown as WithdrawalRow;

type SettlementRequest = Extract<SigningRequest, { kind: 'settlement' }>;
const SETTLEMENT_SIGNATURE =
  '49b5c840ead9548c38f5a4449fea7fd3bd4f51af872181d011e827f5162f48757abdabff22cd6d33d50eb447ef87d3b03c665aa64ee626726161b04b5f5aa2c61c';
const SETTLEMENT: SettlementRequest = {
  kind: 'settlement',
  chainId: CHAIN,
  vault: VAULT,
  approval: {
    tokenOut: address('6b'),
    baseUnitsOut: 2_500n,
    tokenIn: address('5a'),
    baseUnitsIn: 1_000_000n,
    mode: 'margin',
    user: USER_42 as UserId,
    account: 3,
    nonce: 0n,
    validUntil: 1_900_000_000n,
    settler: USER_42 as UserId,
  },
  validFrom: 1_900_000_000 - 3_600,
};

function request(
  approval: Partial<WithdrawalRequest['approval']>,
  vault: Partial<SigningRequest['vault']> = {},
): WithdrawalRequest {
  const changed = { ...APPROVAL, ...approval };
  const validFrom = Number(changed.validUntil) - 3_600;
  return { ...REQUEST, approval: changed, vault: { ...VAULT, ...vault }, validFrom };
}

const signer = (): KeySigner => new KeySigner([KEY], () => 0);
const refusal = async (one: KeySigner, given: SigningRequest): Promise<string | null> => {
  const signed = await one.sign(given);
  return signed.kind === 'refused' ? signed.reason : null;
};

/** As clearing keeps the signature of a withdrawal. */
function signedOf(row: WithdrawalRow, place: number, signedS: number): SignedApprovalRow {
  const { chainId, user, nonce, validUntil, token, payout: baseUnits } = row;
  const name = { place, kind: 'withdrawal', chainId, user, subAccount: 0, nonce, validUntil } as const;
  return { ...name, token, baseUnits, signedNs: (BigInt(signedS) * 1_000_000_000n) as TimestampNs, isGone: false };
}

suite('approval signer', () => {
  test('APR-01 to APR-05: signs the vector of wire.md 13, the same bytes each time, also by another signer', async () => {
    const one = signer();
    for (const each of [one, one, signer()]) {
      assert.deepEqual(await each.sign(REQUEST), { kind: 'signed', signatures: [SIGNATURE] });
    }
  });

  test('WDR-08: one signature for each administrator of the quorum; with too few keys there is none', async () => {
    const administrators = ['11'.repeat(20), ADMINISTRATOR];
    assert.match((await refusal(signer(), request({}, { administrators, quorum: 2 }))) ?? '', /too few keys/);
    assert.match((await refusal(new KeySigner([], () => 0), REQUEST)) ?? '', /too few keys/);
    const two = new KeySigner([KEY, 'b2'.repeat(32)], () => 0);
    const signed = await two.sign(request({}, { administrators }));
    assert.deepEqual(signed, { kind: 'signed', signatures: [SIGNATURE] });
  });

  test('nothing is signed for the zero target or a zero amount', async () => {
    assert.match((await refusal(signer(), request({ target: '0'.repeat(64) }))) ?? '', /pays nothing/);
    assert.match((await refusal(signer(), request({ baseUnits: 0n }))) ?? '', /pays nothing/);
  });

  test('GEN-07: another approval for a counter is signed only when the one before has ended; other counters are free', async () => {
    const one = signer();
    assert.equal(await refusal(one, REQUEST), null);
    const another = { target: address('7d') };
    assert.match((await refusal(one, request(another))) ?? '', /may still live/);
    const begins = { ...another, validUntil: APPROVAL.validUntil + 3_599n };
    assert.match((await refusal(one, request(begins))) ?? '', /may still live/);
    assert.equal(await refusal(one, request({ ...another, nonce: 1n })), null);
    assert.equal(await refusal(one, request({ ...another, validUntil: APPROVAL.validUntil + 3_600n })), null);
    assert.match((await refusal(one, REQUEST)) ?? '', /may still live/);
  });

  test('an hour has a number of approvals; the next hour has the same number', async () => {
    let nowMs = 0;
    const one = new KeySigner([KEY], () => nowMs);
    for (let nonce = 0; nonce < APPROVALS_PER_HOUR_MAX; nonce += 1) {
      const signed = one.sign(request({ nonce: BigInt(nonce) }));
      if (nonce < 2) assert.equal((await signed).kind, 'signed');
      else void signed;
    }
    assert.match((await refusal(one, request({ nonce: 9_999n }))) ?? '', /too many/);
    assert.equal(await refusal(one, REQUEST), null, 'what was signed before is signed again');
    nowMs = 3_600_000;
    assert.equal(await refusal(one, request({ nonce: 9_999n })), null);
  });

  test('an hour has at most the configured base units of a token, withdrawals and settlements together', async () => {
    let nowMs = 0;
    const limits = new Map([
      [`${address('5a')}@${CHAIN}`, 2_500n],
      [`${address('6b')}@${CHAIN}`, 3_000n],
    ]);
    const one = new KeySigner([KEY], () => nowMs, limits);
    const pays = (nonce: bigint, baseUnits: bigint): SigningRequest => request({ nonce, baseUnits });
    assert.equal(await refusal(one, pays(0n, 1_000n)), null);
    assert.match((await refusal(one, pays(1n, 1_501n))) ?? '', /more than 2500 base units/);
    assert.equal(await refusal(one, pays(1n, 1_500n)), null, 'what was refused took nothing');
    assert.equal(await refusal(one, pays(0n, 1_000n)), null, 'what was signed before is signed again');
    assert.match((await refusal(one, pays(2n, 1n))) ?? '', /more than 2500 base units/);
    assert.equal(await refusal(one, request({ nonce: 2n, token: address('77') })), null, 'no limit of this token');

    assert.equal(await refusal(one, SETTLEMENT), null, '2,500 of 3,000 leave');
    assert.match(
      (await refusal(one, request({ nonce: 3n, token: address('6b'), baseUnits: 501n }))) ?? '',
      /more than 3000/,
    );
    nowMs = 3_600_000;
    assert.equal(await refusal(one, pays(9n, 2_500n)), null);
  });

  test('a signer that begins counts what the rows have of the last hour, and signs no other approval of their counters (cluster.md 8)', async () => {
    const limits = new Map([[`${address('5a')}@${CHAIN}`, 2_500n]]);
    const pays = (nonce: bigint, baseUnits: bigint): WithdrawalRequest => request({ nonce, baseUnits });
    const next = new KeySigner([KEY], () => 0, limits, {
      counted: [{ kind: 'withdrawal', user: APPROVAL.user, token: `${address('5a')}@${CHAIN}`, baseUnits: 1_000n }],
      live: [pays(0n, 1_000n), pays(1n, 9_000n)],
    });
    assert.match((await refusal(next, pays(2n, 1_501n))) ?? '', /more than 2500 base units/);
    assert.match((await refusal(next, pays(0n, 999n))) ?? '', /may still live/);
    assert.match((await refusal(next, pays(1n, 999n))) ?? '', /may still live/);
    assert.deepEqual(await next.sign(pays(0n, 1_000n)), await signer().sign(pays(0n, 1_000n)), 'the same bytes again');
    assert.equal(await refusal(next, pays(2n, 1_500n)), null, 'and they took nothing more');
    assert.match((await refusal(next, pays(3n, 1n))) ?? '', /more than 2500 base units/);
  });

  test('what has left its row counts for its hour: a settlement that was executed, a withdrawal that later ones displaced', () => {
    const chain = { vault: VAULT, approvalValidityS: 3_600 };
    const nowS = 1_900_000_000;
    const row = { ...ROW, nonce: 4, payout: 700n, validUntil: nowS + 3_600, signatures: ['11'] } as WithdrawalRow;
    const executed = { ...signedOf(row, 1, nowS), kind: 'settlement', subAccount: 3, baseUnits: 50n } as const;
    const signed = [signedOf(row, 0, nowS), executed];
    const token = `${ROW.token}@${ROW.chainId}`;
    const [first, second] = [
      { kind: 'withdrawal', user: ROW.user, token, baseUnits: 700n },
      { kind: 'settlement', user: ROW.user, token, baseUnits: 50n },
    ] as const;
    const stored = { settlements: [], settings: () => chain, nowS };
    assert.deepEqual(approvedBefore({ ...stored, withdrawals: [], signed }), { counted: [first, second], live: [] });
    const both = approvedBefore({ ...stored, withdrawals: [row], signed });
    assert.deepEqual(both.counted, [first, second], 'one that is in its row too counts once');
    assert.equal(both.live.length, 1);
    const upgraded = approvedBefore({ ...stored, withdrawals: [row], signed: [] });
    assert.deepEqual(upgraded.counted, [first], 'of an hour that began before there were such rows');
  });

  test('takeovers at any moment add nothing to what an hour pays, and no counter has two approvals that live', async () => {
    const LIMIT = 10_000n;
    const VALIDITY_S = 3_600;
    const T0 = 1_900_000_000;
    const chain = { vault: VAULT, approvalValidityS: VALIDITY_S };
    const step = fc.record({
      kind: fc.constantFrom('withdraw', 'withdraw', 'withdraw', 'takeOver', 'end', 'displace'),
      units: fc.bigInt({ min: 1n, max: 4_000n }),
      passS: fc.integer({ min: 0, max: 900 }),
      isStored: fc.boolean(),
      pick: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let nowS = T0;
        let startedS = T0;
        const limits = new Map([[`${APPROVAL.token}@${CHAIN}`, LIMIT]]);
        let one = new KeySigner([KEY], () => (nowS - startedS) * 1_000, limits);
        // What the ledger has of withdrawals, and of every signature (signed-approvals.ts).
        let rows: WithdrawalRow[] = [];
        const all: WithdrawalRow[] = [];
        const published = new Map<string, string>();
        for (const { kind, units, passS, isStored, pick } of steps) {
          nowS += passS;
          if (kind === 'takeOver') {
            startedS = nowS;
            const signed = all
              .filter(({ validUntil }) => validUntil - VALIDITY_S > nowS - 3_600)
              .map((row, place) => signedOf(row, place, row.validUntil - VALIDITY_S));
            const before = approvedBefore({ withdrawals: rows, settlements: [], signed, settings: () => chain, nowS });
            one = new KeySigner([KEY], () => (nowS - startedS) * 1_000, limits, before);
          } else if (kind === 'end') {
            const at = pick % Math.max(rows.length, 1);
            const ended = rows[at];
            if (ended !== undefined) rows[at] = { ...ended, status: 'executed' };
          } else if (kind === 'displace') {
            // 64 later requests of their user take the places of rows that have ended.
            rows = rows.filter(({ status }) => status !== 'executed');
          } else {
            const nonce = all.length;
            const row = {
              ...ROW,
              nonce,
              payout: units,
              validUntil: nowS + VALIDITY_S,
              signatures: [],
            } as WithdrawalRow;
            const asked = withdrawalRequest(row, VAULT, chain);
            const signed = await one.sign(asked);
            if (signed.kind === 'refused') continue;
            const again = await one.sign(asked);
            assert.deepEqual(again, signed);
            // A signature that is not stored leaves with its leader; nothing of it was published.
            if (!isStored) continue;
            const stored: WithdrawalRow = { ...row, status: 'approved', signatures: signed.signatures };
            rows.push(stored);
            all.push(stored);
            const key = `${row.user}/${nonce}`;
            assert.ok(!published.has(key), 'of a counter one approval is published');
            published.set(key, signed.signatures.join());
          }
          const ofWindow = all.filter(
            ({ validUntil }) => validUntil - VALIDITY_S >= startedS && nowS - startedS < 3_600,
          );
          const ofBefore = all.filter(({ validUntil }) => {
            const fromS = validUntil - VALIDITY_S;
            return fromS < startedS && fromS > startedS - 3_600;
          });
          const paid = (some: readonly WithdrawalRow[]): bigint => some.reduce((sum, { payout }) => sum + payout, 0n);
          if (ofWindow.length > 0)
            assert.ok(paid(ofWindow) + paid(ofBefore) <= LIMIT, 'an hour pays at most its limit');
        }
      }),
      propertyParameters(15),
    );
  });

  test('a key file has 64 hex digits of a key, for its owner alone; faults do not show its content', () => {
    const path = join(temporaryDirectory(), 'key');
    const write = (text: string, mode = 0o600): void => {
      writeFileSync(path, text);
      chmodSync(path, mode);
    };
    write(`${KEY.toUpperCase()}\n`);
    assert.equal(readKeyFile(path), KEY);
    write(KEY, 0o640);
    assert.throws(() => readKeyFile(path), /chmod 600/);
    for (const text of ['', KEY.slice(1), `${KEY}00`, '0'.repeat(64), 'f'.repeat(64), `0x${KEY}`]) {
      write(text);
      assert.throws(
        () => readKeyFile(path),
        (error: Error) => text.length < 8 || !error.message.includes(text.slice(0, 8)),
      );
    }
    assert.throws(() => readKeyFile(`${path}.none`), /ENOENT/);
  });
});

suite('withdrawal approvals', () => {
  const settings = {
    rpcUrls: ['http://127.0.0.1:9/'],
    depositConfirmations: 1,
    withdrawalConfirmations: 1,
    checkpointIntervalMs: 1_000,
    approvalValidityS: 3_600,
    vault: VAULT,
  };
  const state = {
    head: 9,
    processed: 9,
    stopped: null,
    blockTime: 1_800_000_000,
    providers: 1,
    answering: 1,
    agreeing: 1,
    bombs: 0,
  };
  const row = (change: Partial<WithdrawalRow>): WithdrawalRow =>
    ({
      user: USER_42,
      place: 0,
      sequence: 1,
      chainId: CHAIN,
      token: address('5a'),
      payout: 1_000n,
      target: address('7c'),
      nonce: 0,
      status: 'filled',
      validUntil: 1_900_000_000,
      epochHash: 'ee'.repeat(32),
      ...change,
    }) as WithdrawalRow;

  function world(stopped = false) {
    const commands: string[] = [];
    const time = { nowMs: 0 };
    const signer = new KeySigner([KEY], () => 0);
    const current = { ...state, stopped: stopped ? ({ reason: 'reorg', block: 1, deposits: 1 } as const) : null };
    const shown = {
      blockTime: state.blockTime,
      hasKeys: true,
      counter: 0,
      isHidden: false,
      isTimed: true,
      isHeld: false,
    };
    const approvals = new WithdrawalApprovals({
      command: async (command) => {
        commands.push(command.kind);
        return accepted({});
      },
      state: () => ({ ...current, blockTime: shown.blockTime }),
      settings: () => settings,
      isWithheld: () => false,
      isHeld: () => shown.isHeld,
      isTimed: () => shown.isTimed,
      canSign: () => shown.hasKeys,
      sign: (given) => signer.sign(given),
      withdrawalCount: async () => ({ blockTime: shown.blockTime, counter: shown.counter }),
      isHidden: () => shown.isHidden,
      refused: () => commands.push('refused'),
      nowMs: () => time.nowMs,
    });
    return { approvals, commands, time, shown };
  }

  test('a refusal of the signer is passed on once, until something is signed', async () => {
    const { approvals, commands } = world();
    approvals.changed(row({ status: 'signing', payout: 0n }));
    for (let block = 0; block < 3; block += 1) await approvals.step(CHAIN);
    assert.deepEqual(commands, ['refused']);
    approvals.changed(row({ status: 'signing' }));
    await approvals.step(CHAIN);
    approvals.changed(row({ status: 'signing', payout: 0n }));
    await approvals.step(CHAIN);
    assert.deepEqual(commands.slice(1), ['approvalSigned', 'refused']);
  });

  test('a chain without a timer has its steps by calls alone, and what is due is shown before', async () => {
    const { approvals, commands, shown } = world();
    shown.isTimed = false;
    assert.equal(approvals.isDue(CHAIN), false);
    approvals.changed(row({}));
    assert.equal(approvals.isDue(CHAIN), true);
    await approvals.tick();
    assert.deepEqual(commands, []);
    await approvals.step(CHAIN);
    assert.deepEqual([commands, approvals.isDue(CHAIN)], [['vaultCheckpoint'], false]);
    approvals.changed(row({ status: 'signing' }));
    shown.isHeld = true;
    assert.equal(approvals.isDue(CHAIN), false, 'nothing of the asset is approved (MON-05)');
    shown.isHeld = false;
    assert.equal(approvals.isDue(CHAIN), true);
    approvals.changed(row({ status: 'approved' }));
    assert.equal(approvals.approved(CHAIN, USER_42 as UserId, 0)?.status, 'approved');
    assert.equal(approvals.approved(CHAIN, USER_42 as UserId, 1), null);
  });

  test('WDR-07: a checkpoint each interval while a row is filled; a signature for each row that is to be signed', async () => {
    const { approvals, commands, time } = world();
    await approvals.tick();
    assert.deepEqual(commands, []);
    approvals.changed(row({}));
    await approvals.tick();
    await approvals.tick();
    assert.deepEqual(commands, ['vaultCheckpoint']);
    time.nowMs = 1_000;
    await approvals.tick();
    assert.deepEqual(commands, ['vaultCheckpoint', 'vaultCheckpoint']);
    approvals.changed(row({ status: 'signing' }));
    await approvals.tick();
    assert.deepEqual(commands.slice(2), ['approvalSigned']);
    approvals.changed(row({ status: 'approved' }));
    await approvals.tick();
    approvals.changed(row({ status: 'executed' }));
    await approvals.tick();
    assert.equal(commands.length, 3);
    await approvals.stop();
  });

  test('rows that the signer refuses hold up no other row, and no lapse', async () => {
    const { approvals, commands } = world();
    const user = (index: number): UserId => index.toString(16).padStart(64, '0') as UserId;
    for (let index = 0; index < 100; index += 1) {
      approvals.changed(row({ user: user(index), status: 'signing', payout: 0n }));
    }
    approvals.changed(row({ user: user(100), status: 'signing' }));
    approvals.changed(row({ user: user(101), status: 'approved', validUntil: state.blockTime - 1 }));
    await approvals.tick();
    assert.deepEqual(commands, ['refused']);
    await approvals.tick();
    assert.deepEqual(commands.slice(1, 3), ['approvalSigned', 'approvalLapsed']);
    await approvals.stop();
  });

  test('without keys for the quorum no row is bound to an approval: it stays filled, and can be cancelled', async () => {
    const { approvals, commands, shown, time } = world();
    shown.hasKeys = false;
    approvals.changed(row({}));
    await approvals.tick();
    time.nowMs = 5_000;
    await approvals.tick();
    assert.deepEqual(commands, ['refused']);
    shown.hasKeys = true;
    time.nowMs = 10_000;
    await approvals.tick();
    assert.deepEqual(commands, ['refused', 'vaultCheckpoint']);
    await approvals.stop();
  });

  test('WDR-10: an approval lapses by the time of a block behind its end, not at it', async () => {
    const { approvals, commands, shown } = world();
    approvals.changed(row({ status: 'approved' }));
    shown.blockTime = 1_900_000_000;
    await approvals.tick();
    assert.deepEqual(commands, []);
    shown.blockTime += 1;
    await approvals.tick();
    assert.deepEqual(commands, ['approvalLapsed']);
    await approvals.stop();
  });

  test('CHN-04: a payout that the vault has counted and no majority shows does not lapse; when it stays hidden it is booked by the counter', async () => {
    const { approvals, commands, shown } = world();
    const approved = row({ status: 'approved' });
    approvals.changed(approved);
    shown.blockTime = 1_900_000_001;
    shown.counter = approved.nonce + 1;
    await approvals.tick();
    assert.deepEqual(commands, [], 'it is read again');
    shown.isHidden = true;
    await approvals.tick();
    assert.deepEqual(commands, ['withdrew']);
    await approvals.stop();
  });

  test('AMB-74: a stopped chain has no checkpoint, no signature and no lapse', async () => {
    const { approvals, commands, shown } = world(true);
    shown.blockTime = 2_000_000_000;
    for (const [place, status] of [
      [0, 'filled'],
      [1, 'signing'],
      [2, 'approved'],
    ] as const)
      approvals.changed(row({ place, status }));
    await approvals.tick();
    assert.deepEqual(commands, []);
    await approvals.stop();
  });
});

suite('approvals of settlements', () => {
  test('APR-01 to APR-04, V-8: signs the settlement vector of wire.md 13 with one key, the same bytes each time', async () => {
    const one = signer();
    for (const each of [one, one, signer()]) {
      assert.deepEqual(await each.sign(SETTLEMENT), { kind: 'signed', signatures: [SETTLEMENT_SIGNATURE] });
    }
    const administrators = ['11'.repeat(20), ADMINISTRATOR];
    const many = { ...SETTLEMENT, vault: { ...VAULT, administrators, quorum: 2 } };
    assert.deepEqual(
      await signer().sign(many),
      { kind: 'signed', signatures: [SETTLEMENT_SIGNATURE] },
      'any administrator',
    );
    assert.match((await refusal(new KeySigner([], () => 0), SETTLEMENT)) ?? '', /too few keys/);
    for (const nothing of [{ baseUnitsOut: 0n }, { baseUnitsIn: 0n }]) {
      const approval = { ...SETTLEMENT.approval, ...nothing };
      assert.match((await refusal(signer(), { ...SETTLEMENT, approval })) ?? '', /pays nothing/);
    }
  });

  test('NON-02, NON-03: a counter is of a user, a sub-account, a chain and a kind; two approvals for one never live at one time', async () => {
    const one = signer();
    await one.sign(SETTLEMENT);
    const of = (
      approval: Partial<SettlementRequest['approval']>,
      more: Partial<SettlementRequest> = {},
    ): SettlementRequest => ({
      ...SETTLEMENT,
      ...more,
      approval: { ...SETTLEMENT.approval, ...approval },
    });
    assert.match((await refusal(one, of({ baseUnitsOut: 1n }))) ?? '', /may still live/);
    assert.equal(await refusal(one, of({ account: 4 })), null);
    assert.equal(await refusal(one, of({ nonce: 1n })), null);
    assert.equal(await refusal(one, of({}, { chainId: '000000000000000001' as ChainId })), null);
    assert.equal(await refusal(one, request({ user: SETTLEMENT.approval.user })), null, 'a withdrawal');
    const until = SETTLEMENT.approval.validUntil;
    const early = of({ baseUnitsOut: 2n, validUntil: until + 10n }, { validFrom: Number(until) - 1 });
    assert.match((await refusal(one, early)) ?? '', /may still live/);
    const later = of({ baseUnitsOut: 2n, validUntil: until + 10n }, { validFrom: Number(until) });
    assert.equal(await refusal(one, later), null);
  });

  test('an hour has a number of settlements of each user, apart from withdrawals', async () => {
    let nowMs = 0;
    const one = new KeySigner([KEY], () => nowMs);
    const at = (nonce: number, of = SETTLEMENT.approval.user): SettlementRequest => ({
      ...SETTLEMENT,
      approval: { ...SETTLEMENT.approval, user: of, nonce: BigInt(nonce) },
    });
    for (let nonce = 0; nonce < SETTLEMENTS_PER_USER_HOUR_MAX; nonce += 1) await one.sign(at(nonce));
    assert.match((await refusal(one, at(9_999))) ?? '', /of this user/);
    assert.equal(await refusal(one, at(0)), null, 'the same again is no other approval');
    assert.equal(await refusal(one, at(0, 'ab'.repeat(32) as UserId)), null);
    assert.equal(await refusal(one, REQUEST), null);
    nowMs = 3_600_000;
    assert.equal(await refusal(one, at(9_999)), null);
  });
});
