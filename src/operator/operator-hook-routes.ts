/**
 * Test hooks (operator-api.md 7, dev and test): the clock, the barrier, clearing's holds and faults, the faucet. The
 * routes do not exist where hooks are disabled.
 *
 * Not here: the hooks of the simulated chains (operator-chain-routes.ts).
 */

import type { ChainOperations } from '../chain/chain-operations.ts';
import { CRASH_POINTS } from '../clearing/clearing-hooks.ts';
import type { Reply } from '../clearing/inputs.ts';
import { assetNotFound } from '../clearing/registry/registry-assets.ts';
import { type AssetId, type ChainId, parseAssetId, parseChainId, USD } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TestCredit } from '../http/dev-faucet.ts';
import { BodyReader } from './body-reader.ts';
import { readRejectFill } from './commands.ts';
import { change, request, seenByAll } from './operator-change.ts';
import { chainOf } from './operator-config-routes.ts';
import { injectFill, injectOrder } from './operator-inject-hooks.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';

type Body = Readonly<Record<string, unknown>>;

const CLOCK_REST_MS = 10_000;
const BARRIER_MS = { min: 0, max: 60_000 };
const BARRIER_MS_DEFAULT = 5_000;
/** Less than the heartbeat gap after which a thread is lost (HEARTBEAT_LOST_MS). */
const DELAY_MS = { min: 0, max: 1_000 };
const FILLS = { min: 1, max: 1_000_000 };
const TRANSACTIONS = { min: 0, max: 1_000_000_000 };
/** 2255: every instant derived from it, an expiry or a delay, still fits in a signed 64-bit integer. */
const CLOCK_NS_MAX = 9_000_000_000_000_000_000n;
const NOT_AT_REST: Reject = reject('TIMEOUT', 'the node did not come to rest in time');

/** @param chains returns null until the chains have started. */
export function hookRoutes(parts: OpsParts, chains: () => ChainOperations | null): readonly OpsRoute[] {
  const clearing = new ClearingHooks(parts, chains);
  const faucet = (body: Body): Promise<Reply> => request(parts, { kind: 'faucet', body });
  return [
    { method: 'GET', pattern: '/operator/clock', whileRecovering: true, handler: () => accepted(clockView(parts)) },
    { method: 'POST', pattern: '/operator/clock', handler: ({ body }) => moveClock(parts, body) },
    { method: 'POST', pattern: '/operator/barrier', handler: ({ body }) => barrier(parts, body) },
    { method: 'GET', pattern: '/operator/clearing', handler: () => clearing.view() },
    { method: 'POST', pattern: '/operator/clearing', handler: ({ body }) => clearing.apply(body) },
    { method: 'POST', pattern: '/operator/faucet', handler: ({ body }) => faucet(body) },
  ];
}

/** The faucet for the page of a dev node; the same command as the operator's. */
export function creditTestFunds(parts: OpsParts, { user, subAccount, assetId, amount }: TestCredit): Promise<Reply> {
  const body = { user_id: user, sub_account: subAccount, asset_id: assetId, amount };
  return request(parts, { kind: 'faucet', body });
}

function clockView({ clock }: OpsParts): Body {
  return { mode: clock.mode, now_ns: clock.nowNs() };
}

/** Rejects a body that does not have exactly one of these members. */
function exactlyOne(reader: BodyReader, names: readonly string[]): void {
  const given = names.filter((name) => reader.has(name));
  if (given.length !== 1) reader.fail(given[1] ?? names[0] ?? '', `exactly one of ${names.join(', ')} is expected`);
}

/** A count, or an instant in nanoseconds, which exceeds the safe integers. */
function readNs(reader: BodyReader, name: string, max: bigint): bigint {
  const value = reader.raw(name);
  if (typeof value === 'bigint' && value >= 0n && value <= max) return value;
  reader.fail(name, `an integer of nanoseconds from 0 to ${max} is expected`);
  return 0n;
}

