/**
 * The verifier of an order's evidence (EVD-11), offline: what a file proves under a venue key that the caller pinned. The numbers of
 * the checks are those of evidence.md. It runs in Node.js and in a browser; nothing is believed that is not signed or hashed.
 */
import { isJsonObject, type JsonValue, parseJson } from '../codec/json-tree.ts';
import type { AdditionalSigner } from '../codec/signatures.ts';
import { signaturesOf, storedSignatures } from '../codec/stored-signatures.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { parseAssetId, parseUserId } from '../core/ids.ts';
import { base64Of } from './base64.ts';
import { type EvidenceFile, readEvidence } from './evidence-file.ts';
import { signedBy } from './notes.ts';
import { ed25519Verify, sha256 } from './platform.ts';
import { isSameHash } from './tree/hashes.ts';
import { isConsistent } from './tree/proofs.ts';
import type { RecordLeaf } from './tree/record-leaf.ts';
import { readSignedHead, type SignedHead } from './venue-notes.ts';
import {
  type EvidenceVerdict,
  hold,
  type Keys,
  type LogOptions,
  type ProvenRow,
  provenLog,
  verdictOf,
  type Witnessed,
  Wrong,
} from './verify-log.ts';

/** Another head of the same log that the caller has. */
interface OtherHead {
  /** A note. */
  readonly note: string;
  /** RFC 6962, between the two sizes; null for none. */
  readonly proof: readonly Uint8Array[] | null;
}

export interface VerifyOptions extends LogOptions {
  readonly heads: readonly OtherHead[];
  /** Whether all rows of the user between the first and the last are demanded. */
  readonly isComplete: boolean;
  /** Verifies co-signers of the other schemes; null where this program cannot. */
  readonly verifyCoSignature: ((signer: AdditionalSigner, text: Uint8Array) => boolean) | null;
}

/** @param bytes of the file. */
export function verifyEvidence(bytes: Uint8Array, options: VerifyOptions): EvidenceVerdict {
  // 1
  const file = readEvidence(bytes);
  if (typeof file === 'string') return { kind: 'unreadable', reason: file };
  return verdictOf(() => sentenceOf(file, options));
}

function sentenceOf(file: EvidenceFile, options: VerifyOptions): string {
  const { signed, keys, leaves, rows, witnessed } = provenLog(file, options);
  const user = parseUserId(file.claim.user);
  hold(6, user === file.claim.user, 'the user of the claim is no user id');
  rowsAreOfClaim(rows, file);
  const chain = chainOf(rows.filter(({ members }) => members.has('user')));
  hold(8, !options.isComplete || chain.gap === null, `row ${chain.gap} of the user is not in the file`);
  ordersMakeSense(rows, file);
  const texts = signedTexts(file, rows, options);
  const compared = headsAgree(signed, keys, options);
  return said({ file, signed, rows, leaves, chain, texts, witnessed, compared, quorum: options.quorum });
}

// 6

const PUBLIC_KINDS = ['trade', 'prices', 'config', 'statement'];

function same(row: ProvenRow, other: ProvenRow, names: readonly string[]): boolean {
  return names.every((name) => row.members.has(name) && row.members.get(name) === other.members.get(name));
}

const TRADE_MEMBERS = ['asset_id', 'trade_id', 'price', 'quantity'];

function rowsAreOfClaim(rows: readonly ProvenRow[], { claim }: EvidenceFile): void {
  const fills = rows.filter(({ kind, members }) => kind === 'fill' && members.get('status') === 'Confirmed');
  for (const row of rows) {
    const { kind, members } = row;
    const isPublic = PUBLIC_KINDS.includes(kind);
    hold(6, isPublic !== members.has('user'), `a row of kind ${kind} ${isPublic ? 'names a' : 'has no'} user`);
    hold(6, isPublic || members.get('user') === claim.user, 'a row is of another user');
    hold(6, !isPublic || kind === 'trade', `a public row of kind ${kind} belongs to no order`);
    const isFilled = fills.some((fill) => fill.record === row.record && same(row, fill, TRADE_MEMBERS));
    hold(6, kind !== 'trade' || isFilled, 'a trade belongs to no fill of its record');
  }
  const trades = rows.filter(({ kind }) => kind === 'trade');
  for (const fill of fills.filter((row) => isOfOrder(row, claim))) {
    const own = trades.filter((trade) => trade.record === fill.record && same(trade, fill, TRADE_MEMBERS));
    hold(6, own.length === 1, `a fill of the order has ${own.length} public trades in the file`);
  }
}

