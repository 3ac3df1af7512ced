/**
 * One create frame of `/control`, from bytes to typed values and the signed bytes, compared with JSON.parse of the same
 * bytes, which validates nothing, loses the timestamps and writes no canonical text.
 *
 * One thread, one frame after another, contenders in turn.
 */

import { decodeControlFrame } from '../src/codec/control-frame.ts';
import { orderText, type SignedOrder } from '../src/codec/signed-order.ts';
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

/** As clients write it on `/control`: a space after every colon and comma. */
function frameOf(index: number, isSpaced: boolean): Uint8Array {
  const signature = Array.from({ length: 64 }, (_, at) => (at * 37 + index * 11) & 255);
  const wrapper = `{"order":${orderText(orderOf(index))},"signature":[${signature.join(',')}],"post_sign_timestamp":1770000000000400000}`;
  const text = `{"CreateOrderRequest":${wrapper}}`;
  return new TextEncoder().encode(isSpaced ? text.replace(/([:,])/g, '$1 ') : text);
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

function decode(frame: Uint8Array): number {
  const decoded = decodeControlFrame(frame, 0, frame.length);
  assert(decoded.kind === 'create' && decoded.request.fault === null, 'a benchmark frame is a sound create');
  return decoded.request.text.length;
}

const decoder = new TextDecoder();

function parse(frame: Uint8Array): number {
  const value: unknown = JSON.parse(decoder.decode(frame));
  assert(typeof value === 'object' && value !== null, 'a frame is an object');
  return 1;
}

/** A hash over all signed texts, each first compared with the text that its frame was made from. */
function checkedTexts(frames: readonly Uint8Array[]): string {
  let checksum = 0;
  for (const [index, frame] of frames.entries()) {
    const decoded = decodeControlFrame(frame, 0, frame.length);
    assert(decoded.kind === 'create', 'a benchmark frame is a create');
    assert(decoder.decode(decoded.request.text) === orderText(orderOf(index)), 'the signed text is rebuilt');
    for (const byte of decoded.request.text) checksum = mixChecksum(checksum, byte);
  }
  return checksumText(checksum);
}

export async function run(scale: Scale): Promise<BenchResult> {
  const spaced = Array.from({ length: FRAMES }, (_, index) => frameOf(index, true));
  const compact = Array.from({ length: FRAMES }, (_, index) => frameOf(index, false));
  const count = FRAMES_A_ROUND[scale];
  const contenders: readonly Contender[] = [
    { label: 'decode + signed bytes, spaced frame', round: () => timed(spaced, count, decode) },
    { label: 'JSON.parse, spaced frame', round: () => timed(spaced, count, parse) },
    { label: 'decode + signed bytes, compact frame', round: () => timed(compact, count, decode) },
    { label: 'JSON.parse, compact frame', round: () => timed(compact, count, parse) },
  ];
  const figures = await interleave(contenders, ROUNDS[scale]);
  const rows: BenchRow[] = contenders.map(({ label }, index) => ({
    label,
    value: median(must(figures[index], 'figures of every contender')),
    unit: 'ns/frame',
  }));
  const sizes = `${must(spaced[0], 'a frame').length} and ${must(compact[0], 'a frame').length} bytes`;
  const checks = `${FRAMES} frames of ${sizes}; both give the signed texts of hash ${checkedTexts(spaced)}`;
  assert(checkedTexts(spaced) === checkedTexts(compact), 'white space changes no signed text');
  return { name: 'wire', rows, checks };
}
