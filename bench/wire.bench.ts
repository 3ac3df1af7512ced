/**
 * One create frame of `/control`, from bytes to typed values and the signed bytes: as JSON, and as FlatBuffers. JSON is
 * compared with JSON.parse of the same bytes, which validates nothing, loses the timestamps and writes no canonical text.
 * The answer to it in both forms. Time and bytes allocated.
 *
 * One thread, one frame after another, contenders in turn.
 */

import { binaryRequest } from '../src/client/binary-control.ts';
import { decodeBinaryFrame } from '../src/codec/binary-frame.ts';
import { type ControlFrame, decodeControlFrame, type FrameHead } from '../src/codec/control-frame.ts';
import { responseFrame } from '../src/codec/control-replies.ts';
import { writeSignedOrder } from '../src/codec/generated/order-json.ts';
import type { SignedOrder } from '../src/codec/order-actions.ts';
import { textBytes } from '../src/codec/text-writer.ts';
import { assert, must } from '../src/core/assert.ts';
import { USD, userIdOf } from '../src/core/ids.ts';
import { SIDE, TIF } from '../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../src/core/units.ts';
import {
  type BenchResult,
  type BenchRow,
  type Contender,
  checksumText,
  interleave,
  median,
  mixChecksum,
  type Scale,
} from './bench-kit.ts';

/** Different orders, so that caching has no effect. */
const FRAMES = 512;
const FRAMES_A_ROUND: Readonly<Record<Scale, number>> = { small: 20_000, full: 200_000 };
const ALLOCATION_ROUNDS = 9;
const ROUNDS: Readonly<Record<Scale, number>> = { small: 3, full: 9 };

function orderOf(index: number): SignedOrder {
  const user = userIdOf(Uint8Array.from({ length: 32 }, (_, at) => (at * 41 + index) & 255));
  return {
    signer: { id: user, text: user },
    orderId: `bench-order-${index}` as SignedOrder['orderId'],
    baseAsset: { id: USD, text: '12' },
    bookPriceDecimals: 2,
    bookQuantityDecimals: 4,
    details: {
      kind: 'limit',
      limitPrice: (300_000 + index) as RawPrice,
      quantity: (25_000 + index) as RawQuantity,
      tif: TIF.gtc,
      postOnly: false,
      goodUntilNs: null,
    },
    side: index % 2 === 0 ? SIDE.buy : SIDE.sell,
    trigger: null,
    creationNs: (1_770_000_000_000_000_001n + BigInt(index)) as TimestampNs,
    account: 0,
    isSpot: true,
    reduceOnly: false,
    maxTradingFeesRate: 50_000,
    protocolVersion: 1,
  };
}

const decoder = new TextDecoder();

function textOf(index: number): string {
  return decoder.decode(textBytes(orderOf(index), writeSignedOrder));
}

function wrapperOf(index: number): string {
  const signature = Array.from({ length: 64 }, (_, at) => (at * 37 + index * 11) & 255);
  return `{"order":${textOf(index)},"signature":[${signature.join(',')}],"post_sign_timestamp":1770000000000400000}`;
}

/** @param isSpaced as clients write it on `/control`: a space after every colon and comma. */
function frameOf(index: number, isSpaced: boolean): Uint8Array {
  const text = `{"CreateOrderRequest":${wrapperOf(index)}}`;
  return new TextEncoder().encode(isSpaced ? text.replace(/([:,])/g, '$1 ') : text);
}

function binaryFrameOf(index: number): Uint8Array {
  const order = orderOf(index);
  const named = { assetId: order.baseAsset.id, orderId: order.orderId };
  return binaryRequest(BigInt(index + 1), { action: 'Create', ...named, body: wrapperOf(index) });
}

/** Nanoseconds a frame over one round of `count`. */
function timed(frames: readonly Uint8Array[], count: number, read: (frame: Uint8Array) => number): number {
  let bytes = 0;
  const start = process.hrtime.bigint();
  for (let index = 0; index < count; index += 1) bytes += read(must(frames[index % FRAMES], 'a frame'));
  const elapsed = Number(process.hrtime.bigint() - start);
  assert(bytes > 0, 'the work was done');
  return elapsed / count;
}

type Decode = (bytes: Uint8Array, start: number, end: number) => ControlFrame;

