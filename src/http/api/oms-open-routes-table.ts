/** The order service's public routes, and its sessions (wire.md 3, 7.2). */
import { AUTH_REQUEST, EMPTY, NONCE, TOKEN } from '../../codec/shapes/account-shapes.ts';
import { MARKET, MARKETS } from '../../codec/shapes/registry-shapes.ts';
import { ACTION_BYTES_MAX } from '../../core/limits.ts';
import type { RouteDoc } from './api-table.ts';
import { BOOLEAN_WORD, LIMIT_QUERY, PAGE_QUERY } from './query-docs.ts';

const MARKET_EXAMPLE =
  '{"asset_id":"1","book_price_decimals":1,"book_quantity_decimals":5,"max_leverage":"20","isolated_only":false,' +
  '"tick_size":"0.1","min_order_size":"0.0001","fee_schedule":{"fee_account":"9a9a","global":[],"per_asset":[]},' +
  '"maker_fee_rate":100,"taker_fee_rate":450,"status":"Active","self_trade_prevention":false}';

export const OMS_OPEN_ROUTES: readonly RouteDoc[] = [
  {
    method: 'GET',
    path: '/nonce/{user_id}',
    area: 'Session',
    auth: 'public',
    cost: 'free',
    summary: 'Get a nonce to sign',
    description:
      'Your user id is your Ed25519 public key; there is no registration. The nonce is valid for five minutes and the same for every request until it is used. ' +
      'Never sign a nonce that is not 43 characters of `A-Z a-z 0-9 _ -`: it could be an order.',
    reply: NONCE,
    example: { reply: '{"value":"7mYt0nV3bq1dX9kzJ2rWcA5uLhE8sGfPo6iTQy4vKxM","ce_nonce":0}' },
  },
  {
    method: 'POST',
    path: '/auth',
    area: 'Session',
    auth: 'public',
    cost: 'free',
    summary: 'Log in',
    description:
      'The signature goes over the UTF-8 bytes of the nonce, no hash, no quotes. Co-signers sign the same bytes; then `signature` may be empty, and their weight must reach the threshold `low`. There is no refresh and no rotation of keys: log in again when the token has expired.',
    body: AUTH_REQUEST,
    bodyBytesMax: ACTION_BYTES_MAX,
    reply: TOKEN,
    errors: [
      'NONCE_NOT_FOUND',
      'NONCE_EXPIRED',
      'INVALID_NONCE',
      'INVALID_SIGNATURE',
      'INSUFFICIENT_SIGNER_WEIGHT',
      'SIGNER_UNKNOWN',
      'SIGNER_EXPIRED',
      'SIGNER_DUPLICATE',
    ],
    example: {
      body: '{"user_id":"{user_id}","nonce":"7mYt0nV3bq1dX9kzJ2rWcA5uLhE8sGfPo6iTQy4vKxM","signature":[]}',
      reply: '{"token":"kPq3Xo2bR7sLw9TzVn4yHc1eJd6mUf8gQa0iBxC5vKE","expiry_ns":1770086400000000000}',
    },
  },
  {
    method: 'POST',
    path: '/logout',
    area: 'Session',
    auth: 'session',
    cost: 'action',
    summary: 'Revoke every token of the caller',
    description: 'Streams of the user end with `unauthorized` and close 1000.',
    reply: EMPTY,
    example: { reply: '{}' },
  },
  {
    method: 'GET',
    path: '/markets',
    area: 'Markets',
    auth: 'public',
    cost: 'publicRead',
    summary: 'All markets, or a page of them',
    description: 'With `page` or `limit` the reply is an object with a page of markets, without both an array of all.',
    query: [
      PAGE_QUERY,
      LIMIT_QUERY,
      {
        name: 'include_symbol_map',
        shape: BOOLEAN_WORD,
        summary: 'adds `symbol_map`: how every indexed asset is called; needs `page` or `limit`',
      },
    ],
    reply: MARKETS,
    errors: ['SERVICE_UNAVAILABLE'],
    example: { reply: `[${MARKET_EXAMPLE}]` },
  },
  {
    method: 'GET',
    path: '/market/{asset_id}',
    area: 'Markets',
    auth: 'public',
    cost: 'publicRead',
    summary: 'One market',
    description: 'Decimals of a market never change: they may be cached permanently.',
    reply: MARKET,
    errors: ['MARKET_NOT_FOUND'],
    example: { path: { asset_id: '1' }, reply: MARKET_EXAMPLE },
  },
];
