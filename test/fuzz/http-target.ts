/** One connection of raw bytes to an HTTP listener, and what came back: statuses in order, and whether it was closed. */
import { connect, type Socket } from 'node:net';
import { PATIENCE_MS } from '../support/patience.ts';
import type { Pieces } from './campaign.ts';

export interface Exchange {
  readonly statuses: readonly number[];
  /** Bytes behind the last whole answer. */
  readonly rest: number;
  readonly isClosed: boolean;
}

export interface Patience {
  /** Ends as soon as so many answers are there; 0 waits for `idleMs`. */
  readonly answers: number;
  /** Without an expected number: ends after so long without a byte. */
  readonly idleMs: number;
  /** Between pieces. */
  readonly pauseMs: number;
}

/** What no answer takes longer than: the listener answers late requests itself. */
export const ANSWER_MS_MAX: number = PATIENCE_MS;

const HEAD_END = Buffer.from('\r\n\r\n');

/** Answers at the front of `bytes`. */
export function readAnswers(bytes: Buffer): { readonly statuses: number[]; readonly rest: Buffer } {
  const statuses: number[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf(HEAD_END);
    if (end < 0) return { statuses, rest };
    const head = rest.subarray(0, end).toString('latin1');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 'NaN');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? '0');
    const next = end + HEAD_END.length + length;
    if (next > rest.length) return { statuses, rest };
    statuses.push(status);
    rest = rest.subarray(next);
  }
}

/** Writes the pieces on a connection of their own. Never rejects: a connection that cannot be made is closed. */
export function exchange(port: number, pieces: Pieces, patience: Patience): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    let isClosed = false;
    let isDone = false;
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      socket.destroy();
      const { statuses, rest } = readAnswers(received);
      resolve({ statuses, rest: rest.length, isClosed });
    };
    const wait = (): void => {
      if (isDone) return;
      clearTimeout(timer);
      timer = setTimeout(done, patience.answers > 0 ? ANSWER_MS_MAX : patience.idleMs);
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (patience.answers > 0 && readAnswers(received).statuses.length >= patience.answers) done();
      else wait();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      isClosed = true;
      done();
    });
    socket.on('connect', () => {
      void writeAll(socket, pieces, patience.pauseMs).then(wait);
    });
  });
}

async function writeAll(socket: Socket, pieces: Pieces, pauseMs: number): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (socket.writable) socket.write(piece);
  }
}

/** One request at a time on a connection that is kept, for cases with correct framing. */
export class KeptConnection {
  readonly #port: () => number;
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #answers = 0;
  #told: ((status: number | null) => void) | null = null;

  constructor(port: () => number) {
    this.#port = port;
  }

  /** Whether a request was answered on the connection that is open now: the listener may end it at any time since. */
  get wasUsed(): boolean {
    return this.#answers > 0;
  }

  /** @returns the status once everything is written, or null when the connection ended or nothing came in time. */
  async ask(pieces: Pieces): Promise<number | null> {
    const socket = this.#socket ?? this.#open();
    const told = new Promise<number | null>((resolve) => {
      const timer = setTimeout(() => this.#tell(null), ANSWER_MS_MAX);
      this.#told = (status) => {
        clearTimeout(timer);
        this.#told = null;
        if (status === null) this.close();
        resolve(status);
      };
    });
    await writeAll(socket, pieces, 1);
    return told;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#received = Buffer.alloc(0);
    this.#answers = 0;
  }

  #open(): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.#port(), noDelay: true });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket === socket) this.#tell(null);
    });
    socket.on('data', (chunk) => {
      if (this.#socket !== socket) return;
      const { statuses, rest } = readAnswers(Buffer.concat([this.#received, chunk]));
      this.#received = rest;
      this.#answers += statuses.length;
      for (const status of statuses) this.#tell(status);
    });
    this.#socket = socket;
    return socket;
  }

  #tell(status: number | null): void {
    if (this.#told !== null) this.#told(status);
    else this.close();
  }
}
