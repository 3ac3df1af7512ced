// tier: quick
/** Positions and stops of EVM chains as rows (cluster.md 8, AMB-74): what a step does, on every node and over a restart at any point. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  type CursorStep,
  type EventCursor,
  freshCursor,
  STEP_EVENTS_MAX,
  STEP_RANGES_MAX,
  stepped,
} from '../../../src/clearing/funds/chain-cursor.ts';
import type { CursorPage } from '../../../src/clearing/funds/chain-cursors.ts';
import type { CursorKind } from '../../../src/clearing/rows.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import type { ChainId } from '../../../src/core/ids.ts';
import { SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { CHAINS, ChainsWorld, tokenOn } from '../../support/chains-world.ts';
import { acceptedValue, codeOf, PlainTables, reply } from '../../support/clearing-world.ts';
import { ALICE } from '../../support/names.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';

const [ONE] = CHAINS as [ChainId];
const VAULT = '0d'.repeat(20);
const VALIDITY_S = 3_600;

function hashOf(block: number, fork = 0): string {
  return `${fork}${block}`.padStart(64, '0');
}

function eventOf(counter: number): string {
  return `${ALICE}/${counter}/${tokenOn(0)}/7`;
}

function begin(vault: string = VAULT, cursor: Partial<EventCursor> = {}): CursorStep {
  return { kind: 'begin', cursor: { ...freshCursor(vault), anchors: [{ number: 0, hash: hashOf(0) }], ...cursor } };
}

/** What is the same on every node: the order within a block is that of no fact. */
function sorted(cursor: EventCursor | null): EventCursor | null {
  const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return cursor && { ...cursor, recent: [...cursor.recent].sort(byText), missing: [...cursor.missing].sort(byText) };
}

class CursorWorld extends ChainsWorld {
  static override opened(): CursorWorld {
    const world = new CursorWorld();
    Object.assign(world, ChainsWorld.opened(1));
    return world;
  }

  step(
    step: CursorStep,
    event: CursorKind = 'deposit',
    revision = this.revision(event),
  ): Readonly<Record<string, unknown>> {
    return acceptedValue(reply(this.send(this.input(step, event, revision))));
  }

  input(step: CursorStep, event: CursorKind, revision: number) {
    return { kind: 'chainStep' as const, request: this.request(), chainId: ONE, event, revision, step };
  }

  revision(event: CursorKind): number {
    return this.state.chainCursors.revision({ chainId: ONE, event });
  }

  cursor(event: CursorKind = 'deposit'): EventCursor | null {
    return this.state.chainCursors.find({ chainId: ONE, event });
  }

  /** As the thread of EVM chains loads it. */
  paged(event: CursorKind): EventCursor | null {
    let found: EventCursor | null = null;
    for (let from: number | null = 0; from !== null; ) {
      const page: CursorPage | null = this.state.chainCursors.page({ chainId: ONE, event }, from);
      if (page === null) return null;
      const before: EventCursor = found ?? page.cursor;
      const recent = [...before.recent, ...page.recent];
      found = { ...page.cursor, recent, missing: [...before.missing, ...page.missing] };
      from = page.next;
    }
    return found;
  }
}

/** The next step of a history, drawn from a number. */
function drawn(cursor: EventCursor, pick: number, made: number): CursorStep {
  const next = cursor.nextBlock;
  const span = 1 + (pick % 3);
  const ends = Array.from({ length: span }, (_, at) => ({ number: next + at, hash: hashOf(next + at, made % 10) }));
  const booked = Array.from({ length: pick % 4 }, (_, at) => {
    // Some of what is missing comes again.
    const back = cursor.missing[at]?.what;
    return { block: next + span - 1, what: pick % 2 === 0 && back !== undefined ? back : eventOf(made * 10 + at) };
  });
  const anchors = cursor.anchors;
  const anchor = anchors[pick % Math.max(anchors.length, 1)] ?? { number: 0, hash: hashOf(0) };
  switch (pick % 11) {
    case 0:
      return { kind: 'stop', stopped: { reason: 'reorg', block: anchor.number - 1, deposits: cursor.recent.length } };
    case 1:
      return { kind: 'resume', same: anchor };
    case 2:
    case 3:
      return {
        kind: 'rewind',
        to: { number: anchor.number, hash: pick % 2 === 0 ? anchor.hash : hashOf(anchor.number, 9) },
      };
    case 4:
      return { kind: 'join', late: booked.map(({ what }, at) => ({ block: Math.max(next - 1 - at, 0), what })) };
    case 5: {
      const events = [...cursor.recent, ...cursor.missing].filter((_, at) => at % 2 === 0).map(({ what }) => what);
      return { kind: 'forget', behind: anchor.number, events };
    }
    case 6:
      return pick % 77 === 6
        ? begin('ab'.repeat(20))
        : { kind: 'advance', ends: ends.slice(0, 1), booked: [], until: 0 };
    default:
      return { kind: 'advance', ends, booked, until: 0 };
  }
}

