// tier: quick
/** Quote sets on their way from the gateway to a market. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../src/core/order-terms.ts';
import { fromWords } from '../../src/core/time-words.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import { NO_LIMITS, quoteSetMessageBytes, writeEndQuoteSet, writeQuoteSet } from '../../src/gateway/command-codec.ts';
import { CommandReader } from '../../src/matching/market-commands.ts';
import { ApplyQuoteSet } from '../../src/schema/generated/messages.ts';

const USER = 'ab'.repeat(32) as UserId;
const AT = 16;

function room(): ReturnType<typeof viewsOf> {
  const v = viewsOf(new ArrayBuffer(8_192), 0, 8_192);
  v.u8.fill(0xa5);
  return v;
}

suite('commands of quote sets', () => {
  test('QTE-01: a market reads what the gateway wrote: entries, text and signatures in their places', () => {
    const v = room();
    for (const signatures of [new Uint8Array(64).fill(7), new Uint8Array(200).fill(9)]) {
      const set = {
        user: USER,
        setId: 'mm-1',
        marketIndex: 3,
        revisionNs: 1_770_000_000_500_000_002n as TimestampNs,
        goodUntilNs: 0n as TimestampNs,
        boughtSeen: 5,
        soldSeen: Number.MAX_SAFE_INTEGER,
        maxFeeRate: 500,
        subAccount: 2,
        flags: 5,
        protectionGroup: 8,
        onlyTakes: true,
        bids: [100, 5, 99, 6],
        asks: [101, 7],
        text: Buffer.from('{"signer":"…"}', 'latin1'),
        signature: new Uint8Array(64).fill(7),
        signatures,
      };
      const bytes = quoteSetMessageBytes(set);
      writeQuoteSet(v, AT, set, { requestId: 17, receivedNs: 1_770_000_000_600_000_000n });
      const command = new CommandReader().readQuoteSet(v, AT);
      assert.deepEqual([command.bids, command.asks, command.requestId, command.onlyTakes], [2, 1, 17, true]);
      assert.deepEqual([...command.prices.subarray(0, 3)], [100, 99, 101]);
      assert.deepEqual([...command.quantities.subarray(0, 3)], [5, 6, 7]);
      assert.equal(fromWords(command.revisionHigh, command.revisionLow), set.revisionNs);
      assert.deepEqual([command.boughtSeen, command.soldSeen], [5, Number.MAX_SAFE_INTEGER]);
      assert.deepEqual(
        [command.subAccount, command.flags, command.protectionGroup, command.maxFeeRate],
        [2, 5, 8, 500],
      );
      const name = new Uint8Array(command.words.buffer, command.words.byteOffset + 4 * command.nameAt, 8);
      assert.equal(Buffer.from(name).toString('latin1'), 'mm-1\0\0\0\0');
      const tail = AT + ApplyQuoteSet.bytes + 3 * 16;
      assert.deepEqual(Buffer.from(v.u8.subarray(tail, tail + set.text.length)), set.text);
      const own = signatures.length > 64 ? signatures.length : 0;
      assert.equal(bytes, tail - AT + set.text.length + own);
      assert.equal(ApplyQuoteSet.signaturesBytes(v, AT), own);
      assert.deepEqual(v.u8.slice(AT + bytes - own, AT + bytes), own === 0 ? new Uint8Array() : signatures);
    }
  });

  test('QTE-09: the end of a set names it; that of all sets names an account or none', () => {
    const v = room();
    const reader = new CommandReader();
    const ended = { user: USER, marketIndex: 1, end: ORDER_END.liquidation, ...NO_LIMITS };
    const stamp = { requestId: 3, receivedNs: 7n };
    writeEndQuoteSet(v, AT, { ...ended, setId: 'a', subAccount: null }, stamp);
    const named = { ...reader.readEndQuoteSet(v, AT) };
    assert.deepEqual(
      [named.nameBytes, named.anyAccount, named.end, named.receivedLow],
      [1, true, ORDER_END.liquidation, 7],
    );
    writeEndQuoteSet(v, AT, { ...ended, setId: '', subAccount: 4 }, stamp);
    const all = reader.readEndQuoteSet(v, AT);
    assert.deepEqual([all.nameBytes, all.anyAccount, all.subAccount], [0, false, 4]);
    assert.deepEqual([all.beforeHigh, all.beforeLow, all.sideOnly, all.protectionGroup], [0, 0, 0, 0]);
    const bounds = { beforeNs: (1n << 32n) + 5n, side: SIDE.sell, protectionGroup: 3 };
    writeEndQuoteSet(v, AT, { ...ended, setId: 'a', subAccount: null, ...bounds }, stamp);
    const within = reader.readEndQuoteSet(v, AT);
    assert.deepEqual([within.beforeHigh, within.beforeLow, within.sideOnly, within.protectionGroup], [1, 5, 2, 3]);
  });
});
