/** A few words that the main thread and the market-data thread share: may the listener open, and which port it has. */

const MAY_LISTEN = 0;
const MDS_PORT = 1;
const WORDS = 2;

/** What `mdsPort` says when the listener could not open. */
export const MDS_LISTEN_FAILED = -1;

export class NodeWords {
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.words = new Int32Array(memory);
  }

  allowListening(): void {
    Atomics.store(this.words, MAY_LISTEN, 1);
  }

  mayListen(): boolean {
    return Atomics.load(this.words, MAY_LISTEN) === 1;
  }

  setMdsPort(port: number): void {
    Atomics.store(this.words, MDS_PORT, port);
  }

  /** 0 while the listener is not open. */
  mdsPort(): number {
    return Atomics.load(this.words, MDS_PORT);
  }
}
