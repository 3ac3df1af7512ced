/**
 * The front door's part of the road of a signed action:
 *
 *   check ─▶ signature ─▶ room in the shard's ring ─▶ reserve (hold, request id) ─▶ message ─▶ … ─▶ answer
 *
 * A full ring, a closed market or a full pool is an answer before anything changed. Cancels may use the reserved room.
 */

import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { Outcome } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { ActionOrigin, Answer } from '../edge/oms-backend.ts';
import { CancelOrder, NewOrder, ReplaceOrder } from '../messages/generated/messages.ts';
import type { MarketSlot } from '../orders/markets.ts';
import type { OrderManager, PreparedCancel, PreparedReplace } from '../orders/order-manager.ts';
import type { PreparedCreate } from '../orders/pre-flight.ts';
import type { Outlet } from '../runtime/outlet.ts';
import type { Signatures } from '../wire/signatures.ts';
import type { CancelRequest } from '../wire/signed-cancel.ts';
import type { CreateRequest } from '../wire/signed-order.ts';
import type { ReplaceRequest } from '../wire/signed-replace.ts';
import { writeNewOrderFields, writeOrderId, writeUser } from './order-codec.ts';
import type { SignatureDesk } from './verify-desk.ts';

export interface ActionRoadParts {
  readonly orders: OrderManager;
  readonly desk: SignatureDesk;
  /** One per shard; market m lives on shard m mod shards. */
  readonly shards: readonly Outlet[];
  readonly nowNs: () => TimestampNs;
  /** Markets that have been restored and take orders. */
  readonly openMarkets: ReadonlySet<number>;
  /** Asks for a flush at the end of this turn of the event loop. */
  readonly poke: () => void;
}

/** One kind of action on its way through the steps. */
interface Steps {
  readonly market: MarketSlot;

  /** Claims room and writes nothing yet. */
  claim(outlet: Outlet): number;
  reserve(): Outcome<number>;
  write(outlet: Outlet, at: number, requestId: number): void;
}

