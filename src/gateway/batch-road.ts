/**
 * The road of a batch (BAT-01 to BAT-10, AMB-26):
 *
 *   every item checked ─▶ all signatures, side by side in the pool ─▶ markets, one after the other
 *                                                                       room for all of its items, or none goes
 *                                                                       each reserved, in order of submission
 *                                                                       [batch begins] item item … [batch ends]
 *
 * Every item is answered once, alone, as a single action would be. What passed goes to its market in one piece, framed
 * by two notes, so that the market tells its levels once (BAT-07).
 *
 * Invariants
 *   (1) Nothing is reserved for a market whose ring has not room for all its items of the batch.
 *   (2) Items of one market stay in their order.
 *   (3) On `/control` a batch stays between what its connection sent before and after it: it goes when its last
 *       signature is told, and signatures of a connection are told in order. A REST request is a connection of its own,
 *       so its signatures go to all threads of the pool.
 *
 * Not here: the size of a batch and ids named twice in a batch replace (src/codec), single actions (action-road.ts).
 */

import type { CreateRequest } from '../codec/signed-order.ts';
import type { ReplaceRequest } from '../codec/signed-replace.ts';
import { must } from '../core/assert.ts';
import { type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { ActionOrigin, ItemAnswer } from '../http/oms-backend.ts';
import { COMMAND_NOTE, NOTE_BYTES, sendNote } from '../order/command-notes.ts';
import type { Outlet } from '../runtime/outlet.ts';
import { recordBytes } from '../runtime/ring-layout.ts';
import type { ActionRoad, ActionRoadParts, SignedRequest } from './action-road.ts';
import { MARKET_BUSY, MARKET_CLOSED } from './door-refusals.ts';
import type { Errand, Reserved } from './errands.ts';

/** An item whose signature verified. */
interface Ready {
  readonly index: number;
  readonly errand: Errand;
}

/** An item for which everything is taken. */
interface Taken extends Ready {
  readonly reserved: Reserved;
}

const REPEATED = reject('DUPLICATE_ORDER', 'the batch names this order before', 'order_id');

export class BatchRoad {
  private readonly parts: Omit<ActionRoadParts, 'desk'>;
  private readonly road: ActionRoad;

  constructor(parts: Omit<ActionRoadParts, 'desk'>, road: ActionRoad) {
    this.parts = parts;
    this.road = road;
  }

  /** The second order of an id in its market fails alone, whatever becomes of the first; its own faults come before (AMB-26, AMB-91). */
  create(requests: readonly CreateRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    const { errands } = this.parts;
    const named = new Set<string>();
    this.take(requests, origin, answer, (request) => {
      const { orderId, baseAsset } = request.order;
      const name = `${baseAsset.id} ${orderId}`;
      const isRepeated = named.has(name);
      named.add(name);
      const errand = errands.create(request, origin);
      return errand.ok && isRepeated ? rejected(REPEATED) : errand;
    });
  }

  replace(requests: readonly ReplaceRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    this.take(requests, origin, answer, (request) => this.parts.errands.replace(request, origin));
  }

  private take<Request extends SignedRequest>(
    requests: readonly Request[],
    origin: ActionOrigin,
    answer: ItemAnswer,
    check: (request: Request) => Outcome<Errand>,
  ): void {
    const ready = new Map<number, Errand>();
    // One more than the signatures that are out, until all are.
    let awaited = 1;
    const arrived = (): void => {
      awaited -= 1;
      if (awaited === 0) this.send(ready, answer);
    };
    requests.forEach((request, index) => {
      const errand = check(request);
      if (!errand.ok) {
        this.refuse(answer, index, errand.reject);
        return;
      }
      awaited += 1;
      this.road.verify(request, laneOf(origin, index), (refusal) => {
        if (refusal === null) ready.set(index, errand.value);
        else this.refuse(answer, index, refusal);
        arrived();
      });
    });
    arrived();
  }

  /** Signatures may have been told in any order; the batch goes in its own. */
  private send(ready: ReadonlyMap<number, Errand>, answer: ItemAnswer): void {
    const byMarket = new Map<number, Ready[]>();
    for (const index of [...ready.keys()].sort((a, b) => a - b)) {
      const errand = must(ready.get(index), 'the errand of an item');
      const { marketIndex } = errand.market.definition;
      const items = byMarket.get(marketIndex);
      if (items === undefined) byMarket.set(marketIndex, [{ index, errand }]);
      else items.push({ index, errand });
    }
    for (const [marketIndex, items] of byMarket) this.sendTo(marketIndex, items, answer);
    this.parts.poke();
  }

  private sendTo(marketIndex: number, items: readonly Ready[], answer: ItemAnswer): void {
    const refusal = this.hindranceOf(marketIndex, items);
    if (refusal !== null) {
      for (const { index } of items) this.refuse(answer, index, refusal);
      return;
    }
    const taken: Taken[] = [];
    for (const item of items) {
      const reserved = item.errand.reserve({ answer: (told) => answer(item.index, told), hops: null });
      if (reserved.ok) taken.push({ ...item, reserved: reserved.value });
      else this.refuse(answer, item.index, reserved.reject);
    }
    if (taken.length === 0) return;

    // After this point all that was taken must go.
    const outlet = this.outletOf(marketIndex);
    const receivedNs = this.parts.nowNs();
    sendNote(outlet, marketIndex, COMMAND_NOTE.batchBegins);
    for (const { errand, reserved } of taken) {
      const { requestId } = reserved;
      const at = must(roomIn(outlet, errand), 'room was looked for before');
      reserved.write(outlet.views, at, { requestId, receivedNs, key: this.parts.idKey });
      outlet.commit();
    }
    sendNote(outlet, marketIndex, COMMAND_NOTE.batchEnds);
  }

  /** Why nothing can go to this market now. Orders that were released go before new ones. */
  private hindranceOf(marketIndex: number, items: readonly Ready[]): Reject | null {
    const { openMarkets, releases, shards } = this.parts;
    if (!openMarkets.has(marketIndex)) return MARKET_CLOSED;
    if (!releases.send(marketIndex % shards.length)) return MARKET_BUSY;
    const bytes = items.reduce((sum, { errand }) => sum + recordBytes(errand.bytes), 2 * NOTE_BYTES);
    return this.outletOf(marketIndex).hasRoom(bytes) ? null : MARKET_BUSY;
  }

  private refuse(answer: ItemAnswer, index: number, refusal: Reject): void {
    answer(index, { refusal, processedAtNs: this.parts.nowNs() });
  }

  private outletOf(marketIndex: number): Outlet {
    const { shards } = this.parts;
    return must(shards[marketIndex % shards.length], 'a shard for every market');
  }
}

function laneOf(origin: ActionOrigin, index: number): ActionOrigin {
  return origin.isControl ? origin : { ...origin, connection: origin.connection + index };
}

function roomIn(outlet: Outlet, { typeId, bytes }: Errand): number | undefined {
  const at = outlet.claim(typeId, bytes);
  return at < 0 ? undefined : at;
}
