/** Generated from schemas/messages.fbs by `npm run generate`. Do not edit. */
import type { Views } from '../../core/views.ts';
import { readInt128, writeInt128 } from '../int128.ts';

/** A create that passed the front door. Tail: `text_bytes` of canonical signed text. On its way to a market, and nowhere else, the hash of its id follows: the last four bytes of the record, at a multiple of 4. */
export const NewOrder = {
  typeId: 1,
  bytes: 264,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  creationNsAt: 16,
  creationNs: (v: Views, at: number): bigint => v.u64[(at + 16) >>> 3] as bigint,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  expiryNsAt: 24,
  expiryNs: (v: Views, at: number): bigint => v.u64[(at + 24) >>> 3] as bigint,
  setExpiryNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  goodUntilNsAt: 32,
  goodUntilNs: (v: Views, at: number): bigint => v.u64[(at + 32) >>> 3] as bigint,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 32) >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  amount: (v: Views, at: number): number => v.f64[(at + 56) >>> 3] as number,
  setAmount: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  budget: (v: Views, at: number): number => v.f64[(at + 64) >>> 3] as number,
  setBudget: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): number => v.f64[(at + 72) >>> 3] as number,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 72) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 80) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 80) >>> 2] = value;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 84) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 84) >>> 2] = value;
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 88) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 88) >>> 1] = value;
  },
  textBytes: (v: Views, at: number): number => v.u16[(at + 90) >>> 1] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 90) >>> 1] = value;
  },
  side: (v: Views, at: number): number => v.u8[at + 92] as number,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 92] = value;
  },
  tif: (v: Views, at: number): number => v.u8[at + 93] as number,
  setTif: (v: Views, at: number, value: number): void => {
    v.u8[at + 93] = value;
  },
  flags: (v: Views, at: number): number => v.u8[at + 94] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u8[at + 94] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 95] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 95] = value;
  },
  kind: (v: Views, at: number): number => v.u8[at + 96] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 96] = value;
  },
  triggerKind: (v: Views, at: number): number => v.u8[at + 97] as number,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 97] = value;
  },
  parentIdAt: (v: Views, at: number): number => v.u16[(at + 98) >>> 1] as number,
  setParentIdAt: (v: Views, at: number, value: number): void => {
    v.u16[(at + 98) >>> 1] = value;
  },
  parentIdBytes: (v: Views, at: number): number => v.u8[at + 100] as number,
  setParentIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 100] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 104,
  userLength: 32,
  /** Offset and length of the 64 bytes of `signature`. */
  signatureAt: 136,
  signatureLength: 64,
  /** Offset and length of the 64 bytes of `order_id`. */
  orderIdAt: 200,
  orderIdLength: 64,
} as const;

/** A replace that passed the front door; 0 leaves price, quantity or trigger unchanged. `node_made` is 1 for a reduction by the node itself: the order keeps its timestamp (AMB-61). `id_hash` is what the market finds user and id by; its key is new at every start, so no message with it is kept. */
export const ReplaceOrder = {
  typeId: 2,
  bytes: 160,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timestampNsAt: 16,
  timestampNs: (v: Views, at: number): bigint => v.u64[(at + 16) >>> 3] as bigint,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  triggerKind: (v: Views, at: number): number => v.u8[at + 52] as number,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 52] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 53] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 53] = value;
  },
  nodeMade: (v: Views, at: number): number => v.u8[at + 54] as number,
  setNodeMade: (v: Views, at: number, value: number): void => {
    v.u8[at + 54] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 56,
  userLength: 32,
  /** Offset and length of the 64 bytes of `order_id`. */
  orderIdAt: 88,
  orderIdLength: 64,
  idHash: (v: Views, at: number): number => v.i32[(at + 152) >>> 2] as number,
  setIdHash: (v: Views, at: number, value: number): void => {
    v.i32[(at + 152) >>> 2] = value;
  },
} as const;

