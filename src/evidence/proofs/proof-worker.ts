/**
 * The thread that makes heads of the log and answers for it (log-proofs.ts): an event loop of its own with readers of its own, one
 * request at a time, so that neither orders nor the thread of the evidence wait for a proof, nor anything for a witness.
 *
 * It answers every request or dies: a damaged file is no answer.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { assert, must } from '../../core/assert.ts';
import {
  type FromProofs,
  PROOF_WORD,
  type ProofRequest,
  type ToProofs,
} from '../../gateway/queries/evidence-thread.ts';
import { Leadership } from '../../runtime/leadership.ts';
import { lowerOwnPriority, ownThread } from '../../runtime/thread-times.ts';
import { evidenceFolder, evidenceSecret, newOriginFile } from '../evidence-files.ts';
import { EvidenceFork } from '../heads/head-maker.ts';
import { HeadStore } from '../heads/head-store.ts';
import { type LogSettings, loadLogKeys } from '../heads/log-keys.ts';
import { postToWitness } from '../heads/witnesses.ts';
import { headsFolder, liabilitiesFolder, tilesFolder } from '../row-log/evidence-paths.ts';
import { RowLogReader } from '../row-log/row-log-reader.ts';
import { Salts } from '../tree/record-leaf.ts';
import { TileFiles } from '../tree/tile-files.ts';
import { LiabilityProofs } from './liability-proofs.ts';
import { LogProofs, WitnessAhead } from './log-proofs.ts';
import { LogTiles } from './log-tiles.ts';
import { Statements } from './statements.ts';

const HEARTBEAT_MS = 100;
const HEAD_MS = 1_000;
const WITNESS_MS = 10_000;

/** What the thread is started with. */
export interface ProofSettings {
  readonly dataDirectory: string;
  /** The file of the secret; null for that in the data directory. */
  readonly secret: string | null;
  readonly log: LogSettings;
  readonly leadership: SharedArrayBuffer;
}

interface WorkerSettings extends ProofSettings {
  readonly words: SharedArrayBuffer;
}

class Proofs {
  readonly #folder: string;
  readonly #leadership: Leadership;
  readonly #settings: WorkerSettings;
  readonly #post: (message: FromProofs) => void;
  readonly #statements: Statements;
  #reader: RowLogReader | null = null;
  #proofs: LogProofs | null = null;
  #liabilities: LiabilityProofs | null = null;
  #hasForked = false;

  constructor(settings: WorkerSettings, post: (message: FromProofs) => void) {
    this.#settings = settings;
    this.#folder = evidenceFolder(settings.dataDirectory);
    this.#leadership = new Leadership(settings.leadership);
    this.#post = post;
    this.#statements = new Statements(headsFolder(this.#folder));
  }

  get #isLeading(): boolean {
    return this.#leadership.state() === 'leading' && !this.#hasForked;
  }

  /** The log is made by the thread of the evidence: until then there is nothing to read. */
  #open(): LogProofs | null {
    if (this.#proofs !== null) return this.#proofs;
    const reader = RowLogReader.open(this.#folder);
    if (reader === null) return null;
    this.#reader = reader;
    const tiles = new LogTiles(reader, new TileFiles(tilesFolder(this.#folder), 'read'));
    const { dataDirectory, secret: secretFile, log } = this.#settings;
    const secret = evidenceSecret(dataDirectory, secretFile);
    const warn = (text: string): void => this.#post({ kind: 'warning', text });
    const nowMs = (): number => Date.now();
    this.#liabilities = new LiabilityProofs({
      folder: liabilitiesFolder(this.#folder),
      state: (subject, text) => this.#post({ kind: 'statement', subject, text }),
      ...{ secret, rows: reader, nowMs, warn },
    });
    this.#proofs = new LogProofs({
      liabilities: this.#liabilities,
      files: {
        refresh: () => tiles.refresh(),
        rows: reader,
        tiles,
      },
      store: new HeadStore(headsFolder(this.#folder)),
      keys: loadLogKeys(log),
      salts: new Salts(secret),
      ...{ nowMs, warn },
      post: postToWitness,
    });
    return this.#proofs;
  }

  tick(): void {
    const proofs = this.#open();
    if (proofs === null) return;
    this.#guarded(() => proofs.tick(this.#isLeading));
    this.#post({ kind: 'figures', figures: proofs.figures() });
    if (!this.#isLeading) return;
    const keys = loadLogKeys(this.#settings.log);
    for (const text of this.#statements.missing([...this.#newOrigin(), ...keys.notes]))
      this.#post({ kind: 'statement', subject: 'log-key', text });
    this.#liabilities?.tick(keys);
  }

  /** What this log states of the one before it. */
  #newOrigin(): readonly string[] {
    const path = newOriginFile(this.#settings.dataDirectory);
    return existsSync(path) ? [readFileSync(path, 'utf8')] : [];
  }

  async askWitnesses(): Promise<void> {
    const proofs = this.#open();
    try {
      await proofs?.askWitnesses(this.#isLeading);
    } catch (error) {
      if (error instanceof WitnessAhead) return;
      this.#guarded(() => {
        throw error;
      });
    }
  }

  /** A statement is journaled; one of what is owed is found in the log by its row. */
  journaled(text: string): void {
    this.#statements.journaled(text);
  }

  reply({ id, request }: { readonly id: number; readonly request: ProofRequest }): void {
    const proofs = this.#open();
    const reply =
      proofs?.answer(request) ??
      ({
        kind: 'refused',
        reject: { code: 'SERVICE_UNAVAILABLE', message: 'the log begins: try again in a second' },
      } as const);
    this.#post({ kind: 'reply', id, reply });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof EvidenceFork)) throw error;
      this.#hasForked = true;
      this.#post({ kind: 'fork', reason: error.message });
    }
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }
}

/** Runs until it receives null. */
export function runProofThread(): void {
  assert(!isMainThread, 'proofs are read on a thread of their own');
  const port = must(parentPort, 'a worker has a parent');
  const settings = workerData as WorkerSettings;
  const life = new Int32Array(settings.words);
  const heartbeat = (): void => void Atomics.add(life, PROOF_WORD.heartbeat, 1);
  // The evidence of a long order takes some 100 ms of CPU time: orders go first.
  lowerOwnPriority();
  Atomics.store(life, PROOF_WORD.kernelThread, ownThread());
  heartbeat();
  const proofs = new Proofs(settings, (message) => port.postMessage(message));
  Atomics.store(life, PROOF_WORD.isOpen, 1);
  const timers = [
    setInterval(heartbeat, HEARTBEAT_MS),
    setInterval(() => proofs.tick(), HEAD_MS),
    setInterval(() => void proofs.askWitnesses(), WITNESS_MS),
  ];
  port.on('message', (message: ToProofs) => {
    if (message !== null) {
      if ('stated' in message) proofs.journaled(message.stated);
      else proofs.reply(message);
      return;
    }
    port.close();
    for (const timer of timers) clearInterval(timer);
    // A thread that reads closes its reader before it ends.
    void proofs.close();
  });
}
