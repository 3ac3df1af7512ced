/**
 * Commands and events of one market (service spec 3.1, 3.2; requirements ORD-20 to 24, TIF, STP, TRG, RPL, CAN, FIL).
 *
 * Commands are mutable records that the caller fills and reuses: the engine reads them during the call and keeps no
 * reference. User and order id are read where they lie, for example in a ring, so a look-up copies nothing. Times are
 * two 32-bit words, because a bigint is an allocation: `High` and `Low`, both from 0 to 2^32−1.
 *
 * Creates, replaces and cancels are classes: every instance of a class has one layout for the compiler, whereas objects of
 * spread literals have one each, and an engine that reads several of those took 1.5 times as long for a command.
 *
 * The gateway has validated ticks, lots, minimum, decimals, signature and the alphabet of ids: prices and quantities
 * are safe integers of at least 1.
 */
import { wordCount } from '../core/key-words.ts';
import { ORDER_ID_BYTES_MAX, QUOTES_PER_SIDE_MAX, RAW_MAX } from '../core/limits.ts';
import {
  type FillGroup,
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  type OrderKind,
  type ProtectionLimit,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER,
  type TriggerKind,
  type TriggerState,
} from '../core/order-terms.ts';
import type { RejectCode } from '../core/reject.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Room } from '../order/order-codec.ts';
import type { Freeze, ProtectionTerms } from './protection.ts';
import type { MarketQuoteSet } from './quote-set.ts';

/** Bytes of a user's key. */
export const USER_BYTES = 32;

const NO_WORDS = new Int32Array(0);
/** Every entry of the revision before may have left, or be out, and every new one be inserted or refused. */
const CHANGES_MAX: number = 4 * QUOTES_PER_SIDE_MAX;

/** (user, order id): an order's identity in its market, compared as bytes (AMB-07, AMB-08). */
export interface OrderKey {
  /** Little-endian words of the memory that holds both. */
  words: Int32Array;
  /** Index in `words` of the 32-byte user key. */
  userAt: number;
  /** Index in `words` of the order id; bytes after the id in its last word are ignored. */
  orderIdAt: number;
  /** 1 … 64. */
  orderIdBytes: number;
}

/** A key with its hash (`hashId` with the market's key), computed by the sender of the command. */
export interface HashedKey extends OrderKey {
  idHash: number;
}

export interface Received {
  requestId: number;
  receivedHigh: number;
  receivedLow: number;
}

/** What creates, replaces and cancels have in common. */
class OrderCommand implements HashedKey, Received {
  words: Int32Array = NO_WORDS;
  userAt = 0;
  orderIdAt = 0;
  orderIdBytes = 0;
  idHash = 0;
  requestId = 0;
  receivedHigh = 0;
  receivedLow = 0;
}

/**
 * A create.
 *
 *   kind          price       quantity           amount                      budget
 *   limit         limit       total              0                           0
 *   market base   bound or 0  total              quote cap of a buy, or 0    maximum cost of a buy, or 0
 *   market quote  bound or 0  base cap, or 0     quote target                maximum lots of a sell, or 0
 *
 * An order of a margin account is not matched beyond its bound (MON-07), which its unfilled rest does not complete.
 * Quote integers have scale 10^-quantity decimals (AMB-05). Reaching a cap or target completes the order; exhausting a
 * budget never does (AMB-37, AMB-39).
 */
export class NewOrderCommand extends OrderCommand implements Room {
  roomToTake: number = RAW_MAX;
  roomToRest: number = RAW_MAX;
  creationHigh = 0;
  creationLow = 0;
  /** The earlier of good-until and creation + 30 days (ORD-20, AMB-127). */
  expiryHigh = 0;
  expiryLow = 0;
  subAccount = 0;
  side: Side = SIDE.buy;
  kind: OrderKind = ORDER_KIND.limit;
  /** Market orders: ioc or fok. */
  tif: Tif = TIF.gtc;
  /** Bits of ORDER_FLAG. */
  flags = 0;
  price = 0;
  quantity = 0;
  amount = 0;
  budget = 0;
  triggerKind: TriggerKind = TRIGGER.none;
  triggerPrice = 0;
  /** Slot of the group that protects it, 1 to 8; 0 for none (MMP-02). */
  protectionGroup = 0;
  /** Length of the parent's order id, of the same user; 0 for an order without parent. */
  parentIdBytes = 0;
  /** The parent's id, zero-padded, if `parentIdBytes` is not 0. */
  parentWords: Int32Array = new Int32Array(wordCount(ORDER_ID_BYTES_MAX));
}

