// @ts-check
/** Signed actions of this page: the texts of wire.md 4.2 by the SDK's own writer, signed in the page, sent by REST. */
import {
  amendBody,
  cancelText,
  orderText,
  replaceText,
  transferText,
  withdrawalCancelText,
  withdrawalText,
} from '../../src/client/canonical.js';
import { Refusal, readJson } from './service.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./service.js').Plain} Plain */
/** @typedef {import('../../src/client/canonical.js').Order} Order */

/** Standard base64 of 16 random bytes, as the SDK makes it. */
export function newOrderId() {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
}

/** @param {App} app @param {string} text @returns {string} a JSON array of 64 integers */
function signatureOf(app, text) {
  return `[${app.session.sign(new TextEncoder().encode(text)).join(',')}]`;
}

/** @param {App} app @param {string} method @param {string} path @param {string} body @returns {Promise<Plain>} */
function send(app, method, path, body) {
  return app.account.request(path, { method, body });
}

/** @param {App} app @param {Order} order */
export function createOrder(app, order) {
  const text = orderText(order);
  const body = `{"order":${text},"signature":${signatureOf(app, text)},"post_sign_timestamp":${app.session.nowNs()}}`;
  return send(app, 'POST', '/orders/create', body);
}

/** @param {App} app @param {Plain} order a record of an open order */
export function cancelOrder(app, order) {
  const text = cancelText({ orderId: order.order_id, assetId: order.base_asset, signer: userOf(app) });
  const body = `{"cancel":${text},"signature":${signatureOf(app, text)},"post_sign_timestamp":${app.session.nowNs()}}`;
  return send(app, 'DELETE', '/orders/cancel', body);
}

/**
 * @param {App} app
 * @param {Plain} order
 * @param {{ price: number | null, quantity: number | null, trigger: { kind: 'PriceAbove' | 'PriceBelow', price: number } | null }} changes
 *   raw book units; null for what stays
 */
export function replaceOrder(app, order, { price, quantity, trigger }) {
  const market = app.markets.get(order.base_asset);
  const text = replaceText({
    orderId: order.order_id,
    timestampNs: app.session.nowNs(),
    newLimitPrice: price,
    newQuantity: quantity,
    newTrigger: trigger,
    priceDecimals: Number(market.book_price_decimals),
    quantityDecimals: Number(market.book_quantity_decimals),
  });
  const outer = `"signer":"${userOf(app)}","asset_id":"${order.base_asset}"`;
  const time = `"post_sign_timestamp":${app.session.nowNs()}`;
  return send(
    app,
    'PATCH',
    '/orders/replace',
    `{"request":${text},${outer},"signature":${signatureOf(app, text)},${time}}`,
  );
}

/**
 * The revision that an amend has to name. Only the record of market data has it; an order with other terms than those on display
 * is not amended.
 *
 * @param {App} app @param {Plain} order @returns {Promise<bigint | null>} @throws {Refusal}
 */
async function revisionOf(app, order) {
  const path = `/market-data/orders/user/${userOf(app)}/${order.base_asset}?status=${order.status}&limit=1000`;
  const { orders } = await app.account.request(path);
  const found = orders.find((/** @type {Plain} */ one) => one.order_id === order.order_id);
  if (found?.limit_price !== order.limit_price || found.quantity !== order.quantity)
    throw new Refusal('ORDER_REVISION_MISMATCH', 'the order has changed meanwhile');
  return found.authorization_revision;
}

/**
 * Lowers the total of an order, without a signature (wire-additions.md 4).
 *
 * @param {App} app @param {Plain} order @param {number} quantity raw book units
 */
export async function amendOrder(app, order, quantity) {
  const expectedRevisionNs = await revisionOf(app, order);
  const body = amendBody(userOf(app), {
    orderId: order.order_id,
    assetId: order.base_asset,
    newQuantity: quantity,
    quantityDecimals: Number(app.markets.get(order.base_asset).book_quantity_decimals),
    expectedRevisionNs,
    timestampNs: app.session.nowNs(),
  });
  return send(app, 'PATCH', '/orders/amend', body);
}

/** @typedef {import('../../src/client/canonical.js').TargetAccountType} TargetAccountType */

/** @param {App} app @param {{ from: number, to: number, assetId: string, amount18: bigint, kind: TargetAccountType }} transfer `kind` of an account that is created */
export function transfer(app, { from, to, assetId, amount18, kind }) {
  const text = transferText({
    user: userOf(app),
    sourceIndex: from,
    targetIndex: to,
    assetId: /** @type {import('../../src/core/ids.js').AssetId} */ (assetId),
    amount18,
    targetAccountType: kind,
    nonce: app.account.nextNonce(),
  });
  return sendInner(app, '/account/transfer/sub-account', text);
}

