/**
 * A venue in memory for tests of the evidence: it signs heads over records whose rows a test gives, with the code of a node, and has
 * a user whose order is accepted, filled in parts, and ends.
 */

import { must } from '../../src/core/assert.ts';
import { toHex } from '../../src/core/hex.ts';
import { base64Of } from '../../src/evidence/base64.ts';
import { cosignature, type NoteSigner, noteSigner, signNote } from '../../src/evidence/notes.ts';
import { type EvidenceContext, orderEvidence, type RowSource } from '../../src/evidence/order-evidence.ts';
import { ed25519PublicKey, ed25519Sign, sha256 } from '../../src/evidence/platform.ts';
import { leafHash } from '../../src/evidence/tree/hashes.ts';
import type { TileReader } from '../../src/evidence/tree/proofs.ts';
import { rootAt } from '../../src/evidence/tree/proofs.ts';
import {
  entriesRoot,
  entryHash,
  type RecordLeaf,
  rawCommitment,
  recordLeaf,
  Salts,
} from '../../src/evidence/tree/record-leaf.ts';
import { TreeEdge } from '../../src/evidence/tree/tree-edge.ts';
import { certificateText, headText, type KeyUse, keyEndText } from '../../src/evidence/venue-notes.ts';

export const ORIGIN = 'ringbook.example/log/1';
export const FIRST = 1_000;
export const START_NS = 1_795_945_858_000_000_000n;
const DAY_NS = 86_400_000_000_000n;
const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** All stored levels of a tree in memory. */
export class TreeInMemory implements TileReader {
  readonly edge: TreeEdge = new TreeEdge();
  readonly #levels: Uint8Array[][] = [];

  append(hash: Uint8Array): void {
    this.edge.append(hash, (height, index, node) => {
      if (height % 8 !== 0) return;
      this.#levels[height / 8] ??= [];
      const level = must(this.#levels[height / 8], 'a level');
      if (level.length !== index) throw new Error('hashes of a level come in order');
      level.push(node);
    });
  }

  read(level: number, index: number, count: number): Uint8Array {
    const hashes = (this.#levels[level] ?? []).slice(index, index + count);
    if (hashes.length !== count) throw new Error('only stored hashes are read');
    return Buffer.concat(hashes);
  }
}

export interface PlannedRow {
  readonly kind: string;
  /** Null: a public row. */
  readonly user: string | null;
  /** Behind the head, in their order. */
  readonly members: Readonly<Record<string, unknown>>;
}

export interface StoredRecord extends RecordLeaf {
  readonly rows: readonly Uint8Array[];
}

interface StoredRow {
  readonly sequence: number;
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly link: { readonly n: number };
}

export class EvidenceVenue implements RowSource {
  readonly tree: TreeInMemory = new TreeInMemory();
  readonly venue: NoteSigner = noteSigner(ORIGIN, seed(11));
  readonly logKey: NoteSigner = noteSigner(ORIGIN, seed(12));
  readonly witnesses: readonly NoteSigner[] = [21, 22].map((byte) =>
    noteSigner(`witness.example/w${byte}`, seed(byte)),
  );
  readonly salts: Salts;
  readonly records: StoredRecord[] = [];
  readonly #ends = new Map<string, { readonly n: number; readonly hash: Uint8Array }>();

  constructor(secret: Uint8Array = seed(77)) {
    this.salts = new Salts(secret);
  }

  /** Appends a record of these rows. @returns its sequence. */
  append(planned: readonly PlannedRow[], timeNs: bigint = START_NS + BigInt(this.records.length) * 1_000_000n): number {
    return this.#append(planned, timeNs, (row) => row);
  }

  /** Appends a record of another venue, as it is. */
  take(record: StoredRecord): void {
    this.records.push(record);
    this.tree.append(leafHash(recordLeaf(record)));
  }

  /** Appends a record whose rows are not what they should be. */
  appendAs(planned: readonly PlannedRow[], lie: (row: string) => string): number {
    return this.#append(planned, START_NS, lie);
  }

  #append(planned: readonly PlannedRow[], timeNs: bigint, lie: (row: string) => string): number {
    const sequence = FIRST + this.records.length;
    const hashes: Uint8Array[] = [];
    const rows = planned.map(({ kind, user, members }, index) => {
      const end = user === null ? null : (this.#ends.get(user) ?? { n: 0, hash: new Uint8Array(32) });
      const link = end === null ? {} : { user, n: end.n + 1, previous: toHex(end.hash) };
      const head = { v: 1, sequence: String(sequence), index, time_ns: String(timeNs), kind };
      const bytes = new TextEncoder().encode(lie(JSON.stringify({ ...head, ...link, ...members })));
      const hash = entryHash({ sequence, index, salt: this.salts.salt(sequence, index) }, bytes);
      hashes.push(hash);
      if (user !== null && end !== null) this.#ends.set(user, { n: end.n + 1, hash });
      return bytes;
    });
    const leaf: RecordLeaf = {
      sequence,
      epoch: 3,
      timeNs,
      count: rows.length,
      entriesRoot: entriesRoot(hashes),
      rawCommitment: rawCommitment(this.salts.rawSalt(sequence), sha256(Uint8Array.of(sequence & 0xff))),
    };
    this.records.push({ ...leaf, rows });
    this.tree.append(leafHash(recordLeaf(leaf)));
    return sequence;
  }

  record(sequence: number): StoredRecord | null {
    return this.records[sequence - FIRST] ?? null;
  }

  orderRows(
    user: string,
    { assetId, orderId }: { readonly assetId: string; readonly orderId: string },
  ): readonly StoredRow[] {
    const wanted = JSON.stringify(orderId);
    return this.#rowsOf(user).filter(({ bytes }) => {
      const text = new TextDecoder().decode(bytes);
      const isOf = text.includes(`"order_id":${wanted}`) || text.includes(`"set_id":${wanted}`);
      return isOf && text.includes(`"asset_id":"${assetId}"`);
    });
  }

