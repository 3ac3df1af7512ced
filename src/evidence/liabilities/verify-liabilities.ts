/**
 * The verifier of a user's part in what the venue owes (LIA-06), offline. Checks 1 to 5 are those of the log (verify-log.ts):
 *
 *   6  the statement is signed by a key that is certified for its time, and is one of this origin
 *   7  a row of kind statement, proven in the log behind the statement's place, has its hash
 *   8  each chunk is in its range and leads to the root and the sum of its asset; no leaf and no nonce is used twice
 *   9  of each sub-account every chunk is there once, and all of them name one last row of the user
 */

import { format18 } from '../../core/decimal.ts';
import { toHex } from '../../core/hex.ts';
import { parseUserId } from '../../core/ids.ts';
import { base64Of } from '../base64.ts';
import { readNote, signedBy } from '../notes.ts';
import { sha256 } from '../platform.ts';
import { isSameHash } from '../tree/hashes.ts';
import {
  type EvidenceVerdict,
  hold,
  type Keys,
  type LogOptions,
  type ProvenRow,
  provenLog,
  verdictOf,
} from '../verify-log.ts';
import { type LiabilityFile, type ProvenChunk, readLiabilities } from './liability-file.ts';
import { CHUNKS_MIN, owedContext, owedLeaf, rootOfOwedPath } from './owed-tree.ts';
import { type AssetLiability, type LiabilityStatement, parseStatement } from './statement.ts';

/** The subject of a row with the hash of a statement. */
export const LIABILITIES_SUBJECT = 'liabilities';

export interface LiabilityOptions extends LogOptions {
  /** The user that the caller is: 64 hex digits. */
  readonly user: string;
  /** Base units that the caller has read itself, by `<chain> <address> <token>`, at the block of the statement. */
  readonly units: ReadonlyMap<string, bigint>;
}

/** What the user is owed by the statement, to be compared with what it knows. */
interface OwedSum {
  readonly assetId: string;
  readonly subAccount: number;
  /** 18 decimals. */
  readonly amount: bigint;
}

/** A verdict; of a true one the sums of the user. */
export type LiabilityVerdict = EvidenceVerdict & { readonly sums?: readonly OwedSum[] };

/** The hash of a statement that a row of the log has, in hex. @param text of the note, without its signatures. */
export function statementHash(text: string): string {
  return toHex(sha256(new TextEncoder().encode(text)));
}

/** @param bytes of the file. */
export function verifyLiabilities(bytes: Uint8Array, options: LiabilityOptions): LiabilityVerdict {
  const file = readLiabilities(bytes);
  if (typeof file === 'string') return { kind: 'unreadable', reason: file };
  let sums: readonly OwedSum[] = [];
  const verdict = verdictOf(() => {
    const { signed, keys, rows, witnessed } = provenLog(file, options);
    hold(6, parseUserId(options.user) === file.user, 'the file is of another user');
    const statement = statementOf(file, keys);
    rowHasStatement(rows, file, statement);
    sums = file.assets.flatMap((asset) => sumsOf(asset, file, statement));
    lastRowsAgree(file);
    const assets = statement.assets.map((asset) => reserveOf(asset, statement, options));
    return [
      `The venue ${file.origin} stated at record ${statement.sequence}, ${timeOf(statement.timeNs)}, what it owes,`,
      `committed to it in its log of ${signed.head.size} records, and what it owes to user ${file.user} is in it:`,
      sums
        .map(
          ({ assetId, subAccount, amount }) => `${format18(amount)} of asset ${assetId} in sub-account ${subAccount}`,
        )
        .join(', ') || 'nothing',
      `(compare it with what you know). ${assets.join(' ')}`,
      witnessed.byTime === null
        ? 'No witness is counted: only the venue signed this view.'
        : `${witnessed.count} witnesses have seen this head.`,
      unseenOf(statement),
      'It does not prove that what is owed to others is complete, nor that the venue has the keys of its vaults to itself.',
    ].join(' ');
  });
  return verdict.kind === 'true' ? { ...verdict, sums } : verdict;
}

function timeOf(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}

// 6

function statementOf({ note: noteText, origin }: LiabilityFile, { certificates, ends }: Keys): LiabilityStatement {
  const note = readNote(noteText);
  hold(6, note !== null, 'the statement is no signed note');
  const statement = parseStatement(note.text);
  hold(6, typeof statement !== 'string', `the statement ${typeof statement === 'string' ? statement : ''}`);
  hold(6, statement.origin === origin, 'the statement is of another origin');
  const isCertified = certificates.some(
    ({ key, fromNs, untilNs }) =>
      fromNs <= statement.timeNs &&
      statement.timeNs < untilNs &&
      !ends.some((end) => end.key.id === key.id && isSameHash(end.key.publicKey, key.publicKey)) &&
      signedBy(note, key) === 'valid',
  );
  hold(6, isCertified, 'no key that is certified for its time has signed the statement');
  return statement;
}

// 7