/** Rows of the order, and of the quote set of which it is an entry. */
function isOfOrder({ members }: ProvenRow, { assetId, orderId }: EvidenceFile['claim']): boolean {
  const set = members.get('set_id');
  const isOfIt = typeof set === 'string' ? orderId.startsWith(`${set}:`) : members.get('order_id') === orderId;
  return isOfIt && members.get('asset_id') === assetId;
}

// 7

/** What was signed, and by what. */
interface SignedTexts {
  readonly count: number;
  /** Texts with co-signers: their keys stand in the row alone. */
  readonly withCoSigners: number;
  /** Co-signatures of a scheme that this program does not verify. */
  readonly unverified: number;
}

function signedTexts(file: EvidenceFile, rows: readonly ProvenRow[], options: VerifyOptions): SignedTexts {
  let [withCoSigners, unverified] = [0, 0];
  const proven = new Set<ProvenRow>();
  for (const { entry, text, signatures } of file.signed) {
    const row = rows.find(({ record, entry: at }) => record === entry[0] && at === entry[1]);
    hold(7, row?.members.has('user') === true && !proven.has(row), 'a signed text belongs to no row of the user');
    proven.add(row);
    hold(
      7,
      row.members.get('text_hash') === toHex(sha256(text)),
      'a signed text is not the one whose hash is in its row',
    );
    const stored = row.members.get('signatures');
    hold(7, stored === undefined || stored === base64Of(signatures), 'signatures are not those of the row');
    textIsOfClaim(text, row, file.claim.user);
    const parties = verifiedParties(file.claim.user, text, signatures, options);
    withCoSigners += parties.coSigners > 0 ? 1 : 0;
    unverified += parties.unverified;
  }
  const begun = rows.filter((row) => isOfOrder(row, file.claim) && row.members.has('text_hash'));
  hold(
    7,
    begun.every((row) => proven.has(row)),
    'a row of the order has the hash of a text that is not in the file',
  );
  return { count: file.signed.length, withCoSigners, unverified };
}

function textIsOfClaim(text: Uint8Array, { members }: ProvenRow, user: string): void {
  const parsed = parseJson(text);
  const signed = parsed.ok ? parsed.value : null;
  hold(7, signed !== null && isJsonObject(signed), 'a signed text is no strict JSON object');
  const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);
  const signer = textOf(signed.get('signer') ?? signed.get('user'));
  hold(7, signer === null || parseUserId(signer) === user, 'a signed text names another user');
  const id = textOf(signed.get('order_id') ?? signed.get('set_id') ?? signed.get('quote_set_id'));
  const rowId = textOf(members.get('order_id') ?? members.get('set_id'));
  hold(7, id !== null && (id === rowId || rowId?.startsWith(`${id}:`) === true), 'a signed text names another order');
  const market = textOf(signed.get('base_asset') ?? signed.get('asset_id'));
  hold(7, market === null || parseAssetId(market) === members.get('asset_id'), 'a signed text names another market');
}

