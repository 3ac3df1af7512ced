// tier: quick
/** How the node's clock follows a system clock that steps, drifts and lies (MCH-02), from readings that are made up. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  AGREED_AFTER_NS,
  type ClockCorrection,
  type ConfirmedBlock,
  IGNORED_NS,
  STEP_NS_MAX,
  WallFollower,
} from '../../src/runtime/wall-follower.ts';
import { propertyParameters } from '../support/property.ts';

const S = 1_000_000_000n;

/** A node, a system clock and chains; the truth is the monotonic clock. */
class World {
  readonly follower = new WallFollower();
  monotonicNs = 1_000n * S;
  /** System clock − monotonic clock, and the node's. */
  wallOffsetNs = 1_700_000_000n * S;
  nodeNs = this.monotonicNs + this.wallOffsetNs;
  blocks: ConfirmedBlock[] = [];
  chains = 0;
  #slowNs = 0n;

  get differenceNs(): bigint {
    return this.monotonicNs + this.wallOffsetNs - this.nodeNs;
  }

  /** Time passes, and the node's clock as SharedClock lets it. @returns the correction after it. */
  pass(ns: bigint = S): ClockCorrection {
    const beforeNs = this.nodeNs;
    const given = ns / 10n < this.#slowNs ? ns / 10n : this.#slowNs;
    this.monotonicNs += ns;
    this.nodeNs += ns - given;
    const correction = this.follower.look({
      monotonicNs: this.monotonicNs,
      wallNs: this.monotonicNs + this.wallOffsetNs,
      nodeNs: this.nodeNs,
      blocks: this.blocks,
      chains: this.chains,
    });
    this.#slowNs = correction.kind === 'slow' ? correction.ns : 0n;
    if (correction.kind === 'step') this.nodeNs += correction.ns;
    assert.ok(this.nodeNs - beforeNs >= (ns * 9n) / 10n, 'never backwards, a tenth slower at most');
    return correction;
  }

  /** Looks every second. @returns the kinds of the corrections. */
  passAll(seconds: number): readonly string[] {
    return Array.from({ length: seconds }, () => this.pass().kind);
  }

  /** A chain confirms a block every 12 s, 40 s after its time by the true clock, which is `trueOffsetNs`. */
  passWithChain(seconds: number, trueOffsetNs: bigint): readonly string[] {
    this.chains = 1;
    return Array.from({ length: seconds }, () => {
      const trueS = (this.monotonicNs + S + trueOffsetNs) / S;
      const timeS = Number(((trueS - 40n) / 12n) * 12n);
      this.blocks = [{ chain: 'one', timeS }];
      return this.pass().kind;
    });
  }
}