async function moveClock(parts: OpsParts, body: Body): Promise<Reply> {
  const { clock } = parts;
  const reader = new BodyReader(body, ['advance_ns', 'set_ns']);
  exactlyOne(reader, ['advance_ns', 'set_ns']);
  if (reader.failure !== null) return reader.failure;
  const isAdvance = reader.has('advance_ns');
  const deltaNs = isAdvance ? readNs(reader, 'advance_ns', CLOCK_NS_MAX - clock.nowNs()) : 0n;
  const targetNs = isAdvance ? 0n : readNs(reader, 'set_ns', CLOCK_NS_MAX);
  if (reader.failure !== null) return reader.failure;
  if (isAdvance) clock.advance(deltaNs);
  else if (!clock.setTo(targetNs)) {
    return rejected(reject('CLOCK_BACKWARDS', 'the clock only goes forward', 'set_ns'));
  }
  const journaled = await parts.command({ kind: 'clockMoved' });
  parts.clockMoved();
  if (!journaled.ok) return journaled;
  return (await parts.settle(CLOCK_REST_MS)) ? accepted(clockView(parts)) : rejected(NOT_AT_REST);
}

async function barrier(parts: OpsParts, body: Body): Promise<Reply> {
  const reader = new BodyReader(body, ['timeout_ms']);
  const timeoutMs = reader.integer('timeout_ms', BARRIER_MS, BARRIER_MS_DEFAULT);
  if (reader.failure !== null) return reader.failure;
  if (!(await parts.settle(timeoutMs))) return rejected(NOT_AT_REST);
  const state = await parts.ask({ kind: 'journal' });
  return state.ok ? accepted({ quiescent: true, journal_sequence: state.value.sequence }) : state;
}

/** `/operator/clearing`: most of it is a command to clearing or a hook of its thread; stalls apply to the markets. */
class ClearingHooks {
  readonly #parts: OpsParts;
  readonly #chains: () => ChainOperations | null;
  /** Stalled markets: market index → asset. */
  readonly #stalled = new Map<number, AssetId>();
  #isDropped = false;

  constructor(parts: OpsParts, chains: () => ChainOperations | null) {
    this.#parts = parts;
    this.#chains = chains;
  }

