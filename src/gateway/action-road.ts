/**
 * The front door's part of the road of a signed action:
 *
 *   check ─▶ signature ─▶ room in the shard's ring ─▶ reserve (hold, request id) ─▶ message ─▶ … ─▶ answer
 *
 * A full ring, a closed market or a full pool is an answer before anything changed. Cancels may use the reserved room.
 *
 * Not here: checks and bytes of a request (errands.ts), several at once (batch-road.ts), actions that nobody signs
 * (bulk-cancels.ts).
 */

import type { HopTimes } from '../codec/hop-times.ts';
import type { Signatures } from '../codec/signatures.ts';
import type { CancelRequest } from '../codec/signed-cancel.ts';
import type { CreateRequest } from '../codec/signed-order.ts';
import type { ReplaceRequest } from '../codec/signed-replace.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { ActionOrigin } from '../http/oms-backend.ts';
import type { SkippedCheck } from '../operator/operator-inject-hooks.ts';
import { COMMAND_NOTE, NOTE_BYTES, sendNote } from '../order/command-notes.ts';
import type { Outlet } from '../runtime/outlet.ts';
import { recordBytes } from '../runtime/ring-layout.ts';
import { BAD_SIGNATURE, MARKET_BUSY, MARKET_CLOSED, POOL_FULL, refuseSigners } from './door-refusals.ts';
import type { Errand, Errands } from './errands.ts';
import type { Answer } from './orders/requests.ts';
import type { ReleaseQueue } from './release-queue.ts';
import type { Part } from './sessions/shared-budget.ts';
import type { SignatureDesk } from './verify-desk.ts';

export interface ActionRoadParts {
  readonly errands: Errands;
  readonly desk: SignatureDesk;
  /** One per shard; market m lives on shard m mod shards. */
  readonly shards: readonly Outlet[];
  /** Of the hashes of ids. */
  readonly idKey: HashKey;
  readonly nowNs: () => TimestampNs;
  /** Markets that have been restored and take orders. */
  readonly openMarkets: ReadonlySet<number>;
  /** What goes before new orders. */
  readonly releases: ReleaseQueue;
  /** What a request of this user may take of what all share. */
  readonly partOf: (user: UserId, cost: 'action' | 'cancel') => Part;
  /** Asks for a flush at the end of this turn of the event loop. */
  readonly poke: () => void;
}

/** What every signed request has. */
export interface SignedRequest extends Signatures {
  /** The bytes that were signed. */
  readonly text: Uint8Array;
}

export class ActionRoad {
  private readonly parts: ActionRoadParts;
  private readonly keys = new Map<string, Uint8Array>();

  constructor(parts: ActionRoadParts) {
    this.parts = parts;
  }

  create(request: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    this.take(this.parts.errands.create(request, origin), request, origin, answer);
  }

  /** A create past some of the checks, which are left to clearing (operator-api.md 7.3 `inject_order`). */
  inject(request: CreateRequest, skips: ReadonlySet<SkippedCheck>, origin: ActionOrigin, answer: Answer): void {
    const errand = this.parts.errands.create(request, origin, skips);
    if (errand.ok && skips.has('signature')) this.send(errand.value, null, answer);
    else this.take(errand, skips.has('multisig') ? alone(request) : request, origin, answer);
  }

  replace(request: ReplaceRequest, origin: ActionOrigin, answer: Answer): void {
    this.take(this.parts.errands.replace(request, origin), request, origin, answer);
  }

  cancel(request: CancelRequest, origin: ActionOrigin, answer: Answer): void {
    this.take(this.parts.errands.cancel(request, origin), request, origin, answer);
  }

  /**
   * Weight, then signature (AMB-91).
   *
   * @param told why it does not count, or null; once, at once or later. Those of one connection are told in order.
   */
  verify(request: SignedRequest, origin: ActionOrigin, told: (refusal: Reject | null) => void): void {
    const refusal = refuseSigners(request);
    if (refusal !== null) {
      told(refusal);
      return;
    }
    const { desk, partOf, poke } = this.parts;
    const job = {
      connection: origin.connection,
      signature: request.signature,
      text: request.text,
      publicKey: this.publicKey(origin.user),
      part: partOf(origin.user, 'cancel' in request ? 'cancel' : 'action'),
    };
    if (!desk.verify(job, (valid) => told(valid ? null : BAD_SIGNATURE))) told(POOL_FULL);
    poke();
  }

  private take(errand: Outcome<Errand>, request: SignedRequest, origin: ActionOrigin, answer: Answer): void {
    if (!errand.ok) {
      this.refuse(answer, errand.reject);
      return;
    }
    const hops = origin.hops ?? null;
    this.verify(request, origin, (refusal) => {
      if (hops !== null) hops.verifiedNs = this.parts.nowNs();
      if (refusal === null) this.send(errand.value, hops, answer);
      else this.refuse(answer, refusal);
    });
  }

  private send(errand: Errand, hops: HopTimes | null, answer: Answer): void {
    const { shards, openMarkets, poke } = this.parts;
    const { marketIndex } = errand.market.definition;
    if (!openMarkets.has(marketIndex)) {
      this.refuse(answer, MARKET_CLOSED);
      return;
    }
    const shard = marketIndex % shards.length;
    const outlet = must(shards[shard], 'a shard for every market');
    // A claim that is not committed is forgotten by the next one, so a refusal after it leaves nothing behind.
    let at = this.claim(errand, outlet, shard);
    if (at < 0 || (hops !== null && !outlet.hasRoom(NOTE_BYTES + recordBytes(errand.bytes), errand.isUrgent))) {
      this.refuse(answer, MARKET_BUSY);
      return;
    }
    const reserved = errand.reserve({ answer, hops });
    if (!reserved.ok) {
      this.refuse(answer, reserved.reject);
      return;
    }

    // After this point the action must succeed.
    const { requestId } = reserved.value;
    const sentNs = this.parts.nowNs();
    if (hops !== null) {
      hops.sentNs = sentNs;
      sendNote(outlet, marketIndex, COMMAND_NOTE.timed, errand.isUrgent);
      at = outlet.claim(errand.typeId, errand.bytes, errand.isUrgent);
    }
    reserved.value.write(outlet.views, at, { requestId, receivedNs: sentNs, key: this.parts.idKey });
    outlet.commit();
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

/** Public keys kept as bytes; when full it starts over, which costs one conversion a user. */
const PUBLIC_KEYS_KEPT = 65_536;
