/**
 * Test hooks (operator-api.md 7, dev and test): the clock, the barrier, clearing's holds and faults, the faucet. The
 * routes do not exist where hooks are disabled.
 *
 * Not here: the hooks of the simulated chains (operator-chain-routes.ts).
 */

import type { ChainOperations } from '../chain/chain-operations.ts';
import { CRASH_POINTS } from '../clearing/clearing-hooks.ts';
import type { ActionReply } from '../clearing/inputs.ts';
import { assetNotFound } from '../clearing/registry/registry-assets.ts';
import { closed, defaulted, either, nullable, open, optional, type Shape, words } from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';
import type { AssetId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TestCredit } from '../http/dev-faucet.ts';
import { badMember, readBody } from './body-reader.ts';
import { ASSET, body, CHAIN, CONFIRMED, integer } from './body-shapes.ts';
import { COMMAND_BODIES, REJECT_FILL } from './commands.ts';
import { change, request, seenByAll } from './operator-change.ts';
import { chainOf } from './operator-config-routes.ts';
import { INJECT_BODIES, injectFill, injectOrder } from './operator-inject-hooks.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { BARRIER_SHOWN, CLEARING_SHOWN, CLOCK_SHOWN, CREDITED } from './reply-shapes.ts';

type Body = Readonly<Record<string, unknown>>;

const CLOCK_REST_MS = 10_000;
/** Less than the heartbeat gap after which a thread is lost (HEARTBEAT_LOST_MS). */
const DELAY_MS_MAX = 1_000;
/** 2255: every instant derived from it, an expiry or a delay, still fits in a signed 64-bit integer. */
const CLOCK_NS_MAX = 9_000_000_000_000_000_000n;
/** A count, or an instant: both exceed the safe integers. */
const CLOCK_NS = Type.Unsafe<bigint>({ type: 'integer', format: 'uint64', maximum: CLOCK_NS_MAX });

/** Exactly one of them. */
const CLOCK_BODY = body({ advance_ns: optional(CLOCK_NS), set_ns: optional(CLOCK_NS) });
const BARRIER_BODY = body({ timeout_ms: defaulted(integer(0, 60_000), 5_000) });

const ONE_ASSET = body({ asset_id: ASSET });
const SOME_FILLS = body({ fills: integer(1, 1_000_000) });
const DROP_SNAPSHOT = body({ kind: words('drop_snapshot') });
const STALL_MARKET = body({ kind: words('stall_market'), asset_id: ASSET });
const WITHHOLD_CHECKPOINTS = body({ kind: words('withhold_checkpoints'), chain_id: CHAIN });
const CRASH = body({
  kind: words('crash'),
  point: words(...CRASH_POINTS),
  after_transactions: defaulted(integer(0, 1_000_000_000), 0),
});
const FAULTS = [
  REJECT_FILL,
  INJECT_BODIES.order,
  INJECT_BODIES.fill,
  DROP_SNAPSHOT,
  STALL_MARKET,
  WITHHOLD_CHECKPOINTS,
  CRASH,
] as const;

/** Exactly one of them. */
const CLEARING_BODY = closed({
  hold: optional(either(CONFIRMED, ONE_ASSET)),
  release: optional(either(CONFIRMED, SOME_FILLS)),
  delay_ms: optional(integer(0, DELAY_MS_MAX)),
  fault: optional(nullable(either(...FAULTS))),
});

const FAULT_KINDS = [
  'reject_fill',
  'inject_order',
  'inject_fill',
  'drop_snapshot',
  'stall_market',
  'withhold_checkpoints',
  'crash',
] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

const NOT_AT_REST: Reject = reject('TIMEOUT', 'the node did not come to rest in time');

const CLOCK_EXAMPLE = '{"mode":"manual","now_ns":1800000000000000000}';
const CLEARING_EXAMPLE = '{"hold":{"all":false,"assets":["2"]},"held_fills":2,"delay_ms":0,"faults":[]}';
const CLOCK = { path: '/operator/clock', area: 'Test hooks', reply: CLOCK_SHOWN } as const;
const CLEARING = { path: '/operator/clearing', area: 'Test hooks', reply: CLEARING_SHOWN } as const;

