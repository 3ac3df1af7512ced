// tier: quick
/** What is kept for readers of sequence numbers: never a hole, never a number twice, never more than the bounds. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../src/core/ids.ts';
import {
  REPLAY_BYTES_MAX,
  REPLAY_FRAMES_MAX,
  REPLAY_IDLE_MS,
  REPLAY_RING_BYTES_MAX,
  REPLAYS_IDLE_MAX,
} from '../../src/core/limits.ts';
import { ReplayRings } from '../../src/http/replay-rings.ts';
import { ALICE, BOB } from '../support/names.ts';

import { propertyParameters } from '../support/property.ts';

const frame = (sequence: number, padding = 0): Uint8Array => Buffer.from(`${sequence}${' '.repeat(padding)}`);
const numbers = (frames: readonly Uint8Array[] | null): number[] | null =>
  frames?.map((bytes) => Number(Buffer.from(bytes).toString())) ?? null;

function tell(rings: ReplayRings, user: UserId, count: number, padding = 0): void {
  const ring = rings.of(user, 'orders');
  for (let told = 0; ring !== undefined && told < count; told += 1) rings.append(ring, frame(ring.next, padding));
}

suite('replay rings', () => {
  test('what is kept is answered from any number in it, one past the last is nothing, all else is unknown', () => {
    const rings = new ReplayRings(0);
    const ring = rings.open(ALICE, 'orders');
    const first = ring.next;
    assert.deepEqual(numbers(ring.since(first)), []);
    assert.equal(ring.since(first + 1), null);
    tell(rings, ALICE, 5);
    assert.deepEqual(numbers(ring.since(first + 3)), [first + 3, first + 4]);
    assert.deepEqual(numbers(ring.since(first))?.length, 5);
    assert.equal(ring.since(first - 1), null);
    assert.equal(rings.of(BOB, 'orders'), undefined);
    assert.equal(rings.of(ALICE, 'trades'), undefined);
  });

  test('a ring keeps so many frames and bytes, the newest', () => {
    const rings = new ReplayRings(0);
    const ring = rings.open(ALICE, 'orders');
    const first = ring.next;
    tell(rings, ALICE, REPLAY_FRAMES_MAX + 10);
    assert.deepEqual(
      [ring.count, ring.since(first + 9), ring.since(first + 10)?.length],
      [REPLAY_FRAMES_MAX, null, REPLAY_FRAMES_MAX],
    );
    tell(rings, ALICE, 100, REPLAY_RING_BYTES_MAX / 10);
    assert.ok(ring.bytes <= REPLAY_RING_BYTES_MAX && ring.count === 9, `${ring.count}`);
    assert.equal(rings.bytes, ring.bytes);
  });

  test('rings without a listener are bounded in number: the one that was left first ends, its numbers never come again', () => {
    const rings = new ReplayRings(0);
    const userOf = (index: number): UserId => index.toString(16).padStart(64, '0') as UserId;
    const left = [];
    for (let index = 0; index < REPLAYS_IDLE_MAX + 10; index += 1) {
      const ring = rings.open(userOf(index), 'orders');
      left.push(ring.next);
      rings.leave(ring, index);
    }
    assert.equal(rings.count, REPLAYS_IDLE_MAX);
    assert.equal(rings.of(userOf(9), 'orders'), undefined);
    assert.notEqual(rings.of(userOf(10), 'orders'), undefined);
    assert.ok(rings.open(userOf(0), 'orders').next > Math.max(...left.slice(0, 10)));
  });

  test('a ring without a listener goes on for a while, then ends, and its numbers never come again', () => {
    const rings = new ReplayRings(0);
    const ring = rings.open(ALICE, 'orders');
    tell(rings, ALICE, 3);
    rings.leave(ring, 1_000);
    tell(rings, ALICE, 3);
    rings.expire(1_000 + REPLAY_IDLE_MS - 1);
    assert.equal(rings.of(ALICE, 'orders'), ring);
    const last = ring.next - 1;
    assert.deepEqual(numbers(ring.since(last)), [last]);
    rings.expire(1_000 + REPLAY_IDLE_MS);
    assert.deepEqual([rings.count, rings.bytes], [0, 0]);
    const anew = rings.open(ALICE, 'orders');
    assert.equal(anew.since(last + 1), null, 'what came between the two is known to nobody');
    assert.ok(anew.next > last + 1);
  });

  test('two listeners share a ring; it is idle when both are gone', () => {
    const rings = new ReplayRings(0);
    const ring = rings.open(ALICE, 'orders');
    assert.equal(rings.open(ALICE, 'orders'), ring);
    rings.leave(ring, 0);
    rings.expire(10 * REPLAY_IDLE_MS);
    assert.equal(rings.count, 1);
    rings.leave(ring, 0);
    rings.expire(10 * REPLAY_IDLE_MS);
    assert.equal(rings.count, 0);
  });

  test('all rings together are bounded: idle ones end first, then a ring loses its own oldest frames', () => {
    const rings = new ReplayRings(0);
    const user = (index: number): UserId => index.toString(16).padStart(64, '0') as UserId;
    const idle = rings.open(user(0), 'orders');
    tell(rings, user(0), 4, REPLAY_RING_BYTES_MAX / 5);
    rings.leave(idle, 0);
    for (let index = 1; rings.bytes + REPLAY_RING_BYTES_MAX < REPLAY_BYTES_MAX; index += 1) {
      rings.open(user(index), 'orders');
      tell(rings, user(index), 4, REPLAY_RING_BYTES_MAX / 5);
    }
    assert.equal(rings.of(user(0), 'orders'), idle);
    rings.open(ALICE, 'orders');
    tell(rings, ALICE, 12, REPLAY_RING_BYTES_MAX / 5);
    assert.equal(rings.of(user(0), 'orders'), undefined, 'the idle one made room');
    rings.open(BOB, 'orders');
    tell(rings, BOB, 12, REPLAY_RING_BYTES_MAX / 5);
    assert.ok(rings.bytes <= REPLAY_BYTES_MAX);
  });

  test('whatever rings do, a reader that goes on at its last number plus one has every frame once, or a notice', () => {
    const step = fc.record({
      act: fc.constantFrom('tell', 'leave', 'come', 'expire', 'restart'),
      count: fc.integer({ min: 0, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let start = 0;
        let rings = new ReplayRings(0);
        let isHere = false;
        let last = 0;
        let hasAll = true;
        let now = 0;
        const enter = (): void => {
          const missed = rings.of(ALICE, 'orders')?.since(last + 1) ?? null;
          if (missed !== null) assert.ok(hasAll, 'a replay is offered only when nothing is missing');
          const ring = rings.open(ALICE, 'orders');
          last = ring.next - 1;
          hasAll = true;
          isHere = true;
        };
        enter();
        for (const { act, count } of steps) {
          if (act === 'come' && !isHere) enter();
          const ring = rings.of(ALICE, 'orders');
          if (act === 'tell') {
            if (ring === undefined && count > 0) hasAll = false;
            tell(rings, ALICE, count);
            if (ring !== undefined && ring.next - 1 - last > REPLAY_FRAMES_MAX) hasAll = isHere;
            if (ring !== undefined && isHere) last = ring.next - 1;
          } else if (act === 'leave' && isHere && ring !== undefined) {
            rings.leave(ring, now);
            isHere = false;
          } else if (act === 'expire') {
            now += count * 1_000;
            rings.expire(now);
          } else if (act === 'restart') {
            start += 1;
            rings = new ReplayRings(start * 1_000_000);
            isHere = false;
            hasAll = false;
          }
        }
      }),
      propertyParameters(100),
    );
  });
});
