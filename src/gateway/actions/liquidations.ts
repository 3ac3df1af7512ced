/**
 * The gateway's side of liquidation: what clearing decides about accounts goes to orders and markets, and their answers go
 * back (service spec 3.6, AMB-57, AMB-60). Which account is liquidated, when and how is clearing's alone.
 *
 *   liquidationChanged ─▶ new risk and outgoing transfers of the account are refused, or no longer
 *   cancelAccount ──────▶ orders/entry/account-cancels.ts ─▶ accountCleared
 *   nodeOrder ──────────▶ a create that no client signed ─▶ market ─▶ admitted: a message of the market
 *                                                             └─▶ refused: nodeOrderRefused
 *
 * A node order is an order of its owner in every read and stream, with the owner as signer and an empty signature. No check
 * of clients' orders binds it: no budget, no cool-down after faults, no bound on open orders, no minimum. What binds it are
 * the status of its market and the price collar (market-engine.ts).
 *
 * Invariant: an order or an answer that waits for a ring is never dropped. Bounded by the accounts in liquidation and the
 * sub-accounts of the backstop: each has one outstanding order and one answer at most.
 */
import type { CancelAccount, LiquidationChanged, NodeOrderSent } from '../../clearing/effects.ts';
import type { ActionReply, OperatorCommand } from '../../clearing/inputs.ts';
import { writeSignedOrder } from '../../codec/generated/order-json.ts';
import { textBytes } from '../../codec/text-writer.ts';
import { assert } from '../../core/assert.ts';
import { NODE_ORDER_PREFIX } from '../../core/ids.ts';
import { MARKET_STATUS, ORDER_FLAG, ORDER_KIND, TIF, TRIGGER } from '../../core/order-terms.ts';
import type { RawPrice, TimestampNs } from '../../core/units.ts';
import { NO_BOUND } from '../../order/order-codec.ts';
import type { MarketSlot } from '../orders/book/markets.ts';
import type { ClearedAccount } from '../orders/book/order-events.ts';
import { type ActionAnswer, NO_SKIPS, type PreparedCreate } from '../orders/entry/pending-requests.ts';
import type { OrderManager } from '../orders/order-manager.ts';
import type { OrderEntry } from './order-entry.ts';

/** The fee limit by which a client accepts any rate. */
const NO_FEE_LIMIT = 0xffff_ffff;
/** No client signed it; on the wire it is `[]`. */
const NO_SIGNATURE: Uint8Array = new Uint8Array(0);

type Answer = Extract<OperatorCommand, { readonly kind: 'accountCleared' | 'nodeOrderRefused' }>;

interface LiquidationParts {
  readonly orders: Pick<OrderManager, 'accountCancels' | 'marketAt' | 'onLiquidationChanged'>;
  readonly entry: Pick<OrderEntry, 'sendNodeOrder'>;
  /** To clearing; rejected while its ring is full. */
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  readonly wakeUp: () => void;
}

export class Liquidations {
  readonly #parts: LiquidationParts;
  /** Orders that their markets cannot take yet: a full ring, or a market that is not open. */
  readonly #orders = new Set<NodeOrderSent>();
  /** Answers that clearing has not taken, and how many of them are on their way. */
  readonly #answers = new Set<Answer>();
  #onTheWay = 0;

  constructor(parts: LiquidationParts) {
    this.#parts = parts;
  }

  /** What waits for a turn or a ring: accounts to clear, orders, answers; and answers that clearing has not confirmed. */
  get size(): number {
    return this.#parts.orders.accountCancels.waiting + this.#orders.size + this.#answers.size + this.#onTheWay;
  }

  // ---- decided by clearing

  changed(account: LiquidationChanged): void {
    this.#parts.orders.onLiquidationChanged(account, account.stage === 'begun');
  }

  cancelAccount(account: CancelAccount): void {
    this.#parts.orders.accountCancels.begin(account);
  }

