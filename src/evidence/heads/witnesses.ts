/**
 * Witnesses, asked to cosign the newest head by C2SP tlog-witness `add-checkpoint` (EVD-08). Nothing waits for them: one question a
 * witness at a time, each bounded in time and size. A missing quorum is an alert.
 */
import { base64Of } from '../base64.ts';
import { cosignedAt, readNote } from '../notes.ts';
import { consistencyProof, type TileReader } from '../tree/proofs.ts';
import { readSize } from '../venue-notes.ts';
import type { StoredHead } from './head-store.ts';
import type { Witness } from './log-keys.ts';

const ANSWER_MS_MAX = 5_000;
const ANSWER_BYTES_MAX = 16_384;

/** What a witness answered. `ahead`: it has cosigned a larger tree of this origin. */
type WitnessAnswer =
  | { readonly kind: 'cosigned'; readonly lines: readonly string[] }
  | { readonly kind: 'ahead'; readonly size: number }
  | { readonly kind: 'refused'; readonly reason: string };

/** Sends one request. @returns status and the first bytes of the body. */
export type Post = (url: string, body: string) => Promise<{ readonly status: number; readonly text: string }>;

/** Over HTTP, bounded. */
export async function postToWitness(
  url: string,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const reply = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`its answer has more than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return { status: reply.status, text: Buffer.concat(chunks).toString('utf8') };
}

export class WitnessClient {
  readonly witness: Witness;
  readonly #post: Post;
  /** The size of the last head that it cosigned; null before its first answer. */
  #size: number | null = null;

  constructor(witness: Witness, post: Post) {
    this.witness = witness;
    this.#post = post;
  }

  /** Never throws: a witness that does not answer is `refused`. */
  async ask(head: StoredHead, tiles: TileReader): Promise<WitnessAnswer> {
    try {
      const first = await this.#once(head, tiles);
      // It has another size than was thought: once more from there.
      return first === null ? ((await this.#once(head, tiles)) ?? refused('it names another size each time')) : first;
    } catch (error) {
      return refused(error instanceof Error ? error.message : String(error));
    }
  }

  /** @returns null when its size has been learnt. */
  async #once({ head, text }: StoredHead, tiles: TileReader): Promise<WitnessAnswer | null> {
    const old = this.#size ?? 0;
    if (old > head.size) return { kind: 'ahead', size: old };
    const proof = consistencyProof(tiles, old, head.size).map((hash) => `${base64Of(hash)}\n`);
    const reply = await this.#post(`${this.witness.url}/add-checkpoint`, `old ${old}\n${proof.join('')}\n${text}`);
    if (reply.status === 409) {
      const size = readSize(reply.text.trimEnd());
      if (size === null || (size === old && this.#size !== null))
        return refused(`it has another tree of ${old} records`);
      this.#size = size;
      return size > head.size ? { kind: 'ahead', size } : null;
    }
    if (reply.status !== 200) return refused(`it answered ${reply.status}`);
    const lines = linesOf(reply.text).filter((line) => this.#isOwn(text, line));
    if (lines.length === 0) return refused('its answer has no valid cosignature of its key');
    this.#size = head.size;
    return { kind: 'cosigned', lines };
  }

  #isOwn(text: string, line: string): boolean {
    const note = readNote(text + line);
    return note !== null && typeof cosignedAt(note, this.witness.key) === 'number';
  }
}

function refused(reason: string): WitnessAnswer {
  return { kind: 'refused', reason };
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [`${line}\n`]));
}
