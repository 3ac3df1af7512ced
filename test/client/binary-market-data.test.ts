// tier: quick
/** Frames of market data as FlatBuffers, read by the client: what their text form gives, and nothing else of damaged ones (BMD-01). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isBinaryFrame, readBinaryMessage } from '../../src/client/binary-market-data.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { readPublicTrade, readTicker } from '../../src/client/replies.ts';
import { parseJson } from '../../src/codec/json-tree.ts';
import {
  binaryBest,
  binaryDepth,
  binaryTicker,
  binaryTrades,
  type EncodedFrame,
} from '../../src/codec/market-data-binary.ts';
import { publicTradeJson, tickerJson } from '../../src/codec/market-data-json.ts';
import { PackedFrames } from '../../src/codec/packed-frames.ts';
import { SequencedFrame } from '../../src/codec/subscription-frames.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { QuotedTicker, TradeFigures } from '../../src/core/market-figures.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';

const MARKET = { assetId: '12' as AssetId, priceDecimals: 2, quantityDecimals: 4 };
const HEAD = { isSnapshot: true, assetId: MARKET.assetId, timestampNs: 1_770_000_000_000_000_001n as TimestampNs };
const decimalsOf = (assetId: string) => (assetId === '12' ? MARKET : undefined);

function ofText(text: string) {
  const tree = parseJson(Buffer.from(text), { fractions: 'text' });
  assert.ok(tree.ok);
  return tree.value;
}

const TRADES: readonly TradeFigures[] = [1, 2].map((tradeId) => ({
  tradeId,
  price: (314_900 + tradeId) as RawPrice,
  quantity: (25_000 * tradeId) as RawQuantity,
  matchedNs: (HEAD.timestampNs + BigInt(tradeId)) as TimestampNs,
  takerSide: tradeId === 1 ? SIDE.sell : SIDE.buy,
})) as unknown as readonly TradeFigures[];

const level = (price: number, quantity: number) => ({ price: price as RawPrice, quantity: quantity as RawQuantity });
const FULL = {
  ticker: {
    day: { open: 320_000, high: 330_050, low: 310_000, volume: 123_456_789_012_345_678n, changeMilliPercent: -1_593n },
    lastPrice: 314_900,
    asOfNs: HEAD.timestampNs,
  },
  quotes: {
    bestBid: level(314_900, 25_000),
    bestAsk: null,
    markPrice: 3_149n * 10n ** 18n,
    indexPrice: 3_150n * 10n ** 18n + 1n,
    openInterest: { long: 5n * 10n ** 18n, short: 0n as Amount18, changedNs: 7n },
  },
} as unknown as QuotedTicker;
const EMPTY = {
  ticker: { day: null, lastPrice: null, asOfNs: HEAD.timestampNs },
  quotes: { bestBid: null, bestAsk: null, markPrice: null, indexPrice: null, openInterest: null },
} as unknown as QuotedTicker;

const encodedFrames = (): readonly EncodedFrame[] => [
  binaryDepth(HEAD, { asks: [315_000, 10, 315_100, 20], bids: [314_900, 30], sequenceNumber: 9 }, 4_000_000_000),
  binaryBest(HEAD, { bid: level(1, 2), ask: null, sequenceNumber: 3 }),
  binaryTrades(HEAD, TRADES),
  binaryTicker(HEAD, MARKET, FULL),
  binaryTicker(HEAD, MARKET, EMPTY),
];
const frames = (): readonly Uint8Array[] => encodedFrames().map((frame) => frame.of(7).slice());

suite('market data as FlatBuffers, at the client', () => {
  test('BMD-01: each channel gives what its text form gives', () => {
    const [depth, best, trades, full, empty] = frames().flatMap((bytes) => readBinaryMessage(bytes, decimalsOf));
    const head = { type: 'snapshot', assetId: '12', sequence: 7, timestampNs: HEAD.timestampNs } as const;
    assert.deepEqual(depth, {
      ...head,
      channel: 'depth',
      data: {
        depth: {
          asks: [
            { price: '3150', quantity: '0.001' },
            { price: '3151', quantity: '0.002' },
          ],
          bids: [{ price: '3149', quantity: '0.003' }],
          sequenceNumber: 9,
        },
        more: false,
        checksum: 4_000_000_000,
      },
    });
    const bbo = { bid: { price: '0.01', quantity: '0.0002' }, ask: null, sequenceNumber: 3 };
    assert.deepEqual(best, { ...head, channel: 'bbo', data: bbo });
    assert.deepEqual(
      trades?.data,
      TRADES.map((trade) => readPublicTrade(ofText(publicTradeJson(MARKET, trade)))),
    );
    assert.deepEqual(full?.data, readTicker(ofText(tickerJson(MARKET, FULL))));
    assert.deepEqual(empty?.data, readTicker(ofText(tickerJson(MARKET, EMPTY))));
  });

  test('BMD-01: a frame is told from text by its first byte; one of a market without decimals is passed over', () => {
    for (const bytes of frames()) {
      assert.equal(isBinaryFrame(bytes), true);
      assert.deepEqual(
        readBinaryMessage(bytes, () => undefined),
        [],
      );
    }
    assert.equal(isBinaryFrame(Buffer.from('{"type":"pong"}')), false);
  });

  test('BMD-02: frames of one flush are one message, made once; each has its own number, and a text stays alone', () => {
    const encoded = encodedFrames();
    const other = binaryBest({ ...HEAD, assetId: '13' as AssetId }, { bid: level(1, 2), ask: null, sequenceNumber: 3 });
    const [message, ...more] = new PackedFrames().of([...encoded, other]);
    assert.equal(more.length, 0);
    const bytes = message?.of((index) => 2 ** 40 + index).slice() ?? assert.fail();
    const alone = encoded.flatMap((frame, index) => readBinaryMessage(frame.of(2 ** 40 + index).slice(), decimalsOf));
    assert.deepEqual(readBinaryMessage(bytes, decimalsOf), alone);
    assert.deepEqual(
      alone.map(({ sequence }) => sequence),
      encoded.map((_, index) => 2 ** 40 + index),
    );
    assert.equal(bytes.byteLength % 8, 0);

    const packed = new PackedFrames();
    const [first, second] = encoded;
    assert.ok(first !== undefined && second !== undefined);
    const read = (frames: readonly EncodedFrame[]) =>
      packed
        .of(frames)
        .flatMap((one) => readBinaryMessage(one.of(() => 5).slice(), decimalsOf).map(({ channel }) => channel));
    const text = new SequencedFrame(
      { type: 'update', channel: 'prices', assetId: MARKET.assetId, width: 0, timestampNs: HEAD.timestampNs },
      '{}',
    );
    const sizes = packed.of([first, second, text, first]).map((one) => one.of((index) => index + 1).byteLength);
    assert.deepEqual(sizes, [first.byteLength + second.byteLength, text.byteLength, first.byteLength]);
    packed.of([]);
    const made = packed.made;
    // Sockets of the same subscriptions share a message, those of others of as many do not.
    assert.deepEqual(
      [read([first, second]), read([first, second]), packed.made - made],
      [['depth', 'bbo'], ['depth', 'bbo'], 1],
    );
    assert.deepEqual([read([second, first]), packed.made - made], [['bbo', 'depth'], 2]);
  });

  test('BMD-01: figures above 2^32 - 1 are in the wide form, of their side alone; a token is named by its id', () => {
    const token = `${'ab'.repeat(32)}@${'01'.repeat(9)}` as AssetId;
    const levels = {
      asks: [2 ** 32, 5],
      bids: [2 ** 32 - 1, Number.MAX_SAFE_INTEGER - 1, 7, 0],
      sequenceNumber: 2 ** 40,
    };
    const narrow = { asks: [2 ** 32 - 1, 0], bids: [], sequenceNumber: 1 };
    const read = (of: typeof levels) =>
      readBinaryMessage(binaryDepth({ ...HEAD, assetId: token }, of, null).of(1), (id) =>
        id === token ? { priceDecimals: 0, quantityDecimals: 0 } : undefined,
      )[0];
    const shown = (of: readonly number[]) =>
      Array.from({ length: of.length / 2 }, (_, at) => ({ price: `${of[2 * at]}`, quantity: `${of[2 * at + 1]}` }));
    for (const of of [levels, narrow]) {
      const { assetId, data } = read(of) ?? assert.fail();
      assert.equal(assetId, token);
      const depth = { asks: shown(of.asks), bids: shown(of.bids), sequenceNumber: of.sequenceNumber };
      assert.deepEqual(data, { depth, more: false, checksum: null });
    }
  });

  test('BMD-01: a cut or changed frame is read in bounded time, and gives values or INVALID_RESPONSE', () => {
    let refused = 0;
    const read = (bytes: Uint8Array): void => {
      try {
        readBinaryMessage(bytes, decimalsOf);
      } catch (error) {
        assert.ok(error instanceof RingbookError && error.code === 'INVALID_RESPONSE', String(error));
        refused += 1;
      }
    };
    for (const bytes of frames()) {
      for (let length = 0; length < bytes.length; length += 1) read(bytes.subarray(0, length));
      for (let at = 0; at < bytes.length; at += 1) {
        for (const value of [0, 1, 0x7f, 0xff]) {
          const changed = bytes.slice();
          changed[at] = value;
          read(changed);
        }
      }
    }
    assert.ok(refused > 500, `${refused}`);
  });
});