/** A cancel that passed the front door; `hold` is 1 on the control channel, where it may wait for its create. `end` is the OrderEnd that it gives the order: the user's, or the node's own. `id_hash` as in a ReplaceOrder. */
export const CancelOrder = {
  typeId: 3,
  bytes: 128,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  hold: (v: Views, at: number): number => v.u8[at + 20] as number,
  setHold: (v: Views, at: number, value: number): void => {
    v.u8[at + 20] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 21] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 21] = value;
  },
  end: (v: Views, at: number): number => v.u8[at + 22] as number,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 22] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 24,
  userLength: 32,
  /** Offset and length of the 64 bytes of `order_id`. */
  orderIdAt: 56,
  orderIdLength: 64,
  idHash: (v: Views, at: number): number => v.i32[(at + 120) >>> 2] as number,
  setIdHash: (v: Views, at: number, value: number): void => {
    v.i32[(at + 120) >>> 2] = value;
  },
} as const;

/** Cancels every order of a user in a market whose timestamp is below `before_ns`; 0: all of them (AMB-18). */
export const CancelAllOrders = {
  typeId: 4,
  bytes: 64,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  beforeNsAt: 16,
  beforeNs: (v: Views, at: number): bigint => v.u64[(at + 16) >>> 3] as bigint,
  setBeforeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 28,
  userLength: 32,
  end: (v: Views, at: number): number => v.u8[at + 60] as number,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 60] = value;
  },
} as const;

/** The front door's word on a trigger that fired: it holds what `quantity` lots need, or the order ends with `end`, an OrderEnd that is not 0 (AMB-28). `triggered` is the sequence of the OrderTriggered that it answers, 0 for what was restored at boot; `budget` bounds a market order as that of a NewOrder does, 0 for none. */
export const ReleaseOrder = {
  typeId: 5,
  bytes: 48,
  receivedNsAt: 0,
  receivedNs: (v: Views, at: number): bigint => v.u64[at >>> 3] as bigint,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  triggered: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setTriggered: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  budget: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setBudget: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  end: (v: Views, at: number): number => v.u8[at + 44] as number,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 44] = value;
  },
} as const;

/** Stands before commands of the same market, in the same ring. `kind` (COMMAND_NOTE): 1, the levels of what follows are told together; 2, now; 3, the answer to the next command says when it was taken up. */
export const CommandNote = {
  typeId: 6,
  bytes: 8,
  marketIndex: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u8[at + 4] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 4] = value;
  },
} as const;

/** The market's word on a create: admitted (`refusal` 0) or refused with the id consumed. `parent` is the parent's name or 0. Tail: the NewOrder, whole. */
export const OrderAdmitted = {
  typeId: 10,
  bytes: 32,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  parent: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setParent: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  refusal: (v: Views, at: number): number => v.u16[(at + 28) >>> 1] as number,
  setRefusal: (v: Views, at: number, value: number): void => {
    v.u16[(at + 28) >>> 1] = value;
  },
} as const;

export const Matched = {
  typeId: 11,
  bytes: 72,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  tradeId: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 56) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 56) >>> 2] = value;
  },
  makerFeeRate: (v: Views, at: number): number => v.i32[(at + 60) >>> 2] as number,
  setMakerFeeRate: (v: Views, at: number, value: number): void => {
    v.i32[(at + 60) >>> 2] = value;
  },
  takerFeeRate: (v: Views, at: number): number => v.i32[(at + 64) >>> 2] as number,
  setTakerFeeRate: (v: Views, at: number, value: number): void => {
    v.i32[(at + 64) >>> 2] = value;
  },
  takerSide: (v: Views, at: number): number => v.u8[at + 68] as number,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 68] = value;
  },
  unit: (v: Views, at: number): number => v.u8[at + 69] as number,
  setUnit: (v: Views, at: number, value: number): void => {
    v.u8[at + 69] = value;
  },
} as const;

