// tier: quick
/**
 * A signed text that moves money is accepted once (MON-01), in clearing: random histories of requests, repeats, cancels, lapses, payouts and
 * starts beside a plain reference that sees published rows alone, and each bound by itself.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Effect } from '../../../src/clearing/effects.ts';
import { NAMED_TEXTS_PER_USER, OPEN_TEXTS_PER_USER } from '../../../src/clearing/funds/used-texts.ts';
import type { CancelWithdrawal, Settle, Withdraw } from '../../../src/clearing/inputs.ts';
import type { SettlementRow, WithdrawalRow } from '../../../src/clearing/rows.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { must } from '../../../src/core/assert.ts';
import type { ChainId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, DAY_NS, HOUR_NS, ONE_18, type TimestampNs } from '../../../src/core/units.ts';
import {
  acceptedValue,
  CHAIN as CHAIN_TEXT,
  ClearingWorld,
  codeOf,
  effectsOf,
  PlainTables,
  reply,
  TOKEN,
  user,
} from '../../support/clearing-world.ts';
import { ALICE, ETH, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const CHAIN = CHAIN_TEXT as ChainId;
const ETH_TOKEN = '6b'.repeat(20).padEnd(64, '0');
const VAULT_ADDRESS = '0d'.repeat(20).padEnd(64, '0');
const SETTLER = user('5e');
const MAKER = user('4d');
const TARGET = '7c'.repeat(20).padEnd(64, '0');
const VALIDITY_S = 3_600;
const usd = (units: number): Amount18 => (BigInt(units) * ONE_18) as Amount18;
const digest = (name: number | string): string => Buffer.from(String(name)).toString('hex').padStart(64, '0');
/** What an answer is about: `done`, `duplicate`, or the code of the refusal. */
const told = (effects: readonly Effect[]): string => {
  const answer = reply(effects);
  return codeOf(answer) ?? (acceptedValue(answer)['duplicate'] === true ? 'duplicate' : 'done');
};
const statusOf = (effects: readonly Effect[]): unknown => {
  const answer = reply(effects);
  return answer.ok ? null : answer.reject.details?.['status'];
};

/** USD and ETH on a chain with a vault and a settler; Alice has deposited both. */
class TextsWorld extends ClearingWorld {
  static opened(kind: 'simulated' | 'evm' = 'simulated'): TextsWorld {
    const world = new TextsWorld();
    const put = (config: 'chain' | 'vault' | 'settler' | 'withdrawal-delay', key: string, body: object): void => {
      world.send({ kind: 'putConfig', request: 1, config, key, method: 'put', body });
    };
    world.put('putAsset', USD, { symbol: 'USD', tokens: [{ token: TOKEN, chain_id: CHAIN, decimals: 6 }] });
    world.put('putAsset', ETH, { symbol: 'ETH', tokens: [{ token: ETH_TOKEN, chain_id: CHAIN, decimals: 18 }] });
    const evm = { rpc_urls: ['http://127.0.0.1:1'] };
    put('chain', CHAIN, { kind, approval_validity_s: VALIDITY_S, ...(kind === 'evm' ? evm : {}) });
    put('vault', `${VAULT_ADDRESS}@${CHAIN}`, { administrators: ['5d'.repeat(20)], quorum: 1 });
    put('settler', SETTLER, { chain_id: CHAIN, executor: 'e3'.repeat(20) });
    put('withdrawal-delay', '', { min_delay: 0 });
    world.send({ kind: 'patchUser', request: 1, user: MAKER, isMarketMaker: true });
    world.deposit(ALICE, TOKEN, 10_000n * 10n ** 6n, 0);
    world.deposit(ALICE, ETH_TOKEN, 100n * ONE_18, 1);
    return world;
  }

  deposit(of: UserId, token: string, baseUnits: bigint, depositNonce: number): void {
    const tx = `${of.slice(0, 32)}${String(depositNonce).padStart(32, '0')}`;
    const event = { chainId: CHAIN, tx, logIndex: 0, user: of, token, baseUnits, depositNonce };
    this.send({ kind: 'deposit', request: this.request(), ...event });
  }

  withdraw(text: string, more: Partial<Withdraw> = {}): readonly Effect[] {
    const terms = { user: ALICE, token: TOKEN, chainId: CHAIN, amount: usd(10), target: TARGET, nonce: null };
    return this.send({ kind: 'withdraw', request: this.request(), ...terms, isShort: false, text, ...more });
  }