/** @param chains returns null until the chains have started. */
export function hookRoutes(parts: OpsParts, chains: () => ChainOperations | null): readonly OpsRoute[] {
  const clearing = new ClearingHooks(parts, chains);
  const faucet = (given: Body): Promise<ActionReply> => request(parts, { kind: 'faucet', body: given });
  return [
    {
      ...CLOCK,
      method: 'GET',
      summary: 'The clock of the node',
      example: { reply: CLOCK_EXAMPLE },
      whileRecovering: true,
      handler: () => accepted(clockView(parts)),
    },
    {
      ...CLOCK,
      method: 'POST',
      summary: 'Move the clock forward',
      description: 'Exactly one member. The reply comes when the actors are at rest.',
      body: CLOCK_BODY,
      errors: ['CLOCK_BACKWARDS'],
      example: { body: '{"advance_ns":1000000000}', reply: CLOCK_EXAMPLE },
      handler: (call) => moveClock(parts, call.body),
    },
    {
      method: 'POST',
      path: '/operator/barrier',
      area: 'Test hooks',
      summary: 'Wait until the node is at rest',
      body: BARRIER_BODY,
      reply: BARRIER_SHOWN,
      example: { body: '{"timeout_ms":5000}', reply: '{"quiescent":true,"journal_sequence":1042}' },
      handler: (call) => barrier(parts, call.body),
    },
    {
      ...CLEARING,
      method: 'GET',
      summary: 'Holds, delays and faults of clearing',
      example: { reply: CLEARING_EXAMPLE },
      handler: () => clearing.view(),
    },
    {
      ...CLEARING,
      method: 'POST',
      summary: 'Hold, release or delay clearing, or give it a fault',
      description: 'Exactly one member.',
      body: CLEARING_BODY,
      errors: ['ASSET_NOT_FOUND', 'MARKET_NOT_FOUND', 'CHAIN_NOT_FOUND', 'ORDER_NOT_FOUND'],
      example: { body: '{"hold":{"asset_id":"2"}}', reply: CLEARING_EXAMPLE },
      handler: (call) => clearing.apply(call.body),
    },
    {
      method: 'POST',
      path: '/operator/faucet',
      area: 'Test hooks',
      role: 'funds',
      summary: 'Credit test funds',
      description: 'A negative amount takes back.',
      body: COMMAND_BODIES.faucet,
      reply: CREDITED,
      errors: ['ASSET_NOT_FOUND', 'USER_NOT_FOUND', 'INSUFFICIENT_INVENTORY'],
      example: {
        body: '{"user_id":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","sub_account":1,"asset_id":"0","amount":"1000.5"}',
        reply: '{"balance":"1000.5"}',
      },
      handler: (call) => faucet(call.body),
    },
  ];
}

/** The faucet for the page of a dev node; the same command as the operator's. */
export function creditTestFunds(
  parts: OpsParts,
  { user, subAccount, assetId, amount }: TestCredit,
): Promise<ActionReply> {
  const credit = { user_id: user, sub_account: subAccount, asset_id: assetId, amount };
  return request(parts, { kind: 'faucet', body: credit });
}

function clockView({ clock }: OpsParts): Body {
  return { mode: clock.mode, now_ns: clock.nowNs() };
}

/** The member that is there, of which there is exactly one; INVALID_REQUEST also for any other. */
function onlyMember(shape: Shape, given: Body): Outcome<string> {
  const names = Object.keys(shape['properties'] as object);
  const there = Object.keys(given);
  const [first = names[0] ?? '', second = first] = there.filter((name) => names.includes(name));
  const unknown = there.find((name) => !names.includes(name));
  if (unknown !== undefined) return badMember(unknown, `one of ${names.join(', ')}`);
  return there.length === 1 ? accepted(first) : badMember(second, `exactly one of ${names.join(', ')}`);
}

async function moveClock(parts: OpsParts, given: Body): Promise<ActionReply> {
  const { clock } = parts;
  const only = onlyMember(CLOCK_BODY, given);
  if (!only.ok) return only;
  const read = readBody(CLOCK_BODY, given);
  if (!read.ok) return read;
  const { advance_ns: deltaNs, set_ns: targetNs = 0n } = read.value;
  if (deltaNs !== undefined) {
    const mostNs = CLOCK_NS_MAX - clock.nowNs();
    if (deltaNs > mostNs) return badMember('advance_ns', `an integer of nanoseconds from 0 to ${mostNs}`);
    clock.advance(deltaNs);
  } else if (!clock.setTo(targetNs)) {
    return rejected(reject('CLOCK_BACKWARDS', 'the clock only goes forward', 'set_ns'));
  }
  const journaled = await parts.command({ kind: 'clockMoved' });
  parts.clockMoved();
  if (!journaled.ok) return journaled;
  return (await parts.settle(CLOCK_REST_MS)) ? accepted(clockView(parts)) : rejected(NOT_AT_REST);
}

