/**
 * Readers of fan-out.bench.ts, in a process of their own: many sockets of `/ws` on loopback. They count frames and bytes
 * without reading what is in them; the messages of the first one are handed to the benchmark, which checks them.
 */
import { connect, type Socket } from 'node:net';
import { assert } from '../src/core/assert.ts';

export interface ReadersPlan {
  readonly port: number;
  readonly sockets: number;
  /** '' for the text form. */
  readonly protocol: string;
  /** The frame of a client. */
  readonly subscribe: string;
}

/** Of all sockets since they were opened. */
export interface ReadersCount {
  /** Of channels: a message of FlatBuffers has several. */
  readonly frames: number;
  /** With the heads of WebSocket frames. */
  readonly bytes: number;
  readonly open: number;
  /** The messages of the first socket since the last count, in base64. */
  readonly sample: readonly string[];
}

export type ReadersTask = { readonly open: ReadersPlan } | { readonly count: true } | { readonly close: true };

const HEAD_END = '\r\n\r\n';
/** A whole frame that ends with its first byte, and the answer, masked with zeros and without data. */
const PING = 0x89;
const BINARY = 0x82;
const PONG: Buffer = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** Counts the frames of one socket, whose lengths alone are read. */
class Reader {
  readonly socket: Socket;
  isOpen = false;
  frames = 0;
  bytes = 0;
  readonly sample: string[] | null;
  #rest: Buffer = Buffer.alloc(0);

  constructor({ port, protocol, subscribe }: ReadersPlan, sample: string[] | null) {
    this.sample = sample;
    this.socket = connect(port, '127.0.0.1');
    const offer = protocol === '' ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
    this.socket.write(
      `GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${offer}\r\n`,
    );
    this.socket.on('data', (chunk: Buffer) => this.#take(chunk, subscribe));
    this.socket.on('error', () => undefined);
  }

  #take(chunk: Buffer, subscribe: string): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.isOpen) {
      const end = data.indexOf(HEAD_END);
      if (end < 0) {
        this.#rest = data;
        return;
      }
      assert(data.subarray(0, 12).toString() === 'HTTP/1.1 101', 'a socket opens');
      this.isOpen = true;
      data = data.subarray(end + HEAD_END.length);
      this.socket.write(masked(subscribe));
    }
    let at = 0;
    while (at + 2 <= data.length) {
      let head = 2;
      let length = (data[at + 1] ?? 0) & 0x7f;
      if (length === 126) {
        head = 4;
        if (at + head > data.length) break;
        length = data.readUInt16BE(at + 2);
      } else if (length === 127) {
        head = 10;
        if (at + head > data.length) break;
        length = Number(data.readBigUInt64BE(at + 2));
      }
      if (at + head + length > data.length) break;
      if (data[at] === PING) this.socket.write(PONG);
      else {
        this.sample?.push(data.subarray(at + head, at + head + length).toString('base64'));
        this.frames += data[at] === BINARY ? framesOf(data, at + head, at + head + length) : 1;
        this.bytes += head + length;
      }
      at += head + length;
    }
    this.#rest = at === data.length ? Buffer.alloc(0) : data.subarray(at);
  }
}

/** Frames of FlatBuffers in a message, each behind its length. */
function framesOf(data: Buffer, from: number, end: number): number {
  let count = 0;
  for (let at = from; at < end; at += 4 + data.readUInt32LE(at)) count += 1;
  return count;
}

/** A short text frame of a client, masked with zeros. */
function masked(text: string): Buffer {
  const bytes = Buffer.from(text);
  assert(bytes.length < 65_536, 'a short frame');
  const head = bytes.length < 126 ? [0x81, 0x80 | bytes.length] : [0x81, 0xfe, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), bytes]);
}

let readers: Reader[] = [];
let sample: string[] = [];

process.on('message', (task: ReadersTask) => {
  if ('open' in task) {
    const plan = task.open;
    sample = [];
    readers = Array.from({ length: plan.sockets }, (_, index) => new Reader(plan, index === 0 ? sample : null));
  } else if ('close' in task) {
    for (const { socket } of readers) socket.destroy();
    readers = [];
  }
  const count: ReadersCount = {
    frames: readers.reduce((sum, { frames }) => sum + frames, 0),
    bytes: readers.reduce((sum, { bytes }) => sum + bytes, 0),
    open: readers.filter(({ isOpen }) => isOpen).length,
    sample: sample.splice(0),
  };
  process.send?.(count);
});
