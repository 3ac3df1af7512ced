/**
 * A LocalBook that stays current: it subscribes to the diffs first, then reads a snapshot, applies the diffs received
 * meanwhile, and reads a new snapshot after every gap (MD-03, MD-04; wire.md 9.8).
 *
 *   syncing ──snapshot──▶ current ──gap──▶ syncing
 *      ▲                    └──connection lost──▶ not current ──connected again──▶ syncing
 *
 * While it is not current, reading it throws: no reader takes an old book for the market.
 */
import type { RingbookError } from './errors.ts';
import type { EventStream } from './event-stream.ts';
import type { Lifetime } from './lifetime.ts';
import { BookView, LocalBook } from './local-book.ts';
import type { Depth } from './replies.ts';

export interface DepthSource {
  snapshot(): Promise<Depth>;
  /**
   * A stream that reconnects automatically and reports both: diffs may have been missed without a later one as evidence.
   */
  diffs(connection: { onClosed(): void; onReconnected(): void }): Promise<EventStream<Depth>>;
  /** Of the client, which closes the book at its end. */
  readonly lifetime?: Lifetime;
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
  /** The connection was lost since the snapshot was asked for, which may be older than what was missed. */
  #isOutdated = false;
  #isConnected = false;
  #resyncs = -1;
  #retryTimer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;
  readonly #ended: (() => void) | undefined;

  private constructor(source: DepthSource, onChange: (book: LiveBook) => void) {
    const book = new LocalBook();
    super(book);
    this.#book = book;
    this.#source = source;
    this.#onChange = onChange;
    this.#ended = source.lifetime?.add(() => this.close());
  }

  /** @param onChange called after every snapshot and diff. @throws RingbookError when the first snapshot fails. */
  static async open(source: DepthSource, onChange: (book: LiveBook) => void = () => {}): Promise<LiveBook> {
    const live = new LiveBook(source, onChange);
    live.#isSyncing = true;
    try {
      await live.#subscribe();
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
    this.#ended?.();
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    this.#stream?.close();
  }

  async #subscribe(): Promise<void> {
    const stream = await this.#source.diffs({
      onClosed: () => this.#lost(),
      onReconnected: () => this.#connected(),
    });
    if (this.#isClosed) {
      stream.close();
      return;
    }
    this.#stream = stream;
    this.#isConnected = true;
    // A frame that cannot be read ends a stream: another one takes its place.
    stream.listen(
      (diff) => this.#receive(diff),
      () => this.#subscribeAgain(),
    );
  }

  #subscribeAgain(): void {
    if (this.#isClosed) return;
    this.#lost();
    this.#retryTimer = setTimeout(() => {
      this.#subscribe().then(
        () => this.#resync(),
        () => this.#subscribeAgain(),
      );
    }, RETRY_MS);
  }

  #lost(): void {
    if (this.#isClosed) return;
    this.#isConnected = false;
    this.#isOutdated = true;
    this.#book.drop();
  }

  #connected(): void {
    this.#isConnected = true;
    this.#resync();
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
    if (this.#isClosed || this.#isSyncing || !this.#isConnected) return;
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
      this.#isOutdated = false;
      const snapshot = await this.#source.snapshot();
      this.#resyncs += 1;
      this.#book.load(snapshot);
      const isBehind = this.#waiting.some((diff) => this.#book.apply(diff) === 'gap');
      hasGap = isBehind || (this.#isOutdated && this.#isConnected);
    }
    this.#isSyncing = false;
    // The next connection begins with a snapshot.
    if (!this.#isConnected) this.#book.drop();
    else if (!this.#isClosed) this.#onChange(this);
  }
}
