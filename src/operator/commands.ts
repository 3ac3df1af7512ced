/**
 * Converts requests of the operator API into commands to clearing. What enters the journal is typed and valid in
 * itself, so a replay validates nothing. Rules that depend on the current registry are checked by clearing when it
 * applies the command.
 *
 *   request {target, body} ──readRequest──▶ command {typed members} ──▶ journal ──▶ clearing
 */

import type { Method, OperatorCommand, RejectFill } from '../clearing/inputs.ts';
import { assetNotFound } from '../clearing/registry/registry-assets.ts';
import type { ConfigChange } from '../clearing/registry/registry-config.ts';
import { vaultFault } from '../clearing/registry/registry-config.ts';
import { marketFault } from '../clearing/registry/registry-markets.ts';
import type { AssetRow, ConfigRow } from '../clearing/rows.ts';
import { defaulted, FLAG, inside, nullable, optional, type Shape, words } from '../codec/shapes/shape-kit.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { AMOUNT18_MAX, SUB_ACCOUNTS_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ROLLBACK_REASON, ROLLBACK_REASON_WORD, type RollbackReason } from '../core/order-terms.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import { readBody } from './body-reader.ts';
import { ANY_TEXT, ASSET, BODY_INSTANT, body, decimal, integer, list, parsedText, USER } from './body-shapes.ts';
import { readChain, readDelay, readSettings, readSettler, readVault } from './config-bodies.ts';
import { readAsset, readMarket, readRisk } from './registry-bodies.ts';

/** A request: its target from the path, its body as parsed JSON. */
export type OperatorRequest =
  | {
      readonly kind: 'putAsset' | 'putRisk' | 'putMarket';
      readonly method: Method;
      readonly assetId: AssetId;
      readonly body: unknown;
    }
  | { readonly kind: 'patchUser'; readonly user: UserId; readonly body: unknown }
  | {
      readonly kind: 'putConfig';
      readonly config: ConfigChange['config'];
      /** Empty for kinds with a single object. */
      readonly key: string;
      readonly method: Method | 'delete';
      readonly body: unknown;
    }
  | { readonly kind: 'setPrices' | 'faucet'; readonly body: unknown };

/** @returns INVALID_REQUEST with the failing member. */
export function readRequest(request: OperatorRequest): Outcome<OperatorCommand> {
  switch (request.kind) {
    case 'putAsset':
      return mapped(readAsset(request.body), (change) => ({ ...target(request), kind: 'putAsset', change }));
    case 'putRisk':
      return mapped(readRisk(request.body), (change) => ({ ...target(request), kind: 'putRisk', change }));
    case 'putMarket':
      return mapped(readMarket(request.body), (change) => ({ ...target(request), kind: 'putMarket', change }));
    case 'patchUser':
      return mapped(readBody(USER_BODY, request.body), ({ is_mm: isMarketMaker }) => ({
        kind: 'patchUser',
        user: request.user,
        isMarketMaker,
      }));
    case 'putConfig':
      return readConfig(request);
    case 'setPrices':
      return mapped(readBody(PRICES_BODY, request.body), ({ prices }) => ({
        kind: 'setPrices',
        prices: prices.map(({ publishNs = null, ...price }) => ({ ...price, publishNs })),
      }));
    case 'faucet':
      return mapped(readBody(FAUCET_BODY, request.body), (credit) => ({ kind: 'faucet', ...credit }));
  }
}

function mapped<T>(outcome: Outcome<T>, command: (value: T) => OperatorCommand): Outcome<OperatorCommand> {
  return outcome.ok ? accepted(command(outcome.value)) : outcome;
}

function target({ method, assetId }: { readonly method: Method; readonly assetId: AssetId }): {
  readonly method: Method;
  readonly assetId: AssetId;
} {
  return { method, assetId };
}

/** `PUT /operator/users/{user_id}` (operator-api.md 4.7). */
const USER_BODY = body({ is_mm: FLAG });

