/**
 * Converts requests of the operator API into commands to clearing. What enters the journal is typed and valid in
 * itself, so a replay validates nothing. Rules that depend on the current registry are checked by clearing when it
 * applies the command.
 *
 *   request {target, body} ──readRequest──▶ command {typed members} ──▶ journal ──▶ clearing
 */

import type { Method, OperatorCommand, RejectFill } from '../../../src/clearing/inputs.ts';
import type { GivenPrice } from '../../../src/clearing/registry/prices.ts';
import { assetNotFound } from '../../../src/clearing/registry/registry-assets.ts';
import type { ConfigChange } from '../../../src/clearing/registry/registry-config.ts';
import { vaultFault } from '../../../src/clearing/registry/registry-config.ts';
import { marketFault } from '../../../src/clearing/registry/registry-markets.ts';
import type { AssetRow, ConfigRow } from '../../../src/clearing/rows.ts';
import { type AssetId, parseAssetId, parseUserId, USD, type UserId } from '../../../src/core/ids.ts';
import { AMOUNT18_MAX, SUB_ACCOUNTS_MAX } from '../../../src/core/limits.ts';
import type { MarketDefinition } from '../../../src/core/market-definition.ts';
import { ROLLBACK_REASON, ROLLBACK_REASON_WORD, type RollbackReason } from '../../../src/core/order-terms.ts';
import { accepted, type Outcome } from '../../../src/core/outcome.ts';
import type { Reject } from '../../../src/core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT } from '../../../src/core/units.ts';
import { BodyReader, readEach } from './body-reader.ts';
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
      return readUser(request.user, request.body);
    case 'putConfig':
      return readConfig(request);
    case 'setPrices':
      return readPrices(request.body);
    case 'faucet':
      return readFaucet(request.body);
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
function readUser(user: UserId, body: unknown): Outcome<OperatorCommand> {
  const reader = new BodyReader(body, ['is_mm']);
  const isMarketMaker = reader.flag('is_mm', undefined);
  return reader.failure ?? accepted({ kind: 'patchUser', user, isMarketMaker });
}

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

const U64_MAX = (1n << 64n) - 1n;

/** An instant in nanoseconds: a JSON integer, which the body's parser keeps exact; null when absent. */
function readInstant(reader: BodyReader, name: string): bigint | null {
  const value = reader.raw(name);
  if (value === undefined) return null;
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  const ns = isWhole ? BigInt(value) : -1n;
  if (ns < 0n || ns > U64_MAX) reader.fail(name, 'an integer of nanoseconds is expected');
  else if (isOfOtherUnit(ns)) reader.fail(name, `${name} ${OTHER_UNIT_TEXT}`);
  else return ns;
  return null;
}

function readPrice(reader: BodyReader): GivenPrice {
  return {
    asset: reader.form('asset_id', parseAssetId, 'an asset id is', undefined, USD),
    price: reader.decimal('price', { max: AMOUNT18_MAX }, undefined),
    publishNs: readInstant(reader, 'publish_time_ns'),
    source: reader.text('source', 'operator'),
  };
}

/** `POST /operator/prices` (operator-api.md 5). */
function readPrices(body: unknown): Outcome<OperatorCommand> {
  const reader = new BodyReader(body, ['prices']);
  const items = reader
    .list('prices', undefined)
    .map((item, at) => new BodyReader(item, ['asset_id', 'price', 'publish_time_ns', 'source'], `prices[${at}].`));
  const prices = readEach(reader, items, readPrice);
  return reader.failure ?? accepted({ kind: 'setPrices', prices });
}

/** `POST /operator/faucet` (operator-api.md 7.4). */
function readFaucet(body: unknown): Outcome<OperatorCommand> {
  const reader = new BodyReader(body, ['user_id', 'sub_account', 'asset_id', 'amount']);
  const user = reader.form('user_id', parseUserId, 'a user id is', undefined, '' as UserId);
  const subAccount = reader.integer('sub_account', { min: 0, max: SUB_ACCOUNTS_MAX - 1 }, undefined);
  const asset = reader.form('asset_id', parseAssetId, 'an asset id is', undefined, USD);
  const amount = reader.decimal('amount', { min: -AMOUNT18_MAX, max: AMOUNT18_MAX }, undefined);
  return reader.failure ?? accepted({ kind: 'faucet', user, subAccount, asset, amount });
}

/** Rollback reasons that can be injected for a party: all except the one for a faulty counterparty. */
const FAULT_REASONS: ReadonlyMap<string, RollbackReason> = new Map(
  Object.values(ROLLBACK_REASON).flatMap((reason): [string, RollbackReason][] => {
    const word = ROLLBACK_REASON_WORD[reason];
    return word === null || reason === ROLLBACK_REASON.counterpartyAtFault ? [] : [[word, reason]];
  }),
);

/**
 * Reads `{"kind":"reject_fill",…}` of operator-api.md 7.3.
 *
 * @returns INVALID_REQUEST with the failing member.
 */
export function readRejectFill(body: unknown): Outcome<RejectFill> {
  const reader = new BodyReader(body, ['kind', 'party', 'reason', 'asset_id', 'skip', 'count']);
  reader.word('kind', ['reject_fill'], undefined);
  const party = reader.word('party', ['maker', 'taker', 'both'], undefined);
  const reasonWord = reader.word('reason', [...FAULT_REASONS.keys()], undefined);
  const asset = reader.textOrNull('asset_id', null);
  const parsed = asset === null ? null : parseAssetId(asset);
  if (asset !== null && parsed === null) reader.fail('asset_id', 'an asset id is expected');
  const skip = reader.integer('skip', { min: 0, max: 1_000_000 }, 0);
  const count = reader.integer('count', { min: 1, max: 1_000_000 }, 1);
  const reason = FAULT_REASONS.get(reasonWord) ?? ROLLBACK_REASON.none;
  return reader.failure ?? accepted({ party, reason, asset: parsed, skip, count });
}

/** The gateway's copy of the registry. */
export interface RegistryRows {
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