suite('the clock of a node and the system clock (MCH-02)', () => {
  test('a step forward of 30 s, and of 60 s, is followed at once', () => {
    for (const seconds of [1n, 30n, 60n]) {
      const world = new World();
      world.pass();
      world.wallOffsetNs += seconds * S;
      assert.deepEqual(world.pass(), { kind: 'step', ns: seconds * S });
      assert.equal(world.differenceNs, 0n);
      assert.equal(world.pass().kind, 'none');
    }
  });

  test('a larger one is held until readings of 10 s agree, where there is no chain', () => {
    const world = new World();
    world.pass();
    world.wallOffsetNs += 3_600n * S;
    const kinds = world.passAll(12);
    assert.deepEqual(
      kinds.slice(0, 10),
      Array.from({ length: 10 }, () => 'hold'),
    );
    assert.equal(kinds[10], 'step');
    assert.equal(world.differenceNs, 0n);
  });

  test('one that ends before that is never followed', () => {
    const world = new World();
    world.pass();
    world.wallOffsetNs += 86_400n * S;
    world.passAll(9);
    world.wallOffsetNs -= 86_400n * S;
    assert.deepEqual(world.passAll(3), ['none', 'none', 'none']);
  });

  test('a system clock that goes on stepping agrees with nothing', () => {
    const world = new World();
    for (let step = 0; step < 30; step += 1) {
      world.wallOffsetNs += 100n * S;
      assert.equal(world.pass().kind, 'hold');
    }
  });

  test('many small steps are one large one: more than 60 s in an hour are held', () => {
    const world = new World();
    let followed = 0n;
    for (let step = 0; step < 20; step += 1) {
      world.wallOffsetNs += 10n * S;
      const correction = world.pass();
      if (correction.kind === 'step') followed += correction.ns;
    }
    assert.ok(followed <= STEP_NS_MAX, `${followed}`);
    assert.equal(world.pass().kind, 'hold');
  });

  test('where chains are watched their blocks bear it out, or the operator, or it stays held', () => {
    const world = new World();
    const trueOffset = world.wallOffsetNs;
    world.passWithChain(60, trueOffset);
    // The system clock was an hour late from the start, so to say: node and wall are behind what blocks say from here on.
    const late = new World();
    late.passWithChain(60, late.wallOffsetNs);
    late.wallOffsetNs += 3_600n * S;
    const followed = late.passWithChain(30, late.wallOffsetNs);
    assert.ok(followed.includes('step'), followed.join(' '));
    assert.equal(late.differenceNs, 0n);
    // A wrong one: blocks go on as before.
    world.wallOffsetNs += 3_600n * S;
    assert.ok(world.passWithChain(120, trueOffset).every((kind) => kind === 'hold'));
    const held = world.pass();
    assert.ok(held.kind === 'hold' && /blocks of chain one contradict it/.test(held.reason));
    assert.equal(world.follower.accept(), true);
    assert.equal(world.pass().kind, 'step');
    assert.equal(world.differenceNs, 0n);
  });

  test('a chain whose providers are silent bears out nothing', () => {
    const world = new World();
    world.passWithChain(60, world.wallOffsetNs);
    world.wallOffsetNs += 3_600n * S;
    assert.ok(world.passAll(60).every((kind) => kind === 'hold'));
    const held = world.pass();
    assert.ok(held.kind === 'hold' && /no confirmed block has borne it out yet/.test(held.reason));
  });

  test('an operator who accepts nothing that is held changes nothing, and not the next step either', () => {
    const world = new World();
    world.pass();
    assert.equal(world.follower.accept(), false);
    world.wallOffsetNs += 3_600n * S;
    assert.equal(world.pass().kind, 'hold');
  });

  test('backwards it is given back by running a tenth slower', () => {
    const world = new World();
    world.pass();
    world.wallOffsetNs -= 30n * S;
    world.passAll(299);
    assert.ok(world.differenceNs < 0n);
    world.passAll(12);
    assert.ok(world.differenceNs >= -IGNORED_NS, `${world.differenceNs}`);
    assert.equal(world.pass().kind, 'none');
  });

  test('whatever the system clock does, the node never goes back, never jumps by more than it may, and comes to it once it stays', () => {
    const moves = fc.array(fc.tuple(fc.bigInt(-200n, 200n), fc.integer({ min: 1, max: 40 })), { maxLength: 12 });
    fc.assert(
      fc.property(moves, (steps) => {
        const world = new World();
        for (const [seconds, pause] of steps) {
          world.wallOffsetNs += seconds * S;
          for (let count = 0; count < pause; count += 1) {
            const sinceNs = world.monotonicNs;
            const correction = world.pass();
            assert.ok(
              correction.kind !== 'step' || correction.ns <= STEP_NS_MAX || count >= Number(AGREED_AFTER_NS / S) - 1,
            );
            assert.equal(world.monotonicNs - sinceNs, S);
          }
        }
        // 2,400 s behind at most, which takes ten times as long.
        for (let count = 0; count < 24_100; count += 1) world.pass();
        assert.ok(world.differenceNs >= -IGNORED_NS && world.differenceNs <= IGNORED_NS, `${world.differenceNs}`);
      }),
      propertyParameters(10),
    );
  });
});