function readConfig({
  config,
  key,
  method,
  body,
}: Extract<OperatorRequest, { kind: 'putConfig' }>): Outcome<OperatorCommand> {
  const change = ((): Outcome<Extract<OperatorCommand, { kind: 'putConfig' }>['change']> => {
    switch (config) {
      case 'chain':
        return readChain(key, body);
      case 'vault':
        return readVault(key, body);
      case 'settler':
        return method === 'delete'
          ? accepted({ config: 'settler', key: key as UserId, value: null })
          : readSettler(key, body);
      case 'settings':
        return readSettings(method === 'put' ? 'put' : 'patch', body);
      case 'withdrawal-delay':
        return readDelay(body);
    }
  })();
  return mapped(change, (value) => ({ kind: 'putConfig', change: value }));
}

/** `POST /operator/prices` (operator-api.md 5). */
const PRICES_BODY = body({
  prices: list(
    body({
      asset_id: inside('asset', ASSET),
      price: decimal({ max: AMOUNT18_MAX }),
      publish_time_ns: inside('publishNs', optional(BODY_INSTANT)),
      source: defaulted(ANY_TEXT, 'operator'),
    }),
  ),
});

/** `POST /operator/faucet` (operator-api.md 7.4). */
const FAUCET_BODY = body({
  user_id: inside('user', USER),
  sub_account: inside('subAccount', integer(0, SUB_ACCOUNTS_MAX - 1)),
  asset_id: inside('asset', ASSET),
  amount: decimal({ min: -AMOUNT18_MAX, max: AMOUNT18_MAX }),
});

/** Rollback reasons that can be injected for a party: all except the one for a faulty counterparty. */
const FAULT_REASONS: ReadonlyMap<string, RollbackReason> = new Map(
  Object.values(ROLLBACK_REASON).flatMap((reason): [string, RollbackReason][] => {
    const word = ROLLBACK_REASON_WORD[reason];
    return word === null || reason === ROLLBACK_REASON.counterpartyAtFault ? [] : [[word, reason]];
  }),
);

const COUNT_MAX = 1_000_000;
const REASON = parsedText(
  words(...FAULT_REASONS.keys()),
  (word) => FAULT_REASONS.get(word) ?? null,
  `one of ${[...FAULT_REASONS.keys()].join(', ')}`,
);

/** `{"kind":"reject_fill",…}` of operator-api.md 7.3. */
export const REJECT_FILL: Shape<unknown, RejectFill> = body({
  kind: inside('', words('reject_fill')),
  party: words('maker', 'taker', 'both'),
  reason: REASON,
  asset_id: inside('asset', defaulted(nullable(ASSET), null)),
  skip: defaulted(integer(0, COUNT_MAX), 0),
  count: defaulted(integer(1, COUNT_MAX), 1),
});

/** The gateway's copy of the registry. */
interface RegistryRows {
  readonly assets: ReadonlyMap<AssetId, AssetRow>;
  readonly configs: ReadonlyMap<string, ConfigRow>;
  readonly definitions: ReadonlyMap<AssetId, MarketDefinition>;
}

/** The reject for an invalid target, which takes precedence over any error of the body. */
export function targetFault(rows: RegistryRows, request: OperatorRequest): Reject | null {
  switch (request.kind) {
    case 'putAsset':
    case 'putRisk': {
      const isFree = request.kind === 'putAsset' && request.method === 'put';
      return isFree || rows.assets.has(request.assetId) ? null : assetNotFound(request.assetId);
    }
    case 'putMarket': {
      const { assetId, method } = request;
      const isToken = [...rows.assets.values()].some(({ tokens }) =>
        tokens.some(({ token, chainId }) => `${token}@${chainId}` === assetId),
      );
      const isKnown = isToken || rows.assets.has(assetId);
      return marketFault(assetId, method, { isKnown, hasMarket: rows.definitions.has(assetId), mayCreate: false });
    }
    case 'putConfig':
      return request.config === 'vault' ? vaultFault(rows, request.key) : null;
    default:
      return null;
  }
}

/** The shapes of these bodies, for documents. */
export const COMMAND_BODIES: Readonly<Record<'user' | 'prices' | 'faucet', Shape>> = {
  user: USER_BODY,
  prices: PRICES_BODY,
  faucet: FAUCET_BODY,
};