export const OrderEnded = {
  typeId: 12,
  bytes: 48,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  remaining: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setRemaining: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  requestId: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  end: (v: Views, at: number): number => v.u8[at + 44] as number,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 44] = value;
  },
  faultReason: (v: Views, at: number): number => v.u8[at + 45] as number,
  setFaultReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 45] = value;
  },
} as const;

/** The values now in force; the trigger while the order waits for one, else 0. */
export const OrderReplaced = {
  typeId: 13,
  bytes: 80,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  timestampNsAt: 48,
  timestampNs: (v: Views, at: number): bigint => v.u64[(at + 48) >>> 3] as bigint,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 48) >>> 3] = value;
  },
  requestId: (v: Views, at: number): number => v.f64[(at + 56) >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): number => v.f64[(at + 64) >>> 3] as number,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 72) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 72) >>> 2] = value;
  },
  triggerKind: (v: Views, at: number): number => v.u8[at + 76] as number,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 76] = value;
  },
} as const;

export const OrderRestored = {
  typeId: 14,
  bytes: 48,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
} as const;

/** A trigger fired, or a fired child may release more: `quantity` lots of it altogether, which can be 0 (AMB-29). */
export const OrderTriggered = {
  typeId: 15,
  bytes: 48,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
} as const;

/** A released order is in the main book, or about to match: `quantity` lots of it altogether. */
export const OrderActivated = {
  typeId: 16,
  bytes: 48,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
} as const;

/** A cancel came while all of the order was pending: it never comes back (AMB-23). */
export const OrderCovered = {
  typeId: 17,
  bytes: 32,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
} as const;

/** The market's answer to a request. `order` is 0 when there is none (refused, or a held cancel). `is_admission`: the request was a create and `order` is the order's name from now on, also when a crossing post-only was refused. `taken_ns`: when the market took the request up, if a note asked for that, else 0. */
export const MarketAck = {
  typeId: 20,
  bytes: 48,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  order: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  sequence: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  timeNsAt: 24,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 24) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  takenNsAt: 32,
  takenNs: (v: Views, at: number): bigint => v.u64[(at + 32) >>> 3] as bigint,
  setTakenNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  rejectCode: (v: Views, at: number): number => v.u16[(at + 44) >>> 1] as number,
  setRejectCode: (v: Views, at: number, value: number): void => {
    v.u16[(at + 44) >>> 1] = value;
  },
  isAdmission: (v: Views, at: number): number => v.u8[at + 46] as number,
  setIsAdmission: (v: Views, at: number, value: number): void => {
    v.u8[at + 46] = value;
  },
} as const;

/** A cancel was held and no create came (AMB-25). User and id are written by words: they begin at multiples of 4. */
export const HeldCancelExpired = {
  typeId: 21,
  bytes: 112,
  timeNsAt: 0,
  timeNs: (v: Views, at: number): bigint => v.u64[at >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 12,
  userLength: 32,
  /** Offset and length of the 64 bytes of `order_id`. */
  orderIdAt: 44,
  orderIdLength: 64,
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 108] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 108] = value;
  },
} as const;

/** Absolute quantity of one level; 0 removes it. */
export const LevelChanged = {
  typeId: 30,
  bytes: 24,
  price: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  side: (v: Views, at: number): number => v.u8[at + 20] as number,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 20] = value;
  },
} as const;

/** All level changes of one command have been sent. `commits` counts commands that changed the market, contiguous. */
export const DepthCommitted = {
  typeId: 31,
  bytes: 24,
  commits: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setCommits: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
} as const;

/** What follows up to the next DepthCommitted is the whole book. */
export const DepthReset = {
  typeId: 32,
  bytes: 16,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
} as const;

