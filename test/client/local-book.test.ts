// tier: quick
/** LocalBook against a plain book under random diffs, gaps and replays; LiveBook over a real socket. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { WebSocket } from 'ws';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { LocalBook } from '../../src/client/local-book.ts';
import type { Depth, DepthLevel } from '../../src/client/replies.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import { propertyParameters } from '../support/property.ts';
import { startWireServer } from '../support/wire-server.ts';

/** Raw price to raw quantity: the book that cannot be wrong. */
type PlainSide = Map<number, number>;
interface PlainBook {
  readonly asks: PlainSide;
  readonly bids: PlainSide;
}

interface Change {
  readonly side: 'asks' | 'bids';
  readonly price: number;
  readonly quantity: number;
}

const level = (price: number, quantity: number): DepthLevel => ({
  price: formatRaw(price, 2),
  quantity: formatRaw(quantity, 1),
});

function levelsOf(side: PlainSide, direction: 1 | -1): readonly DepthLevel[] {
  return [...side].sort(([a], [b]) => direction * (a - b)).map(([price, quantity]) => level(price, quantity));
}

function snapshotOf(book: PlainBook, sequenceNumber: number): Depth {
  return { asks: levelsOf(book.asks, 1), bids: levelsOf(book.bids, -1), sequenceNumber };
}

/** Applies the changes to the plain book and returns them as a diff. */
function change(book: PlainBook, changes: readonly Change[], sequenceNumber: number): Depth {
  const diff = { asks: [] as DepthLevel[], bids: [] as DepthLevel[], sequenceNumber };
  for (const { side, price, quantity } of changes) {
    if (quantity === 0) book[side].delete(price);
    else book[side].set(price, quantity);
    diff[side].push(level(price, quantity));
  }
  return diff;
}

const changes = fc.array(
  fc.record({
    side: fc.constantFrom('asks' as const, 'bids' as const),
    price: fc.integer({ min: 1, max: 40 }),
    quantity: fc.integer({ min: 0, max: 5 }),
  }),
  { maxLength: 4 },
);
const steps = fc.array(fc.record({ changes, delivery: fc.constantFrom('once', 'once', 'once', 'twice', 'lost') }), {
  maxLength: 60,
});

suite('local book', () => {
  test('snapshot plus diffs is the book, and a gap is never hidden (MD-03, MD-04)', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 2 ** 40 }), (script, first) => {
        const plain: PlainBook = { asks: new Map(), bids: new Map() };
        const book = new LocalBook();
        book.load(snapshotOf(plain, first));
        let sequence = first;
        for (const step of script) {
          sequence += 1;
          const diff = change(plain, step.changes, sequence);
          if (step.delivery === 'lost') continue;
          const wasNext = book.isCurrent && book.sequenceNumber === sequence - 1;
          const applied = book.apply(diff);
          assert.equal(applied, wasNext ? 'applied' : 'gap');
          if (applied === 'gap') {
            assert.throws(() => book.asks(), RingbookError);
            book.load(snapshotOf(plain, sequence));
          }
          if (step.delivery === 'twice') assert.equal(book.apply(diff), 'ignored');
          assert.deepEqual(book.asks(), levelsOf(plain.asks, 1));
          assert.deepEqual(book.bids(), levelsOf(plain.bids, -1));
        }
      }),
      propertyParameters(),
    );
  });

  test('nothing can be read before the first snapshot', () => {
    const book = new LocalBook();
    assert.equal(book.isCurrent, false);
    assert.equal(book.apply({ asks: [], bids: [], sequenceNumber: 1 }), 'gap');
    assert.throws(() => book.bids(), /RESYNC_REQUIRED/);
  });

  test('prices compare as exact numbers, not as text or doubles', () => {
    const book = new LocalBook();
    const asks = ['10', '9.000000000000000001', '9.000000000000000002', '100'].map((price) => ({
      price,
      quantity: '1',
    }));
    book.load({ asks, bids: [], sequenceNumber: 1 });
    assert.deepEqual(
      book.asks(3).map((ask) => ask.price),
      ['9.000000000000000001', '9.000000000000000002', '10'],
    );
  });
});

suite('live book', () => {
  const depthText = (sequence: number, price: string): string =>
    `{"asks":[[${price},2]],"bids":[],"sequence_number":${sequence}}`;

  test('it subscribes first, and reads a new snapshot after a gap (MD-03, MD-04)', async () => {
    const snapshots = [depthText(5, '100.5'), depthText(9, '100.9')];
    const sent: ((frame: string) => void)[] = [];
    const server = await startWireServer({
      answer: () => ({ body: snapshots.shift() ?? '{}' }),
      socket: (socket) => {
        socket.send('{"type":"subscriptions","channels":[{"name":"marketdepth"}],"errors":[]}');
        sent.push((frame) => socket.send(frame));
      },
    });
    const client = new RingbookClient({ oms: server.base, mds: server.base });
    try {
      const seen: number[] = [];
      let wake = (): void => {};
      const book = await client.liveBook('12', (live) => {
        seen.push(live.sequenceNumber);
        wake();
      });
      const until = async (sequence: number): Promise<void> => {
        while (seen.at(-1) !== sequence) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      };
      assert.equal(server.upgrades[0]?.path, '/marketdepth/diff/12');
      assert.deepEqual(book.asks(), [{ price: '100.5', quantity: '2' }]);
      const send = sent[0] ?? assert.fail('no socket');
      send('{"asks":[],"bids":[],"sequence_number":5}');
      send('{"asks":[[100.5,0],[100.6,1]],"bids":[[99,1]],"sequence_number":6}');
      await until(6);
      assert.deepEqual(book.asks(), [{ price: '100.6', quantity: '1' }]);
      send('{"asks":[],"bids":[],"sequence_number":8}');
      await until(9);
      assert.deepEqual(book.asks(), [{ price: '100.9', quantity: '2' }]);
      assert.deepEqual(seen, [5, 6, 9]);
      assert.equal(book.resyncs, 1);
      book.close();
    } finally {
      client.close();
      await server.close();
    }
  });

  test('without its connection it is not current, whatever ended it, and it is current again afterwards', async () => {
    let isUp = true;
    const sockets: WebSocket[] = [];
    const server = await startWireServer({
      answer: () => (isUp ? { body: depthText(5 + sockets.length, `10${sockets.length}`) } : { status: 503, body: '' }),
      refuse: () => (isUp ? null : { status: 503, body: '' }),
      socket: (socket) => void sockets.push(socket),
    });
    const client = new RingbookClient({ oms: server.base, mds: server.base });
    const until = async (isMet: () => boolean): Promise<void> => {
      while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    try {
      const book = await client.liveBook('12');
      assert.equal(book.asks()[0]?.price, '101');
      isUp = false;
      sockets[0]?.terminate();
      await until(() => !book.isCurrent);
      assert.throws(() => book.asks(), { code: 'RESYNC_REQUIRED', retryable: true });
      isUp = true;
      await until(() => book.isCurrent);
      assert.equal(book.asks()[0]?.price, '102');
      sockets[1]?.send('{"asks":');
      await until(() => !book.isCurrent);
      await until(() => book.isCurrent);
      assert.equal(book.asks()[0]?.price, '103');
      book.close();
      await until(() => sockets[2]?.readyState === sockets[2]?.CLOSED);
      assert.equal(book.asks()[0]?.price, '103');
      assert.equal(sockets.length, 3);
    } finally {
      client.close();
      await server.close();
    }
  });
});
