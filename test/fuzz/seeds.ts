/** Good requests from which the mutations start: one of every form in wire.md. */
import { cancelBodyOf, createBodyOf, replaceBodyOf, wireSigner } from '../support/wire-signers.ts';
import {
  cancelBody,
  cancelText,
  closePositionText,
  createBody,
  innerBody,
  orderText,
  PlainKey,
  replaceBody,
  replaceText,
  transferText,
} from '../support/wire-texts.ts';

export const FUZZ_KEY: PlainKey = new PlainKey(0x66);

const MARKET_BASE =
  '{"Market":{"quantity":{"BaseAsset":{"quantity":25000,"max_sellable_amount":900}},"fill_or_kill":true}}';
const MARKET_QUOTE =
  '{"Market":{"quantity":{"QuoteAsset":{"quantity":9000,"max_sellable_quantity":null}},"fill_or_kill":false}}';
const GTD = '{"GTD":{"post_only":true,"timestamp_ns":1800003600000000000}}';
const CHILD = '{"parent_order_id":"q3Jk+/9s==","condition":{"PriceBelow":{"price":290000}}}';
const COSIGNED =
  '"additional_signers":[{"signer":{"Secp256k1":[2,17,17]},"signature":[1,2,3]},{"signer":{"Ed25519":[1]},"signature":[]}]';

function creates(nowNs: bigint): string[] {
  const user = FUZZ_KEY.id;
  const base = { createdNs: nowNs };
  const texts = [
    orderText(user, { ...base, id: 'f-limit' }),
    orderText(user, { ...base, id: 'f-ioc', tif: '{"IOC":{"fill_or_kill":false}}', side: 'Buy' }),
    orderText(user, { ...base, id: 'f-gtd', tif: GTD }),
    orderText(user, { ...base, id: 'f-base', details: MARKET_BASE }),
    orderText(user, { ...base, id: 'f-quote', details: MARKET_QUOTE, side: 'Buy' }),
    orderText(user, { ...base, id: 'f-child', trigger: CHILD, side: 'Buy' }),
  ];
  const bodies = texts.map((text) => createBody(FUZZ_KEY, text, nowNs));
  return [...bodies, `${(bodies[0] ?? '').slice(0, -1)},${COSIGNED}}`];
}

/** A set in the market of the other seeds. */
function quotesBody(nowNs: bigint, bids: string, asks: string): string {
  const text =
    `{"signer":"${FUZZ_KEY.id}","set_id":"f-set","base_asset":"2","book_price_decimals":2,"book_quantity_decimals":4,` +
    `"revision":${nowNs},"bids":${bids},"asks":${asks},"target":{"account":0,"is_spot":true},` +
    '"max_trading_fees_rate":50000,"protection_group":null,"good_until_timestamp_ns":null,"protocol_version":1}';
  return `{"quotes":${text},"signature":${FUZZ_KEY.signature(text)},"post_sign_timestamp":${nowNs}}`;
}