function decodeWith(decode: Decode): (frame: Uint8Array) => number {
  return (frame) => {
    const decoded = decode(frame, 0, frame.length);
    assert(decoded.kind === 'create' && decoded.request.fault === null, 'a benchmark frame is a sound create');
    return decoded.request.text.length;
  };
}

function answerTo(address: FrameHead): (frame: Uint8Array) => number {
  let answered = 0;
  return () => {
    answered += 1;
    const processedNs = (1_770_000_000_000_000_001n + BigInt(answered)) as TimestampNs;
    const view = { orderId: `bench-order-${answered % FRAMES}`, reject: null, processedNs };
    return responseFrame(address, 'create', view, '12').length;
  };
}

function parse(frame: Uint8Array): number {
  const value: unknown = JSON.parse(decoder.decode(frame));
  assert(typeof value === 'object' && value !== null, 'a frame is an object');
  return 1;
}

/** A hash over all signed texts, each first compared with the text that its frame was made from. */
function checkedTexts(frames: readonly Uint8Array[], decode: Decode): string {
  let checksum = 0;
  for (const [index, frame] of frames.entries()) {
    const decoded = decode(frame, 0, frame.length);
    assert(decoded.kind === 'create', 'a benchmark frame is a create');
    assert(decoder.decode(decoded.request.text) === textOf(index), 'the signed text is rebuilt');
    for (const byte of decoded.request.text) checksum = mixChecksum(checksum, byte);
  }
  return checksumText(checksum);
}

/** Bytes allocated a frame over one round of `count`; the young generation is collected before, not within. */
function allocated(frames: readonly Uint8Array[], read: (frame: Uint8Array) => number): number {
  timed(frames, FRAMES, read);
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ALLOCATION_ROUNDS; round += 1) {
    const before = process.memoryUsage();
    timed(frames, FRAMES, read);
    const after = process.memoryUsage();
    const bytes = after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers;
    // A collection in between makes the difference negative.
    if (bytes > 0) least = Math.min(least, bytes);
  }
  return Math.round(least / FRAMES);
}

export async function run(scale: Scale): Promise<BenchResult> {
  const spaced = Array.from({ length: FRAMES }, (_, index) => frameOf(index, true));
  const compact = Array.from({ length: FRAMES }, (_, index) => frameOf(index, false));
  const binary = Array.from({ length: FRAMES }, (_, index) => binaryFrameOf(index));
  const count = FRAMES_A_ROUND[scale];
  const works = [
    { label: 'JSON decode + signed bytes, spaced frame', frames: spaced, read: decodeWith(decodeControlFrame) },
    { label: 'JSON.parse, spaced frame', frames: spaced, read: parse },
    { label: 'JSON decode + signed bytes, compact frame', frames: compact, read: decodeWith(decodeControlFrame) },
    { label: 'JSON.parse, compact frame', frames: compact, read: parse },
    { label: 'FlatBuffers decode + signed bytes', frames: binary, read: decodeWith(decodeBinaryFrame) },
    { label: 'JSON answer', frames: compact, read: answerTo({ version: 1, requestId: 'r-1' }) },
    { label: 'FlatBuffers answer', frames: binary, read: answerTo({ version: 'binary', requestId: 1n }) },
  ];
  const contenders: readonly Contender[] = works.map(({ label, frames, read }) => ({
    label,
    round: () => timed(frames, count, read),
  }));
  const figures = await interleave(contenders, ROUNDS[scale]);
  const rows: BenchRow[] = works.flatMap(({ label, frames, read }, index) => [
    { label, value: median(must(figures[index], 'figures of every contender')), unit: 'ns/frame' },
    { label: `${label}: allocated`, value: allocated(frames, read), unit: 'bytes/frame' },
  ]);
  const sizes = [spaced, compact, binary].map(([first]) => must(first, 'a frame').length).join(', ');
  const texts = checkedTexts(spaced, decodeControlFrame);
  assert(checkedTexts(compact, decodeControlFrame) === texts, 'white space changes no signed text');
  assert(checkedTexts(binary, decodeBinaryFrame) === texts, 'the form changes no signed text');
  const checks = `${FRAMES} frames of ${sizes} bytes; all give the signed texts of hash ${texts}`;
  return { name: 'wire', rows, checks };
}