suite('cursors of EVM chains as rows (cluster.md 8)', () => {
  test('property: rows are the cursor behind every step, and a node that restarts anywhere has the same hash and positions (AMB-74)', () => {
    const kinds = ['deposit', 'settlement'] as const;
    fc.assert(
      fc.property(storyOf(kinds, [10, 120]), (story) => {
        const [steady, restarting] = [CursorWorld.opened(), CursorWorld.opened()];
        const tables = new PlainTables();
        const plain = new Map<CursorKind, EventCursor>();
        for (const [made, [step, pick]] of story.entries()) {
          const event = kinds[step] ?? 'deposit';
          const before = plain.get(event);
          const drawnStep = before === undefined ? begin() : drawn(before, pick, made);
          const replies = [steady, restarting].map((world) => {
            world.nowNs = (world.nowNs + SECOND_NS) as TimestampNs;
            return world.step(drawnStep, event);
          });
          assert.deepEqual(replies[0], replies[1]);
          const until = Number(replies[0]?.['until']);
          const kept = drawnStep.kind === 'advance' ? { ...drawnStep, until } : drawnStep;
          plain.set(event, stepped(before ?? freshCursor(VAULT), kept));
          if (pick % 3 === 0) tables.checkpoint(restarting.state);
          if (pick % 6 === 0) restarting.state = tables.load();
          for (const world of [steady, restarting]) {
            assert.deepEqual(sorted(world.paged(event)), sorted(plain.get(event) ?? null));
          }
          assert.equal(stateHash(restarting.state), stateHash(steady.state));
        }
        tables.checkpoint(restarting.state);
        assert.equal(stateHash(tables.load()), stateHash(steady.state));
      }),
      propertyParameters(60),
    );
  });

  test('AMB-74: a stop is kept over a restart, until a resumption', () => {
    const world = CursorWorld.opened();
    world.step(begin());
    world.step({ kind: 'stop', stopped: { reason: 'gap', block: -1, deposits: 2 } });
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.state = tables.load();
    assert.deepEqual(world.cursor()?.stopped, { reason: 'gap', block: -1, deposits: 2 });
    world.step({ kind: 'resume', same: { number: 0, hash: hashOf(0) } });
    assert.equal(world.cursor()?.stopped, null);
  });

  test('a step of a cursor that another one has moved changes nothing', () => {
    const world = CursorWorld.opened();
    world.step(begin());
    const hash = stateHash(world.state);
    for (const revision of [0, 2]) assert.deepEqual(world.step(begin(), 'deposit', revision), { result: 'moved' });
    assert.deepEqual(world.step({ kind: 'rewind', to: { number: 0, hash: hashOf(0) } }, 'forced', 1), {
      result: 'moved',
    });
    assert.equal(stateHash(world.state), hash);
  });

  test('a missing settlement is waited for until every approval has ended by the time of records, whatever the clock of the chain', () => {
    const world = CursorWorld.opened();
    const second = Number(world.nowNs / SECOND_NS);
    for (const [until, expected] of [
      [5, second + VALIDITY_S],
      [second + 2 * VALIDITY_S, second + 2 * VALIDITY_S],
    ] as const) {
      const cursor = { missing: [{ what: eventOf(1), until: 0 }] };
      world.step(begin(VAULT, cursor), 'settlement');
      const step: CursorStep = { kind: 'advance', ends: [{ number: 3, hash: hashOf(3) }], booked: [], until };
      assert.equal(world.step(step, 'settlement')['until'], expected);
      assert.deepEqual(world.cursor('settlement')?.missing, [{ what: eventOf(1), until: expected }]);
    }
    world.step(begin(VAULT, { missing: [{ what: eventOf(1), until: 0 }] }));
    world.step({ kind: 'advance', ends: [{ number: 3, hash: hashOf(3) }], booked: [], until: 0 });
    assert.equal(world.cursor()?.missing[0]?.until, 0, 'a deposit has no approval');
  });

  test('what is no step is refused, and changes nothing', () => {
    const world = CursorWorld.opened();
    world.step(begin());
    const hash = stateHash(world.state);
    const many = Array.from({ length: STEP_EVENTS_MAX + 1 }, (_, at) => ({ block: 1, what: eventOf(at) }));
    const anchor = { number: 1, hash: hashOf(1) };
    const bad: readonly CursorStep[] = [
      { kind: 'join', late: many },
      { kind: 'advance', ends: [anchor], booked: many, until: 0 },
      { kind: 'advance', ends: Array(STEP_RANGES_MAX + 1).fill(anchor), booked: [], until: 0 },
      { kind: 'advance', ends: [anchor], booked: [], until: -1 },
      { kind: 'forget', behind: 0, events: ['anything'] },
      { kind: 'rewind', to: { number: -1, hash: hashOf(1) } },
      { kind: 'resume', same: { number: 1, hash: 'short' } },
      { kind: 'stop', stopped: { reason: 'other' as 'gap', block: 1, deposits: 1 } },
      begin('no vault'),
      begin(VAULT, { recent: many }),
    ];
    for (const step of bad) {
      assert.equal(codeOf(reply(world.send(world.input(step, 'deposit', 1)))), 'INVALID_REQUEST', step.kind);
    }
    assert.equal(codeOf(reply(world.send(world.input(bad[5] as CursorStep, 'forced', 0)))), 'INVALID_REQUEST');
    const elsewhere = { ...world.input(begin(), 'deposit', 0), chainId: 'ff'.repeat(9) as ChainId };
    assert.equal(codeOf(reply(world.send(elsewhere))), 'CHAIN_NOT_FOUND');
    assert.equal(stateHash(world.state), hash);
  });

  test('a cursor of another vault takes the place of the one before, with nothing of it', () => {
    const world = CursorWorld.opened();
    world.step(begin(VAULT, { recent: [{ block: 1, what: eventOf(1) }], missing: [{ what: eventOf(2), until: 0 }] }));
    world.step(begin('ab'.repeat(20)));
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.deepEqual(tables.load().chainCursors.find({ chainId: ONE, event: 'deposit' }), world.cursor());
    assert.deepEqual([world.cursor()?.recent, world.cursor()?.missing], [[], []]);
  });
});