/** @param {App} app @param {{ token: string, chainId: string, amount18: bigint, target: string }} withdrawal */
export async function withdraw(app, { token, chainId, amount18, target }) {
  const user = userOf(app);
  const next = await app.account.request(`/account/nonces/${user}/${chainId}`);
  const terms = { user, token, chainId, amount18, target, nonce: Number(next.withdrawal), requestId: newOrderId() };
  // The page does not know the node's setting `amount_text`: with the prefix no other amount can be read.
  const text = withdrawalText({ ...terms, amountText: '0x' });
  return sendInner(app, '/withdrawal/init', text);
}

/** @param {App} app @param {Plain} withdrawal a row of the queue */
export function cancelWithdrawal(app, { asset, nonce, requested_at_ns: requestedNs }) {
  const [token = '', chainId = ''] = asset.split('@');
  const text = withdrawalCancelText({ user: userOf(app), token, chainId, nonce: Number(nonce), requestedNs });
  return sendInner(app, '/withdrawal/cancel', text);
}

/** @param {App} app @param {number} index @param {string} name */
export function renameAccount(app, index, name) {
  return send(app, 'PATCH', `/account/${userOf(app)}/sub-account/${index}/name`, JSON.stringify({ name }));
}

/** @param {App} app @param {string} path @param {string} text */
function sendInner(app, path, text) {
  return send(app, 'POST', path, `{"inner":${text},"signature":${signatureOf(app, text)},"additional_signers":[]}`);
}

/** @param {App} app */
export function userOf(app) {
  return /** @type {import('../../src/core/ids.js').UserId} */ (app.session.userId);
}

/** A raw book integer in human units. @param {string} raw @param {number} decimals */
function human(raw, decimals) {
  const digits = raw.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * The signed text of an order in words: read back from the text, so that it is a reading of what is signed and not of the
 * form.
 *
 * @param {string} text @param {(assetId: string) => string} symbolOf
 */
export function readingOf(text, symbolOf) {
  const order = readJson(text);
  const symbol = symbolOf(order.base_asset);
  const price = (/** @type {bigint} */ raw) => `${human(String(raw), Number(order.book_price_decimals))} USD`;
  const size = (/** @type {bigint} */ raw) => human(String(raw), Number(order.book_quantity_decimals));
  const { Limit: limit, Market: market } = order.details;
  const parts = [];
  if (limit !== undefined) {
    parts.push(`${order.side} ${size(limit.quantity)} ${symbol} at ${price(limit.limit_price)} or better`);
    parts.push(timeInForce(limit.time_in_force));
  } else {
    const { BaseAsset: base, QuoteAsset: quote } = market.quantity;
    const cap = base?.max_sellable_amount ?? quote?.max_sellable_quantity ?? null;
    const sized =
      base === undefined ? `for ${size(quote.quantity)} USD of ${symbol}` : `${size(base.quantity)} ${symbol}`;
    parts.push(`${order.side} ${sized} at the market`);
    if (cap !== null) parts.push(`at most ${size(cap)} ${base === undefined ? symbol : 'USD'}`);
    parts.push(market.fill_or_kill ? 'all of it or nothing' : 'what cannot be filled at once is dropped');
  }
  const condition = order.trigger?.condition;
  if (condition?.PriceAbove) parts.push(`released when a trade is at or above ${price(condition.PriceAbove.price)}`);
  if (condition?.PriceBelow) parts.push(`released when a trade is at or below ${price(condition.PriceBelow.price)}`);
  if (order.trigger?.parent_order_id) parts.push(`with order ${order.trigger.parent_order_id}`);
  if (order.reduce_only) parts.push('only to reduce a position');
  parts.push(`${order.target.is_spot ? 'balances' : 'margin position'} of account ${order.target.account}`);
  parts.push(`fees up to ${human(String(order.max_trading_fees_rate), 4)} %`);
  return `${parts.join('; ')}.`;
}

/** @param {Plain} tif */
function timeInForce(tif) {
  if (tif.IOC !== undefined)
    return tif.IOC.fill_or_kill ? 'all of it at once or nothing' : 'at once, the rest is dropped';
  const postOnly = (tif.GTC ?? tif.GTD).post_only ? ', only as a maker' : '';
  if (tif.GTC !== undefined) return `good till cancelled${postOnly}`;
  const until = new Date(Number(tif.GTD.timestamp_ns / 1_000_000n));
  return `good until ${until.toISOString().slice(0, 19).replace('T', ' ')} UTC${postOnly}`;
}