  userRows(user: string, n: number, last: number): readonly StoredRow[] {
    return this.#rowsOf(user).filter(({ link }) => link.n >= n && link.n <= last);
  }

  #rowsOf(user: string): readonly StoredRow[] {
    return this.records.flatMap(({ sequence, rows }) =>
      rows.flatMap((bytes, index) => {
        const row = JSON.parse(new TextDecoder().decode(bytes)) as { readonly user?: string; readonly n?: number };
        return row.user === user ? [{ sequence, index, bytes, link: { n: row.n ?? 0 } }] : [];
      }),
    );
  }

  certificate(use: KeyUse = 'heads', key: NoteSigner = this.logKey, days = 30n): string {
    const text = certificateText({
      origin: ORIGIN,
      key: key.key,
      use,
      fromNs: START_NS - DAY_NS,
      untilNs: START_NS + days * DAY_NS,
    });
    return signNote(text, this.venue);
  }

  end(size: number): string {
    return signNote(keyEndText({ origin: ORIGIN, key: this.logKey.key, size }), this.venue);
  }

  /** A head of so many records, cosigned by all witnesses. */
  head(size: number = this.tree.edge.size, signer: NoteSigner = this.logKey): string {
    const text = headText({ origin: ORIGIN, size, root: rootAt(this.tree, size) });
    const lines = this.witnesses.map((witness, at) => cosignature(text, witness, 1_795_945_900 + at));
    return signNote(text, signer) + lines.join('');
  }

  context(size: number = this.tree.edge.size): EvidenceContext {
    return {
      origin: ORIGIN,
      first: FIRST,
      rows: this,
      tiles: this.tree,
      salts: this.salts,
      certificates: [this.certificate()],
      head: { note: this.head(size), size },
    };
  }

  /** The text of an evidence that there is. */
  evidence(user: string, orderId: string, isComplete = false): string {
    const reply = orderEvidence(this.context(), { user, assetId: '12', orderId, isComplete });
    if (typeof reply === 'string') throw new Error(`no evidence: ${reply}`);
    return reply.text;
  }
}

export const USER_SEED: Uint8Array = seed(1);
export const USER: string = toHex(ed25519PublicKey(USER_SEED));
export const OTHER: string = toHex(ed25519PublicKey(seed(2)));

/** The signed text of a create. */
export function createText(orderId: string, user: string = USER): string {
  return `{"signer":"${user}","order_id":"${orderId}","base_asset":"12","side":"Sell","creation_timestamp_ns":1770000000000000001}`;
}

export function acceptedRow(orderId: string, orderSequence: number, quantity = 25_000): PlannedRow {
  const text = createText(orderId);
  const bytes = new TextEncoder().encode(text);
  const members = {
    ...{ event: 'accepted', asset_id: '12', order_id: orderId, order_sequence: orderSequence, side: 'Sell', quantity },
    ...{ text_hash: toHex(sha256(bytes)), text, signatures: base64Of(ed25519Sign(USER_SEED, bytes)) },
  };
  return { kind: 'order', user: USER, members };
}

export function endedRow(orderId: string, orderSequence: number): PlannedRow {
  const members = {
    event: 'ended',
    asset_id: '12',
    order_id: orderId,
    order_sequence: orderSequence,
    reason: 'Filled',
  };
  return { kind: 'order', user: USER, members };
}

/** Both sides of a confirmed match, and the public trade. */
export function fillRows(
  orderId: string,
  orderSequence: number,
  tradeId: number,
  quantity: number,
): readonly PlannedRow[] {
  const ofBoth = { status: 'Confirmed', asset_id: '12', trade_id: tradeId };
  const terms = { price: 315_025, quantity };
  return [
    { kind: 'fill', user: USER, members: { ...ofBoth, order_id: orderId, order_sequence: orderSequence, ...terms } },
    { kind: 'fill', user: OTHER, members: { ...ofBoth, order_id: 'theirs', order_sequence: 9, ...terms } },
    { kind: 'ledger', user: USER, members: { sub_account: 1, asset: '12', amount: '-1', balance_after: '5' } },
    { kind: 'trade', user: null, members: { asset_id: '12', trade_id: tradeId, ...terms, taker_side: 'Buy' } },
  ];
}

/** 40 records: the order of the user among rows of others. */
export function usualVenue(): EvidenceVenue {
  const venue = new EvidenceVenue();
  const noise = (at: number): PlannedRow => ({
    kind: 'ledger',
    user: OTHER,
    members: { asset: '0', amount: String(at) },
  });
  for (let at = 0; at < 40; at += 1) {
    if (at === 5) venue.append([noise(at), acceptedRow('mine-1', 44), acceptedRow('mine-2', 45)]);
    else if (at === 9) venue.append([...fillRows('mine-1', 44, 7, 10_000), ...fillRows('mine-2', 45, 8, 5)]);
    else if (at === 20) venue.append([noise(at), ...fillRows('mine-1', 44, 9, 15_000), endedRow('mine-1', 44)]);
    else venue.append(at % 3 === 0 ? [] : [noise(at)]);
  }
  return venue;
}