const BUSY = reject('SERVICE_UNAVAILABLE', 'the market is busy, try again');
const CLOSED = reject('SERVICE_UNAVAILABLE', 'the market is starting, try again');
const POOL_FULL = reject('SERVICE_UNAVAILABLE', 'too many signatures are waiting, try again');
const BAD_SIGNATURE = reject(
  'INVALID_SIGNATURE',
  'the signature does not verify over the canonical bytes',
  'signature',
);
const NO_SIGNATURE = reject('INSUFFICIENT_SIGNER_WEIGHT', 'the action carries no signature', 'signature');
const UNKNOWN_SIGNER = reject('SIGNER_UNKNOWN', 'a co-signer is not registered for this account', 'additional_signers');

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
    const { orders } = this.parts;
    const checked = orders.checkCreate(request, this.caller(origin));
    if (!checked.ok) {
      this.refuse(answer, checked.reject);
      return;
    }
    const prepared = checked.value;
    this.verified(request, request.text, origin, answer, {
      market: prepared.market,
      claim: (outlet) => outlet.claim(NewOrder.typeId, NewOrder.bytes + prepared.text.length),
      reserve: () => orders.reserveCreate(prepared, this.parts.nowNs()),
      write: (outlet, at, requestId) => this.writeCreate(outlet, at, requestId, prepared),
    });
  }

  replace(request: ReplaceRequest, origin: ActionOrigin, answer: Answer): void {
    const { orders } = this.parts;
    const checked = orders.checkReplace(request, this.caller(origin));
    if (!checked.ok) {
      this.refuse(answer, checked.reject);
      return;
    }
    const prepared = checked.value;
    this.verified(request, request.text, origin, answer, {
      market: prepared.market,
      claim: (outlet) => outlet.claim(ReplaceOrder.typeId, ReplaceOrder.bytes),
      reserve: () => orders.reserveReplace(prepared),
      write: (outlet, at, requestId) => this.writeReplace(outlet, at, requestId, prepared),
    });
  }

  cancel(request: CancelRequest, origin: ActionOrigin, answer: Answer): void {
    const { orders } = this.parts;
    const checked = orders.checkCancel(request, this.caller(origin));
    if (!checked.ok) {
      this.refuse(answer, checked.reject);
      return;
    }
    const prepared = checked.value;
    this.verified(request, request.text, origin, answer, {
      market: prepared.market,
      claim: (outlet) => outlet.claim(CancelOrder.typeId, CancelOrder.bytes, true),
      reserve: () => orders.reserveCancel(prepared),
      write: (outlet, at, requestId) => this.writeCancel(outlet, at, requestId, prepared, origin.isControl),
    });
  }

  /** The market (or, with durable acks, the flush) has spoken. */
  answered(requestId: number, refusal: Reject | null, processedAtNs: TimestampNs): void {
    const answer = must(this.answers.get(requestId), 'an answer belongs to a waiting action');
    this.answers.delete(requestId);
    answer({ refusal, processedAtNs });
  }

  private caller(origin: ActionOrigin): { user: ActionOrigin['user']; now: TimestampNs; looksUp: boolean } {
    return { user: origin.user, now: this.parts.nowNs(), looksUp: !origin.isControl };
  }

  /** Weight, then signature (AMB-91): accounts have the default configuration, where only the master key counts. */
  private verified(signatures: Signatures, text: Uint8Array, origin: ActionOrigin, answer: Answer, steps: Steps): void {
    if (signatures.additionalSigners.length > 0) {
      this.refuse(answer, UNKNOWN_SIGNER);
      return;
    }
    if (signatures.signature.length === 0) {
      this.refuse(answer, NO_SIGNATURE);
      return;
    }
    const { desk, poke } = this.parts;
    const job = {
      connection: origin.connection,
      signature: signatures.signature,
      text,
      publicKey: this.publicKey(origin.user),
    };
    const taken = desk.verify(job, (valid) => {
      if (valid) this.send(steps, answer);
      else this.refuse(answer, BAD_SIGNATURE);
    });
    if (!taken) this.refuse(answer, POOL_FULL);
    poke();
  }

  private send(steps: Steps, answer: Answer): void {
    const { shards, openMarkets, poke } = this.parts;
    const { marketIndex } = steps.market.definition;
    if (!openMarkets.has(marketIndex)) {
      this.refuse(answer, CLOSED);
      return;
    }
    const outlet = must(shards[marketIndex % shards.length], 'a shard for every market');
    // A claim that is not committed is forgotten by the next one, so a refusal after it leaves nothing behind.
    const at = steps.claim(outlet);
    if (at < 0) {
      this.refuse(answer, BUSY);
      return;
    }
    const reserved = steps.reserve();
    if (!reserved.ok) {
      this.refuse(answer, reserved.reject);
      return;
    }

    // After this point the action must succeed.
    steps.write(outlet, at, reserved.value);
    outlet.commit();
    this.answers.set(reserved.value, answer);
    poke();
  }

  private refuse(answer: Answer, refusal: Reject): void {
    answer({ refusal, processedAtNs: this.parts.nowNs() });
  }

  private writeCreate(outlet: Outlet, at: number, requestId: number, prepared: PreparedCreate): void {
    const { market, terms, price, quantity, maxFeeRate, expiryNs, signature, text } = prepared;
    const { user, subAccount, orderId, side, tif, flags, creationNs, goodUntilNs } = terms;
    const { marketIndex } = market.definition;
    const envelope = { requestId, receivedNs: this.parts.nowNs(), marketIndex, textBytes: text.length };
    const order = {
      user,
      subAccount,
      orderId,
      side,
      tif,
      flags,
      creationNs,
      goodUntilNs,
      price,
      quantity,
      maxFeeRate,
      expiryNs,
      signature,
    };
    writeNewOrderFields(outlet.views, at, order, envelope);
    outlet.views.u8.set(text, at + NewOrder.bytes);
  }

  private writeReplace(outlet: Outlet, at: number, requestId: number, prepared: PreparedReplace): void {
    const v = outlet.views;
    ReplaceOrder.setRequestId(v, at, requestId);
    ReplaceOrder.setReceivedNs(v, at, this.parts.nowNs());
    ReplaceOrder.setTimestampNs(v, at, prepared.timestampNs);
    ReplaceOrder.setPrice(v, at, prepared.newPrice ?? 0);
    ReplaceOrder.setQuantity(v, at, prepared.newQuantity ?? 0);
    ReplaceOrder.setMarketIndex(v, at, prepared.market.definition.marketIndex);
    ReplaceOrder.setOrderIdBytes(v, at, prepared.orderId.length);
    writeUser(v, at + ReplaceOrder.userAt, prepared.user);
    writeOrderId(v, at + ReplaceOrder.orderIdAt, prepared.orderId);
  }

  private writeCancel(outlet: Outlet, at: number, requestId: number, prepared: PreparedCancel, hold: boolean): void {
    const v = outlet.views;
    CancelOrder.setRequestId(v, at, requestId);
    CancelOrder.setReceivedNs(v, at, this.parts.nowNs());
    CancelOrder.setMarketIndex(v, at, prepared.market.definition.marketIndex);
    CancelOrder.setHold(v, at, hold ? 1 : 0);
    CancelOrder.setOrderIdBytes(v, at, prepared.orderId.length);
    writeUser(v, at + CancelOrder.userAt, prepared.user);
    writeOrderId(v, at + CancelOrder.orderIdAt, prepared.orderId);
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

/** Public keys kept as bytes; when full it starts over, which costs one conversion a user. */
const PUBLIC_KEYS_KEPT = 65_536;