  cancel(nonce: number, more: Partial<CancelWithdrawal> = {}): readonly Effect[] {
    const terms = { user: ALICE, token: TOKEN, chainId: CHAIN, nonce };
    return this.send({ kind: 'cancelWithdrawal', request: this.request(), ...terms, ...more });
  }

  /** Gives 0.01 ETH for 30 USD. */
  settle(text: string, more: Partial<Settle> = {}): readonly Effect[] {
    // The time of its request is part of the name of a row.
    this.nowNs = (this.nowNs + 1n) as TimestampNs;
    const legs = { tokenOut: ETH_TOKEN, amountOut: (ONE_18 / 100n) as Amount18, tokenIn: TOKEN, amountIn: usd(30) };
    const terms = { user: ALICE, subAccount: 0, chainId: CHAIN, vault: null, mode: 'spot' as const, settler: SETTLER };
    return this.send({
      ...{ kind: 'settle', request: this.request(), ...terms, ...legs, maker: null, makerOrder: null },
      ...{ nonce: null, expiresNs: null, blockTime: 0, shortfall: null, text, ...more },
    });
  }

  pass(ns: bigint): readonly Effect[] {
    this.nowNs = (this.nowNs + ns) as TimestampNs;
    return this.send({ kind: 'withdrawalsDue' });
  }

  rows(): readonly WithdrawalRow[] {
    return this.state.withdrawals.ofUser(ALICE).map(({ row }) => row);
  }

  /** The row at the counter, if it is filled, is approved. */
  approve(): readonly Effect[] {
    const effects = [...this.send({ kind: 'vaultCheckpoint', request: this.request(), chainId: CHAIN, blockTime: 0 })];
    for (const { user: of, place, sequence, status } of this.rows()) {
      if (status !== 'signing') continue;
      const signed = { user: of, place, sequence, signatures: ['11'.repeat(65)] };
      effects.push(...this.send({ kind: 'approvalSigned', request: this.request(), ...signed }));
    }
    return effects;
  }

  approved(): WithdrawalRow | undefined {
    return this.rows().find(({ status }) => status === 'approved');
  }

  execute({ nonce, payout, token }: WithdrawalRow): readonly Effect[] {
    const event = { chainId: CHAIN, user: ALICE, token, nonce, baseUnits: payout };
    return this.send({ kind: 'withdrew', request: this.request(), ...event });
  }

  lapse({ place, sequence, nonce }: WithdrawalRow): readonly Effect[] {
    const name = { user: ALICE, place, sequence, blockTime: 2 ** 40, counter: nonce };
    return this.send({ kind: 'approvalLapsed', request: this.request(), ...name });
  }

  settlements(): readonly SettlementRow[] {
    return [...this.state.settlements.all()];
  }

  settled(row: SettlementRow): readonly Effect[] {
    const { user: of, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, settler } = row;
    const event = { chainId: CHAIN, user: of, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn };
    return this.send({ kind: 'settled', request: this.request(), ...event, mode, settler });
  }

  /** Everything that Alice has of both assets: owned, locked. */
  funds(): string {
    const balances = this.state.users.get(ALICE)?.subAccounts.get(0)?.balances;
    return [...(balances ?? [])].map(([asset, { owned, locked }]) => `${asset}:${owned}/${locked}`).join(' ');
  }
}

// ---- the reference

const LIVE: ReadonlySet<string> = new Set(['queued', 'filled', 'signing', 'approved', 'locked']);

/** What clearing published of rows, by request and part; and of each text the request that it made. */
class PlainReference {
  readonly #parts = new Map<string, Map<string, string>>();
  readonly #madeBy = new Map<string, string>();

  see(effects: readonly Effect[]): void {
    for (const { row } of effectsOf(effects, 'withdrawalChanged')) {
      // A row that is not shown any more ended as it was seen last.
      if (row.status !== 'gone') this.#note(`w${row.sequence}`, String(row.place), row.status);
    }
    for (const { row } of effectsOf(effects, 'settlementChanged')) {
      this.#note(`s${row.user}/${row.place}/${row.requestedNs}`, '', row.status);
    }
  }

