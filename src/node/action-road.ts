/**
 * The front door's part of the road of a signed action:
 *
 *   check ─▶ signature ─▶ room in the shard's ring ─▶ reserve (hold, request id) ─▶ message ─▶ … ─▶ answer
 *
 * A full ring, a closed market or a full pool is an answer before anything changed. Cancels may use the reserved room.
 *
 * Not here: actions that nobody signs (bulk-cancels.ts), the bytes of a message (door-commands.ts).
 */

import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { ActionOrigin, Answer } from '../edge/oms-backend.ts';
import { CancelOrder, NewOrder, ReplaceOrder } from '../messages/generated/messages.ts';
import type { MarketSlot } from '../orders/markets.ts';
import type { OrderManager } from '../orders/order-manager.ts';
import { NO_SKIPS } from '../orders/prepared.ts';
import type { Outlet } from '../runtime/outlet.ts';
import type { Signatures } from '../wire/signatures.ts';
import type { CancelRequest } from '../wire/signed-cancel.ts';
import type { CreateRequest } from '../wire/signed-order.ts';
import type { ReplaceRequest } from '../wire/signed-replace.ts';
import { type Stamp, writeCancel, writeCreate, writeReplace } from './door-commands.ts';
import { BAD_SIGNATURE, MARKET_BUSY, MARKET_CLOSED, POOL_FULL, refuseSigners } from './door-refusals.ts';
import type { SkippedCheck } from './operator-inject-hooks.ts';
import type { ReleaseQueue } from './release-queue.ts';
import type { SignatureDesk } from './verify-desk.ts';

export interface ActionRoadParts {
  readonly orders: OrderManager;
  readonly desk: SignatureDesk;
  /** One per shard; market m lives on shard m mod shards. */
  readonly shards: readonly Outlet[];
  readonly nowNs: () => TimestampNs;
  /** Markets that have been restored and take orders. */
  readonly openMarkets: ReadonlySet<number>;
  /** What goes before new orders. */
  readonly releases: ReleaseQueue;
  /** Asks for a flush at the end of this turn of the event loop. */
  readonly poke: () => void;
}

/** What every signed request has. */
interface SignedRequest extends Signatures {
  /** The bytes that were signed. */
  readonly text: Uint8Array;
}

/** A checked action: the record it becomes, and what is taken for it once that has room. */
interface Errand {
  readonly market: MarketSlot;
  readonly typeId: number;
  readonly bytes: number;
  /** May use the ring's reserve. */
  readonly isUrgent: boolean;
  reserve(): Outcome<Reserved>;
}

interface Reserved {
  readonly requestId: number;
  write(v: Views, at: number, stamp: Stamp): void;
}

export class ActionRoad {
  private readonly parts: ActionRoadParts;
  private readonly answers = new Map<number, Answer>();
  private readonly keys = new Map<string, Uint8Array>();

  constructor(parts: ActionRoadParts) {
    this.parts = parts;
  }

  /** Actions that wait for their market. */
  get waiting(): number {
    return this.answers.size;
  }

  create(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    const errand = this.createErrand(request, origin);
    if (errand.ok) this.verified(request, errand.value, origin, answer);
    else this.refuse(answer, errand.reject);
  }

  /** A create past some of the checks, which are left to clearing (operator-api.md 7.3 `inject_order`). */
  inject(request: CreateRequest, skips: ReadonlySet<SkippedCheck>, origin: ActionOrigin, answer: Answer): void {
    const errand = this.createErrand(request, origin, skips);
    if (!errand.ok) this.refuse(answer, errand.reject);
    else if (skips.has('signature')) this.send(errand.value, answer);
    else this.verified(skips.has('multisig') ? alone(request) : request, errand.value, origin, answer);
  }

  replace(request: ReplaceRequest, origin: ActionOrigin, answer: Answer): void {
    const { orders } = this.parts;
    const checked = orders.checkReplace(request, this.caller(origin));
    if (!checked.ok) {
      this.refuse(answer, checked.reject);
      return;
    }
    const prepared = checked.value;
    const errand: Errand = {
      market: prepared.market,
      typeId: ReplaceOrder.typeId,
      bytes: ReplaceOrder.bytes,
      isUrgent: false,
      reserve: () => written(orders.reserveReplace(prepared), (v, at, stamp) => writeReplace(v, at, prepared, stamp)),
    };
    this.verified(request, errand, origin, answer);
  }

  cancel(request: CancelRequest, origin: ActionOrigin, answer: Answer): void {
    const { orders } = this.parts;
    const checked = orders.checkCancel(request, this.caller(origin));
    if (!checked.ok) {
      this.refuse(answer, checked.reject);
      return;
    }
    const prepared = checked.value;
    const errand: Errand = {
      market: prepared.market,
      typeId: CancelOrder.typeId,
      bytes: CancelOrder.bytes,
      isUrgent: true,
      reserve: () =>
        written(orders.reserveCancel(prepared), (v, at, stamp) =>
          writeCancel(v, at, prepared, origin.isControl, stamp),
        ),
    };
    this.verified(request, errand, origin, answer);
  }

