// tier: quick
/**
 * Lives of accounts with signers: deposits that configure, signers that are added, actions of every tier by any hands, time that
 * passes, checkpoints that are loaded again. Clearing answers and keeps what the plain judge says.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { SignedInput } from '../../../src/clearing/inputs.ts';
import type { SignedBy } from '../../../src/clearing/signers/signer-config.ts';
import { ACTION_TIERS } from '../../../src/clearing/signers/signer-configs.ts';
import { stateLines } from '../../../src/clearing/state-hash.ts';
import type { SignerKey, SignerScheme } from '../../../src/codec/signatures.ts';
import type { ChainId, UserId } from '../../../src/core/ids.ts';
import type { Amount18, TimestampNs } from '../../../src/core/units.ts';
import { textOf } from '../../support/asked.ts';
import { CHAIN, ClearingWorld, codeOf, PlainTables, reply, TOKEN } from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';
import { PlainAccount, plainCode } from '../../support/plain-signers.ts';
import { propertyParameters } from '../../support/property.ts';

const USERS = [ALICE, BOB] as const;

function keyOf(byte: number, scheme: SignerScheme): SignerKey {
  return { scheme, key: new Uint8Array(scheme === 'Ed25519' ? 32 : 33).fill(byte) };
}

const anyKey = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom<SignerScheme>('Secp256k1', 'P256', 'WebAuthn'))
    .map(([byte, scheme]) => keyOf(byte, scheme)),
  fc.constantFrom(...USERS).map((user): SignerKey => ({ scheme: 'Ed25519', key: Buffer.from(user, 'hex') })),
);
const anySigned: fc.Arbitrary<SignedBy> = fc.record({
  hasMaster: fc.boolean(),
  coSigners: fc.array(anyKey, { maxLength: 3 }),
});
const short = fc.option(fc.bigInt({ min: 0n, max: 6n }));
const threshold = fc.integer({ min: 0, max: 3 });
const anyStep = fc.oneof(
  fc.record({
    what: fc.constant('add' as const),
    by: fc.oneof(fc.constant<SignedBy>({ hasMaster: true, coSigners: [] }), anySigned),
    signer: anyKey,
    weight: fc.integer({ min: 1, max: 3 }),
    duration: short,
    isStale: fc.integer({ min: 0, max: 5 }).map((draw) => draw === 0),
  }),
  fc.record({
    what: fc.constant('deposit' as const),
    masterWeight: fc.integer({ min: 0, max: 2 }),
    thresholds: fc.record({ low: threshold, medium: threshold, high: threshold }),
    rows: fc.array(fc.tuple(anyKey, fc.integer({ min: 0, max: 3 }), short, short), { maxLength: 3 }),
  }),
  fc.record({
    what: fc.constant('act' as const),
    kind: fc.constantFrom<'transfer' | 'closePosition' | 'cancelWithdrawal'>(
      'transfer',
      'closePosition',
      'cancelWithdrawal',
    ),
    by: anySigned,
  }),
  fc.record({ what: fc.constant('wait' as const), ns: fc.bigInt({ min: 1n, max: 3n }) }),
  fc.record({ what: fc.constant('reload' as const) }),
);
type Step = (typeof anyStep extends fc.Arbitrary<infer T> ? T : never) & object;
const anyLife = fc.array(fc.tuple(fc.constantFrom(0, 1), anyStep), { minLength: 8, maxLength: 40, size: 'max' });

/** What an action is refused for once its signers suffice: nothing of it exists. */
const OF_ITSELF = {
  transfer: 'INVALID_REQUEST',
  closePosition: 'POSITION_NOT_FOUND',
  cancelWithdrawal: 'WITHDRAWAL_NOT_FOUND',
} as const;

type Unsent = SignedInput extends infer T ? (T extends SignedInput ? Omit<T, 'request'> : never) : never;

class Life {
  readonly world = ClearingWorld.withMarket();
  readonly seen = new Map<string, number>();
  readonly #accounts = USERS.map((user) => new PlainAccount(user));
  readonly #deposits = [0, 0];
  readonly #tables = new PlainTables();

  constructor() {
    this.world.fund(ALICE, USD, '100');
  }

