/**
 * Keeps the journal of a running node short: now and then a process of its own makes a snapshot and proves it, and only
 * when it has ended well clearing removes what lies below the oldest snapshot that stays.
 *
 *   timer ─▶ child: make, prove, look at the oldest that stays ─▶ "prune <sequence>" ─▶ clearing, some records a turn
 *            └─▶ in a cluster: into its bucket, before anything is pruned
 *
 * In a process of its own, at the lowest priority, so that neither its work nor its memory is the node's. One at a time.
 * Where it finds that the tables do not follow from the journal, nothing is removed and the node logs it each time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Outcome } from '../core/outcome.ts';
import type { Sequence } from '../core/units.ts';
import { foreignLines } from '../runtime/foreign-lines.ts';
import { forgetSnapshots } from '../storage/data-files.ts';

const PRUNE_FORM = /^prune ([1-9][0-9]{0,15})$/;
const STATED_FORM = /^stated (.*)$/;
const FAILED_FORM = /^failed (.*)$/;

interface KeeperParts {
  readonly directory: string;
  /** The program of the child: keeper-child.ts. */
  readonly entry: URL;
  /** Snapshots that stay. */
  readonly keep: number;
  /** What the child of a node of a cluster is given beside that (node/shared-snapshots.ts); null on one machine. */
  readonly sharing: string | null;
  /** What the child is given to state what the venue owes (keeper-child.ts); null: nothing is stated now. */
  readonly liabilities: () => string | null;
  /** What came of it, in words. */
  readonly stated: (outcome: string) => void;
  /** Has clearing remove the journal below. */
  readonly prune: (below: Sequence) => Promise<Outcome<unknown>>;
  readonly pruned: (below: Sequence) => void;
  readonly failed: (reason: string) => void;
  /** A line that the child prints to its standard error: it died. */
  readonly printed: (line: string) => void;
}

export class JournalKeeper {
  readonly #parts: KeeperParts;
  #timer: NodeJS.Timeout | null = null;
  #child: ChildProcess | null = null;
  #made = 0;
  #failed = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** Since the start. */
  get counts(): { readonly made: number; readonly failed: number } {
    return { made: this.#made, failed: this.#failed };
  }

  /** @param everyMs 0: never. @param firstMs when the first one is made; then each `everyMs`. */
  start(everyMs: number, firstMs: number = everyMs): void {
    if (everyMs === 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => this.#begin(), everyMs);
      this.#begin();
    }, firstMs);
  }

  /** A snapshot that is not whole yet is lost; nothing depends on it. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#child?.kill('SIGKILL');
  }

  #begin(): void {
    if (this.#child !== null) return;
    this.#run().then(
      (below) => {
        this.#child = null;
        if (below === null) return;
        this.#made += 1;
        this.#parts.pruned(below);
      },
      (error: unknown) => {
        this.#child = null;
        if (this.#timer === null) return;
        this.#failed += 1;
        this.#parts.failed(error instanceof Error ? error.message : String(error));
      },
    );
  }

  /** @returns where the journal begins now; null when the node stopped meanwhile, or has no checkpoint yet. */
  async #run(): Promise<Sequence | null> {
    const { directory, entry, keep, sharing, prune, liabilities, stated } = this.#parts;
    const given = [fileURLToPath(entry), directory, String(keep), sharing ?? '', liabilities() ?? ''];
    const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'pipe'] });
    foreignLines(child.stderr, this.#parts.printed);
    this.#child = child;
    const ended = new Promise<number | string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'nothing'));
    });
    let below: Sequence | null = null;
    let reason: string | null = null;
    for await (const line of createInterface({ input: child.stdout })) {
      const [, sequence] = PRUNE_FORM.exec(line) ?? [];
      if (sequence !== undefined) below = Number(sequence) as Sequence;
      const [, outcome] = STATED_FORM.exec(line) ?? [];
      if (outcome !== undefined) stated(outcome);
      reason = FAILED_FORM.exec(line)?.[1] ?? reason;
    }
    const how = await ended;
    if (this.#timer === null) return null;
    if (how !== 0) throw new Error(reason ?? `the process ended with ${how}`);
    if (below === null) return null;
    const pruned = await prune(below);
    if (!pruned.ok) throw new Error(pruned.reject.message);
    await forgetSnapshots(directory, below);
    return below;
  }
}