function verifiedParties(
  user: string,
  text: Uint8Array,
  stored: Uint8Array,
  { verifyCoSignature }: VerifyOptions,
): { readonly coSigners: number; readonly unverified: number } {
  const { signature, additionalSigners } = readSignatures(stored);
  const key = parseHex(user, 32) as Uint8Array;
  const isMaster = signature.length > 0;
  hold(7, isMaster || additionalSigners.length > 0, 'a signed text has no signature');
  hold(7, !isMaster || ed25519Verify(key, text, signature), "a signature of the user's key is wrong");
  let unverified = 0;
  for (const signer of additionalSigners) {
    if (signer.scheme === 'Ed25519')
      hold(7, ed25519Verify(signer.key, text, signer.signature), 'a co-signature is wrong');
    else if (verifyCoSignature === null) unverified += 1;
    else hold(7, verifyCoSignature(signer, text), `a co-signature of ${signer.scheme} is wrong`);
  }
  return { coSigners: additionalSigners.length, unverified };
}

function readSignatures(stored: Uint8Array): ReturnType<typeof signaturesOf> {
  try {
    const signatures = signaturesOf(stored);
    if (base64Of(storedSignatures(signatures)) === base64Of(stored)) return signatures;
  } catch {
    // The bytes are no signatures: said below.
  }
  throw new Wrong(7, 'signatures are not in the form in which they are stored');
}

// 8

interface Chain {
  readonly first: bigint;
  readonly last: bigint;
  /** The first number that is missing between them; null for none. */
  readonly gap: bigint | null;
}

function chainOf(rows: readonly ProvenRow[]): Chain {
  hold(8, rows.length > 0, 'there is no row of the user');
  let gap: bigint | null = null;
  const numbers = rows.map((row, at) => {
    const [n, previous] = [row.members.get('n'), row.members.get('previous')];
    hold(8, typeof n === 'bigint' && n > 0n && typeof previous === 'string', 'a row of the user has no number');
    const before = rows[at - 1];
    const last = before?.members.get('n') as bigint | undefined;
    hold(8, last === undefined || n > last, 'numbers of the rows of the user do not rise');
    if (n === 1n) hold(8, previous === '0'.repeat(64), 'the first row of the user follows another');
    if (before !== undefined && last === n - 1n) {
      hold(8, previous === toHex(before.hash), `row ${n} of the user does not follow row ${last}`);
    } else if (last !== undefined) gap ??= last + 1n;
    return n;
  });
  return { first: numbers[0] as bigint, last: numbers.at(-1) as bigint, gap };
}

const BEGINS = ['accepted', 'refused'];
const ENDS = ['ended', 'refused'];

function ordersMakeSense(rows: readonly ProvenRow[], { claim }: EvidenceFile): void {
  const own = rows.filter((row) => isOfOrder(row, claim) && row.members.has('user'));
  hold(8, own.length > 0, 'there is no row of the order');
  const isOfSet = own.some(({ kind }) => kind === 'quote_set');
  const admissions = new Set(own.map(({ members }) => members.get('order_sequence')));
  for (const admission of isOfSet ? [] : admissions) {
    const rowsOfIt = own.filter(({ members }) => members.get('order_sequence') === admission);
    orderMakesSense(rowsOfIt, String(admission));
  }
}

function orderMakesSense(rows: readonly ProvenRow[], admission: string): void {
  let [quantity, filled, isEnded] = [null as bigint | null, 0n, false];
  const eventOf = (row: ProvenRow | undefined): string => String(row?.members.get('event'));
  const accepted = rows.filter((row) => eventOf(row) === 'accepted').length;
  const isBegun = rows[0]?.kind === 'order' && BEGINS.includes(eventOf(rows[0])) && accepted <= 1;
  hold(8, isBegun, `order ${admission} does not begin once, with its first row`);
  for (const row of rows) {
    const { kind, members } = row;
    const stated = members.get('quantity');
    if (kind === 'order') {
      if (typeof stated === 'bigint' && (quantity === null || stated > quantity)) quantity = stated;
      if (!ENDS.includes(eventOf(row))) continue;
      hold(8, !isEnded, `order ${admission} ends twice`);
      isEnded = true;
    } else if (kind === 'fill' && members.get('status') === 'Confirmed') {
      hold(8, typeof stated === 'bigint' && stated > 0n, 'a fill has no quantity');
      filled += stated;
      hold(8, quantity === null || filled <= quantity, `order ${admission} is filled above its quantity`);
    }
  }
}

