// tier: quick
/** How much is read in one turn of the event loop, and in which order. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { QUICK_TEXT_BYTES_MAX, READ_PER_TURN } from '../../src/core/limits.ts';
import { ReadyState } from '../../src/http/readiness.ts';
import { laneOf, ReadingTurns } from '../../src/http/reading-turns.ts';
import { propertyParameters } from '../support/property.ts';

/** What was read in each turn of the event loop, by name and bytes. */
class Log {
  readonly turns: { name: number; bytes: number }[][] = [[]];
  alive = 0;
  readonly reading: ReadingTurns = new ReadingTurns(() => {
    this.alive += 1;
  });

  async give(sizes: readonly number[]): Promise<void> {
    sizes.forEach((bytes, name) => {
      this.reading.take(bytes, () => this.turns.at(-1)?.push({ name, bytes }));
    });
    while (this.reading.waiting > 0) {
      this.turns.push([]);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const sum = (texts: readonly { readonly bytes: number }[]): number =>
  texts.reduce((total, { bytes }) => total + bytes, 0);
const sizes = fc.array(
  fc.oneof(fc.integer({ min: 0, max: QUICK_TEXT_BYTES_MAX }), fc.integer({ min: 1, max: 8 * READ_PER_TURN })),
  { maxLength: 60 },
);

suite('reading in turns', () => {
  test('everything is read once, in order within its lane, and no turn reads more than its share and one long text', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, async (given) => {
        const log = new Log();
        await log.give(given);
        const read = log.turns.flat();
        assert.deepEqual(
          read.map(({ name }) => name).sort((a, b) => a - b),
          given.map((_, name) => name),
        );
        for (const lane of ['quick', 'slow']) {
          const names = read.filter(({ bytes }) => laneOf(bytes) === lane).map(({ name }) => name);
          assert.deepEqual(
            names,
            [...names].sort((a, b) => a - b),
          );
        }
        for (const turn of log.turns) {
          const longest = Math.max(0, ...turn.map(({ bytes }) => bytes));
          assert.ok(sum(turn) <= READ_PER_TURN + longest, `${sum(turn)} with ${longest}`);
          assert.ok(turn.filter(({ bytes }) => bytes > READ_PER_TURN).length <= 1, 'two very long texts share no turn');
        }
      }),
      propertyParameters(100),
    );
  });

  test('forty long texts of one moment take forty turns, and the thread sends a heartbeat in each', async () => {
    const log = new Log();
    await log.give(new Array<number>(40).fill(READ_PER_TURN + 1));
    assert.equal(log.turns.filter(({ length }) => length === 1).length, 40);
    assert.ok(log.alive >= 40, `${log.alive}`);
  });

  test('a short text passes the long ones that wait', async () => {
    const log = new Log();
    const long = READ_PER_TURN + 1;
    await log.give([long, long, long, 100]);
    assert.deepEqual(
      log.turns.flat().map(({ name }) => name),
      [0, 3, 1, 2],
    );
  });

  test('what is stopped reads nothing any more', async () => {
    const log = new Log();
    const given = log.give([READ_PER_TURN, READ_PER_TURN, 1]);
    log.reading.stop();
    await given;
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      log.turns.flat().map(({ name }) => name),
      [0],
    );
  });
});

test('an order is overdue after the bound of time that the thread had, and after ten times that by the clock (0037)', () => {
  let [nowMs, withheldMs] = [1_000, 700];
  const times = { nowMs: () => nowMs, idleMs: () => 0, withheldMs: () => withheldMs, close: () => undefined };
  const gate = { isOpen: () => true, waitMsMax: 50 };
  const turns = new ReadingTurns(undefined, times.nowMs, gate, new ReadyState(times));
  try {
    const since = turns.since();
    const after = (had: number, withheld: number): boolean => {
      [nowMs, withheldMs] = [1_000 + had + withheld, 700 + withheld];
      return turns.isOverdue(since);
    };
    assert.deepEqual([after(50, 0), after(51, 0)], [false, true]);
    assert.deepEqual([after(50, 300), after(51, 300)], [false, true]);
    assert.deepEqual([after(10, 490), after(10, 491)], [false, true], 'its prices are old');
  } finally {
    turns.stop();
  }
});
