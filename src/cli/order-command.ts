/**
 * `ringbook order`: signs one limit order, sends it, and tells what becomes of it: Received, then every fill first
 * Pending and later Confirmed (or Rollbacked), until nothing of it is live, or it rests quietly for a while.
 */
import type { LimitOrder, SideWord, TimeInForce } from '../client/canonical.ts';
import { RingbookClient } from '../client/client.ts';
import type { EventStream } from '../client/event-stream.ts';
import { devKey, loadKey, type SigningKey } from '../client/keys.ts';
import type { OrderEvent } from '../client/order-events.ts';
import type { OperationResponse, UserTrade } from '../client/replies.ts';
import type { OrderTicket } from '../client/signed-actions.ts';
import { formatRaw } from '../core/decimal.ts';
import { parseAssetId } from '../core/ids.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddress,
  EXIT,
  type ExitCode,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  as: { type: 'string' },
  key: { type: 'string' },
  price: { type: 'string' },
  tif: { type: 'string', default: 'gtc' },
  'post-only': { type: 'boolean', default: false },
  account: { type: 'string', default: '1' },
  control: { type: 'boolean', default: false },
  wait: { type: 'string', default: '2000' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

function keyOf(values: Values): SigningKey {
  if ((values.as === undefined) === (values.key === undefined)) {
    throw usageError('say who orders: --as a, --as b, or --key FILE (make one with "ringbook keygen")');
  }
  if (values.key !== undefined) return loadKey(values.key);
  if (values.as !== 'a' && values.as !== 'b') throw usageError('--as takes a or b, the users of the dev profile');
  return devKey(values.as);
}

function timeInForceOf(values: Values): TimeInForce {
  const postOnly = values['post-only'];
  if (values.tif === 'gtc') return { kind: 'GTC', postOnly };
  if (postOnly) throw usageError('--post-only goes with --tif gtc only');
  if (values.tif === 'ioc') return { kind: 'IOC' };
  if (values.tif === 'fok') return { kind: 'FOK' };
  throw usageError(`--tif takes gtc, ioc or fok, not "${values.tif}"`);
}

function ticketOf(positionals: readonly string[], values: Values): OrderTicket {
  const [sideWord, quantity, market] = positionals;
  if (quantity === undefined || market === undefined || positionals.length !== 3) {
    throw usageError('order takes a side, a quantity and a market: ringbook order buy 0.5 2 --price 3000 --as a');
  }
  const sides: Readonly<Record<string, SideWord>> = { buy: 'Buy', sell: 'Sell' };
  const side = sides[sideWord ?? ''];
  if (side === undefined) throw usageError(`the side is buy or sell, not "${sideWord}"`);
  const assetId = parseAssetId(market);
  if (assetId === null) throw usageError(`"${market}" is no market: give the index of its asset, e.g. 2`);
  if (values.price === undefined) throw usageError('--price is missing: this node takes limit orders');
  const account = values.account === '0' ? 0 : positiveInteger(values.account, '--account');
  return {
    assetId,
    side,
    price: values.price,
    quantity,
    timeInForce: timeInForceOf(values),
    target: { account, isSpot: true },
  };
}

/** Follows one order over the two streams. */
class Follower {
  readonly #order: LimitOrder;
  #pending = 0;
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(order: LimitOrder) {
    this.#order = order;
  }

  takeTrade(trade: UserTrade): void {
    if (trade.orderId !== this.#order.orderId) return;
    const fee = trade.tradingFee === null ? '' : `, fee ${trade.tradingFee} USD`;
    const reason = trade.rollbackReason === null ? '' : ` (${trade.rollbackReason})`;
    say(`${trade.status.padEnd(10)} ${trade.quantity} at ${trade.price}${fee}${reason}, trade ${trade.tradeId}`);
    this.#pending += trade.status === 'Pending' ? 1 : -1;
    this.#wake();
  }

  takeEvent(event: OrderEvent): void {
    if (event.orderId !== this.#order.orderId) return;
    if (event.kind === 'Created') {
      say('Created    on the book');
    } else if (event.kind === 'Removed' || event.kind === 'Canceled') {
      this.#hasEnded = true;
      say(`${event.kind.padEnd(10)} ${event.reason ?? ''}`);
    }
    this.#wake();
  }

  get isOver(): boolean {
    return this.#hasEnded && this.#pending <= 0;
  }

  /** Until the order is over, or nothing happens to it for `quietMs`. */
  async wait(quietMs: number): Promise<void> {
    while (!this.isOver) {
      const isQuiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), quietMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
      if (isQuiet) return;
    }
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function send(client: RingbookClient, order: LimitOrder, overControl: boolean): Promise<OperationResponse> {
  if (!overControl) return client.create(order);
  const control = await client.control();
  try {
    return await control.send(client.signCreate(order));
  } finally {
    control.close();
  }
}

async function place(client: RingbookClient, order: LimitOrder, values: Values): Promise<ExitCode> {
  const quietMs = positiveInteger(values.wait, '--wait');
  const follower = new Follower(order);
  const streams: readonly [EventStream<UserTrade>, EventStream<OrderEvent>] = await Promise.all([
    client.userTrades(),
    client.orderEvents(),
  ]);
  try {
    streams[0].listen((trade) => follower.takeTrade(trade));
    streams[1].listen((event) => follower.takeEvent(event));
    const response = await send(client, order, values.control);
    say(
      `${response.status.padEnd(10)} order ${response.orderId}${response.reason === null ? '' : `: ${response.reason}`}`,
    );
    if (response.status === 'Rejected') return EXIT.fault;
    await follower.wait(quietMs);
    if (!follower.isOver) {
      const price = formatRaw(order.limitPrice, order.priceDecimals);
      say(`Open       it rests at ${price}; "ringbook book ${order.assetId}" shows the book`);
    }
    return EXIT.done;
  } finally {
    for (const stream of streams) stream.close();
  }
}

export const orderCommand: Command = {
  name: 'order',
  summary: 'send a signed limit order and follow it',
  help: `usage: ringbook order buy|sell QUANTITY MARKET --price P (--as a|b | --key FILE) [options]

  --price P          limit price, human units
  --as a|b           one of the two funded users of the dev profile
  --key FILE         your own key file
  --tif TIF          gtc (default), ioc or fok
  --post-only        rest or be cancelled (with gtc)
  --account N        sub-account, spot      (default 1)
  --control          over the /control socket instead of REST
  --wait MS          stop following after this long without news (default 2000)
${ADDRESS_HELP}

example:
  ringbook order sell 0.5 2 --price 3000 --as a
  ringbook order buy 0.5 2 --price 3000 --as b --control
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const ticket = ticketOf(positionals, values);
    const key = keyOf(values);
    const client = new RingbookClient({ oms: checkAddress(values.oms, 'oms'), key });
    try {
      return await place(client, await client.order(ticket), values);
    } finally {
      client.close();
    }
  },
};