  step(who: 0 | 1, step: Step): void {
    const { world } = this;
    const account = this.#accounts[who] ?? assert.fail();
    const user = USERS[who];
    if (step.what === 'wait') world.nowNs = (world.nowNs + step.ns) as TimestampNs;
    else if (step.what === 'reload') this.#reload();
    else if (step.what === 'deposit') this.#deposit(who, user, account, step);
    else if (step.what === 'add') {
      const { by, signer, weight, duration, isStale } = step;
      const ceNonce = account.configNonce + (isStale ? 1 : 0);
      const at = world.nowNs;
      const terms = { user, signer, weight, sessionDurationNs: duration, ceNonce };
      const code = this.#send({ kind: 'addSigner', ...terms, signedBy: by });
      const expiresAtNs = duration === null ? null : at + duration;
      const added = { ...signer, weight, addedNs: at, expiresAtNs, maxSigningWindowNs: null };
      assert.equal(code, account.add(added, by, ceNonce, at));
    } else {
      const { kind, by } = step;
      const expected = plainCode(account, by, ACTION_TIERS[kind], world.nowNs) ?? OF_ITSELF[kind];
      assert.equal(this.#send({ ...this.#action(kind, user), signedBy: by }), expected);
    }
    this.#compare();
  }

  #deposit(who: 0 | 1, user: UserId, account: PlainAccount, step: Extract<Step, { what: 'deposit' }>): void {
    const { masterWeight, thresholds, rows } = step;
    const addedNs = this.world.nowNs;
    const signers = rows.map(([key, weight, expires, maxSigningWindowNs]) => ({
      ...{ ...key, weight, maxSigningWindowNs },
      expiresAtNs: expires === null ? null : addedNs + expires,
    }));
    const depositNonce = this.#deposits[who] ?? 0;
    this.#deposits[who] = depositNonce + 1;
    const event = {
      chainId: CHAIN as ChainId,
      tx: 'dd'.repeat(32),
      logIndex: 2 * depositNonce + who,
      token: TOKEN,
      baseUnits: 1n,
    };
    const setup = { masterWeight, thresholds, signers };
    const request = this.world.request();
    const code = codeOf(reply(this.world.send({ kind: 'deposit', request, user, ...event, depositNonce, setup })));
    assert.equal(code, null, 'a deposit counts in any case');
    account.setUp({ masterWeight, thresholds, signers: signers.map((one) => ({ ...one, addedNs })) }, addedNs);
    this.#saw('deposit');
  }

  #action(kind: keyof typeof OF_ITSELF, user: UserId): Unsent {
    if (kind === 'closePosition') return { kind, user, account: 1, asset: USD, nonce: 1n };
    if (kind === 'cancelWithdrawal') {
      const text = textOf(0);
      return { kind, user, token: TOKEN, chainId: CHAIN as ChainId, nonce: 0, requestedNs: null, text };
    }
    const accounts = { sourceIndex: 0, targetIndex: 0, targetType: null };
    return { kind, user, ...accounts, asset: USD, amount: 1n as Amount18, nonce: 1n };
  }

  #send(input: Unsent): string | null {
    const code = codeOf(reply(this.world.send({ ...input, request: this.world.request() } as SignedInput)));
    this.#saw(code ?? 'done');
    return code;
  }

  #saw(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  #reload(): void {
    const before = stateLines(this.world.state);
    this.#tables.checkpoint(this.world.state);
    this.world.state = this.#tables.load();
    assert.deepEqual(stateLines(this.world.state), before);
  }

  #compare(): void {
    for (const [index, user] of USERS.entries()) {
      const { masterWeight, thresholds, signers, configNonce, setNs } = this.#accounts[index] ?? assert.fail();
      const config = this.world.state.signers.configOf(user);
      assert.deepEqual(
        [config.masterWeight, config.thresholds, config.setNs, [...config.signers]],
        [masterWeight, thresholds, setNs, signers],
      );
      assert.equal(this.world.state.users.get(user)?.row.configNonce ?? 0, configNonce);
    }
  }
}

suite('lives of accounts with signers', () => {
  test('MSG-04 to MSG-15, MSG-29 to MSG-39, NON-05, AMB-132: clearing answers and keeps what the plain judge says', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyLife, (steps) => {
        const life = new Life();
        for (const [who, step] of steps) life.step(who as 0 | 1, step);
        for (const what of life.seen.keys()) seen.add(what);
      }),
      propertyParameters(300),
    );
    const codes = [
      'SIGNER_UNKNOWN',
      'SIGNER_DUPLICATE',
      'SIGNER_EXPIRED',
      'INSUFFICIENT_SIGNER_WEIGHT',
      'INVALID_NONCE',
    ];
    for (const what of ['deposit', 'done', ...codes, ...Object.values(OF_ITSELF)]) assert.ok(seen.has(what), what);
  });
});
