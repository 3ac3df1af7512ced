/**
 * WebSocket by hand (RFC 6455): a handshake on a plain connection, frames with whatever head one likes, and what the
 * server sent, cut into its frames.
 */
import { connect, type Socket } from 'node:net';
import { PATIENCE_MS } from '../support/patience.ts';

export interface FrameHead {
  readonly opcode: number;
  readonly isFinal?: boolean;
  /** RSV1 to RSV3 as bits 4, 2, 1. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** In place of the true length. */
  readonly announced?: bigint;
  /** 7, 16 or 64 bits; the shortest unless given. */
  readonly lengthBits?: 7 | 16 | 64;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A client's frame; the mask is fixed, since nothing depends on it. */
export function frameBytes(payload: Uint8Array, head: FrameHead): Buffer {
  const { opcode, isFinal = true, reserved = 0, isMasked = true } = head;
  const length = head.announced ?? BigInt(payload.byteLength);
  const bits = head.lengthBits ?? (length < 126n ? 7 : length < 65_536n ? 16 : 64);
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  let lengthBytes = Buffer.from([mask | Number(length & 0x7fn)]);
  if (bits === 16) lengthBytes = Buffer.from([mask | 126, Number((length >> 8n) & 0xffn), Number(length & 0xffn)]);
  if (bits === 64) {
    lengthBytes = Buffer.alloc(9);
    lengthBytes[0] = mask | 127;
    lengthBytes.writeBigUInt64BE(BigInt.asUintN(64, length), 1);
  }
  if (!isMasked) return Buffer.concat([Buffer.from([first]), lengthBytes, payload]);
  const key = [0x12, 0x34, 0x56, 0x78];
  const masked = payload.map((byte, index) => byte ^ (key[index % 4] ?? 0));
  return Buffer.concat([Buffer.from([first]), lengthBytes, Buffer.from(key), masked]);
}

export interface ServerFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export class RawSocket {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  /** The HTTP answer to the handshake, up to its empty line. */
  #head: string | null = null;
  readonly #frames: ServerFrame[] = [];
  #notify: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isClosed = true;
      this.#notify?.();
    });
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#read();
      this.#notify?.();
    });
  }

  /** @returns null when the upgrade was refused or the connection ended. */
  static async open(
    port: number,
    path: string,
    headers: readonly string[],
    localAddress?: string,
  ): Promise<RawSocket | null> {
    const raw = new RawSocket(connect({ host: '127.0.0.1', port, noDelay: true, localAddress }));
    raw.write(
      Buffer.from(
        [
          `GET ${path} HTTP/1.1`,
          'Host: x',
          ...headers,
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'Sec-WebSocket-Version: 13',
          '\r\n',
        ].join('\r\n'),
      ),
    );
    await raw.until(() => raw.#head !== null, PATIENCE_MS);
    if (raw.#head?.startsWith('HTTP/1.1 101') === true) return raw;
    raw.destroy();
    return null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get frames(): readonly ServerFrame[] {
    return this.#frames;
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Waits until it is true, the connection is closed, or the time is over. @returns whether it is true. */
  async until(isTrue: () => boolean, withinMs: number): Promise<boolean> {
    const deadlineMs = performance.now() + withinMs;
    while (!isTrue() && !this.#isClosed) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#notify = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#notify = null;
    }
    return isTrue();
  }

  #read(): void {
    if (this.#head === null) {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#head = this.#received.subarray(0, end).toString('latin1');
      this.#received = this.#received.subarray(end + 4);
    }
    for (;;) {
      const bytes = this.#received;
      const short = (bytes[1] ?? 0) & 0x7f;
      const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (bytes.length < headBytes) return;
      const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
      if (bytes.length < headBytes + length) return;
      this.#frames.push({ opcode: (bytes[0] ?? 0) & 0x0f, payload: bytes.subarray(headBytes, headBytes + length) });
      this.#received = bytes.subarray(headBytes + length);
    }
  }
}