export interface SeedBody {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Bodies by the route that takes them; some twenty signatures, so they are made once. */
export function seedBodies(nowNs: bigint): SeedBody[] {
  const replace = replaceBody(FUZZ_KEY, replaceText({ id: 'f-limit', price: 1, timestampNs: nowNs }), nowNs);
  const trigger = replace.replace('"new_trigger":null', '"new_trigger":{"PriceAbove":{"price":7}}');
  const cancel = cancelBody(FUZZ_KEY, cancelText(FUZZ_KEY.id, 'f-limit'), nowNs);
  const transfer = (type: string): string =>
    innerBody(FUZZ_KEY, transferText(FUZZ_KEY.id, { source: 0, target: 2, amount: '5', type, nonce: nowNs }));
  const amend =
    `{"request":{"order_id":"f-limit","base_asset":"2","new_quantity":5,"book_quantity_decimals":4,` +
    `"expected_authorization_revision":null,"timestamp_ns":${nowNs},"source":"User"},"user_id":"${FUZZ_KEY.id}",` +
    '"target":{"account":0,"is_spot":true},"oms_operator_pubkey":"","receive_timestamp_ns":null}';
  const orders = creates(nowNs);
  const hands = { master: null, coSigners: [wireSigner(0x67)] };
  const coSigned = createBodyOf(orderText(FUZZ_KEY.id, { createdNs: nowNs, id: 'f-co' }), hands, nowNs);
  const request = replaceText({ id: 'f-co', price: 2, timestampNs: nowNs });
  return [
    { method: 'POST', path: '/orders/create', body: coSigned },
    { method: 'PATCH', path: '/orders/amend', body: amend },
    { method: 'PATCH', path: '/orders/replace', body: replaceBodyOf(FUZZ_KEY.id, request, hands, nowNs) },
    { method: 'DELETE', path: '/orders/cancel', body: cancelBodyOf(cancelText(FUZZ_KEY.id, 'f-co'), hands, nowNs) },
    ...orders.map((body) => ({ method: 'POST', path: '/orders/create', body })),
    { method: 'PATCH', path: '/orders/replace', body: replace },
    { method: 'PATCH', path: '/orders/replace', body: trigger },
    { method: 'DELETE', path: '/orders/cancel', body: cancel },
    { method: 'POST', path: '/orders/batch-create', body: `{"orders":[${orders.slice(0, 3)}]}` },
    { method: 'PATCH', path: '/orders/batch-replace', body: `{"requests":[${replace},${trigger}]}` },
    { method: 'DELETE', path: '/orders/cancel-batch', body: '{"order_ids":["f-limit","f-ioc"],"asset_id":"2"}' },
    { method: 'DELETE', path: '/orders/cancel-batch', body: '["f-limit"]' },
    { method: 'PUT', path: '/orders/quotes', body: quotesBody(nowNs, '[[190000,10],[189900,20]]', '[[210000,10]]') },
    { method: 'PUT', path: '/orders/quotes', body: quotesBody(nowNs, '[]', '[]') },
    {
      method: 'PUT',
      path: '/account/protection/2',
      body: '{"group":"g1","window_ms":1000,"frozen_ms":0,"max_fills":20,"max_quantity":"5","max_notional":null,"min_fill_notional":"10"}',
    },
    { method: 'POST', path: '/account/transfer/sub-account', body: transfer('null') },
    { method: 'POST', path: '/account/transfer/sub-account', body: transfer('"CrossMargin"') },
    { method: 'POST', path: '/account/transfer/sub-account', body: transfer('{"Isolated":{"asset":"3"}}') },
    {
      method: 'POST',
      path: '/account/transfer/close-position',
      body: innerBody(FUZZ_KEY, closePositionText(FUZZ_KEY.id, 1, '2', 7)),
    },
    {
      method: 'POST',
      path: '/auth',
      body: `{"user_id":"${FUZZ_KEY.id}","nonce":"q7Zr-41c0","signature":${FUZZ_KEY.signature('q7Zr-41c0')}}`,
    },
    { method: 'POST', path: '/registry/decimals', body: `{"assets":["${'5a'.repeat(20)}@000000000000007a69"]}` },
    { method: 'POST', path: '/registry/decimals/update', body: '{"assets":[]}' },
    { method: 'POST', path: '/market/create', body: '{"asset_id":"12"}' },
    { method: 'POST', path: '/multisig/signers', body: `{"Ed25519":[${new Array(32).fill(7)}]}` },
    {
      method: 'POST',
      path: `/account/simulate/${FUZZ_KEY.id}`,
      body: '{"sub_account":1,"trade":{"asset":"2","is_buy":true,"size":"1500000000000000000","limit_price":"3150000000000000000000","trade_type":"margin"},"pending_transfers":[{"asset":"0","amount":"5"}]}',
    },
    { method: 'PATCH', path: `/account/${FUZZ_KEY.id}/sub-account/2/name`, body: '{"name":"Hedge book"}' },
    { method: 'POST', path: '/orders/cancel-all-after', body: '{"timeout_ms":1000}' },
  ];
}

/** Frames of `/control`, in both versions. */
export function seedFrames(bodies: readonly SeedBody[]): string[] {
  const tagged = bodies.flatMap(({ path, body }) => {
    const tag = {
      '/orders/create': 'CreateOrderRequest',
      '/orders/quotes': 'QuoteSetRequest',
      '/orders/cancel-batch': 'CancelBatchRequest',
      '/orders/cancel-all-after': 'CancelAllAfterRequest',
      '/orders/replace': 'ReplaceOrderRequest',
      '/orders/cancel': 'CancelOrderRequest',
      '/orders/batch-create': 'BatchCreateRequest',
      '/orders/batch-replace': 'BatchReplaceRequest',
    }[path];
    return tag === undefined ? [] : [`{"${tag}":${body}}`];
  });
  const enveloped = tagged.map(
    (frame, index) => `{"type":"request","channel":"control","request_id":"r-${index}","data":${frame}}`,
  );
  return [...tagged, ...enveloped, '{"type":"ping"}'];
}