/**
 * Changes a resting limit order or a limit order in the trigger book; 0 leaves price, quantity or trigger unchanged.
 */
export class ReplaceCommand extends OrderCommand implements Room {
  roomToTake: number = RAW_MAX;
  roomToRest: number = RAW_MAX;
  timestampHigh = 0;
  timestampLow = 0;
  price = 0;
  /** The new total, including the filled part (AMB-19). */
  quantity = 0;
  triggerKind: TriggerKind = TRIGGER.none;
  triggerPrice = 0;
  /**
   * The node reduces the order: the command has no timestamp and the order keeps its own; a total that is not smaller
   * changes nothing.
   */
  isNodeMade = false;
  /** An amend: applied in every market status, it only reduces, and only for the revision that it expects (wire-additions.md 4). */
  isAmend = false;
  /** For an amend: whether the order must have a revision, and which one: the timestamp of its last replace or amend. */
  expectsRevision = false;
  expectedHigh = 0;
  expectedLow = 0;
  /** Price and quantity are given, and no trigger means that the order does not wait for one (wire-additions.md 3.3). */
  isComplete = false;
}

export class CancelCommand extends OrderCommand {
  /** The published end reason: userRequested, or a reason of the node. */
  end: OrderEnd = ORDER_END.userRequested;
  /** Whether the cancel may be parked for its create: true on the control channel (AMB-25). */
  mayPark = false;
}

/**
 * A quote set (QTE-01 to QTE-05): what shall rest. `prices` and `quantities` have the bids and then the asks, each best price first.
 * Every other member as in the message ApplyQuoteSet.
 */
export class QuoteSetCommand implements Received {
  words: Int32Array = NO_WORDS;
  userAt = 0;
  /** Index in `words` of the name; bytes behind it are zero. */
  nameAt = 0;
  nameBytes = 0;
  requestId = 0;
  receivedHigh = 0;
  receivedLow = 0;
  revisionHigh = 0;
  revisionLow = 0;
  goodUntilHigh = 0;
  goodUntilLow = 0;
  boughtSeen = 0;
  soldSeen = 0;
  maxFeeRate = 0;
  subAccount = 0;
  flags = 0;
  protectionGroup = 0;
  onlyTakes = false;
  bids = 0;
  asks = 0;
  readonly prices: Float64Array = new Float64Array(2 * QUOTES_PER_SIDE_MAX);
  readonly quantities: Float64Array = new Float64Array(2 * QUOTES_PER_SIDE_MAX);
}

/** Which orders of a user a cancel is about. */
export interface CancelBounds {
  /** Limits the cancel to orders with a timestamp strictly below it; both 0: all orders. */
  beforeHigh: number;
  beforeLow: number;
  /** 0: both sides; 1: buys; 2: sells. */
  sideOnly: number;
  /** 0: every order; else the slot of a protection group, whose members alone are cancelled. */
  protectionGroup: number;
}

/** Ends quote sets of a user and raises their marks (QTE-09), as in the message EndQuoteSet. */
export interface EndQuoteSetCommand extends Received, CancelBounds {
  words: Int32Array;
  userAt: number;
  nameAt: number;
  /** 0: every set of the sub-account, or of the user. */
  nameBytes: number;
  subAccount: number;
  anyAccount: boolean;
  end: OrderEnd;
}

