/**
 * Parses the arguments of `ringbook order` into a ticket of the SDK.
 *
 *   buy|sell QUANTITY MARKET --price P                   a limit order
 *   buy|sell QUANTITY MARKET --market [--cap USD]        a market order sized in base
 *   buy|sell MARKET --market --amount USD [--cap BASE]   a market order sized in USD
 *   … --trigger-above P | --trigger-below P [--parent ID]   waits for a trade at that price
 *   … --margin [--reduce-only]                           of a margin position
 */
import type { SideWord, TimeInForce } from '../client/canonical.ts';
import type { MarketTicket, OrderTicket, TriggerTicket } from '../client/signed-actions.ts';
import { type parseOptions, positiveInteger, usageError } from './command.ts';

export const TICKET_OPTIONS = {
  price: { type: 'string' },
  market: { type: 'boolean', default: false },
  amount: { type: 'string' },
  cap: { type: 'string' },
  tif: { type: 'string' },
  'post-only': { type: 'boolean', default: false },
  'trigger-above': { type: 'string' },
  'trigger-below': { type: 'string' },
  parent: { type: 'string' },
  id: { type: 'string' },
  account: { type: 'string', default: '1' },
  margin: { type: 'boolean', default: false },
  'reduce-only': { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseOptions<typeof TICKET_OPTIONS>>['values'];

export const TICKET_HELP = `  MARKET             the symbol of the market's asset, or its id: ETH or 2
  --price P          limit price, human units
  --market           take what the book has, now, instead of --price
  --amount USD       with --market, in place of QUANTITY: spend or fetch this much
  --cap N            with --market: the most USD a buy of QUANTITY may spend, or the most base
                     a sell for --amount may give
  --tif TIF          gtc (default), ioc or fok; a market order is ioc (default) or fok
  --post-only        rest or be cancelled (with gtc)
  --trigger-above P  wait for a trade at P or above
  --trigger-below P  wait for a trade at P or below
  --parent ID        with a trigger: released only as far as order ID has filled
  --id ID            the id of the order, once in its market  (default: a random one)
  --account N        sub-account            (default 1)
  --margin           open or change a margin position instead of moving balances
  --reduce-only      with --margin: only shrink the position, never grow or flip it`;

/** @throws CliError 64. */
export function ticketOf(positionals: readonly string[], values: Values): OrderTicket | MarketTicket {
  const isQuoteSized = values.amount !== undefined;
  const [sideWord, ...rest] = positionals;
  const [market, quantity] = isQuoteSized ? rest : [rest[1], rest[0]];
  if (market === undefined || positionals.length !== (isQuoteSized ? 2 : 3)) {
    throw usageError('order takes a side, a quantity and a market: ringbook order buy 0.5 2 --price 3000 --as a');
  }
  const id = values.id === undefined ? {} : { orderId: values.id };
  const common = { ...nameOf(sideWord, market), ...id, ...targetOf(values), ...triggerOf(values) };
  if (!values.market) return { ...common, ...limitOf(values), quantity: quantity ?? '' };
  const fillOrKill = fillOrKillOf(values);
  const { amount, cap } = values;
  return amount === undefined
    ? { ...common, fillOrKill, quantity: quantity ?? '', ...(cap === undefined ? {} : { maxAmount: cap }) }
    : { ...common, fillOrKill, amount, ...(cap === undefined ? {} : { maxQuantity: cap }) };
}

function nameOf(sideWord: string | undefined, market: string): Pick<OrderTicket, 'assetId' | 'side'> {
  const sides: Readonly<Record<string, SideWord>> = { buy: 'Buy', sell: 'Sell' };
  const side = sides[sideWord ?? ''];
  if (side === undefined) throw usageError(`the side is buy or sell, not "${sideWord}"`);
  return { assetId: market, side };
}

function targetOf(values: Values): Pick<OrderTicket, 'target' | 'reduceOnly'> {
  const account = values.account === '0' ? 0 : positiveInteger(values.account, '--account');
  const reduceOnly = values['reduce-only'];
  if (reduceOnly && !values.margin) throw usageError('--reduce-only goes with --margin');
  return { target: { account, isSpot: !values.margin }, reduceOnly };
}

function limitOf(values: Values): Pick<OrderTicket, 'price' | 'timeInForce'> {
  if (values.amount !== undefined || values.cap !== undefined) throw usageError('--amount and --cap go with --market');
  if (values.price === undefined) throw usageError('--price is missing; or give --market');
  return { price: values.price, timeInForce: timeInForceOf(values) };
}

function timeInForceOf(values: Values): TimeInForce {
  const postOnly = values['post-only'];
  const word = values.tif ?? 'gtc';
  if (word === 'gtc') return { kind: 'GTC', postOnly };
  if (postOnly) throw usageError('--post-only goes with --tif gtc only');
  if (word === 'ioc') return { kind: 'IOC' };
  if (word === 'fok') return { kind: 'FOK' };
  throw usageError(`--tif takes gtc, ioc or fok, not "${word}"`);
}

function fillOrKillOf(values: Values): boolean {
  if (values.price !== undefined) throw usageError('an order has --price or --market, not both');
  if (values['post-only']) throw usageError('--post-only goes with --tif gtc only');
  const word = values.tif ?? 'ioc';
  if (word !== 'ioc' && word !== 'fok') throw usageError(`a market order has --tif ioc or fok, not "${word}"`);
  return word === 'fok';
}

function triggerOf(values: Values): { readonly trigger?: TriggerTicket } {
  const { 'trigger-above': above, 'trigger-below': below, parent } = values;
  const price = above ?? below;
  if (price === undefined) {
    if (parent !== undefined) throw usageError('--parent goes with --trigger-above or --trigger-below');
    return {};
  }
  if (above !== undefined && below !== undefined) throw usageError('one trigger: above or below, not both');
  const condition: TriggerTicket = { when: above === undefined ? 'below' : 'above', price };
  return { trigger: parent === undefined ? condition : { ...condition, parentOrderId: parent } };
}