// 9

interface Compared {
  readonly agreed: number;
  readonly notCompared: number;
}

function headsAgree(own: SignedHead, { certificates }: Keys, { heads }: VerifyOptions): Compared {
  let [agreed, notCompared] = [0, 0];
  for (const { note, proof } of heads) {
    const other = readSignedHead(note);
    hold(9, other !== null && other.head.origin === own.head.origin, 'a head to compare is none of this origin');
    const isSigned = certificates.some(({ key }) => signedBy(other.note, key) === 'valid');
    hold(9, isSigned, 'a head to compare is not signed by a key that this file certifies');
    const [older, newer] = other.head.size <= own.head.size ? [other.head, own.head] : [own.head, other.head];
    if (older.size === newer.size) {
      hold(9, isSameHash(older.root, newer.root), `the venue signed two trees of ${older.size} records`);
      agreed += 1;
    } else if (proof === null) notCompared += 1;
    else {
      hold(9, isConsistent(older, newer, proof), `the head of ${newer.size} does not continue that of ${older.size}`);
      agreed += 1;
    }
  }
  return { agreed, notCompared };
}

// The sentence

interface Proven {
  readonly file: EvidenceFile;
  readonly signed: SignedHead;
  readonly rows: readonly ProvenRow[];
  readonly leaves: readonly RecordLeaf[];
  readonly chain: Chain;
  readonly texts: SignedTexts;
  readonly witnessed: Witnessed;
  readonly compared: Compared;
  readonly quorum: number;
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

function said({ file, signed, rows, leaves, chain, texts, witnessed, compared, quorum }: Proven): string {
  const { claim, origin } = file;
  const own = rows.filter((row) => isOfOrder(row, claim) && row.members.has('user')).length;
  const [from, to] = [leaves[0]?.sequence, leaves.at(-1)?.sequence];
  const parts = [
    `The venue ${origin} committed to ${own} rows of order ${claim.orderId} in market ${claim.assetId} of user ${claim.user},`,
    `in records ${from} to ${to}, by its head of ${signed.head.size} records.`,
    texts.count === 0
      ? 'No signed text is part of it.'
      : `${texts.count} signed text${texts.count === 1 ? ' is' : 's are'} the one${texts.count === 1 ? '' : 's'} of its rows, and the signatures are valid.`,
  ];
  const unsigned = rows.filter(
    (row) => isOfOrder(row, claim) && row.members.get('event') === 'replaced' && !row.members.has('text_hash'),
  ).length;
  if (unsigned > 0) {
    parts.push(
      `${unsigned} changes of the order are the venue's word: the texts that were signed for them are not in the log.`,
    );
  }
  if (texts.withCoSigners > 0) {
    parts.push(`${texts.withCoSigners} had co-signers: that their keys are those of the user is what the rows say.`);
  }
  if (texts.unverified > 0) parts.push(`${texts.unverified} co-signatures were not verified by this program.`);
  parts.push(
    chain.gap === null
      ? `No row of the user between their numbers ${chain.first} and ${chain.last} was left out.`
      : `Other rows of the user between their numbers ${chain.first} and ${chain.last} are not in the file.`,
  );
  parts.push(
    witnessed.byTime === null
      ? 'No witness is counted: only the venue signed this view.'
      : `${witnessed.count} witnesses have seen this head, ${Math.max(quorum, 1)} of them by ${timeOf(witnessed.byTime)}.`,
  );
  if (compared.agreed > 0) parts.push(`${compared.agreed} other heads agree with it.`);
  if (compared.notCompared > 0)
    parts.push(`${compared.notCompared} other heads were not compared, for want of a proof.`);
  parts.push('It does not prove that times are true, nor that the outcome is right by the rules of the venue.');
  return parts.join(' ');
}
