// tier: quick
/**
 * Quote sets at the edge (QTE-01): the text of the contract to the byte, the order of prices against a plain statement of it,
 * and the same request in JSON and FlatBuffers. Random and damaged requests: shapes.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { decodeControlFrame } from '../../src/codec/control-frame.ts';
import { decodeQuoteSet } from '../../src/codec/order-actions.ts';
import { pricesFault } from '../../src/codec/quote-entries.ts';
import { QUOTE_TEXT_BYTES_MAX } from '../../src/core/limits.ts';
import { propertyParameters } from '../support/property.ts';
import { PlainKey } from '../support/wire-texts.ts';

const KEY = new PlainKey(7);
const CONTRACT = readFileSync('docs/reference/wire-additions.md', 'utf8');
const VECTOR = /^(\{"signer":"[^\n]*"set_id"[^\n]*\})\n([0-9a-f]{128})$/m.exec(CONTRACT);

function wrapped(text: string): string {
  return `{"quotes":${text},"signature":${KEY.signature(text)},"post_sign_timestamp":1770000000500400000}`;
}

function decode(body: string): ReturnType<typeof decodeQuoteSet> {
  const bytes = Buffer.from(body);
  return decodeQuoteSet(bytes, 0, bytes.length);
}

suite('the text of a quote set', () => {
  test('QTE-01: the vector of the contract is rebuilt to the byte, its signature is the key’s', () => {
    assert.ok(VECTOR !== null);
    const [, text = '', signature = ''] = VECTOR;
    const read = decode(wrapped(text));
    assert.ok(read.ok && read.value.fault === null);
    assert.equal(Buffer.from(read.value.text).toString(), text);
    assert.equal(Buffer.from(KEY.sign(text)).toString('hex'), signature);
    assert.deepEqual(read.value.quotes.bids, [314_900, 25_000, 314_800, 50_000]);
  });

  test('QTE-01: white space and the order of members change nothing; members that are left out sign as null', () => {
    assert.ok(VECTOR !== null);
    const [, text = ''] = VECTOR;
    const short = text.replace('"protection_group":null,"good_until_timestamp_ns":null,', '').replaceAll(',', ' ,\n ');
    const read = decode(wrapped(short));
    assert.ok(read.ok);
    assert.equal(Buffer.from(read.value.text).toString(), text);
  });

  test('QTE-01: the longest legal set is within its limit, one more entry is refused', () => {
    const far = Number.MAX_SAFE_INTEGER;
    const side = (count: number): string => Array.from({ length: count }, () => `[${far},${far}]`).join(',');
    const text = (bids: number): string =>
      `{"signer":"0X${KEY.id}","set_id":"${'x'.repeat(40)}","base_asset":"0x${'a'.repeat(64)}@0x${'b'.repeat(18)}",` +
      `"book_price_decimals":-128,"book_quantity_decimals":-128,"revision":18446744073709551615,"bids":[${side(bids)}],` +
      `"asks":[${side(50)}],"target":{"account":65535,"is_spot":false},"max_trading_fees_rate":4294967295,` +
      `"protection_group":"${'g'.repeat(16)}","good_until_timestamp_ns":18446744073709551615,"protocol_version":1}`;
    const longest = decode(wrapped(text(50)));
    assert.ok(longest.ok && longest.value.fault === null);
    assert.ok(longest.value.text.length <= QUOTE_TEXT_BYTES_MAX, `${longest.value.text.length} bytes`);
    const longer = decode(wrapped(text(51)));
    assert.equal(longer.ok ? null : longer.reject.field, 'bids');
  });

  test('QTE-06: ids that an entry could not have are refused with their member', () => {
    assert.ok(VECTOR !== null);
    const [, text = ''] = VECTOR;
    for (const [id, isTaken] of [
      ['mm:1', false],
      ['sys-1', false],
      ['', false],
      ['x'.repeat(41), false],
      ['a+/=_-.Z9', true],
    ] as const) {
      const read = decode(wrapped(text.replace('mm-1', id)));
      assert.ok(read.ok, id);
      assert.equal(read.value.fault?.field ?? null, isTaken ? null : 'set_id', id);
    }
  });
});

suite('the order of prices', () => {
  test('QTE-01: taken are sides that fall and rise with no price twice and the best bid below the best ask', () => {
    const side = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.constant(1)), { maxLength: 4 });
    fc.assert(
      fc.property(side, side, (bids, asks) => {
        const falls = bids.every(([price], at) => at === 0 || price < (bids[at - 1]?.[0] ?? 0));
        const rises = asks.every(([price], at) => at === 0 || price > (asks[at - 1]?.[0] ?? 0));
        const isApart = bids.every(([bid]) => asks.every(([ask]) => bid < ask));
        const fault = pricesFault({ bids: bids.flat(), asks: asks.flat() });
        assert.equal(fault === null, falls && rises && isApart, JSON.stringify([bids, asks]));
      }),
      propertyParameters(2_000),
    );
  });
});

suite('a quote set on /control', () => {
  test('QTE-01: v0, v1 and short frames carry it; a malformed one is correlated by its set', () => {
    assert.ok(VECTOR !== null);
    const body = wrapped(VECTOR[1] ?? '');
    const read = (text: string) => decodeControlFrame(Buffer.from(text), 0, Buffer.byteLength(text), true);
    const data = `{"QuoteSetRequest":${body}}`;
    for (const text of [
      data,
      `{"type":"request","channel":"control","request_id":"r","data":${data}}`,
      `{"request_id":"r","data":${data}}`,
    ]) {
      const frame = read(text);
      assert.equal(frame.kind, 'quotes', text);
    }
    const bad = read(data.replace('"is_spot":true', '"is_spot":1'));
    assert.ok(bad.kind === 'malformed');
    assert.deepEqual(bad.correlations, [{ action: 'quotes', orderId: 'mm-1', assetText: '12' }]);
  });
});