/** A quote set of clearing, before its entries are restored. */
export interface RestoredQuoteSet {
  words: Int32Array;
  userAt: number;
  nameAt: number;
  nameBytes: number;
  slot: number;
  subAccount: number;
  flags: number;
  protectionGroup: number;
  maxFeeRate: number;
  revisionNs: TimestampNs;
  markNs: TimestampNs;
  goodUntilNs: TimestampNs;
  markFloorNs: TimestampNs;
  lastNumber: number;
  numberFloor: number;
  isOver: boolean;
}

/**
 * What a quote set did, for its one event: a column for each member of QuoteSetChange. `first` is the sequence of the event,
 * `sequences` the numbers that it takes.
 */
export class QuoteChanges {
  count = 0;
  kept = 0;
  first = 0;
  sequences = 0;
  addCode: RejectCode | 0 = 0;
  termsChanged = false;
  readonly orders: Float64Array = new Float64Array(CHANGES_MAX);
  readonly priorities: Float64Array = new Float64Array(CHANGES_MAX);
  readonly prices: Float64Array = new Float64Array(CHANGES_MAX);
  readonly rests: Float64Array = new Float64Array(CHANGES_MAX);
  readonly numbers: Float64Array = new Float64Array(CHANGES_MAX);
  readonly kinds: Uint8Array = new Uint8Array(CHANGES_MAX);
  readonly sides: Uint8Array = new Uint8Array(CHANGES_MAX);

  begin(): void {
    this.count = 0;
    this.kept = 0;
    this.first = 0;
    this.sequences = 0;
    this.addCode = 0;
    this.termsChanged = false;
  }

  add(kind: number, side: number, price: number, rests: number): number {
    const at = this.count;
    this.count += 1;
    this.orders[at] = 0;
    this.priorities[at] = 0;
    this.numbers[at] = 0;
    this.prices[at] = price;
    this.rests[at] = rests;
    this.kinds[at] = kind;
    this.sides[at] = side;
    return at;
  }
}

/**
 * Every order of the user except the node's own (AMB-18). With an end other than `userRequested`, orders that are
 * entirely in pending fills are left alone: they do not rest.
 */
export interface CancelAllCommand extends Received, CancelBounds {
  words: Int32Array;
  userAt: number;
  /** The published end reason: userRequested, or a reason of the node. */
  end: OrderEnd;
}

/** The gateway's answer to `triggered`: it has reserved the balance for `quantity` lots, or the order ends (AMB-28). */
export interface ReleaseCommand extends Room {
  receivedNs: TimestampNs;
  order: number;
  /** Sequence of the answered `triggered` event; 0 for an order that was restored as fired. */
  triggered: number;
  /** The quantity of that `triggered` event. */
  quantity: number;
  /** Limit of a market order for this release, as in NewOrderCommand; 0 for none. */
  budget: number;
  /** Raw price beyond which a market order is not matched; 0 for none (MON-07). */
  bound: number;
  /** 0 to continue, else marginInsufficient or reduceOnly. */
  end: OrderEnd | 0;
}

/** Clearing rejected a fill. The fills of one fill-or-kill arrive as consecutive commands (AMB-34). */
export interface RollbackCommand {
  receivedNs: TimestampNs;
  tradeId: number;
  makerOrder: number;
  takerOrder: number;
  quantity: number;
  makerReason: RollbackReason;
  takerReason: RollbackReason;
}

/** The market settings that can change at run time (AMB-38, AMB-39, AMB-109). */
export interface MarketRules {
  readonly status: number;
  readonly selfTradePrevention: boolean;
}