async function barrier(parts: OpsParts, given: Body): Promise<ActionReply> {
  const read = readBody(BARRIER_BODY, given);
  if (!read.ok) return read;
  if (!(await parts.settle(read.value.timeout_ms))) return rejected(NOT_AT_REST);
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

  async view(): Promise<ActionReply> {
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

  async #withhold(value: unknown): Promise<ActionReply> {
    const read = readBody(WITHHOLD_CHECKPOINTS, value, 'fault');
    if (!read.ok) return read;
    const chainId = read.value.chain_id;
    const chain = chainOf(this.#parts, chainId);
    if (!chain.ok) return chain;
    await this.#chains()?.withhold(chainId);
    return accepted({});
  }

  async apply(given: Body): Promise<ActionReply> {
    const only = onlyMember(CLEARING_BODY, given);
    if (!only.ok) return only;
    const done = await this.#applyOne(only.value, given[only.value]);
    return done.ok ? this.view() : done;
  }

  #applyOne(name: string, value: unknown): Promise<ActionReply> {
    if (name === 'hold') return this.#hold(value);
    if (name === 'release') return this.#release(value);
    return name === 'delay_ms' ? this.#delay(value) : this.#fault(value);
  }

  async #hold(value: unknown): Promise<ActionReply> {
    if (value === true) return change(this.#parts, { kind: 'hold', asset: 'all' });
    const read = readBody(ONE_ASSET, value, 'hold');
    if (!read.ok) return read;
    const asset = read.value.asset_id;
    const { assets, definitions } = this.#parts.gateway.registry.rows();
    if (!assets.has(asset) && !definitions.has(asset)) return rejected(assetNotFound(asset));
    return change(this.#parts, { kind: 'hold', asset });
  }

  async #release(value: unknown): Promise<ActionReply> {
    if (value === true) {
      for (const market of this.#stalled.keys()) this.#parts.stallMarket(market, false);
      this.#stalled.clear();
      this.#drop(false);
      await this.#chains()?.withhold(null);
      return change(this.#parts, { kind: 'release', fills: null });
    }
    const read = readBody(SOME_FILLS, value, 'release');
    return read.ok ? change(this.#parts, { kind: 'release', fills: read.value.fills }) : read;
  }

  async #delay(value: unknown): Promise<ActionReply> {
    const read = readBody(integer(0, DELAY_MS_MAX), value, 'delay_ms');
    return read.ok ? this.#parts.hookClearing({ kind: 'delay', ms: read.value }) : read;
  }

  /** Kinds that this node does not implement are rejected like any unknown kind. */
  async #fault(value: unknown): Promise<ActionReply> {
    if (value === null) {
      const taken = await this.#parts.hookClearing({ kind: 'crash', point: null, afterTransactions: 0 });
      return taken.ok ? change(this.#parts, { kind: 'fault', fault: null }) : taken;
    }
    const named = readBody(
      open({ kind: words(...FAULT_KINDS) }) as Shape<unknown, { kind: FaultKind }>,
      value,
      'fault',
    );
    if (!named.ok) return named;
    const { kind } = named.value;
    if (kind === 'reject_fill') return this.#rejectFill(value);
    if (kind === 'inject_order') return injectOrder(this.#parts, value);
    if (kind === 'inject_fill') return injectFill(this.#parts, value);
    if (kind === 'drop_snapshot') return this.#dropSnapshot(value);
    if (kind === 'withhold_checkpoints') return this.#withhold(value);
    return kind === 'stall_market' ? this.#stall(value) : this.#crash(value);
  }

  async #rejectFill(value: unknown): Promise<ActionReply> {
    const fault = readBody(REJECT_FILL, value, 'fault');
    return fault.ok ? change(this.#parts, { kind: 'fault', fault: fault.value }) : fault;
  }

  async #stall(value: unknown): Promise<ActionReply> {
    const read = readBody(STALL_MARKET, value, 'fault');
    if (!read.ok) return read;
    const asset = read.value.asset_id;
    const market = this.#parts.gateway.registry.rows().definitions.get(asset);
    if (market === undefined) return rejected(reject('MARKET_NOT_FOUND', `there is no market of asset ${asset}`));
    this.#stalled.set(market.marketIndex, asset);
    this.#parts.stallMarket(market.marketIndex, true);
    await seenByAll(this.#parts);
    return accepted({});
  }

  async #dropSnapshot(value: unknown): Promise<ActionReply> {
    const read = readBody(DROP_SNAPSHOT, value, 'fault');
    if (!read.ok) return read;
    this.#drop(true);
    return accepted({});
  }

  #drop(isDropped: boolean): void {
    this.#isDropped = isDropped;
    this.#parts.gateway.registry.isDropped = isDropped;
  }

  async #crash(value: unknown): Promise<ActionReply> {
    const read = readBody(CRASH, value, 'fault');
    if (!read.ok) return read;
    const { point, after_transactions: afterTransactions } = read.value;
    return this.#parts.hookClearing({ kind: 'crash', point, afterTransactions });
  }
}
