/**
 * `ringbook order`: signs one order, sends it, and prints its events: Received, then every fill first Pending and later
 * Confirmed (or Rollbacked), until the order has ended, or rests or waits without events for a while.
 *
 * Also `ringbook cancel-all`.
 */
import type { Order } from '../client/canonical.ts';
import { RingbookClient } from '../client/client.ts';
import { RingbookError } from '../client/errors.ts';
import type { EventStream } from '../client/event-stream.ts';
import { feeAllowed18 } from '../client/fee-limit.ts';
import type { OrderEvent } from '../client/order-events.ts';
import type { OperationResponse, UserTrade } from '../client/replies.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  EXIT,
  type ExitCode,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';
import { OrderFollower } from './order-follower.ts';
import { TICKET_HELP, TICKET_OPTIONS, ticketOf } from './order-ticket.ts';
import { SIGNER_HELP, SIGNER_OPTIONS, signersOf } from './signer-options.ts';
import { jsonLine } from './table.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  ...TICKET_OPTIONS,
  control: { type: 'boolean', default: false },
  wait: { type: 'string', default: '2000' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function send(client: RingbookClient, order: Order, overControl: boolean): Promise<OperationResponse> {
  if (!overControl) return client.create(order);
  const control = await client.control();
  try {
    return await control.send(client.signCreate(order));
  } finally {
    control.close();
  }
}

/** What the signed limit permits, in USD where the order names a price or an amount. */
function feeLine(order: Order): string {
  const { maxTradingFeesRate: rate, quantityDecimals, priceDecimals } = order;
  const percent = `${formatRaw(rate, 4)} %`;
  const quantity = 'size' in order ? 0 : order.quantity;
  const notional18 =
    'size' in order
      ? order.size.unit === 'quote'
        ? BigInt(order.size.quantity) * 10n ** BigInt(18 - quantityDecimals)
        : BigInt(order.size.cap ?? 0) * 10n ** BigInt(18 - quantityDecimals)
      : BigInt(order.limitPrice) * BigInt(quantity) * 10n ** BigInt(18 - priceDecimals - quantityDecimals);
  const isKnown = notional18 > 0n && !('limitPrice' in order && order.side === 'Sell');
  return `Signed     fees up to ${percent}${isKnown ? `, at most ${format18(feeAllowed18(notional18, rate))} USD` : ''}`;
}

async function place(client: RingbookClient, order: Order, values: Values): Promise<ExitCode> {
  const quietMs = positiveInteger(values.wait, '--wait');
  const follower = new OrderFollower(order, say);
  const streams: readonly [EventStream<UserTrade>, EventStream<OrderEvent>] = await Promise.all([
    client.userTrades(),
    client.orderEvents(),
  ]);
  try {
    say(feeLine(order));
    streams[0].listen((trade) => follower.takeTrade(trade));
    streams[1].listen((event) => follower.takeEvent(event));
    const response = await send(client, order, values.control);
    follower.takeAnswer(response);
    if (response.status === 'Rejected') return EXIT.fault;
    await follower.wait(quietMs);
    if (!follower.isOver) say(stillThere(order, follower.waits));
    return EXIT.done;
  } finally {
    for (const stream of streams) stream.close();
  }
}

function stillThere(order: Order, waits: boolean): string {
  if (waits) return 'Open       it waits for its trigger; "ringbook cancel-all" cancels it';
  if ('size' in order) return 'Open       its fills are undecided';
  const price = formatRaw(order.limitPrice, order.priceDecimals);
  return `Open       it rests at ${price}; "ringbook book ${order.assetId}" shows the book, "ringbook orders" your orders`;
}

export const orderCommand: Command = {
  name: 'order',
  summary: 'send a signed order and follow it',
  help: `usage: ringbook order buy|sell QUANTITY MARKET --price P (--as a|b | --key FILE) [options]
       ringbook order buy|sell QUANTITY MARKET --market [--cap USD] …
       ringbook order buy|sell MARKET --market --amount USD [--cap BASE] …

${TICKET_HELP}
${SIGNER_HELP}
  --control          over the /control socket instead of REST
  --wait MS          stop following after this long without news (default 2000)
${ADDRESS_HELP}

example:
  ringbook order sell 0.5 ETH --price 3000 --as a
  ringbook order buy 0.5 ETH --price 3000 --as b --control
  ringbook order buy ETH --market --amount 1500 --as b
  ringbook order sell 0.5 ETH --price 2800 --trigger-below 2850 --as b
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const ticket = ticketOf(positionals, values);
    const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signersOf(values) });
    try {
      const order = await ('price' in ticket ? client.order(ticket) : client.marketOrder(ticket));
      return await place(client, order, values);
    } finally {
      client.close();
    }
  },
};

// `ringbook cancel`: signs and sends the cancel of each order.

export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancel orders by their ids',
  help: `usage: ringbook cancel MARKET ORDER_ID [ORDER_ID…] (--as a|b | --key FILE) [options]

"ringbook orders" lists the ids. An order that its market does not know yet is parked for five seconds: a create that arrives
meanwhile is refused. Ends with 1 if a cancel is refused.

  --json             the answers as one line of JSON
${SIGNER_HELP}
${ADDRESS_HELP}

example:
  ringbook cancel ETH my-order-1 --as a
`,
  async run(argv) {
    const options = { ...ADDRESS_OPTIONS, ...SIGNER_OPTIONS, json: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseOptions(argv, options);
    const [market, ...ids] = positionals;
    if (market === undefined || ids.length === 0) {
      throw usageError('cancel takes a market and order ids: ringbook cancel ETH my-order-1 --as a');
    }
    const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signersOf(values) });
    try {
      const answers = await Promise.all(ids.map((orderId) => canceled(client, market, orderId)));
      const lines = answers.map(
        ({ status, orderId, reason }) => `${status.padEnd(10)} ${orderId}${reason === null ? '' : `: ${reason}`}\n`,
      );
      process.stdout.write(values.json ? jsonLine(answers) : lines.join(''));
      return answers.every(({ status }) => status === 'Received') ? EXIT.done : EXIT.fault;
    } finally {
      client.close();
    }
  },
};

/** A refusal of the service is an answer too: the other orders have theirs. */
async function canceled(client: RingbookClient, market: string, orderId: string): Promise<CancelAnswer> {
  try {
    const { status, reason } = await client.cancel(market, orderId);
    return { orderId, status, reason };
  } catch (error) {
    if (!(error instanceof RingbookError) || error.status === null) throw error;
    return { orderId, status: 'Rejected', reason: error.message };
  }
}

interface CancelAnswer extends Pick<OperationResponse, 'orderId' | 'status'> {
  readonly reason: string | null;
}

// `ringbook cancel-all`: dispatches a cancel of every order, or of those in one market.

export const cancelAllCommand: Command = {
  name: 'cancel-all',
  summary: 'cancel every order, or those in one market',
  help: `usage: ringbook cancel-all [MARKET] (--as a|b | --key FILE) [options]

${SIGNER_HELP}
${ADDRESS_HELP}

example:
  ringbook cancel-all --as a
  ringbook cancel-all ETH --as b
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, { ...ADDRESS_OPTIONS, ...SIGNER_OPTIONS });
    const [market] = positionals;
    if (positionals.length > 1) {
      throw usageError('cancel-all takes one market or none: ringbook cancel-all ETH --as a');
    }
    const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signersOf(values) });
    try {
      await client.cancelAll(market === undefined ? {} : { assetId: market });
      process.stdout.write(`Dispatched a cancel of all orders${market === undefined ? '' : ` in market ${market}`}\n`);
      return EXIT.done;
    } finally {
      client.close();
    }
  },
};
