/**
 * The records of a journal stream one after the other, for a program that follows and never appends (cluster.md 4, 12): the log as it
 * comes, and direct gets for what was missed. It needs no right but these two.
 *
 * Not here: chain, epoch and form of records, which the receiver verifies.
 */
import type { StreamMessage } from './events.ts';
import { StreamLog, type StreamLogOptions } from './stream-log.ts';

/** After so long without a message the end of the stream is read again: messages of the log may be lost. */
const ASK_MS = 250;
/** Records of the log that wait for their turn. */
const HEARD_MAX = 1_024;

export class JournalReader {
  readonly #stream: StreamLog;
  readonly #heard = new Map<number, StreamMessage>();
  #wake: () => void = () => undefined;

  private constructor(stream: StreamLog) {
    this.#stream = stream;
    stream.follow((message) => {
      // What does not fit is read by a get.
      if (this.#heard.size < HEARD_MAX) this.#heard.set(message.sequence, message);
      this.#wake();
    });
  }

  /** @throws Error when no server answers, or none takes the credentials. */
  static async open(options: StreamLogOptions): Promise<JournalReader> {
    return new JournalReader(await StreamLog.connect(options));
  }

  /** The first record that the stream has; null while it has none, or no server answers. */
  first(): Promise<number | null> {
    return this.#stream.firstFrom(1);
  }

  /** Records without a gap, as they are stored; waits at the end of the stream. The stream has a record at `from`, or none behind it. */
  async *read(from: number): AsyncGenerator<StreamMessage, void, undefined> {
    let next = from;
    for (;;) {
      const heard = this.#heard.get(next);
      const messages = heard === undefined ? await this.#stream.get(next) : [heard];
      for (const message of messages) {
        yield message;
        next += 1;
      }
      for (const sequence of this.#heard.keys()) if (sequence < next) this.#heard.delete(sequence);
      if (messages.length === 0) await this.#waitFor(next);
    }
  }

  close(): Promise<void> {
    return this.#stream.close();
  }

  #waitFor(next: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ASK_MS);
      this.#wake = () => {
        if (!this.#heard.has(next)) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
