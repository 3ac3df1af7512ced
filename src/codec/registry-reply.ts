/**
 * The public registry (wire.md 7.3, AMB-138, AMB-140).
 *
 *   {"<asset index>":{"<address>@<chain>":{"address":…,"maxDeposits":…,…,"symbol":…,"decimals":…}}}
 *
 * Caps and weights are integer strings; no cap is 2^256 − 1. Both spellings of the caps are written, because clients
 * read one or the other (C4).
 */
import type { AssetId, ChainId } from '../core/ids.ts';
import { quote, quoteOrNull } from './json-writer.ts';

interface RegistryToken {
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly chainId: ChainId;
  readonly decimals: number;
  /** 18-decimal units; null for no cap. */
  readonly maxDeposits: bigint | null;
  readonly max1hrDeposits: bigint | null;
  readonly minWeight: bigint;
}

interface RegistryAsset {
  readonly assetId: AssetId;
  readonly symbol: string | null;
  readonly tokens: readonly RegistryToken[];
}

const NO_CAP = ((1n << 256n) - 1n).toString();

/** The reply of `GET /registry/assets`, in the order given. */
export function registryAssets(assets: readonly RegistryAsset[]): string {
  return object(assets.map((asset) => member(asset.assetId, tokenRows(asset))));
}

function tokenRows({ symbol, tokens }: RegistryAsset): string {
  return object(tokens.map((token) => member(`${token.token}@${token.chainId}`, tokenRow(token, symbol))));
}

function tokenRow(token: RegistryToken, symbol: string | null): string {
  const deposits = token.maxDeposits?.toString() ?? NO_CAP;
  const hourly = token.max1hrDeposits?.toString() ?? NO_CAP;
  return (
    `{"address":"${token.token}","maxDeposits":"${deposits}","max1hrDeposits":"${hourly}",` +
    `"minWeight":"${token.minWeight}","max_deposits":"${deposits}","max_1hr_deposits":"${hourly}",` +
    `"symbol":${quoteOrNull(symbol)},"decimals":${token.decimals}}`
  );
}

/** The reply of `GET /registry/risk-parameters`: a row is the JSON object of its asset. */
export function riskParameterRows(rows: readonly { readonly assetId: AssetId; readonly json: string }[]): string {
  return object(rows.map(({ assetId, json }) => member(assetId, json)));
}

/** The reply of `GET /registry/vaults`: chain addresses, in order of registration. */
export function vaultList(vaults: readonly string[]): string {
  return `[${vaults.map(quote).join(',')}]`;
}

/** The reply of `POST /registry/decimals`: the requested assets that are registered, in the spelling of the request. */
export function decimalsReply(decimals: ReadonlyMap<string, number>): string {
  return object([...decimals].map(([asset, count]) => member(asset, String(count))));
}

/** How an indexed asset is called, and by which tokens it is deposited. */
interface SymbolRow {
  readonly symbol: string;
  readonly name: string;
  readonly assetClass: string;
  readonly representations: readonly string[];
}

/** The `symbol_map` of a page of markets (wire-additions.md 5). */
export function symbolMap(rows: readonly (readonly [assetId: AssetId, row: SymbolRow])[]): string {
  return object(
    rows.map(([assetId, { symbol, name, assetClass, representations }]) =>
      member(
        assetId,
        `{"index":${assetId},"symbol":${quote(symbol)},"name":${quote(name)},"asset_class":${quote(assetClass)},` +
          `"representations":[${representations.map(quote).join(',')}]}`,
      ),
    ),
  );
}

function member(name: string, json: string): string {
  return `${quote(name)}:${json}`;
}

function object(members: readonly string[]): string {
  return `{${members.join(',')}}`;
}
