/**
 * What users signed: the canonical text of each order and its signatures, in blocks of a market, about a page under one key.
 *
 *   key     │ market 4 │ sequence of the first order 8 │      when it was written
 *   value   │ version 1 │ count 4 │ text │ text │ … │ CRC 4 │
 *   text    sequence of its order 8 │ signatures │ text        (row-layouts.ts)
 *
 * A text is written by the first checkpoint after the admission or the refusal of its order, whether that lives or is over by
 * then, and goes with the record of the finished order (finished-orders.ts). Orders that the node made have none.
 *
 * Invariants
 *   (1) Sequences rise within a block and from block to block, so the block of a text is the last that begins at or before
 *       its order.
 *   (2) Texts go; what remains is never changed, and neither is the key.
 */

import { SIGNED_TEXT } from '../clearing/row-layouts.ts';
import type { SignedText, SignedTextRow } from '../clearing/rows.ts';
import { assert, must } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { Entry, StorageReader, Write } from './environment.ts';
import { type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { cutByBytes, decodeRun, encodeRun } from './runs.ts';

/** Bytes of texts in a block: with its frame and the header of its page they fill a page. */
const BLOCK_BYTES = 4_063;
/** Sequence, and the lengths of signatures and text. */
const HEAD_BYTES = 16;

/** A text in its block. */
type StoredText = Omit<SignedTextRow, 'marketIndex'>;

/**
 * The blocks that one checkpoint adds to a market.
 *
 * @param texts of one market, at least one; sorted here, by their sequences.
 * @throws InvariantError unless every text comes after all that the market has.
 */
export function* signedTextWrites(
  reader: StorageReader,
  to: ByteWriter,
  keys: KeyWriter,
  texts: SignedTextRow[],
): Generator<Write, void, undefined> {
  texts.sort((a, b) => a.orderSequence - b.orderSequence);
  const { marketIndex } = must(texts[0], 'storage: a market adds a text');
  let last = lastSequence(reader, marketIndex);
  for (const { orderSequence } of texts) {
    assert(
      orderSequence > last,
      `storage: the signed text of order ${orderSequence} is written once, after those before`,
    );
    last = orderSequence;
  }
  for (const { key, value } of signedTextBlocks(to, keys, marketIndex, texts)) yield { key, value, rule: 'once' };
}

/** @param texts of one market, by their sequences. */
export function* signedTextBlocks(
  to: ByteWriter,
  keys: KeyWriter,
  marketIndex: number,
  texts: Iterable<StoredText>,
): Generator<Entry, void, undefined> {
  for (const block of cutByBytes(texts, BLOCK_BYTES, bytesOf)) {
    const { orderSequence } = must(block[0], 'storage: a block holds a text');
    const key = keys.ofMarket(TABLE.signedText, marketIndex, orderSequence);
    yield { key, value: encodeRun(to, key, block, SIGNED_TEXT.write) };
  }
}

function bytesOf({ text, signatures }: StoredText): number {
  return HEAD_BYTES + signatures.length + text.length;
}

/** Finds texts. The block that held the last one is kept: texts are mostly read in the order of their sequences. */
export class SignedTexts {
  readonly #reader: StorageReader;
  #marketIndex = -1;
  #block: readonly StoredText[] = [];

  constructor(reader: StorageReader) {
    this.#reader = reader;
  }

  /** Null where there is none. @throws InvariantError when its block is damaged. */
  find(marketIndex: number, orderSequence: Sequence): SignedText | null {
    if (!this.#isWithin(marketIndex, orderSequence)) {
      const block = blockAt(this.#reader, marketIndex, orderSequence);
      this.#marketIndex = marketIndex;
      this.#block = block === null ? [] : textsOf(block);
    }
    const found = this.#block.find((text) => text.orderSequence === orderSequence);
    return found === undefined ? null : { text: found.text, signatures: found.signatures };
  }

  #isWithin(marketIndex: number, orderSequence: Sequence): boolean {
    const [first] = this.#block;
    const last = this.#block.at(-1);
    if (first === undefined || last === undefined || marketIndex !== this.#marketIndex) return false;
    return first.orderSequence <= orderSequence && orderSequence <= last.orderSequence;
  }
}

/** What removes the texts of these orders of a market. Those that have none are passed over. */
export function* withoutTexts(
  reader: StorageReader,
  to: ByteWriter,
  marketIndex: number,
  gone: Iterable<Sequence>,
): Generator<Write, void, undefined> {
  const left = [...gone].sort((a, b) => a - b);
  for (let next = 0; next < left.length; ) {
    const block = blockAt(reader, marketIndex, left[next] as Sequence);
    const texts = block === null ? [] : textsOf(block);
    const last = texts.at(-1)?.orderSequence ?? -1;
    const removed = new Set<Sequence>();
    do {
      removed.add(left[next] as Sequence);
      next += 1;
    } while (next < left.length && (left[next] as Sequence) <= last);
    // mutant: texts-go
    const kept = texts.filter(({ orderSequence }) => !removed.has(orderSequence));
    if (block === null || kept.length === texts.length) continue;
    const { key } = block;
    yield { key, value: kept.length === 0 ? null : encodeRun(to, key, kept, SIGNED_TEXT.write) };
  }
}

function textsOf(block: Entry): StoredText[] {
  return decodeRun(block, SIGNED_TEXT.read);
}

/** The sequence of the last order of a market that has a text; -1 if there is none. */
function lastSequence(reader: StorageReader, marketIndex: number): number {
  const block = blockAt(reader, marketIndex, Number.MAX_SAFE_INTEGER - 1);
  return block === null ? -1 : (textsOf(block).at(-1)?.orderSequence ?? -1);
}

/** The last block that begins at or before that order. */
function blockAt(reader: StorageReader, marketIndex: number, orderSequence: number): Entry | null {
  const keys = keyWriter();
  const from = keys.ofMarket(TABLE.signedText, marketIndex, 0);
  const to = keys.ofMarket(TABLE.signedText, marketIndex, orderSequence + 1);
  const [block] = reader.range({ from, to, newestFirst: true, limit: 1 });
  return block ?? null;
}