/** A live order as clearing stored it: `filledQuantity` counts confirmed fills only (AMB-110). */
export interface RestoredOrder extends OrderKey {
  order: number;
  prioritySequence: number;
  subAccount: number;
  side: Side;
  kind: OrderKind;
  tif: Tif;
  flags: number;
  /** The current price. */
  price: number;
  quantity: number;
  amount: number;
  budget: number;
  filledQuantity: number;
  /** Released lots; less than a child's quantity while more may be released. */
  inForce: number;
  /** Total cost or proceeds of a market order's fills, in units of 10^-(price decimals + quantity decimals). */
  spent: bigint;
  triggerState: TriggerState;
  /** The current trigger of an order that is dormant or fired. */
  triggerKind: TriggerKind;
  triggerPrice: number;
  /**
   * The parent's sequence if it is live, else 0: then all of the order is activated. Parents precede their children.
   */
  parent: number;
  /** Of an entry the slot of its quote set, else 0. */
  quoteSet: number;
  creationHigh: number;
  creationLow: number;
  timestampHigh: number;
  timestampLow: number;
  expiryHigh: number;
  expiryLow: number;
  /** Slot of its group; 0 for none. */
  protectionGroup: number;
}

/** The limits of a group in force, or the group is no more (MMP-01, MMP-02). */
export interface ProtectionCommand {
  /** Where the user's key lies. */
  readonly words: Int32Array;
  readonly userAt: number;
  /** 1 to 8. */
  readonly slot: number;
  /** Null: the group is removed. */
  readonly terms: ProtectionTerms | null;
  /** Freezes of trips up to this one are over: the group was reset; 0: it never was. */
  readonly resetTrip: number;
}

/** At a start: a group, and its freeze if it is frozen (MMP-04). */
export interface RestoredProtection extends Omit<ProtectionCommand, 'resetTrip'> {
  readonly terms: ProtectionTerms;
  readonly freeze: Freeze | null;
}

/** An id used by a finished order (AMB-08). */
export interface RememberedId extends OrderKey {
  creationNs: TimestampNs;
  /** Whether the order ended as `Canceled`: decides between 409 and 404 (AMB-23). */
  wasCancelled: boolean;
}

/** The market's position at the checkpoint. Numbers assigned later are larger. */
export interface RestoredPosition {
  sequence: number;
  lastTradeId: number;
  nowNs: TimestampNs;
}

/**
 * Events, in sequence. Sequences are contiguous: every call with a `sequence` consumes exactly one. `order` is the
 * sequence at which the order was accepted, its permanent identity. Command objects and arrays are valid during the
 * call.
 */
