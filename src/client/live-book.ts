/**
 * A LocalBook that stays current: it subscribes to the diffs first, then reads a snapshot, applies the diffs received
 * meanwhile, and reads a new snapshot after every gap (MD-03, MD-04; wire.md 9.8).
 */
import type { RingbookError } from './errors.ts';
import type { EventStream } from './event-stream.ts';
import { BookView, LocalBook } from './local-book.ts';
import type { Depth } from './replies.ts';

export interface DepthSource {
  snapshot(): Promise<Depth>;
  /**
   * A stream that reconnects automatically and reports it: diffs may have been missed without a later one as evidence.
   */
  diffs(onReconnected: () => void): Promise<EventStream<Depth>>;
}

/** Diffs kept while a snapshot is being read; beyond it the snapshot is read again. */
const WAITING_MAX = 10_000;
const RETRY_MS = 200;

export class LiveBook extends BookView {
  readonly #source: DepthSource;
  readonly #book: LocalBook;
  readonly #onChange: (book: LiveBook) => void;
  #waiting: Depth[] = [];
  #stream: EventStream<Depth> | null = null;
  #isSyncing = false;
  #resyncs = -1;
  #retryTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  private constructor(source: DepthSource, onChange: (book: LiveBook) => void) {
    const book = new LocalBook();
    super(book);
    this.#book = book;
    this.#source = source;
    this.#onChange = onChange;
  }

  /** @param onChange called after every snapshot and diff. @throws RingbookError when the first snapshot fails. */
  static async open(source: DepthSource, onChange: (book: LiveBook) => void = () => {}): Promise<LiveBook> {
    const live = new LiveBook(source, onChange);
    live.#stream = await source.diffs(() => live.#resync());
    live.#isSyncing = true;
    live.#stream.listen((diff) => live.#receive(diff));
    try {
      await live.#load();
    } catch (error) {
      live.close();
      throw error;
    }
    return live;
  }

  /** Number of snapshots read because of a gap. */
  get resyncs(): number {
    return Math.max(0, this.#resyncs);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#stream?.close();
  }

  #receive(diff: Depth): void {
    if (this.#isSyncing) {
      if (this.#waiting.length < WAITING_MAX) this.#waiting.push(diff);
      return;
    }
    const applied = this.#book.apply(diff);
    if (applied === 'gap') this.#resync();
    else if (applied === 'applied') this.#onChange(this);
  }

  #resync(): void {
    if (this.#isClosed || this.#isSyncing) return;
    this.#isSyncing = true;
    this.#load().catch((_error: RingbookError) => {
      // The service may be restarting; the book is not current until the next snapshot.
      this.#isSyncing = false;
      if (!this.#isClosed) this.#retryTimer = setTimeout(() => this.#resync(), RETRY_MS);
    });
  }

  /** Reads snapshots until one is contiguous with the diffs received meanwhile. */
  async #load(): Promise<void> {
    let hasGap = true;
    while (hasGap && !this.#isClosed) {
      this.#waiting = [];
      const snapshot = await this.#source.snapshot();
      this.#resyncs += 1;
      this.#book.load(snapshot);
      hasGap = this.#waiting.some((diff) => this.#book.apply(diff) === 'gap');
    }
    this.#isSyncing = false;
    if (!this.#isClosed) this.#onChange(this);
  }
}
