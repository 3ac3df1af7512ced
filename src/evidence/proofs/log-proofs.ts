/**
 * Everything that is read of a log, and its heads: made once a second while this node leads, cosigned by witnesses, and answers for
 * orders, tiles, consistency and keys (EVD-06 to EVD-10). It reads the files of the row log and writes heads alone. One owner; the
 * thread around it is proof-worker.ts.
 */
import { type Reject, reject } from '../../core/reject.ts';
import type { HeadFigures, ProofReply, ProofRequest } from '../../gateway/queries/evidence-thread.ts';
import { base64Of } from '../base64.ts';
import { checkContinues, EvidenceFork, HeadMaker } from '../heads/head-maker.ts';
import type { HeadStore, StoredHead } from '../heads/head-store.ts';
import type { LogKeys } from '../heads/log-keys.ts';
import { type Post, WitnessClient } from '../heads/witnesses.ts';
import { liabilityText, statementProofText } from '../liabilities/liability-file.ts';
import type { StoredLiabilities } from '../liabilities/stored-liabilities.ts';
import { vkeyText } from '../notes.ts';
import { orderEvidence, provenRecord, type RowSource } from '../order-evidence.ts';
import { TREE_HASH_BYTES } from '../tree/hashes.ts';
import { consistencyProof, TILE_WIDTH, type TileReader } from '../tree/proofs.ts';
import type { Salts } from '../tree/record-leaf.ts';
import type { LiabilityProofs } from './liability-proofs.ts';
import type { DurableTree } from './log-tiles.ts';

/** What is durable, and who reads it. */
export interface LogFiles {
  /** What is durable now, of which `tiles` read from here on; null before the first record. */
  refresh(): DurableTree | null;
  readonly rows: RowSource;
  readonly tiles: TileReader;
}

interface LogProofsOptions {
  /** Null where nothing is stated of what is owed. */
  readonly liabilities: Pick<LiabilityProofs, 'under' | 'partOf'> | null;
  readonly files: LogFiles;
  readonly store: HeadStore;
  readonly keys: LogKeys;
  readonly salts: Salts;
  readonly nowMs: () => number;
  readonly post: Post;
  readonly warn: (text: string) => void;
}

/** A cosigned head is served in the place of the newest one while it is not older than this. */
const COSIGNED_MS_MAX = 60_000;
/** A tree that is shorter than what a witness has seen may still be read from the journal after a start. */
const BEHIND_MS_MAX = 60_000;

const NO_HEAD: Reject = reject('SERVICE_UNAVAILABLE', 'the log has no head yet: try again in a second');
const LATER: Reject = reject('SERVICE_UNAVAILABLE', 'the order is under no head yet: try again in a second');
const UNKNOWN: Reject = reject('ORDER_NOT_FOUND', 'the log has no row of this order');
const EXPIRED: Reject = reject('EVIDENCE_EXPIRED', 'rows of this order are kept no longer');
const TOO_LARGE: Reject = reject(
  'INVALID_REQUEST',
  'the evidence has more than 4 MiB or 20,000 rows: leave out complete',
  'complete',
);
const NO_TILE: Reject = reject('NOT_FOUND', 'the newest head has no such tile');
const NO_STATEMENT: Reject = reject('NOT_FOUND', 'the venue has stated nothing yet of what it owes');
const GONE: Reject = reject('EVIDENCE_EXPIRED', 'the row of the statement is kept no longer');
const REPLIES = { unknown: UNKNOWN, later: LATER, expired: EXPIRED, tooLarge: TOO_LARGE } as const;

const refused = (reason: Reject): ProofReply => ({ kind: 'refused', reject: reason });
const text = (body: string): ProofReply => ({ kind: 'text', text: body });

export class LogProofs {
  readonly #options: LogProofsOptions;
  readonly #maker: HeadMaker;
  readonly #witnesses: readonly WitnessClient[];
  /** Witnesses whose last answer was a cosignature. */
  readonly #cosigned = new Set<WitnessClient>();
  #areWitnessesAsked = false;
  /** At the last tick. */
  #durable: DurableTree | null = null;
  #behindSinceMs: number | null = null;
  /** Since the start, all witnesses have been asked whether this tree goes as far as theirs. */
  #isFirstHeadAllowed: boolean;

