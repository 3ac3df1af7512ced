// tier: quick
/** Quote sets of a connection that wait: the newest of a name is read first, and none is lost (QTE-09). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type WaitingSet, WaitingSets } from '../../src/http/waiting-sets.ts';
import { propertyParameters } from '../support/property.ts';

class World {
  readonly sets = new WaitingSets();
  readonly read: string[] = [];
  /** Read and not settled, oldest first. */
  readonly open: { readonly name: string; readonly settled: () => void }[] = [];

  add(name: string): WaitingSet {
    return this.sets.add(name[0] ?? '', (settled) => {
      this.read.push(name);
      this.open.push({ name, settled });
    });
  }
}

suite('quote sets that wait to be read', () => {
  test('QTE-09: the newest is read in the turn of the oldest, which are held until it is settled, and then read in order', () => {
    const world = new World();
    const [a1, b1, a2, a3] = ['a1', 'b1', 'a2', 'a3'].map((name) => world.add(name)) as [
      WaitingSet,
      WaitingSet,
      WaitingSet,
      WaitingSet,
    ];
    world.sets.takeTurn(a1);
    assert.deepEqual(world.read, ['a3']);
    world.sets.takeTurn(b1);
    world.sets.takeTurn(a2);
    assert.deepEqual(world.read, ['a3', 'b1'], 'another name is read, an older one held');
    world.open[0]?.settled();
    world.open[0]?.settled();
    assert.deepEqual(world.read, ['a3', 'b1', 'a1', 'a2']);
    world.sets.takeTurn(a3);
    assert.equal(world.read.length, 4, 'it was read before its turn');
  });

  test('QTE-09: what is newer than the one that is being verified has its own turn', () => {
    const world = new World();
    const [a1] = [world.add('a1'), world.add('a2')];
    world.sets.takeTurn(a1);
    const a3 = world.add('a3');
    world.sets.takeTurn(a3);
    assert.deepEqual(world.read, ['a2', 'a3']);
    world.open[0]?.settled();
    assert.deepEqual(world.read, ['a2', 'a3', 'a1']);
  });

  test('QTE-09: one that is refused for its wait is not read, and what was read is not refused', () => {
    const world = new World();
    const [a1, a2, a3] = [world.add('a1'), world.add('a2'), world.add('a3')];
    assert.equal(world.sets.drop(a1), true);
    world.sets.takeTurn(a1);
    world.sets.takeTurn(a2);
    assert.deepEqual(world.read, ['a3']);
    assert.equal(world.sets.drop(a3), false);
    world.sets.clear();
    world.open[0]?.settled();
    assert.deepEqual(world.read, ['a3'], 'the connection has ended');
  });

  test('QTE-09: every set is read once or refused, a newer one before it only while it waits, whatever comes when', () => {
    const step = fc.constantFrom('add', 'add', 'turn', 'turn', 'refuse', 'settle');
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.constantFrom('a', 'b')), { maxLength: 60 }), (steps) => {
        const world = new World();
        const turns: { readonly name: string; readonly set: WaitingSet }[] = [];
        const added: string[] = [];
        const refused: string[] = [];
        for (const [act, name] of steps) {
          if (act === 'add') {
            added.push(`${name}${added.length}`);
            const full = added.at(-1) ?? '';
            turns.push({ name: full, set: world.add(full) });
          } else if (act === 'settle') world.open.shift()?.settled();
          else {
            const next = turns.shift();
            if (next === undefined) continue;
            if (act === 'turn') world.sets.takeTurn(next.set);
            else if (world.sets.drop(next.set)) refused.push(next.name);
          }
        }
        for (const { set } of turns) world.sets.takeTurn(set);
        while (world.open.length > 0) world.open.shift()?.settled();
        assert.deepEqual([...world.read, ...refused].sort(), [...added].sort(), 'each once');
      }),
      propertyParameters(300),
    );
  });
});