export const FillConfirmed = {
  typeId: 40,
  bytes: 88,
  tradeId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  matchedNsAt: 40,
  matchedNs: (v: Views, at: number): bigint => v.u64[(at + 40) >>> 3] as bigint,
  setMatchedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 40) >>> 3] = value;
  },
  makerFee: (v: Views, at: number): bigint => readInt128(v, at + 48),
  setMakerFee: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 48, value),
  takerFee: (v: Views, at: number): bigint => readInt128(v, at + 64),
  setTakerFee: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 64, value),
  marketIndex: (v: Views, at: number): number => v.u32[(at + 80) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 80) >>> 2] = value;
  },
  takerSide: (v: Views, at: number): number => v.u8[at + 84] as number,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 84] = value;
  },
  isLiquidation: (v: Views, at: number): number => v.u8[at + 85] as number,
  setIsLiquidation: (v: Views, at: number, value: number): void => {
    v.u8[at + 85] = value;
  },
  isAutoDeleverage: (v: Views, at: number): number => v.u8[at + 86] as number,
  setIsAutoDeleverage: (v: Views, at: number, value: number): void => {
    v.u8[at + 86] = value;
  },
} as const;

export const FillRolledBack = {
  typeId: 41,
  bytes: 56,
  tradeId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  matchedNsAt: 40,
  matchedNs: (v: Views, at: number): bigint => v.u64[(at + 40) >>> 3] as bigint,
  setMatchedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 40) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  makerReason: (v: Views, at: number): number => v.u8[at + 52] as number,
  setMakerReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 52] = value;
  },
  takerReason: (v: Views, at: number): number => v.u8[at + 53] as number,
  setTakerReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 53] = value;
  },
  takerSide: (v: Views, at: number): number => v.u8[at + 54] as number,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 54] = value;
  },
} as const;

/** Everything of this market up to these numbers is decided and flushed. */
export const MarketDecided = {
  typeId: 42,
  bytes: 32,
  tradeId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  sequence: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  timeNsAt: 16,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 16) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
} as const;

/** A user is known, or has become a market maker or none. */
export const UserChanged = {
  typeId: 72,
  bytes: 33,
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 0,
  userLength: 32,
  isMarketMaker: (v: Views, at: number): number => v.u8[at + 32] as number,
  setIsMarketMaker: (v: Views, at: number, value: number): void => {
    v.u8[at + 32] = value;
  },
} as const;

/** Absolute spot balance after a flushed batch. Tail: `asset_bytes` of the asset id. */
export const BalanceChanged = {
  typeId: 43,
  bytes: 72,
  owned: (v: Views, at: number): bigint => readInt128(v, at + 0),
  setOwned: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 0, value),
  locked: (v: Views, at: number): bigint => readInt128(v, at + 16),
  setLocked: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 16, value),
  subAccount: (v: Views, at: number): number => v.u16[(at + 32) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 32) >>> 1] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u8[at + 34] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 34] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 36,
  userLength: 32,
} as const;

/** Absolute legs of a margin position after a flushed batch, `entry` as in PositionRow. Tail: `asset_bytes` of the asset id. */
export const PositionChanged = {
  typeId: 49,
  bytes: 88,
  base: (v: Views, at: number): bigint => readInt128(v, at + 0),
  setBase: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 0, value),
  quote: (v: Views, at: number): bigint => readInt128(v, at + 16),
  setQuote: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 16, value),
  entry: (v: Views, at: number): bigint => readInt128(v, at + 32),
  setEntry: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 32, value),
  subAccount: (v: Views, at: number): number => v.u16[(at + 48) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 48) >>> 1] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u8[at + 50] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 50] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 52,
  userLength: 32,
} as const;

