/**
 * The far end of a replay, for tests of the replay alone: it takes the operator's calls and the signed frames of
 * `/control`, keeps the plain book of the flow, and answers depth and trades as a node does. Single orders, no
 * signature checks, no balances: it is no node.
 */
import { FlowBook } from '../../src/cli/flow-book.ts';
import { type FlowEvent, type FlowLevel, PRICE_DECIMALS } from '../../src/cli/flow-format.ts';
import { eventFrame } from '../../src/codec/stream-frames.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { type Answer, type SeenRequest, startWireServer, type WireServer, withLogin } from './wire-server.ts';

interface Frame {
  readonly CreateOrderRequest?: {
    readonly order: {
      readonly order_id: string;
      readonly signer: string;
      readonly side: 'Buy' | 'Sell';
      readonly details: {
        readonly Limit: {
          readonly limit_price: number;
          readonly quantity: number;
          readonly time_in_force: { readonly IOC?: object };
        };
      };
    };
  };
  readonly CancelOrderRequest?: { readonly cancel: { readonly order_id: string } };
  readonly ReplaceOrderRequest?: { readonly request: { readonly order_id: string; readonly new_quantity: number } };
}

export interface FlowServer {
  readonly wire: WireServer;
  /** Tags of the frames received, in order. */
  readonly tags: string[];
  readonly signers: Set<string>;
}

export interface FlowServerFaults {
  /** This order's cancel is answered but not carried out. */
  readonly ignoreCancelOf?: string;
  readonly rejectOrder?: string;
}

const MARKET = '1000';
/** The plain book wants these of an event; a replay's order is recognized by its frame alone. */
const EVENT = { seq: 0, timeNs: 0n, action: 'add', id: '', side: 'buy', price: 1, quantity: 1 } as const;

class FarBook {
  readonly #book = new FlowBook();
  readonly #faults: FlowServerFaults;
  #trades = 0;

  constructor(faults: FlowServerFaults) {
    this.#faults = faults;
  }

  depth(): string {
    const { asks, bids } = this.#book.row(0);
    const side = (levels: readonly FlowLevel[]): string =>
      levels.map(({ price, quantity }) => `[${formatRaw(price, PRICE_DECIMALS)},${quantity}]`).join(',');
    return `{"asks":[${side(asks)}],"bids":[${side(bids)}],"sequence_number":1}`;
  }

  /** @returns the trade for the taker, or null. */
  apply(frame: Frame): string | null {
    const { CreateOrderRequest: create, CancelOrderRequest: cancel, ReplaceOrderRequest: replace } = frame;
    if (cancel !== undefined && cancel.cancel.order_id !== this.#faults.ignoreCancelOf) {
      this.#book.apply({ ...EVENT, action: 'cancel', id: cancel.cancel.order_id });
    }
    if (replace !== undefined) {
      const { order_id: id, new_quantity: total } = replace.request;
      this.#book.apply({ ...EVENT, action: 'reduce', id, quantity: total - (this.#book.order(id)?.filled ?? 0) });
    }
    if (create === undefined) return null;
    const { order_id: id, side, details } = create.order;
    const { limit_price: price, quantity, time_in_force } = details.Limit;
    const action = time_in_force.IOC === undefined ? 'add' : 'take';
    const event: FlowEvent = { ...EVENT, action, id, side: side === 'Buy' ? 'buy' : 'sell', price, quantity };
    const traded = this.#book.apply(event);
    if (traded.quantity === 0n) return null;
    this.#trades += 1;
    return `{"asset_id":"${MARKET}","trade_id":${this.#trades},"order_id":"${id}","price":"${formatRaw(price, PRICE_DECIMALS)}","quantity":"${traded.quantity}","timestamp_ns":1,"is_maker":false,"is_buyer":${side === 'Buy'},"status":"Confirmed"}`;
  }
}

function answerTo(request: SeenRequest, book: FarBook): Answer {
  if (request.path.startsWith('/market/')) {
    return { status: 404, body: '{"error":{"code":"MARKET_NOT_FOUND","message":"none","retryable":false}}' };
  }
  if (request.path.startsWith('/marketdepth/')) return { body: book.depth() };
  return { body: '{"balance":"1"}' };
}

function identityOf(frame: Frame): { readonly tag: string; readonly orderId: string } {
  const orderId =
    frame.CreateOrderRequest?.order.order_id ??
    frame.CancelOrderRequest?.cancel.order_id ??
    frame.ReplaceOrderRequest?.request.order_id ??
    '';
  return { tag: Object.keys(frame)[0]?.replace('OrderRequest', '') ?? '', orderId };
}

export async function startFlowServer(faults: FlowServerFaults = {}): Promise<FlowServer> {
  const book = new FarBook(faults);
  const tags: string[] = [];
  const signers = new Set<string>();
  let tellTaker = (_trade: string): void => {};
  const wire = await startWireServer({
    answer: withLogin((request) => answerTo(request, book)),
    socket(socket, path) {
      if (path.startsWith('/trades/user/events/'))
        tellTaker = (trade) => socket.send(eventFrame(1, 'trades', 1n as TimestampNs, trade));
      if (path !== '/control') return;
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame;
        const { tag, orderId } = identityOf(frame);
        tags.push(tag);
        if (frame.CreateOrderRequest !== undefined) signers.add(frame.CreateOrderRequest.order.signer);
        const isRejected = orderId === faults.rejectOrder;
        const trade = isRejected ? null : book.apply(frame);
        const verdict = isRejected ? '"Rejected","reason":"WouldCross"' : '"Received","reason":null';
        socket.send(
          `{"${tag}OrderResponse":{"response":{"order_id":"${orderId}","status":${verdict},"processed_at_ns":1},"asset_id":"${MARKET}"}}`,
        );
        if (trade !== null) tellTaker(trade);
      });
    },
  });
  return { wire, tags, signers };
}
