/** A front door as an actor, told orders of many users as at a start; its words are handed to it without rings. */

import { type RecordSink, writeNews } from '../../src/clearing/effect-codec.ts';
import { RestoredOrderWord } from '../../src/clearing/restored-word.ts';
import { UnflushedWindow } from '../../src/clearing/unflushed-window.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { ORDER_END, ORDER_KIND, SIDE } from '../../src/core/order-terms.ts';
import type { Sequence } from '../../src/core/units.ts';
import { type Views, viewsOf } from '../../src/core/views.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { GatewayActor } from '../../src/gateway/gateway-actor.ts';
import { OrderEnded } from '../../src/schema/generated/messages.ts';
import { liftedLimits } from './lifted-limits.ts';
import { ETH } from './margin-desk.ts';
import { NO_HISTORY, NOW } from './order-desk.ts';
import { pagesOf } from './pages.ts';
import { definitionOf, restoredRow, type Wish, WORD_AT } from './restored-doors.ts';

const MARKET_LANE = 0;
const CLEARING_LANE = 1;
const SEEN = 1_000_000;
const DEFINITION = definitionOf(ETH);
const LIMIT: Wish = {
  ...{ user: 0, market: 0, side: SIDE.sell, kind: ORDER_KIND.limit, isMargin: false, isReduceOnly: false },
  ...{ waits: null, lots: 1, filled: 0, parent: 0, later: 0 },
};

/** Hands every record to the actor at once. */
class HandedWords implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(1_024), 0, 1_024);
  readonly #lane: number;
  readonly #actor: GatewayActor;
  #typeId = 0;

  constructor(actor: GatewayActor, lane: number) {
    this.#actor = actor;
    this.#lane = lane;
  }

  claim(typeId: number): number {
    this.#typeId = typeId;
    return WORD_AT;
  }

  commit(): void {
    this.#actor.handle(this.#lane, this.#typeId, this.views, WORD_AT);
  }
}

/** Users `0` to `users − 1`, each with as many orders, one after the other. */
export interface Sleeping {
  readonly users: number;
  readonly each: number;
  readonly isMargin: boolean;
}

export class WakingDoor {
  readonly gateway: Gateway;
  readonly actor: GatewayActor;
  /** How often it asked for another turn. */
  pokes = 0;
  readonly #clearing: HandedWords;
  readonly #market: HandedWords;
  #sequence = SEEN;

  constructor() {
    const verifier = { inFlight: 0, verify: () => false, flush: () => undefined };
    this.gateway = new Gateway({
      clock: { nowNs: () => NOW },
      refusedUsers: new Set(),
      acks: 'optimistic',
      history: NO_HISTORY,
      pages: pagesOf(NO_HISTORY),
      limits: liftedLimits(NOW),
      verifier,
      shards: [],
      idKey: hashKeyOf(0n),
      poke: () => {
        this.pokes += 1;
      },
      command: () => Promise.reject(new Error('nobody commands')),
      counted: { order: () => undefined, fill: () => undefined, fault: () => undefined, cooldown: () => undefined },
    });
    const nothing = (): void => undefined;
    this.actor = new GatewayActor({
      ...{
        gateway: this.gateway,
        verifier,
        clearingLane: CLEARING_LANE,
        outlets: [],
        unflushed: new UnflushedWindow(),
      },
      ...{ replied: nothing, news: nothing, marketOpened: nothing, ticked: nothing, halted: nothing },
    });
    this.#clearing = new HandedWords(this.actor, CLEARING_LANE);
    this.#market = new HandedWords(this.actor, MARKET_LANE);
    this.gateway.orders.restoreMarket(DEFINITION, SEEN);
  }

  /** Tells the orders of a start; a batch ends after those of every user. */
  tell({ users, each, isMargin }: Sleeping): void {
    const word = new RestoredOrderWord();
    for (let index = 0; index < users * each; index += 1) {
      const row = restoredRow(
        { ...LIMIT, isMargin },
        index,
        { user: userOf(Math.floor(index / each)), definition: DEFINITION },
        null,
      );
      const names = { orderSequence: (index + 1) as Sequence, prioritySequence: (index + 1) as Sequence };
      word.set({ ...row, ...names, subAccount: isMargin ? 1 : 0, orderId: `order-${index}` as OrderId }, 0);
      word.write(this.#clearing);
      if ((index + 1) % each === 0) this.actor.endBatch();
    }
  }

  /** The last word of a start. */
  restored(): void {
    writeNews({ kind: 'restored', journalSequence: 0, timeNs: NOW, isEmpty: false }, this.#clearing);
  }

  /** Whether it takes a market's word now. */
  get isReady(): boolean {
    return this.actor.ready(MARKET_LANE);
  }

  /** The market says that the order of this sequence is cancelled. */
  ended(order: number): void {
    const { views: v } = this.#market;
    const at = this.#market.claim(OrderEnded.typeId);
    this.#sequence += 1;
    OrderEnded.setSequence(v, at, this.#sequence);
    OrderEnded.setTimeNs(v, at, NOW);
    OrderEnded.setOrder(v, at, order);
    OrderEnded.setMarketIndex(v, at, DEFINITION.marketIndex);
    OrderEnded.setEnd(v, at, ORDER_END.userRequested);
    OrderEnded.setFaultReason(v, at, 0);
    this.#market.commit();
  }
}

function userOf(index: number): UserId {
  return index.toString(16).padStart(8, '0').repeat(8) as UserId;
}