/** What margin needs of a market beside its risk row and oracle: the mark (`has_mark` 0 for none) with its breaker, and the sums of margin legs over all users. */
export const MarketRiskChanged = {
  typeId: 50,
  bytes: 72,
  mark: (v: Views, at: number): bigint => readInt128(v, at + 0),
  setMark: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 0, value),
  credits: (v: Views, at: number): bigint => readInt128(v, at + 16),
  setCredits: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 16, value),
  borrows: (v: Views, at: number): bigint => readInt128(v, at + 32),
  setBorrows: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 32, value),
  matchedNsAt: 48,
  matchedNs: (v: Views, at: number): bigint => v.u64[(at + 48) >>> 3] as bigint,
  setMatchedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 48) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 56) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 56) >>> 2] = value;
  },
  goodUpdates: (v: Views, at: number): number => v.u32[(at + 60) >>> 2] as number,
  setGoodUpdates: (v: Views, at: number, value: number): void => {
    v.u32[(at + 60) >>> 2] = value;
  },
  isTripped: (v: Views, at: number): number => v.u8[at + 64] as number,
  setIsTripped: (v: Views, at: number, value: number): void => {
    v.u8[at + 64] = value;
  },
  hasMark: (v: Views, at: number): number => v.u8[at + 65] as number,
  setHasMark: (v: Views, at: number, value: number): void => {
    v.u8[at + 65] = value;
  },
} as const;

/** The journal is flushed through `sequence`; `checkpoint` is the last sequence that the tables reflect. */
export const JournalFlushed = {
  typeId: 44,
  bytes: 24,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  checkpoint: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setCheckpoint: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  timeNsAt: 16,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 16) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
} as const;

/** At boot: one live order with the values in force, `flags` those that the node set included. The first part is what the front door keeps, as it lies here; `expiry_ns`, `priority_sequence` and `parent` (0 when there is none or it lives no more) are the market's. Tail: the id of its parent, `parent_id_bytes` of ASCII. */
export const OrderRestoredAtBoot = {
  typeId: 45,
  bytes: 272,
  order: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  price: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  amount: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setAmount: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  budget: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setBudget: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  enabledQuantity: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setEnabledQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  inForce: (v: Views, at: number): number => v.f64[(at + 56) >>> 3] as number,
  setInForce: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  filledQuantity: (v: Views, at: number): number => v.f64[(at + 64) >>> 3] as number,
  setFilledQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  filledNotional: (v: Views, at: number): bigint => readInt128(v, at + 72),
  setFilledNotional: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 72, value),
  fees: (v: Views, at: number): bigint => readInt128(v, at + 88),
  setFees: (v: Views, at: number, value: bigint): void => writeInt128(v, at + 88, value),
  creationNsAt: 104,
  creationNs: (v: Views, at: number): bigint => v.u64[(at + 104) >>> 3] as bigint,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 104) >>> 3] = value;
  },
  goodUntilNsAt: 112,
  goodUntilNs: (v: Views, at: number): bigint => v.u64[(at + 112) >>> 3] as bigint,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 112) >>> 3] = value;
  },
  timestampNsAt: 120,
  timestampNs: (v: Views, at: number): bigint => v.u64[(at + 120) >>> 3] as bigint,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 120) >>> 3] = value;
  },
  lastUpdateNsAt: 128,
  lastUpdateNs: (v: Views, at: number): bigint => v.u64[(at + 128) >>> 3] as bigint,
  setLastUpdateNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 128) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 136) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 136) >>> 2] = value;
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 140) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 140) >>> 1] = value;
  },
  side: (v: Views, at: number): number => v.u8[at + 142] as number,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 142] = value;
  },
  kind: (v: Views, at: number): number => v.u8[at + 143] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 143] = value;
  },
  tif: (v: Views, at: number): number => v.u8[at + 144] as number,
  setTif: (v: Views, at: number, value: number): void => {
    v.u8[at + 144] = value;
  },
  flags: (v: Views, at: number): number => v.u8[at + 145] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u8[at + 145] = value;
  },
  triggerKind: (v: Views, at: number): number => v.u8[at + 146] as number,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 146] = value;
  },
  triggerState: (v: Views, at: number): number => v.u8[at + 147] as number,
  setTriggerState: (v: Views, at: number, value: number): void => {
    v.u8[at + 147] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 148] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 148] = value;
  },
  parentIdBytes: (v: Views, at: number): number => v.u8[at + 149] as number,
  setParentIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 149] = value;
  },
  expiryNsAt: 152,
  expiryNs: (v: Views, at: number): bigint => v.u64[(at + 152) >>> 3] as bigint,
  setExpiryNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 152) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): number => v.f64[(at + 160) >>> 3] as number,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 160) >>> 3] = value;
  },
  parent: (v: Views, at: number): number => v.f64[(at + 168) >>> 3] as number,
  setParent: (v: Views, at: number, value: number): void => {
    v.f64[(at + 168) >>> 3] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 176,
  userLength: 32,
  /** Offset and length of the 64 bytes of `order_id`. */
  orderIdAt: 208,
  orderIdLength: 64,
} as const;