  async view(): Promise<Reply> {
    const reply = await this.#parts.ask({ kind: 'hooks' });
    if (!reply.ok) return reply;
    const { hold, held_fills, delay_ms, faults } = reply.value;
    const stalls = [...this.#stalled.values()].map((asset) => ({
      kind: 'stall_market',
      asset_id: asset,
      remaining: 1,
    }));
    const drops = this.#isDropped ? [{ kind: 'drop_snapshot', remaining: 1 }] : [];
    return accepted({ hold, held_fills, delay_ms, faults: [...faults, ...stalls, ...drops, ...this.#withheld()] });
  }

  #withheld(): readonly Body[] {
    const chains = this.#chains()?.withheld ?? [];
    return chains.map((chain) => ({ kind: 'withhold_checkpoints', chain_id: chain, remaining: 1 }));
  }

  async #withhold(value: unknown): Promise<Reply> {
    const reader = new BodyReader(value, ['kind', 'chain_id'], 'fault.');
    const chainId = reader.form('chain_id', parseChainId, 'a chain id is', undefined, '' as ChainId);
    if (reader.failure !== null) return reader.failure;
    const chain = chainOf(this.#parts, chainId);
    if (!chain.ok) return chain;
    await this.#chains()?.withhold(chainId);
    return accepted({});
  }

  async apply(body: Body): Promise<Reply> {
    const names = ['hold', 'release', 'delay_ms', 'fault'];
    const reader = new BodyReader(body, names);
    exactlyOne(reader, names);
    if (reader.failure !== null) return reader.failure;
    const done = await this.#applyOne(reader);
    return done.ok ? this.view() : done;
  }

  #applyOne(reader: BodyReader): Promise<Reply> {
    if (reader.has('hold')) return this.#hold(reader.raw('hold'));
    if (reader.has('release')) return this.#release(reader.raw('release'));
    if (reader.has('delay_ms')) return this.#delay(reader);
    return this.#fault(reader.raw('fault'));
  }

  async #hold(value: unknown): Promise<Reply> {
    if (value === true) return change(this.#parts, { kind: 'hold', asset: 'all' });
    const reader = new BodyReader(value, ['asset_id']);
    const asset = reader.form('asset_id', parseAssetId, 'an asset id is', undefined, USD);
    if (reader.failure !== null) return within('hold', reader.failure.reject);
    const { assets, definitions } = this.#parts.gateway.registry.rows();
    if (!assets.has(asset) && !definitions.has(asset)) return rejected(assetNotFound(asset));
    return change(this.#parts, { kind: 'hold', asset });
  }

  async #release(value: unknown): Promise<Reply> {
    if (value === true) {
      for (const market of this.#stalled.keys()) this.#parts.stallMarket(market, false);
      this.#stalled.clear();
      this.#drop(false);
      await this.#chains()?.withhold(null);
      return change(this.#parts, { kind: 'release', fills: null });
    }
    const reader = new BodyReader(value, ['fills']);
    const fills = reader.integer('fills', FILLS, undefined);
    if (reader.failure !== null) return within('release', reader.failure.reject);
    return change(this.#parts, { kind: 'release', fills });
  }

  async #delay(reader: BodyReader): Promise<Reply> {
    const ms = reader.integer('delay_ms', DELAY_MS, undefined);
    return reader.failure ?? this.#parts.hookClearing({ kind: 'delay', ms });
  }

  /** Kinds that this node does not implement are rejected like any unknown kind. */
  async #fault(value: unknown): Promise<Reply> {
    if (value === null) {
      const taken = await this.#parts.hookClearing({ kind: 'crash', point: null, afterTransactions: 0 });
      return taken.ok ? change(this.#parts, { kind: 'fault', fault: null }) : taken;
    }
    const kinds = [
      'reject_fill',
      'inject_order',
      'inject_fill',
      'drop_snapshot',
      'stall_market',
      'withhold_checkpoints',
      'crash',
    ] as const;
    const members = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    const reader = new BodyReader(value, members);
    const kind = reader.word('kind', kinds, undefined);
    if (reader.failure !== null) return within('fault', reader.failure.reject);
    if (kind === 'reject_fill') return this.#rejectFill(value);
    if (kind === 'inject_order') return injectOrder(this.#parts, value);
    if (kind === 'inject_fill') return injectFill(this.#parts, value);
    if (kind === 'drop_snapshot') return this.#dropSnapshot(value);
    if (kind === 'withhold_checkpoints') return this.#withhold(value);
    return kind === 'stall_market' ? this.#stall(value) : this.#crash(value);
  }

  async #rejectFill(value: unknown): Promise<Reply> {
    const fault = readRejectFill(value);
    return fault.ok ? change(this.#parts, { kind: 'fault', fault: fault.value }) : within('fault', fault.reject);
  }

  async #stall(value: unknown): Promise<Reply> {
    const reader = new BodyReader(value, ['kind', 'asset_id'], 'fault.');
    const asset = reader.form('asset_id', parseAssetId, 'an asset id is', undefined, USD);
    if (reader.failure !== null) return reader.failure;
    const market = this.#parts.gateway.registry.rows().definitions.get(asset);
    if (market === undefined) return rejected(reject('MARKET_NOT_FOUND', `there is no market of asset ${asset}`));
    this.#stalled.set(market.marketIndex, asset);
    this.#parts.stallMarket(market.marketIndex, true);
    await seenByAll(this.#parts);
    return accepted({});
  }

  async #dropSnapshot(value: unknown): Promise<Reply> {
    const reader = new BodyReader(value, ['kind'], 'fault.');
    if (reader.failure === null) this.#drop(true);
    return reader.failure ?? accepted({});
  }

  #drop(isDropped: boolean): void {
    this.#isDropped = isDropped;
    this.#parts.gateway.registry.isDropped = isDropped;
  }

  async #crash(value: unknown): Promise<Reply> {
    const reader = new BodyReader(value, ['kind', 'point', 'after_transactions'], 'fault.');
    const point = reader.word('point', CRASH_POINTS, undefined);
    const afterTransactions = reader.integer('after_transactions', TRANSACTIONS, 0);
    return reader.failure ?? this.#parts.hookClearing({ kind: 'crash', point, afterTransactions });
  }
}

/** The same reject, with the field name below `path`. */
function within(path: string, reason: Reject): Outcome<never> {
  const { code, message, field } = reason;
  return rejected(reject(code, message, field === undefined ? path : `${path}.${field}`));
}