  nodeOrder(order: NodeOrderSent): void {
    assert(order.orderId.startsWith(NODE_ORDER_PREFIX), 'an order of the node has an id that no client can give');
    if (!this.#send(order)) this.#orders.add(order);
  }

  // ---- answers

  accountCleared(account: ClearedAccount): void {
    this.#answer({ kind: 'accountCleared', ...account });
  }

  /** To be called every turn and every tick. */
  sendWaiting(): void {
    const { orders, wakeUp } = this.#parts;
    if (orders.accountCancels.sendSome()) wakeUp();
    for (const order of this.#orders) if (this.#send(order)) this.#orders.delete(order);
    for (const answer of this.#answers) {
      this.#answers.delete(answer);
      void this.#sendAnswer(answer);
    }
  }

  /** @returns false: a ring or a table is full, or its market is not open yet. */
  #send(order: NodeOrderSent): boolean {
    const market = this.#parts.orders.marketAt(order.marketIndex);
    // mutant: halted-refuses-node-orders
    if (market === undefined || market.definition.status === MARKET_STATUS.halted) {
      this.#refused(order, false);
      return true;
    }
    return this.#parts.entry.sendNodeOrder(nodeCreate(order, market), ({ refusal }: ActionAnswer) => {
      if (refusal !== null) this.#refused(order, refusal.code !== 'MARKET_HALTED');
    });
  }

  /** @param isFinal the order was tried; otherwise its market is closed or gone. */
  #refused({ user, subAccount, orderId }: NodeOrderSent, isFinal: boolean): void {
    this.#answer({ kind: 'nodeOrderRefused', user, subAccount, orderId, isFinal });
  }

  #answer(answer: Answer): void {
    void this.#sendAnswer(answer);
  }

  /** Clearing takes every answer: the only refusal is that of a full ring, after which it is sent again. */
  async #sendAnswer(answer: Answer): Promise<void> {
    this.#onTheWay += 1;
    const reply = await this.#parts.command(answer);
    this.#onTheWay -= 1;
    if (!reply.ok && reply.reject.code === 'SERVICE_UNAVAILABLE') this.#answers.add(answer);
  }
}

/** What a client would have signed, and passed (wire.md 7.4). */
function nodeCreate(order: NodeOrderSent, market: MarketSlot): PreparedCreate {
  const { user, subAccount, orderId, side, price, quantity, isSpot, isLiquidation, timeNs } = order;
  const { assetId, priceDecimals, quantityDecimals } = market.definition;
  const flags =
    ORDER_FLAG.nodeMade |
    (isSpot ? ORDER_FLAG.isSpot : ORDER_FLAG.reduceOnly) |
    (isLiquidation ? ORDER_FLAG.liquidation : 0);
  const signed = {
    signer: { id: user, text: user },
    orderId,
    baseAsset: { id: assetId, text: assetId },
    bookPriceDecimals: priceDecimals,
    bookQuantityDecimals: quantityDecimals,
    details: { kind: 'limit', limitPrice: price, quantity, tif: TIF.ioc, postOnly: false, goodUntilNs: null },
    side,
    trigger: null,
    creationNs: timeNs,
    account: subAccount,
    isSpot,
    reduceOnly: !isSpot,
    maxTradingFeesRate: NO_FEE_LIMIT,
    protocolVersion: 1,
  } as const;
  return {
    kind: 'create',
    market,
    terms: {
      ...{ user, subAccount, orderId, side, flags },
      kind: ORDER_KIND.limit,
      tif: TIF.ioc,
      amount: 0,
      triggerKind: TRIGGER.none,
      parentId: '',
      creationNs: timeNs,
      goodUntilNs: 0n as TimestampNs,
    },
    price,
    quantity,
    triggerPrice: 0 as RawPrice,
    maxFeeRate: NO_FEE_LIMIT,
    text: textBytes(signed, writeSignedOrder),
    signature: NO_SIGNATURE,
    signatures: NO_SIGNATURE,
    skips: NO_SKIPS,
    protectionGroup: null,
    room: NO_BOUND,
  };
}
