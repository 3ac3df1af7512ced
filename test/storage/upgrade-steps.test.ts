/** Rows of older layouts as today's, one by one; whole directories are upgraded in test/node/upgrade.test.ts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderRow } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import { TIF, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import { ByteWriter } from '../../src/storage/byte-writer.ts';
import type { StorageReader } from '../../src/storage/environment.ts';
import { keyWriter, TABLE } from '../../src/storage/key-layout.ts';
import { checkFrame, decodeRow, encodeFrame, encodeRow } from '../../src/storage/row-codecs.ts';
import { UPGRADE_STEPS } from '../../src/storage/upgrade-steps.ts';
import { propertyParameters } from '../support/property.ts';
import { ROW_ARBITRARIES } from '../support/row-arbitraries.ts';

/** Lots in force and dropped, which versions before 7 did not have, stand between these and the rest. */
const HEAD_BYTES = 58 + 61 + 8;
const NEW_BYTES = 16;

function bytesOf6(key: Uint8Array, row: OrderRow): Uint8Array {
  const body = checkFrame(key, encodeRow(new ByteWriter(64), 'order', key, row));
  const ids = Buffer.byteLength(row.orderId) + Buffer.byteLength(row.parentId);
  const head = HEAD_BYTES + ids;
  const to = new ByteWriter(64);
  return encodeFrame(to, key, () => {
    to.raw(body.subarray(1, head));
    to.raw(body.subarray(head + NEW_BYTES));
  });
}

suite('steps of an upgrade', () => {
  test('6 to 7: all that was enabled of a released child is in force, and what one that never rests left is dropped (AMB-29)', () => {
    const step = must(
      UPGRADE_STEPS.find(({ from }) => from === 6),
      'version 6 is upgraded',
    );
    const convert = step.convert({} as StorageReader);
    fc.assert(
      fc.property(ROW_ARBITRARIES.order, (row) => {
        const key = keyWriter().ofMarket(TABLE.openOrder, row.marketIndex, row.orderSequence);
        const value = must(convert({ key, value: bytesOf6(key, row) }, new ByteWriter(64)), 'an order stays');
        const isChild = row.parentSequence !== 0 && row.triggerState === TRIGGER_STATE.live;
        const neverRests = row.tif === TIF.ioc || row.tif === TIF.fok;
        assert.deepEqual(decodeRow('order', key, value), {
          ...row,
          activatedQuantity: isChild ? row.enabledQuantity : 0,
          droppedQuantity: isChild && neverRests ? Math.max(0, row.enabledQuantity - row.filledQuantity) : 0,
        });
      }),
      propertyParameters(200),
    );
  });
});