  constructor(options: LogProofsOptions) {
    this.#options = options;
    const { store, files, keys, nowMs, post } = options;
    this.#maker = new HeadMaker(store, files.tiles, keys, nowMs);
    this.#witnesses = keys.witnesses.map((witness) => new WitnessClient(witness, post));
    this.#isFirstHeadAllowed = this.#witnesses.length === 0 || store.newest === null;
  }

  /** The newest head of this node; null for none. */
  get newest(): StoredHead | null {
    return this.#options.store.newest;
  }

  /** Call it each second. @throws EvidenceFork when this tree does not continue a head that is known. */
  tick(isLeading: boolean): void {
    const { files, store, nowMs } = this.#options;
    store.forget(nowMs());
    this.#durable = files.refresh();
    if (!isLeading) {
      this.#maker.rest();
      return;
    }
    const durable = this.#durable;
    if (durable === null) {
      if (store.newest !== null) checkContinues(files.tiles, 0, store.newest.head, 'the newest head of this node');
      return;
    }
    if (this.#isFirstHeadAllowed) this.#maker.make(durable);
  }

  /**
   * Asks the witnesses to cosign the newest head. Call it every ten seconds; a call while one runs does nothing.
   *
   * @throws EvidenceFork when a witness has cosigned a longer tree than this node has, a minute after it began to lead.
   */
  async askWitnesses(isLeading: boolean): Promise<void> {
    const { newest } = this;
    if (!isLeading || newest === null || this.#areWitnessesAsked || this.#witnesses.length === 0) return;
    this.#areWitnessesAsked = true;
    try {
      const lines = await Promise.all(this.#witnesses.map((witness) => this.#ask(witness, newest)));
      const given = lines.flat();
      const { store, keys } = this.#options;
      const isEnough = this.#cosigned.size >= Math.max(keys.quorum, 1);
      if (given.length > 0) store.cosign(newest.text + given.join(''), newest, isEnough);
      this.#isFirstHeadAllowed = true;
    } finally {
      this.#areWitnessesAsked = false;
    }
  }

  async #ask(client: WitnessClient, head: StoredHead): Promise<readonly string[]> {
    const { files, nowMs, warn } = this.#options;
    const { name } = client.witness.key;
    const answer = await client.ask(head, files.tiles);
    if (answer.kind === 'cosigned') {
      this.#cosigned.add(client);
      return answer.lines;
    }
    this.#cosigned.delete(client);
    if (answer.kind === 'refused') {
      warn(`witness ${name} did not cosign: ${answer.reason}`);
      return [];
    }
    const size = files.refresh()?.size ?? 0;
    if (answer.size <= size) return [];
    this.#behindSinceMs ??= nowMs();
    const sentence = `witness ${name} has cosigned ${answer.size} records of this log, and the tree of this node has ${size}`;
    if (nowMs() - this.#behindSinceMs > BEHIND_MS_MAX) throw new EvidenceFork(`EVIDENCE_FORK: ${sentence}`);
    warn(sentence);
    throw new WitnessAhead(sentence);
  }

  figures(): HeadFigures {
    const { newest } = this;
    const { nowMs, keys } = this.#options;
    const size = newest?.head.size ?? 0;
    return {
      size,
      ageMs: newest === null ? 0 : Math.max(0, nowMs() - newest.atMs),
      uncovered: Math.max(0, (this.#durable?.size ?? 0) - size),
      cosigned: this.#cosigned.size,
      quorum: keys.quorum,
    };
  }

  answer(request: ProofRequest): ProofReply {
    switch (request.kind) {
      case 'keys':
        return text(keysText(this.#options.keys));
      case 'checkpoint': {
        const head = this.#served();
        return head === null ? refused(NO_HEAD) : text(head.text);
      }
      case 'tile':
        return this.#tile(request);
      case 'consistency':
        return this.#consistency(request);
      case 'order':
        return this.#order(request);
      case 'liabilities':
        return this.#liabilities(request.user);
    }
  }

  /** The head for others: the newest one with enough cosignatures, if it is recent. */
  #served(): StoredHead | null {
    const { store, nowMs } = this.#options;
    const { cosigned } = store;
    return cosigned !== null && nowMs() - cosigned.atMs < COSIGNED_MS_MAX ? cosigned : store.newest;
  }

  /** @returns only hashes that the newest head covers. */
  #tile({ level, index, width }: ProofRequest & { readonly kind: 'tile' }): ProofReply {
    const size = this.newest?.head.size ?? 0;
    const stored = Math.floor(size / TILE_WIDTH ** level);
    if (level > 6 || index * TILE_WIDTH + width > stored) return refused(NO_TILE);
    const bytes = this.#options.files.tiles.read(level, index * TILE_WIDTH, width);
    return { kind: 'bytes', bytes: bytes.slice(0, width * TREE_HASH_BYTES) };
  }

  #consistency({ from, to }: ProofRequest & { readonly kind: 'consistency' }): ProofReply {
    const size = this.newest?.head.size ?? 0;
    if (from > to || to > size) {
      return refused(
        reject('INVALID_REQUEST', `two sizes in order, of ${size} records at most`, from > to ? 'from' : 'to'),
      );
    }
    const proof = consistencyProof(this.#options.files.tiles, from, to).map(base64Of);
    return text(JSON.stringify({ from, to, proof }));
  }

  #order({ user, assetId, orderId, isComplete }: ProofRequest & { readonly kind: 'order' }): ProofReply {
    const { files, salts, keys, store } = this.#options;
    const [served, newest, durable] = [this.#served(), this.newest, files.refresh()];
    if (served === null || newest === null || durable === null) return refused(NO_HEAD);
    const request = { user, assetId, orderId, isComplete };
    const certificates = keys.notes.filter((note) => !note.includes('\nuse answers\n'));
    const of = (head: StoredHead): ReturnType<typeof orderEvidence> =>
      orderEvidence(
        {
          ...{ origin: keys.origin, first: durable.first, rows: files.rows, tiles: files.tiles, salts, certificates },
          head: { note: head.text, size: head.head.size },
        },
        request,
      );
    let [head, reply] = [served, of(served)];
    // A head that witnesses have seen is some seconds old: the newest one has what they have not.
    if (reply === 'later' && newest !== served) [head, reply] = [newest, of(newest)];
    if (typeof reply === 'string') return refused(REPLIES[reply]);
    store.issue(head);
    return text(reply.text);
  }

  /** @param user whose chunks are with it; null for the statement alone. */
  #liabilities(user: string | null): ProofReply {
    const { files, salts, keys, store, liabilities } = this.#options;
    const [served, newest, durable] = [this.#served(), this.newest, files.refresh()];
    if (served === null || newest === null || durable === null) return refused(NO_HEAD);
    const { first } = durable;
    const under = (head: StoredHead): StoredLiabilities | null =>
      liabilities?.under(first + head.head.size - 1) ?? null;
    // As with an order: one that has just been stated may be under the newest head alone.
    const head = under(served) === null ? newest : served;
    const stored = under(head);
    const [place, note] = [stored?.place ?? null, stored?.note ?? null];
    if (liabilities === null || stored === null || place === null || note === null) return refused(NO_STATEMENT);
    const record = files.rows.record(place.sequence);
    if (record === null) return refused(GONE);
    const context = { salts, tiles: files.tiles, first, head: { note: head.text, size: head.head.size } };
    const proof = {
      origin: keys.origin,
      certificates: keys.notes.filter((one) => !one.includes('\nuse answers\n')),
      checkpoint: head.text,
      note,
      records: [provenRecord(context, record, [place.index])],
    };
    store.issue(head);
    if (user === null) return text(statementProofText(proof));
    return text(liabilityText({ ...proof, user, assets: liabilities.partOf(stored, user) }));
  }
}

/** A witness has seen more of this log than this node has, which may still be catching up. */
export class WitnessAhead extends Error {
  override readonly name = 'WitnessAhead';
}

function keysText({ origin, venueKey, notes, witnesses, quorum }: LogKeys): string {
  return JSON.stringify({
    origin,
    venue_key: vkeyText(venueKey),
    notes,
    witnesses: witnesses.map(({ key }) => ({ name: key.name, vkey: vkeyText(key) })),
    quorum,
  });
}
