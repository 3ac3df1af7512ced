/**
 * The statement of what a venue owes (LIA-04): the text of a signed note, one line a fact. It is written and read here; who signed it is
 * the note's. Whole numbers have no sign but `-` and no zeros in front; amounts are exact decimals of at most 18 digits behind the point.
 *
 *     ringbook/liabilities/v1
 *     <origin>
 *     <sequence>
 *     <time_ns>
 *     asset <id> leaves <n> root <base64> owed <d> negative <d> own <d> longs <d> shorts <d>
 *     vault <chain_id> <address> <token> asset <id> block <n> <hash> units <int> decimals <d>
 */
import { format18, parseDecimal18 } from '../../core/decimal.ts';
import { base64Of, readBase64 } from '../base64.ts';
import { isOwedSum } from './owed-tree.ts';

const FIRST_LINE = 'ringbook/liabilities/v1';
/** Lines of a statement that is read. */
const LINES_MAX = 8_192;

/** What is owed of one asset; amounts with 18 decimals. */
export interface AssetLiability {
  readonly assetId: string;
  /** Chunks of the tree, without zero leaves. */
  readonly leaves: number;
  /** Hash of the root, 32 bytes. */
  readonly root: Uint8Array;
  /** The sum of the root. */
  readonly owed: bigint;
  /** What negative balances were taken for 0 for; not negative. */
  readonly negative: bigint;
  /** Balances of the venue's own accounts: of fees, of the backstop, of pools. Not among `owed`. */
  readonly own: bigint;
  /** Positions of both signs, and they are not owed; not negative both. */
  readonly longs: bigint;
  readonly shorts: bigint;
}

/** What one vault holds of one token, as the venue read it at a block. */
export interface VaultHolding {
  readonly chainId: string;
  readonly address: string;
  readonly token: string;
  readonly assetId: string;
  readonly block: number;
  /** 64 hex digits. */
  readonly blockHash: string;
  /** Base units. */
  readonly units: bigint;
  readonly decimals: number;
}

export interface LiabilityStatement {
  readonly origin: string;
  /** The journal record behind which the ledger was taken. */
  readonly sequence: number;
  readonly timeNs: bigint;
  /** In rising order of asset ids, as they are written. */
  readonly assets: readonly AssetLiability[];
  readonly vaults: readonly VaultHolding[];
}

/** The text, with a newline behind each line. */
export function statementText({ origin, sequence, timeNs, assets, vaults }: LiabilityStatement): string {
  const lines = [FIRST_LINE, origin, `${sequence}`, `${timeNs}`];
  for (const { assetId, leaves, root, owed, negative, own, longs, shorts } of assets) {
    const sums = `owed ${format18(owed)} negative ${format18(negative)} own ${format18(own)}`;
    const sides = `longs ${format18(longs)} shorts ${format18(shorts)}`;
    lines.push(`asset ${assetId} leaves ${leaves} root ${base64Of(root)} ${sums} ${sides}`);
  }
  for (const { chainId, address, token, assetId, block, blockHash, units, decimals } of vaults) {
    const place = `vault ${chainId} ${address} ${token} asset ${assetId} block ${block} ${blockHash}`;
    lines.push(`${place} units ${units} decimals ${decimals}`);
  }
  return `${lines.join('\n')}\n`;
}

const WHOLE = '(0|[1-9][0-9]{0,77})';
const AMOUNT = '((?:-)?(?:0|[1-9][0-9]{0,59})(?:\\.[0-9]{1,18})?)';
const ID = '([!-~]{1,128})';
const ASSET_LINE = new RegExp(
  `^asset ${ID} leaves ${WHOLE} root ([A-Za-z0-9+/]{43}=) owed ${AMOUNT} negative ${AMOUNT} own ${AMOUNT} longs ${AMOUNT} shorts ${AMOUNT}$`,
);
const VAULT_LINE = new RegExp(
  `^vault ${ID} ${ID} ${ID} asset ${ID} block ${WHOLE} ([0-9a-f]{64}) units ${WHOLE} decimals ([0-9]|[1-9][0-9])$`,
);

/**
 * Reads a statement strictly: it is the text that `statementText` writes of what it says, or it is refused.
 *
 * @returns it, or in plain words what is wrong.
 */
export function parseStatement(text: string): LiabilityStatement | string {
  const lines = text.split('\n');
  if (lines.length > LINES_MAX) return `has more than ${LINES_MAX} lines`;
  const [first, origin = '', sequenceText = '', timeText = '', ...rest] = lines;
  if (first !== FIRST_LINE) return `does not begin with "${FIRST_LINE}"`;
  const sequence = wholeOf(sequenceText);
  if (sequence === null || !/^(?:0|[1-9][0-9]{0,19})$/.test(timeText)) return 'has no sequence or no time';
  const assets: AssetLiability[] = [];
  const vaults: VaultHolding[] = [];
  for (const line of rest.slice(0, -1)) {
    const asset = assetOf(line);
    const vault = asset === null ? vaultOf(line) : null;
    if (asset !== null) assets.push(asset);
    else if (vault !== null) vaults.push(vault);
    else return `has a line that is none of a statement: ${line.slice(0, 60)}`;
  }
  const ids = assets.map(({ assetId }) => assetId);
  if (new Set(ids).size !== ids.length) return 'has an asset twice';
  const places = vaults.map(({ chainId, address, token }) => `${chainId} ${address} ${token}`);
  if (new Set(places).size !== places.length) return 'has a vault and token twice';
  const statement = { origin, sequence, timeNs: BigInt(timeText), assets, vaults };
  return statementText(statement) === text ? statement : 'is not written as statements are';
}

function wholeOf(text: string): number | null {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}

function assetOf(line: string): AssetLiability | null {
  const [, assetId = '', leavesText = '', rootText = '', ...amounts] = ASSET_LINE.exec(line) ?? [];
  const leaves = wholeOf(leavesText);
  const root = readBase64(rootText);
  const [owed = null, negative = null, own = null, longs = null, shorts = null] = amounts.map((text) =>
    parseDecimal18(text),
  );
  if (leaves === null || root === null || root.length !== 32) return null;
  if (owed === null || negative === null || own === null || longs === null || shorts === null) return null;
  if (!isOwedSum(owed) || negative < 0n || longs < 0n || shorts < 0n) return null;
  return { assetId, leaves, root, owed, negative, own, longs, shorts };
}

function vaultOf(line: string): VaultHolding | null {
  const found = VAULT_LINE.exec(line);
  if (found === null) return null;
  const [
    ,
    chainId = '',
    address = '',
    token = '',
    assetId = '',
    blockText = '',
    blockHash = '',
    units = '',
    decimals = '',
  ] = found;
  const block = wholeOf(blockText);
  if (block === null) return null;
  return { chainId, address, token, assetId, block, blockHash, units: BigInt(units), decimals: Number(decimals) };
}