  /** Somebody else reserved this request and sent it; its answer goes here. */
  expect(requestId: number, answer: Answer): void {
    this.answers.set(requestId, answer);
  }

  /** The market (or, with durable acks, the flush) has spoken. */
  answered(requestId: number, refusal: Reject | null, processedAtNs: TimestampNs): void {
    const answer = must(this.answers.get(requestId), 'an answer belongs to a waiting action');
    this.answers.delete(requestId);
    answer({ refusal, processedAtNs });
  }

  private createErrand(
    request: CreateRequest,
    origin: ActionOrigin,
    skips: ReadonlySet<SkippedCheck> = NO_SKIPS,
  ): Outcome<Errand> {
    const { orders } = this.parts;
    const checked = orders.checkCreate(request, { ...this.caller(origin), skips });
    if (!checked.ok) return checked;
    const prepared = checked.value;
    return accepted({
      market: prepared.market,
      typeId: NewOrder.typeId,
      bytes: NewOrder.bytes + prepared.text.length,
      isUrgent: false,
      reserve: () => {
        const reserved = orders.reserveCreate(prepared, this.parts.nowNs());
        if (!reserved.ok) return reserved;
        const { requestId, budget } = reserved.value;
        return accepted({ requestId, write: (v, at, stamp) => writeCreate(v, at, prepared, budget, stamp) });
      },
    });
  }

  private caller(origin: ActionOrigin): { user: ActionOrigin['user']; now: TimestampNs; looksUp: boolean } {
    return { user: origin.user, now: this.parts.nowNs(), looksUp: !origin.isControl };
  }

  /** Weight, then signature (AMB-91). */
  private verified(request: SignedRequest, errand: Errand, origin: ActionOrigin, answer: Answer): void {
    const refusal = refuseSigners(request);
    if (refusal !== null) {
      this.refuse(answer, refusal);
      return;
    }
    const { desk, poke } = this.parts;
    const job = {
      connection: origin.connection,
      signature: request.signature,
      text: request.text,
      publicKey: this.publicKey(origin.user),
    };
    const taken = desk.verify(job, (valid) => {
      if (valid) this.send(errand, answer);
      else this.refuse(answer, BAD_SIGNATURE);
    });
    if (!taken) this.refuse(answer, POOL_FULL);
    poke();
  }

  private send(errand: Errand, answer: Answer): void {
    const { shards, openMarkets, poke } = this.parts;
    const { marketIndex } = errand.market.definition;
    if (!openMarkets.has(marketIndex)) {
      this.refuse(answer, MARKET_CLOSED);
      return;
    }
    const shard = marketIndex % shards.length;
    const outlet = must(shards[shard], 'a shard for every market');
    // A claim that is not committed is forgotten by the next one, so a refusal after it leaves nothing behind.
    const at = this.claim(errand, outlet, shard);
    if (at < 0) {
      this.refuse(answer, MARKET_BUSY);
      return;
    }
    const reserved = errand.reserve();
    if (!reserved.ok) {
      this.refuse(answer, reserved.reject);
      return;
    }

    // After this point the action must succeed.
    const { requestId } = reserved.value;
    reserved.value.write(outlet.views, at, { requestId, receivedNs: this.parts.nowNs() });
    outlet.commit();
    this.answers.set(requestId, answer);
    poke();
  }

  /** Room in the ring. Orders that were released go before new ones; cancels wait for nobody. */
  private claim({ typeId, bytes, isUrgent }: Errand, outlet: Outlet, shard: number): number {
    if (!isUrgent && !this.parts.releases.send(shard)) return -1;
    return outlet.claim(typeId, bytes, isUrgent);
  }

  private refuse(answer: Answer, refusal: Reject): void {
    answer({ refusal, processedAtNs: this.parts.nowNs() });
  }

  /** The bytes of a session's user, kept: a user sends many actions. */
  private publicKey(user: string): Uint8Array {
    const known = this.keys.get(user);
    if (known !== undefined) return known;
    const key = must(parseHex(user, 32), 'a session user is 32 bytes of hex');
    if (this.keys.size >= PUBLIC_KEYS_KEPT) this.keys.clear();
    this.keys.set(user, key);
    return key;
  }
}

/** The request with its co-signers left out. */
function alone(request: CreateRequest): CreateRequest {
  return { ...request, additionalSigners: [] };
}

/** A reserved request with its writer. */
function written(reserved: Outcome<number>, write: Reserved['write']): Outcome<Reserved> {
  return reserved.ok ? accepted({ requestId: reserved.value, write }) : reserved;
}

/** Public keys kept as bytes; when full it starts over, which costs one conversion a user. */
const PUBLIC_KEYS_KEPT = 65_536;