export interface MarketEvents {
  /**
   * The order was accepted; this sequence identifies it. Fills or its end follow, or nothing while it rests in the book
   * or waits for its trigger. `parent` is a child's parent, or 0.
   */
  accepted(sequence: Sequence, command: NewOrderCommand, parent: Sequence | 0): void;
  /**
   * WOULD_CROSS consumes the id and a sequence (AMB-16). DUPLICATE_ORDER, REQUEST_TOO_OLD, ALREADY_CANCELLED (by a
   * parked cancel), MARKET_HALTED, ORDER_EXPIRED, ORDER_NOT_FOUND (no such parent), INVALID_ORDER (the level is
   * full; a parent of the same side, or with a trigger) and REDUCE_ONLY_WOULD_INCREASE (nothing to take, no room to rest)
   * consume neither: sequence 0.
   */
  createRefused(sequence: Sequence | 0, command: NewOrderCommand, code: RejectCode): void;
  matched(
    sequence: Sequence,
    tradeId: Sequence,
    makerOrder: Sequence,
    takerOrder: Sequence,
    price: number,
    quantity: number,
    takerSide: Side,
    group: FillGroup,
  ): void;
  /**
   * The order ended with `remaining` lots unfilled (0 where it is sized in quote and has no cap). A complete fill of
   * the quantity publishes no `ended`: it follows from the fills. `filled` is the end of a replace to the filled
   * quantity (AMB-19) and of a market order that reached its target or cap. `requestId` is that of the cancel or
   * replace that caused the end, else 0. `faultReason` is 0 unless the end is `atFault`.
   */
  ended(
    sequence: Sequence,
    order: Sequence,
    end: OrderEnd,
    faultReason: RollbackReason,
    remaining: number,
    requestId: number,
  ): void;
  /**
   * A cancel arrived while all of the order was in pending fills: the order cannot return to the book (AMB-23, AMB-32
   * d).
   */
  cancelPending(sequence: Sequence, order: Sequence): void;
  /**
   * A replace was applied. Fills at the new price follow. The priority is unchanged when the order keeps its queue
   * place (AMB-19). The trigger is the current one while the order waits for it, else none and 0. `requestId` is 0
   * without a client request: a child lost what its cancelled parent can no longer activate (AMB-29), or a reduce-only order
   * is cut to its room when it comes or is released (MON-09). `isCut`, of an entry of a quote set: the quantity is what was taken off it.
   */
  replaced(
    sequence: Sequence,
    order: Sequence,
    prioritySequence: Sequence,
    price: number,
    quantityTotal: number,
    timestampHigh: number,
    timestampLow: number,
    requestId: number,
    triggerKind: TriggerKind,
    triggerPrice: number,
    isCut: boolean,
  ): void;
  /** The same replace again: a success that changes nothing (AMB-21). */
  replaceUnchanged(requestId: number, order: Sequence): void;
  /** The order is unchanged, except that WOULD_CROSS follows an `ended` with `postOnlyWouldCross` (AMB-19). */
  replaceRefused(command: ReplaceCommand, code: RejectCode): void;
  /** Follows `ended` or `cancelPending`; order 0: the cancel is parked (AMB-25). */
  cancelAccepted(requestId: number, order: Sequence | 0): void;
  cancelRefused(command: CancelCommand, code: RejectCode): void;
  /** Follows the `ended` and `cancelPending` events of one cancel-all. */
  allCancelled(requestId: number): void;
  /** A parked cancel expired without a create: `CancelFailed` `OrderNotFound` (AMB-25). */
  parkedCancelExpired(
    user: Int32Array,
    userAt: number,
    orderId: Int32Array,
    orderIdAt: number,
    orderIdBytes: number,
  ): void;
  /** A rollback returned `quantity` of the order to the book (AMB-32 a, b). */
  restored(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void;
  /**
   * The trigger fired: `quantity` lots may be released; of a child, the lots that its parent's fills have activated,
   * which can be 0. Published again when more of a fired child is activated. A ReleaseCommand with this sequence
   * answers it, unless the quantity is 0.
   */
  triggered(sequence: Sequence, order: Sequence, triggerPrice: number, quantity: number): void;
  /** The order is released up to `quantity` lots in total. Its fills, or its place in the book, follow. */
  activated(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void;
  /**
   * The fill before it took a group to its limit (MMP-03): its orders rest no longer, and their ends follow behind the fills of
   * the same taker. Its sequence names the trip. `frozenUntilNs` 0n: until it is reset.
   */
  protectionTriggered(
    sequence: Sequence,
    user: Int32Array,
    slot: number,
    limit: ProtectionLimit,
    frozenUntilNs: bigint,
  ): void;
  /** A rollback took the count of a frozen group below its limits: the freeze of this trip is over. */
  protectionEnded(sequence: Sequence, user: Int32Array, slot: number, trip: Sequence): void;
  /** A quote set is in force, with all that it did to its entries: it takes several sequences (QTE-03). The objects are valid during the call. */
  quoteSetApplied(command: QuoteSetCommand, set: MarketQuoteSet, changes: QuoteChanges): void;
  /** Nothing was changed. */
  quoteSetRefused(requestId: number, code: RejectCode): void;
  /** The mark was raised; `end`: how the set ended, 0 while it goes on (QTE-09). */
  quoteSetEnded(sequence: Sequence, set: MarketQuoteSet, end: OrderEnd | 0): void;
  /** Follows the events of one EndQuoteSet. */
  quoteSetsEnded(requestId: number, code: RejectCode | 0): void;
  /** `count` trade ids from `firstTradeId` on are clearing's, for trades that it makes without a match. */
  tradeIdsReserved(sequence: Sequence, firstTradeId: Sequence, count: number): void;
  /** The absolute quantity of a level that the command changed; 0: the level is gone (AMB-98). */
  levelChanged(side: Side, price: number, quantity: number): void;
  /** All levels of the command are published; `sequence` is the last one the command consumed. */
  depthCommitted(sequence: Sequence): void;
}
