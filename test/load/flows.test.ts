// tier: quick
/** The messages of a flow are what the node reads, and every reply leads back to its message. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { generateSeed, keyFromSeed } from '../../src/client/keys.ts';
import { systemClock } from '../../src/client/time.ts';
import { type ControlFrame, decodeControlFrame } from '../../src/codec/control-frame.ts';
import { BUYER, type SignedFlow, signFlow } from '../../src/load/flows.ts';
import { BATCH_ORDERS, FLOWS, type Flow, type LoadMarket } from '../../src/load/plan.ts';

const MARKET: LoadMarket = {
  assetId: '900',
  priceDecimals: 2,
  quantityDecimals: 4,
  price: 300_000,
  tick: 1,
  quantity: 10,
  account: 0,
  feeLimit: 0,
};
const MESSAGES = 600;
const KEYS = [keyFromSeed(generateSeed()), keyFromSeed(generateSeed())] as const;

function flowOf(flow: Flow): SignedFlow {
  return signFlow(flow, MESSAGES, MARKET, KEYS, systemClock());
}

function decoded(frame: string): ControlFrame {
  const bytes = Buffer.from(frame);
  return decodeControlFrame(bytes, 0, bytes.length);
}

/** Kind and order id of every action of a frame. */
function actionsIn(frame: ControlFrame): readonly (readonly ['create' | 'replace' | 'cancel', string])[] {
  switch (frame.kind) {
    case 'create':
      return [['create', frame.request.order.orderId]];
    case 'replace':
      return [['replace', frame.request.request.orderId]];
    case 'cancel':
      return [['cancel', frame.request.cancel.orderId]];
    case 'batch-create':
      return frame.batch.items.map((item) => ['create', item.order.orderId] as const);
    default:
      return assert.fail(`the node does not read it: ${JSON.stringify(frame.kind)}`);
  }
}

suite('flows of the load generator', () => {
  for (const flow of FLOWS) {
    test(`${flow}: the node reads every message, and the number of an order leads to the message of each of its actions`, () => {
      const { messages, messagesOf } = flowOf(flow);
      assert.equal(messages.length, MESSAGES);
      let actions = 0;
      for (const [index, { frame, actions: expected }] of messages.entries()) {
        const found = actionsIn(decoded(frame));
        assert.equal(found.length, expected);
        actions += found.length;
        for (const [kind, orderId] of found) {
          assert.match(orderId, /^L[0-9]{8}-[0-9a-z]{6}$/);
          assert.equal(messagesOf[kind][Number(orderId.slice(1, 9))], index);
        }
      }
      assert.equal(actions, flow === 'batches' ? MESSAGES * BATCH_ORDERS : MESSAGES);
    });
  }

  test('crossing flows sell and buy in turn: what the buyer has bought is half of all', () => {
    for (const flow of ['creates', 'margin'] as const) {
      const { messages, bought } = flowOf(flow);
      assert.deepEqual([...new Set(messages.map(({ user }, index) => user === (index % 2 === 0 ? 0 : BUYER)))], [true]);
      assert.equal(bought, (MESSAGES / 2) * MARKET.quantity);
    }
    assert.equal(flowOf('batches').bought, (MESSAGES / 2) * BATCH_ORDERS * MARKET.quantity);
  });

  test('resting flows replace and cancel only what was created before, each order once', () => {
    for (const flow of ['mix', 'replaces'] as const) {
      const { messagesOf, bought } = flowOf(flow);
      assert.equal(bought, 0);
      for (const [order, create] of messagesOf.create.entries()) {
        const replace = messagesOf.replace[order] ?? -1;
        const cancel = messagesOf.cancel[order] ?? -1;
        if (replace >= 0) assert.ok(create >= 0 && replace > create);
        if (cancel >= 0) assert.ok(create >= 0 && cancel > create && (replace < 0 || cancel > replace));
      }
      assert.ok(messagesOf.cancel.filter((message) => message >= 0).length > MESSAGES / 8);
    }
    assert.ok(flowOf('replaces').messagesOf.replace.filter((message) => message >= 0).length > MESSAGES / 8);
  });

  test('a price of the depth stream leads to the newest order that rests there', () => {
    const { messages, restsAt } = flowOf('mix');
    const creates = messages.flatMap(({ frame }) => {
      const read = decoded(frame);
      if (read.kind !== 'create') return [];
      const { details, orderId } = read.request.order;
      return details.kind === 'limit' ? [{ price: details.limitPrice, number: Number(orderId.slice(1, 9)) }] : [];
    });
    assert.ok(creates.length > MESSAGES / 2);
    for (const { price, number } of creates) {
      assert.equal(restsAt(price, number), number);
      assert.equal(restsAt(price, creates.length), number);
      assert.equal(restsAt(price, number - 1), null);
    }
    assert.equal(restsAt(MARKET.price, MESSAGES), null);
    assert.equal(flowOf('creates').restsAt(MARKET.price, MESSAGES), null);
  });
});