  #note(request: string, part: string, status: string): void {
    const parts = this.#parts.get(request) ?? new Map<string, string>();
    this.#parts.set(request, parts.set(part, status));
  }

  /** The request that these effects made. */
  made(text: string, effects: readonly Effect[]): void {
    const [withdrawal] = effectsOf(effects, 'withdrawalChanged');
    const [settlement] = effectsOf(effects, 'settlementChanged');
    const request =
      withdrawal !== undefined
        ? `w${withdrawal.row.sequence}`
        : `s${settlement?.row.user}/${settlement?.row.place}/${settlement?.row.requestedNs}`;
    this.#madeBy.set(text, request);
  }

  /** `new`, `live`, or how its request ended. */
  of(text: string): string {
    const request = this.#madeBy.get(text);
    if (request === undefined) return 'new';
    const statuses = [...must(this.#parts.get(request), 'a request was seen').values()];
    if (statuses.includes('refused')) return 'new';
    return statuses.some((status) => LIVE.has(status)) ? 'live' : 'ended';
  }
}

type Step =
  | { readonly what: 'withdraw' | 'settle' | 'maker'; readonly text: number; readonly nonce: number | null }
  | { readonly what: 'cancel'; readonly nonce: number; readonly isNamed: boolean }
  | { readonly what: 'pass'; readonly hours: number }
  | { readonly what: 'approve' | 'execute' | 'lapse' | 'sign' | 'settled' | 'settleLapse' | 'refuse' | 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      what: fc.constantFrom('withdraw' as const, 'withdraw' as const, 'settle' as const, 'maker' as const),
      text: fc.integer({ min: 0, max: 5 }),
      nonce: fc.option(fc.integer({ min: 0, max: 3 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('cancel' as const),
      nonce: fc.integer({ min: 0, max: 2 }),
      isNamed: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('pass' as const), hours: fc.constantFrom(0, 1, 11, 25) }) },
  {
    weight: 12,
    arbitrary: fc
      .constantFrom<Step['what'][]>(
        ...([
          'approve',
          'approve',
          'execute',
          'execute',
          'lapse',
          'sign',
          'settled',
          'settleLapse',
          'refuse',
          'restart',
        ] as const),
      )
      .map((what) => ({ what }) as Step),
  },
);

/** Plays a history, and compares every answer with the reference. */
function play(kind: 'simulated' | 'evm', steps: readonly Step[], saw: Map<string, number>): void {
  const world = TextsWorld.opened(kind);
  const reference = new PlainReference();
  const tables = new PlainTables();
  const count = (what: string): void => void saw.set(what, (saw.get(what) ?? 0) + 1);

  const ask = (text: string, nonce: number | null, act: () => readonly Effect[]): void => {
    const [before, expected] = [world.funds(), reference.of(text)];
    const effects = act();
    const answer = told(effects);
    if (answer === 'done') reference.made(text, effects);
    reference.see(effects);
    count(`${expected} ${answer}`);
    if (expected === 'new') {
      assert.ok(answer !== 'duplicate' && answer !== 'ACTION_ALREADY_USED', `a new text: ${answer}`);
    } else {
      assert.equal(world.funds(), before, 'a text that was accepted moves nothing again');
      // The digest of an executed request with a nonce is dropped a day later; then the counter refuses it.
      const ended = nonce === null ? ['ACTION_ALREADY_USED'] : ['ACTION_ALREADY_USED', 'INVALID_NONCE'];
      assert.ok((expected === 'live' ? ['duplicate'] : ended).includes(answer), `${expected}: ${answer}`);
    }
  };
  for (const [index, one] of steps.entries()) {
    switch (one.what) {
      case 'withdraw': {
        const text = digest(`w${one.text}/${one.nonce}`);
        ask(text, one.nonce, () => world.withdraw(text, { nonce: one.nonce, amount: usd(10 + one.text) }));
        break;
      }
      case 'settle': {
        const text = digest(`s${one.text}/${one.nonce}`);
        ask(text, one.nonce, () => world.settle(text, { nonce: one.nonce }));
        break;
      }
      case 'maker': {
        // The settlements differ, the order is the same: of the order the reference knows the first that took it.
        const order = digest(`m${one.text}`);
        const before = [world.funds(), reference.of(order)] as const;
        const expiresNs = world.nowNs + 1_000n * HOUR_NS;
        const makerOrder = { text: order, expiresNs };
        const effects = world.settle(digest(`ms${index}`), { maker: MAKER, makerOrder, expiresNs });
        reference.see(effects);
        count(`order ${before[1]} ${told(effects)}`);
        if (before[1] !== 'new') {
          assert.deepEqual([told(effects), world.funds()], ['ACTION_ALREADY_USED', before[0]]);
        } else if (told(effects) === 'done') reference.made(order, effects);
        break;
      }
      case 'cancel': {
        const row = world.rows().find(({ nonce, status }) => nonce === one.nonce && LIVE.has(status));
        const requestedNs = one.isNamed ? (row?.requestedNs ?? (1n as TimestampNs)) : null;
        const effects = world.cancel(one.nonce, { requestedNs });
        const cancelled = effectsOf(effects, 'withdrawalChanged').filter((change) => change.row.status === 'cancelled');
        assert.equal(cancelled.length, told(effects) === 'done' ? 1 : 0, 'a cancel reports what it did');
        reference.see(effects);
        break;
      }
      case 'pass':
        reference.see(world.pass(BigInt(one.hours) * HOUR_NS));
        break;
      case 'approve':
        reference.see(world.approve());
        break;
      case 'execute':
      case 'lapse': {
        const row = world.approved();
        if (row !== undefined) reference.see(one.what === 'execute' ? world.execute(row) : world.lapse(row));
        break;
      }
      case 'restart': {
        tables.checkpoint(world.state);
        const loaded = tables.load();
        assert.equal(stateHash(loaded), stateHash(world.state));
        world.state = loaded;
        break;
      }
      default: {
        const [row] = world.settlements();
        if (row === undefined) break;
        const name = { request: world.request(), user: row.user, place: row.place, requestedNs: row.requestedNs };
        const next = world.state.settlementCounters.get(`${CHAIN}/${ALICE}/0`) ?? 0;
        if (one.what === 'sign')
          reference.see(world.send({ kind: 'settlementSigned', ...name, signature: '11'.repeat(65) }));
        else if (one.what === 'refuse') reference.see(world.send({ kind: 'settlementRefused', ...name }));
        else if (one.what === 'settleLapse') {
          reference.see(world.send({ kind: 'settlementLapsed', ...name, blockTime: 2 ** 40, counter: row.nonce }));
        } else if (row.nonce === next) reference.see(world.settled(row));
      }
    }
  }
}

suite('signed texts are accepted once', () => {
  for (const kind of ['simulated', 'evm'] as const) {
    test(`MON-01: in random histories on a chain of kind ${kind} each text moves once what it moved`, () => {
      const saw = new Map<string, number>();
      fc.assert(
        fc.property(fc.array(step, { minLength: 20, maxLength: 70 }), (steps) => play(kind, steps, saw)),
        propertyParameters(40),
      );
      for (const what of [
        'new done',
        'live duplicate',
        'ended ACTION_ALREADY_USED',
        'order ended ACTION_ALREADY_USED',
      ]) {
        assert.ok((saw.get(what) ?? 0) > 5, `${what}: ${JSON.stringify([...saw])}`);
      }
    });
  }

  test('MON-01: a request that is filled in parts lives as long as one of them, and was executed if one was', () => {
    const world = TextsWorld.opened();
    const text = digest('all');
    // The vault has fewer units than are claimed, so that a part is filled.
    world.send({ kind: 'faucet', request: 1, user: ALICE, subAccount: 0, asset: USD, amount: usd(5_000) });
    assert.equal(told(world.withdraw(text, { amount: usd(14_000) })), 'done');
    world.pass(2n * HOUR_NS);
    assert.deepEqual(
      world.rows().map(({ status }) => status),
      ['filled', 'queued'],
    );
    world.approve();
    world.execute(must(world.approved(), 'the part is approved'));
    assert.equal(told(world.withdraw(text, { amount: usd(14_000) })), 'duplicate', 'the rest waits');
    world.pass(DAY_NS);
    const again = world.withdraw(text, { amount: usd(14_000) });
    assert.deepEqual([told(again), statusOf(again)], ['ACTION_ALREADY_USED', 'executed']);
  });

  test('MON-01: a named cancel of one part cancels no other part that gets its number', () => {
    const world = TextsWorld.opened();
    world.send({ kind: 'faucet', request: 1, user: ALICE, subAccount: 0, asset: USD, amount: usd(20_000) });
    assert.equal(told(world.withdraw(digest('all'), { amount: usd(19_000) })), 'done');
    world.pass(2n * HOUR_NS);
    const [first, rest] = world.rows();
    assert.deepEqual([first?.nonce, rest?.nonce], [0, 1]);
    // More units come: of the rest a part is filled, with a rest of its own.
    world.deposit(ALICE, TOKEN, 6_000n * 10n ** 6n, 2);
    world.pass(2n * HOUR_NS);
    assert.deepEqual(
      world.rows().map(({ nonce, status }) => `${nonce} ${status}`),
      ['0 filled', '1 filled', '2 queued'],
    );
    const named = { requestedNs: must(rest, 'a part').requestedNs, text: digest('cancel') };
    assert.equal(told(world.cancel(1, named)), 'done');
    assert.ok(
      world.rows().some(({ nonce, status }) => nonce === 1 && (status === 'queued' || status === 'filled')),
      'another part has the number now',
    );
    assert.equal(told(world.cancel(1, named)), 'WITHDRAWAL_NOT_FOUND');
    assert.equal(told(world.cancel(1, { ...named, text: digest('another') })), 'done', 'a new text names that one');
  });

  test('MON-01: a named cancel is about its row, and no later one of the number', () => {
    const world = TextsWorld.opened();
    world.withdraw(digest(1));
    const requestedNs = world.nowNs;
    world.cancel(0);
    world.pass(HOUR_NS);
    world.withdraw(digest(2));
    assert.equal(told(world.cancel(0, { requestedNs, text: digest('c') })), 'WITHDRAWAL_NOT_FOUND');
    assert.equal(told(world.cancel(0, { requestedNs: world.nowNs, text: digest('d') })), 'done');
  });

  test('MON-01: the digest of an executed text with a nonce is kept a day, then its nonce refuses it, whatever a reorganisation does', () => {
    const world = TextsWorld.opened();
    const text = digest('explicit');
    world.withdraw(text, { nonce: 0 });
    world.approve();
    const row = must(world.approved(), 'it is approved');
    world.execute(row);
    const vanish = (): unknown =>
      acceptedValue(
        reply(
          world.send({
            ...{ kind: 'payoutVanished', request: 1, chainId: CHAIN, user: ALICE, token: TOKEN, nonce: 0 },
            ...{ baseUnits: row.payout, counter: 0 },
          }),
        ),
      )['result'];
    assert.equal(told(world.withdraw(text, { nonce: 0 })), 'ACTION_ALREADY_USED');
    // Taken back, it is live again, and what it is lies with its approval.
    assert.equal(vanish(), 'restored');
    assert.equal(told(world.withdraw(text, { nonce: 0 })), 'duplicate');
    world.execute(must(world.approved(), 'it is approved'));
    world.pass(DAY_NS - 1n);
    world.withdraw(digest('next'), { nonce: 1 });
    assert.equal(told(world.withdraw(text, { nonce: 0 })), 'ACTION_ALREADY_USED', 'not for a day');
    world.pass(1n);
    assert.equal(told(world.withdraw(text, { nonce: 0 })), 'INVALID_NONCE');
    assert.equal(world.state.usedTexts.find(ALICE, text)?.status, 'executed', 'kept until another takes its place');
    assert.equal(told(world.cancel(1)), 'done');
    world.withdraw(digest('another'), { nonce: 1 });
    world.cancel(1);
    assert.equal(world.state.usedTexts.find(ALICE, text), null);
    // A deep reorganisation takes the counter back: the row has gone, and so has the digest.
    assert.equal(vanish(), 'unknown');
    assert.equal(told(world.withdraw(text, { nonce: 0 })), 'INVALID_NONCE');
    assert.equal(told(world.withdraw(digest('null'), { nonce: null })), 'done', 'without a nonce the user asks again');
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.equal(stateHash(tables.load()), stateHash(world.state));
  });

  test('MON-01: a settlement and an order with an expiry are kept until that, and the expiry refuses them from then on', () => {
    const world = TextsWorld.opened();
    const expiresNs = world.nowNs + HOUR_NS;
    const more = { expiresNs, maker: MAKER, makerOrder: { text: digest('order'), expiresNs } };
    assert.equal(told(world.settle(digest('a'), more)), 'done');
    assert.equal(told(world.settle(digest('a'), more)), 'duplicate');
    const other = world.settle(digest('b'), more);
    assert.deepEqual([told(other), statusOf(other)], ['ACTION_ALREADY_USED', 'live']);
    const [row] = world.settlements();
    world.settled(must(row, 'it is locked'));
    assert.equal(statusOf(world.settle(digest('a'), more)), 'executed');
    world.pass(HOUR_NS);
    for (const text of ['a', 'b']) assert.equal(told(world.settle(digest(text), more)), 'INVALID_REQUEST');
    assert.equal(world.state.usedTexts.size, 2);
    world.settle(digest('c'), { ...more, expiresNs: null, makerOrder: null, maker: null });
    assert.equal(world.state.usedTexts.find(ALICE, digest('a')), null, 'what is over leaves with the next text');
  });

  test('MON-01: while no approval is signed a settlement of before is answered, and nothing new is locked', () => {
    const world = TextsWorld.opened();
    const notReady = 'the chain is stopped';
    assert.equal(told(world.settle(digest('a'), { notReady })), 'SERVICE_UNAVAILABLE');
    assert.equal(told(world.settle(digest('a'))), 'done');
    assert.equal(told(world.settle(digest('a'), { notReady })), 'duplicate');
    assert.equal(told(world.settle(digest('b'), { notReady })), 'SERVICE_UNAVAILABLE');
    assert.equal(world.settlements().length, 1);
  });

  test('MON-01: what nothing was signed for may be sent again', () => {
    const world = TextsWorld.opened();
    assert.equal(told(world.settle(digest('a'))), 'done');
    const { place, requestedNs } = must(world.settlements()[0], 'it is locked');
    world.send({ kind: 'settlementRefused', request: 1, user: ALICE, place, requestedNs });
    assert.equal(world.state.usedTexts.size, 0);
    assert.equal(told(world.settle(digest('a'))), 'done');
  });

  test('MON-01: digests without nonce and expiry are bounded for each user, and so are the others; either kind leaves the other a way', () => {
    const world = TextsWorld.opened();
    assert.equal(told(world.withdraw(digest('first'))), 'done');
    assert.equal(told(world.cancel(0)), 'done');
    const cancelled = must(world.state.usedTexts.find(ALICE, digest('first')), 'it is kept');
    const fill = (from: number, to: number, nonce: number | null): void => {
      for (let place = from; place < to; place += 1) {
        world.state.usedTexts.set({ ...cancelled, place, nonce, digest: digest(`f${place}`), sequence: 1_000 + place });
      }
    };
    fill(1, OPEN_TEXTS_PER_USER - 1, null);
    assert.equal(told(world.withdraw(digest('last'))), 'done');
    assert.equal(told(world.cancel(0)), 'done');
    assert.equal(told(world.withdraw(digest('one more'))), 'INVALID_NONCE');
    assert.equal(told(world.settle(digest('of both'))), 'INVALID_NONCE');
    assert.equal(statusOf(world.withdraw(digest('first'))), 'cancelled', 'none of them was forgotten');
    assert.equal(told(world.withdraw(digest('explicit'), { nonce: 0 })), 'done');
    assert.equal(told(world.cancel(0)), 'done');
    const expiresNs = world.nowNs + HOUR_NS;
    fill(OPEN_TEXTS_PER_USER + 1, OPEN_TEXTS_PER_USER + NAMED_TEXTS_PER_USER, 0);
    assert.equal(world.state.usedTexts.size, OPEN_TEXTS_PER_USER + NAMED_TEXTS_PER_USER);
    assert.equal(told(world.withdraw(digest('full'), { nonce: 0 })), 'INVALID_NONCE');
    assert.equal(told(world.settle(digest('expires'), { expiresNs })), 'INVALID_REQUEST');
    // What the counter of the vault has passed makes room, before its day is over.
    world.state.withdrawalCounters.set(`${CHAIN}/${ALICE}`, 1);
    assert.equal(told(world.withdraw(digest('room'), { nonce: 1 })), 'done');
    assert.equal(world.state.usedTexts.size, OPEN_TEXTS_PER_USER + 2, 'a floor and the new one');
    assert.equal(told(world.withdraw(digest('explicit'), { nonce: 0 })), 'INVALID_NONCE');
  });

  test('MON-14: nothing is paid to the vault or to a token that an asset has or had', () => {
    const world = TextsWorld.opened();
    world.put('putAsset', ETH, { symbol: 'ETH', tokens: [] });
    for (const target of [VAULT_ADDRESS, TOKEN, ETH_TOKEN]) {
      assert.equal(told(world.withdraw(digest(target), { target })), 'INVALID_REQUEST', target);
    }
    assert.equal(told(world.withdraw(digest('other'), { target: '0e'.repeat(20).padEnd(64, '0') })), 'done');
  });
});