/** At boot: an order id that is taken (AMB-08). */
export const OrderIdRemembered = {
  typeId: 46,
  bytes: 112,
  creationNsAt: 0,
  creationNs: (v: Views, at: number): bigint => v.u64[at >>> 3] as bigint,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 12] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 12] = value;
  },
  wasCancelled: (v: Views, at: number): number => v.u8[at + 13] as number,
  setWasCancelled: (v: Views, at: number, value: number): void => {
    v.u8[at + 13] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 16,
  userLength: 32,
  /** Offset and length of the 64 bytes of `order_id`. */
  orderIdAt: 48,
  orderIdLength: 64,
} as const;

/** At boot: creates of this user signed at or before `creation_ns` may be replays (AMB-08). */
export const IdWatermark = {
  typeId: 48,
  bytes: 48,
  creationNsAt: 0,
  creationNs: (v: Views, at: number): bigint => v.u64[at >>> 3] as bigint,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  /** Offset and length of the 32 bytes of `user`. */
  userAt: 12,
  userLength: 32,
} as const;

/** At boot: everything of this market has been sent. */
export const MarketRestored = {
  typeId: 47,
  bytes: 24,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  lastTradeId: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setLastTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
} as const;

/** Front door → clearing: an input that is not an order. Tail: `text_bytes` of plain-value JSON. */
export const NodeCommand = {
  typeId: 60,
  bytes: 24,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): bigint => v.u64[(at + 8) >>> 3] as bigint,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
} as const;

/** Clearing → front door: the answer to a NodeCommand, after its flush. Tail as above. */
export const NodeReply = {
  typeId: 61,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
} as const;

/** Clearing → everyone: a row of the registry or of an account changed, or restoring is over. Tail as above. */
export const NodeEvent = {
  typeId: 62,
  bytes: 4,
  textBytes: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
} as const;

/** "Is this signature by this key over these bytes?" Tail: `text_bytes` of the signed text. */
export const VerifyJob = {
  typeId: 70,
  bytes: 112,
  ticket: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTicket: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u16[(at + 8) >>> 1] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 8) >>> 1] = value;
  },
  /** Offset and length of the 64 bytes of `signature`. */
  signatureAt: 10,
  signatureLength: 64,
  /** Offset and length of the 32 bytes of `public_key`. */
  publicKeyAt: 74,
  publicKeyLength: 32,
} as const;

export const Verdict = {
  typeId: 71,
  bytes: 16,
  ticket: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTicket: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  valid: (v: Views, at: number): number => v.u8[at + 8] as number,
  setValid: (v: Views, at: number, value: number): void => {
    v.u8[at + 8] = value;
  },
} as const;

/** Front door → clearing: a question about applied state, answered by a NodeReply. Tail: `text_bytes` of plain JSON. */
export const NodeQuery = {
  typeId: 63,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
} as const;

/** Front door → clearing or market: a test hook of operator-api.md 7.3 that is not part of the state. Tail as above. */
export const NodeHook = {
  typeId: 64,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
} as const;
