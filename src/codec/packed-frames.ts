/**
 * What one flush sends to a socket with FlatBuffers, as few messages (BMD-02): frames of FlatBuffers that follow each other are
 * one message, each behind its length; a frame of text is a message of its own.
 *
 *   queued   depth 12 │ depth 13 │ klines (text) │ bbo 12 ─▶ messages   [depth 12, depth 13] [klines] [bbo 12]
 *
 * Sockets with the same subscriptions queue the same frames, so the messages are made once for all of them; what differs, the
 * number of each frame, is written into the bytes before they are sent.
 */
import { must } from '../core/assert.ts';
import { EncodedFrame, writeSequence } from './market-data-binary.ts';
import type { NumberedFrame } from './subscription-frames.ts';

/** Of one message with several frames; a longer frame is a message of its own. */
const PACKED_BYTES_MAX = 65_536;

/** The number that a queued frame gets for its reader; called once a frame, in order. */
export type NumberOf = (index: number) => number;

export interface PackedMessage {
  /** @returns its bytes, valid until the next call. */
  of(numberOf: NumberOf): Uint8Array;
}

export class PackedFrames {
  #frames: readonly NumberedFrame[] = [];
  #messages: readonly PackedMessage[] = [];
  #made = 0;

  /** How often messages were put together. */
  get made(): number {
    return this.#made;
  }

  /** The messages of queued frames; those of the last call where the frames are the same. */
  of(frames: readonly NumberedFrame[]): readonly PackedMessage[] {
    if (isSame(frames, this.#frames)) return this.#messages;
    this.#made += 1;
    this.#frames = [...frames];
    this.#messages = messagesOf(this.#frames);
    return this.#messages;
  }
}

function isSame(a: readonly NumberedFrame[], b: readonly NumberedFrame[]): boolean {
  if (a.length !== b.length) return false;
  // mutant: same-frames
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

function messagesOf(frames: readonly NumberedFrame[]): readonly PackedMessage[] {
  const messages: PackedMessage[] = [];
  for (let from = 0; from < frames.length; ) {
    const run = runFrom(frames, from);
    messages.push(run.length > 1 ? new Pack(run, from) : single(must(frames[from], 'a queued frame'), from));
    from += Math.max(1, run.length);
  }
  return messages;
}

/** Frames of FlatBuffers from here on that fit one message; none where a frame of text is here. */
function runFrom(frames: readonly NumberedFrame[], from: number): readonly EncodedFrame[] {
  const run: EncodedFrame[] = [];
  let bytes = 0;
  for (let index = from; index < frames.length; index += 1) {
    const frame = frames[index];
    if (!(frame instanceof EncodedFrame)) break;
    bytes += frame.byteLength;
    if (run.length > 0 && bytes > PACKED_BYTES_MAX) break;
    run.push(frame);
  }
  return run;
}

function single(frame: NumberedFrame, index: number): PackedMessage {
  return { of: (numberOf) => frame.of(numberOf(index)) };
}

class Pack implements PackedMessage {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #sequencesAt: readonly number[];
  readonly #from: number;

  constructor(frames: readonly EncodedFrame[], from: number) {
    this.#from = from;
    this.#bytes = new Uint8Array(frames.reduce((sum, { byteLength }) => sum + byteLength, 0));
    this.#view = new DataView(this.#bytes.buffer);
    let at = 0;
    this.#sequencesAt = frames.map((frame) => {
      this.#bytes.set(frame.bytes, at);
      at += frame.byteLength;
      return at - frame.byteLength + frame.sequenceAt;
    });
  }

  of(numberOf: NumberOf): Uint8Array {
    for (let index = 0; index < this.#sequencesAt.length; index += 1) {
      writeSequence(this.#view, this.#sequencesAt[index] ?? 0, numberOf(this.#from + index));
    }
    return this.#bytes;
  }
}
