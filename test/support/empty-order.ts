/** The order record with a zero in every field: test orders name only the fields that matter to them. */
import { viewsOf } from '../../src/core/views.ts';
import { OrderRecord, type OrderRecordFields } from '../../src/schema/generated/messages.ts';

export const EMPTY_ORDER: OrderRecordFields = OrderRecord.read(
  viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes),
  0,
);