function rowHasStatement(rows: readonly ProvenRow[], { note }: LiabilityFile, statement: LiabilityStatement): void {
  const text = readNote(note)?.text ?? '';
  hold(7, rows.length === 1, `${rows.length} rows are in the file, and the statement has one`);
  const [{ kind, members, leaf }] = rows as [ProvenRow];
  hold(
    7,
    kind === 'statement' && members.get('subject') === LIABILITIES_SUBJECT,
    'the row is none of a statement of liabilities',
  );
  hold(7, members.get('text') === statementHash(text), 'the row has the hash of another statement');
  hold(7, leaf.sequence > statement.sequence, 'the statement was committed to before the record that it is of');
}

// 8

function sumsOf(
  { assetId, chunks }: LiabilityFile['assets'][number],
  file: LiabilityFile,
  statement: LiabilityStatement,
): readonly OwedSum[] {
  const asset = statement.assets.find((one) => one.assetId === assetId);
  hold(8, asset !== undefined, `the statement has no asset ${assetId}`);
  hold(8, file.assets.filter((one) => one.assetId === assetId).length === 1, `asset ${assetId} is in the file twice`);
  const context = owedContext(statement.origin, statement.sequence, assetId);
  for (const chunk of chunks) {
    const what = `chunk ${chunk.i} of sub-account ${chunk.subAccount} in asset ${assetId}`;
    hold(8, chunk.subAccount < 65_536, `${what} has no sub-account`);
    const root = rootOfOwedPath(owedLeaf(context, { ...chunk, user: file.user }), chunk, asset.leaves);
    hold(8, root !== null, `${what} has a path of another tree, or a sum that is none`);
    hold(8, isSameHash(root.hash, asset.root), `${what} does not lead to the root of its asset`);
    hold(8, root.sum === asset.owed, `${what} leads to another sum than what is stated as owed`);
  }
  hold(8, new Set(chunks.map(({ index }) => index)).size === chunks.length, `a leaf of asset ${assetId} is used twice`);
  hold(
    8,
    new Set(chunks.map(({ nonce }) => base64Of(nonce))).size === chunks.length,
    `a nonce of asset ${assetId} is used twice`,
  );
  const accounts = [...new Set(chunks.map(({ subAccount }) => subAccount))].sort((a, b) => a - b);
  return accounts.map((subAccount) => {
    const own = chunks.filter((chunk) => chunk.subAccount === subAccount);
    isWhole(own, `sub-account ${subAccount} in asset ${assetId}`);
    return { assetId, subAccount, amount: own.reduce((sum, { amount }) => sum + amount, 0n) };
  });
}

// 9

function isWhole(chunks: readonly ProvenChunk[], what: string): void {
  const numbers = chunks.map(({ i }) => i).sort((a, b) => a - b);
  const isOne = chunks.every(({ k }) => k === chunks.length) && numbers.every((number, at) => number === at);
  hold(9, isOne && chunks.length >= CHUNKS_MIN, `the chunks of ${what} are not all there, each once`);
}

function lastRowsAgree({ assets }: LiabilityFile): void {
  const lasts = assets.flatMap(({ chunks }) => chunks.map(({ n, last }) => `${n} ${base64Of(last)}`));
  hold(9, new Set(lasts).size <= 1, 'chunks name different last rows of the user');
}

// The sentence

/** What is owed of an asset beside what the vaults hold of it. */
function reserveOf(
  { assetId, owed }: AssetLiability,
  { vaults }: LiabilityStatement,
  { units: read }: LiabilityOptions,
): string {
  let [held, isRead] = [0n, true];
  for (const { chainId, address, token, units, decimals, block } of vaults.filter(
    (vault) => vault.assetId === assetId,
  )) {
    const own = read.get(`${chainId} ${address} ${token}`);
    hold(
      8,
      own === undefined || own === units,
      `vault ${address} has ${own} base units of ${token} at block ${block}, and ${units} are stated`,
    );
    isRead &&= own !== undefined;
    held += decimals > 18 ? units / 10n ** BigInt(decimals - 18) : units * 10n ** BigInt(18 - decimals);
  }
  const whose = isRead && held > 0n ? 'as you have read it from the chain' : "by the venue's word";
  return `Of asset ${assetId} it owes ${format18(owed)}, and its vaults hold ${format18(held)}, ${whose}.`;
}

/** How likely it is that an omission stays unseen while a part of the users look. */
function unseenOf({ assets }: LiabilityStatement): string {
  const chances = [1, 5, 20].map((percent) =>
    [100, 10, 1].map((users) => `${((1 - percent / 100) ** users * 100).toPrecision(2)} %`),
  );
  const words = chances.map(
    ([many, some, one], at) => `${[1, 5, 20][at]} % of users looking: ${many}, ${some}, ${one}`,
  );
  return assets.length === 0
    ? ''
    : `The chance that nobody sees the omission of 100, 10 or 1 users with ${words.join('; with ')}.`;
}
