// tier: full
/** A node on a scripted log: a commit in two halves, following, takeovers, what a kill in each half leaves (cluster.md 6, 7). */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { ActionReply } from '../../src/clearing/inputs.ts';
import { decodeBatch } from '../../src/clearing/journal-batch.ts';
import { ReplicatorEnd } from '../../src/clearing/log-codec.ts';
import { applyRecord } from '../../src/clearing/records.ts';
import type { OpenedJournal } from '../../src/clearing/replicated-log.ts';
import { COMMAND_BYTES_MAX } from '../../src/clearing/replication.ts';
import { liveOrders } from '../../src/clearing/restoring.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { CLEARING, GATEWAY, REPLICATOR } from '../../src/core/actor-names.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { FILL_STATUS, SIDE } from '../../src/core/order-terms.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import type { Views } from '../../src/core/views.ts';
import { DisconnectGroup } from '../../src/gateway/orders/entry/disconnect-group.ts';
import type { Actor, ActorWiring } from '../../src/runtime/actor.ts';
import { keepDropped } from '../../src/storage/dropped-records.ts';
import { decodeStandalone, REPLICATED_RECORD_BYTES_MAX } from '../../src/storage/journal-record.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { readVerifiedMark, writeVerifiedMark } from '../../src/storage/verified-mark.ts';
import { verifyMap } from '../../src/storage/verify-map.ts';
import { auditData, replayData } from '../../src/tools/audit-data.ts';
import type { Asked } from '../support/asked.ts';
import { createRequest } from '../support/order-fixture.ts';
import { ScriptedLog, ScriptedStream } from '../support/scripted-log.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { SIMULATED_USERS, Traders } from '../support/simulated-traders.ts';
import { SeededRandom } from '../support/simulation.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const quiet = (): void => undefined;

/** A process of a node: it ends by being left. */
class Running {
  readonly log: ScriptedLog;
  readonly durability: LmdbDurability;
  readonly node: SimulatedNode;
  readonly directory: string;
  readonly dropped: number[] = [];

  constructor(
    stream: ScriptedStream,
    directory: string,
    seed: number,
    forged: ReadonlySet<string> = new Set(),
    ringBytes: number = 1 << 16,
  ) {
    this.directory = directory;
    this.log = new ScriptedLog(stream);
    this.durability = new LmdbDurability(directory);
    const { log, durability: journal } = this;
    this.node = new SimulatedNode({
      durability: journal,
      replication: { log, journal, dropped: (sequence) => this.dropped.push(sequence) },
      forged,
      startNs: SIMULATION_START_NS,
      seed,
      ringBytes,
    });
  }

  lead(name: string): void {
    this.log.campaign({ node: name, run: `${name}-run`, oms: null, mds: null });
    this.node.settle();
    assert.ok(this.log.isRestored);
  }

  /** Everything that the stream has. */
  follow(): void {
    while (this.log.give() > 0) this.node.drain();
  }

  /** The process is killed: what it has flushed stays. */
  kill(): Promise<void> {
    return this.durability.close();
  }

  /** `market trade` and `maker` or `taker` of each side that was published as Confirmed. */
  confirmed(): readonly string[] {
    return this.node.toldAs(FILL_STATUS.confirmed).map(({ trade: { assetId, tradeId, isMaker } }) => {
      return `${SIMULATED_MARKETS.indexOf(assetId)} ${tradeId} ${isMaker ? 'maker' : 'taker'}`;
    });
  }
}

/** The state after each record of a stream, by one replay. */
function hashesOf({ records }: ScriptedStream): readonly string[] {
  const state = createClearingState();
  return records.map((bytes, index) => {
    applyRecord(state, decodeStandalone(bytes, index + 1), []);
    return stateHash(state);
  });
}

/** Trades of which the stream has the match. */
function matchesOf({ records }: ScriptedStream): ReadonlySet<string> {
  const inputs = records.flatMap((bytes, index) => decodeBatch(decodeStandalone(bytes, index + 1).payload).inputs);
  return new Set(
    inputs.flatMap((input) => (input.kind === 'matched' ? [`${input.marketIndex} ${input.tradeId}`] : [])),
  );
}

function leading(seed: number): { stream: ScriptedStream; leader: Running; traders: Traders } {
  const stream = new ScriptedStream();
  const traders = new Traders(seed);
  const leader = new Running(stream, temporaryDirectory(), seed, traders.forged);
  leader.lead('a');
  prepareMarkets(leader.node);
  return { stream, leader, traders };
}

function act({ node }: Running, traders: Traders): void {
  if (traders.random.below(3) === 0) traders.act(node);
  node.simulation.step();
}

function actUntil(running: Running, traders: Traders, isReached: () => boolean): void {
  for (let step = 0; step < 20_000; step += 1) {
    if (isReached()) return;
    act(running, traders);
  }
  assert.fail('it was never reached');
}

suite('a commit in two halves', () => {
  test('nothing of a record is published, applied or checkpointed before it is stored; then all of it is', async () => {
    const { leader, traders, stream } = leading(7);
    leader.log.isInstant = false;
    let stood = 0;
    let confirmed = 0;
    for (let step = 0; step < 1_000; step += 1) {
      act(leader, traders);
      const { onItsWay } = leader.log;
      if (onItsWay === null) continue;
      const { sequence } = onItsWay;
      leader.node.pollAlone(GATEWAY);
      const published = leader.confirmed().length;
      for (let more = 0; more < 5; more += 1) {
        if (more === 3) assert.ok(leader.log.reach(), 'the stream has it; no answer came');
        act(leader, traders);
      }
      assert.equal(leader.node.applied, sequence - 1);
      assert.equal(leader.confirmed().length, published);
      assert.ok(leader.node.isWorking, 'a node with a record on its way is not at rest');
      assert.ok((leader.durability.recover().checkpoint?.sequence ?? 0) < sequence);
      assert.deepEqual(
        leader.durability.placeAt(sequence as never).hash,
        leader.log.flushes.at(-1)?.hash,
        'it is flushed',
      );
      leader.log.answer();
      leader.node.drain();
      assert.ok(leader.node.applied >= sequence);
      stood += 1;
      if (leader.confirmed().length > published) confirmed += 1;
      if (leader.log.onItsWay !== null) leader.log.answer();
    }
    leader.log.isInstant = true;
    if (leader.log.onItsWay !== null) leader.log.answer();
    leader.node.settleLiquidations();
    assert.equal(leader.node.isWorking, false, 'then it is');
    assert.ok(stood > 50 && confirmed > 10, `${stood} records, ${confirmed} with a fill`);
    const matches = matchesOf(stream);
    for (const side of leader.confirmed()) assert.ok(matches.has(side.split(' ').slice(0, 2).join(' ')), side);
    await leader.kill();
  });

  test('a log that does not answer holds up nothing but what is to be Confirmed, for ever', async () => {
    const { leader, traders, stream } = leading(3);
    leader.log.isInstant = false;
    actUntil(leader, traders, () => leader.log.onItsWay !== null);
    const [begun, records] = [leader.log.begun.length, stream.records.length];
    const published = leader.confirmed().length;
    for (let step = 0; step < 2_000; step += 1) act(leader, traders);
    assert.deepEqual([leader.log.begun.length, stream.records.length], [begun, records], 'one record is on its way');
    assert.equal(leader.confirmed().length, published);
    leader.log.isInstant = true;
    leader.log.answer();
    leader.node.settle();
    assert.ok(stream.records.length > records + 1);
    assert.ok(leader.confirmed().length > published);
    for (const bytes of stream.records) assert.ok(bytes.length <= REPLICATED_RECORD_BYTES_MAX);
    await leader.kill();
  });

  test('where a standby is waited for, effects leave with its report; alive records go on and overtake nothing', async () => {
    const { leader, traders } = leading(11);
    leader.log.waitsForStandby = true;
    let waited = 0;
    for (let step = 0; step < 500; step += 1) {
      act(leader, traders);
      leader.node.poll(CLEARING);
      leader.node.pollAlone(GATEWAY);
      const kinds = leader.log.begun.length;
      const published = leader.confirmed().length;
      const { applied } = leader.node;
      // Whatever was applied by now waits, or no batch has come since the last report.
      for (let more = 0; more < 4; more += 1) act(leader, traders);
      leader.log.aliveMs = 0;
      act(leader, traders);
      leader.log.aliveMs = Number.POSITIVE_INFINITY;
      const later = leader.log.begun.slice(kinds);
      assert.ok(later.filter((kind) => kind === 'batch').length <= 1, 'no second batch is begun');
      assert.equal(leader.confirmed().length, published);
      leader.log.confirm(leader.node.applied);
      leader.node.poll(CLEARING);
      leader.node.poll(GATEWAY);
      assert.ok(leader.node.applied >= applied);
      if (leader.confirmed().length > published) waited += 1;
    }
    assert.ok(waited > 10, `${waited} times`);
    assert.ok(leader.log.begun.includes('alive'));
    await leader.kill();
  });

  test('an alive record is begun when none was for so long: also while everything is sent, and by a node that rests', async () => {
    const { leader } = leading(5);
    leader.node.settle();
    const before = leader.log.begun.length;
    const hash = stateHash(leader.node.clearing.ledger);
    leader.log.aliveMs = 40;
    for (let ms = 0; ms < 400; ms += 10) {
      leader.node.pass(10_000_000n);
      leader.node.drain();
    }
    const alive = leader.log.begun.slice(before);
    assert.ok(alive.length >= 8 && alive.length <= 11, `${alive.length}`);
    assert.ok(alive.every((kind) => kind === 'alive'));
    assert.equal(stateHash(leader.node.clearing.ledger), hash);
    await leader.kill();
  });
});

suite('sizes', () => {
  test('a command that would make a record too large for a stream is refused; a large one that does not is journaled', async () => {
    const stream = new ScriptedStream();
    const leader = new Running(stream, temporaryDirectory(), 98, new Set(), 1 << 21);
    leader.lead('a');
    const prices = Array.from({ length: 500 }, (_, index) => ({ asset_id: `${1_000 + index}`, price: '1' }));
    const name = 'x'.repeat(COMMAND_BYTES_MAX);
    const replies: ActionReply[] = [];
    const asked: readonly Asked[] = [
      { kind: 'renameSubAccount', user: SIMULATED_USERS[0] as UserId, index: 1, name },
      { kind: 'setPrices', body: { prices } },
    ];
    for (const one of asked) void leader.node.errand(one).then((reply) => replies.push(reply));
    leader.node.settle();
    await new Promise(setImmediate);
    assert.deepEqual(
      replies.map((reply) => (reply.ok ? 'ok' : reply.reject.code)),
      ['PAYLOAD_TOO_LARGE', 'ok'],
    );
    for (const bytes of stream.records) assert.ok(bytes.length < COMMAND_BYTES_MAX);
    await leader.kill();
  });
});

suite('a node that follows', () => {
  test('its state is that of the leader after every record, from its first one on and after a start in the middle', async () => {
    const { leader, traders, stream } = leading(21);
    const directory = temporaryDirectory();
    let standby = new Running(stream, directory, 22);
    const [led, followed] = [new Map<number, string>(), new Map<number, string>()];
    for (let step = 0; step < 1_500; step += 1) {
      act(leader, traders);
      led.set(leader.node.applied, stateHash(leader.node.clearing.ledger));
      if (step === 700) {
        await standby.kill();
        standby = new Running(stream, directory, 23);
      }
      if (standby.log.give(1) === 1) {
        standby.node.drain();
        followed.set(standby.node.applied, stateHash(standby.node.clearing.ledger));
      }
    }
    const hashes = hashesOf(stream);
    for (const states of [led, followed]) {
      assert.ok(states.size > 200);
      for (const [sequence, hash] of states)
        if (sequence > 0) assert.equal(hash, hashes[sequence - 1], `record ${sequence}`);
    }
    standby.follow();
    assert.equal(stateHash(standby.node.clearing.ledger), hashes.at(-1));
    assert.deepEqual([standby.node.told.length, standby.node.events.length], [0, 0], 'it publishes nothing');
    for (const [index, bytes] of stream.records.entries())
      assert.deepEqual(standby.durability.placeAt((index + 1) as never).hash, decodeStandalone(bytes, index + 1).hash);
    await Promise.all([leader.kill(), standby.kill()]);
    assert.equal((await auditData(directory, quiet)).stateHash, hashes.at(-1));
    assert.equal((await replayData(directory, null, quiet)).stateHash, hashes.at(-1));
  });

  test('a record that does not follow, and one that was given before, end it', async () => {
    const { leader, stream } = leading(31);
    await leader.kill();
    for (const wrong of [2, 1]) {
      const standby = new Running(stream, temporaryDirectory(), 32);
      standby.log.give(1);
      standby.node.drain();
      standby.log.force({ kind: 'record', sequence: wrong as never, bytes: stream.at(wrong === 1 ? 1 : 3) });
      assert.throws(() => standby.node.drain(), { name: 'InvariantError' });
      await standby.kill();
    }
  });

  test('it takes no input, and answers questions', async () => {
    const { leader, stream } = leading(41);
    await leader.kill();
    const standby = new Running(stream, temporaryDirectory(), 42);
    standby.follow();
    assert.throws(() => standby.node.command({ kind: 'clockMoved' }), /does not lead receives no inputs/);
    await standby.kill();
  });
});

suite('takeovers', () => {
  test('twelve leaders one after the other, each killed anywhere: nothing Confirmed is lost or doubled, all states are equal', async () => {
    const random = new SeededRandom(51);
    const stream = new ScriptedStream();
    const directories = [temporaryDirectory(), temporaryDirectory()];
    const confirmed: string[] = [];
    let dropped = 0;
    let [mine, other] = directories.map((directory, at) => new Running(stream, directory, 60 + at)) as [
      Running,
      Running,
    ];
    for (let round = 0; round < 12; round += 1) {
      const traders = new Traders(70 + round, `r${round}-`);
      mine.lead(`n${round}`);
      if (round === 0) prepareMarkets(mine.node);
      mine.log.isInstant = false;
      for (let step = 0; step < 300; step += 1) {
        act(mine, traders);
        if (mine.log.onItsWay !== null && random.below(3) === 0) mine.log.answer();
        if (random.below(4) === 0 && other.log.give(1 + random.below(3)) > 0) other.node.drain();
      }
      // Its last record is in the stream without an answer, or nowhere but in its own journal.
      actUntil(mine, traders, () => mine.log.onItsWay !== null);
      const isLost = random.below(2) === 0;
      if (!isLost) mine.log.reach();
      confirmed.push(...mine.confirmed());
      await mine.kill();
      other.follow();
      const next = other;
      const campaigned = next.node.applied;
      next.log.campaign({ node: `n${round + 1}`, run: 'takes over', oms: null, mds: null });
      next.node.settle();
      assert.equal(
        decodeBatch(decodeStandalone(stream.at(campaigned + 1), campaigned + 1).payload).inputs[0]?.kind,
        'takeover',
      );
      // The dead one comes back and follows: what it had alone is not in the stream, and is kept beside it.
      other = new Running(stream, mine.directory, 90 + round);
      other.follow();
      assert.equal(other.dropped.length, isLost ? 1 : 0);
      dropped += other.dropped.length;
      assert.equal(stateHash(other.node.clearing.ledger), stateHash(next.node.clearing.ledger));
      assert.equal(other.node.clearing.ledger.leadership.epoch, next.node.clearing.ledger.leadership.epoch);
      // The one that took over hands over to a process of its own directory, which leads the next round.
      next.log.handOver(null);
      next.node.settle();
      await next.kill();
      mine = new Running(stream, next.directory, 110 + round);
      other.follow();
    }
    assert.ok(dropped > 2 && dropped < 12, `${dropped}`);
    const matches = matchesOf(stream);
    assert.equal(new Set(confirmed).size, confirmed.length, 'none is published twice');
    for (const side of confirmed) assert.ok(matches.has(side.split(' ').slice(0, 2).join(' ')), side);
    assert.ok(confirmed.length > 100);
    const hash = hashesOf(stream).at(-1);
    for (const { node } of [mine, other]) assert.equal(stateHash(node.clearing.ledger), hash);
    await Promise.all([mine.kill(), other.kill()]);
    for (const directory of directories) assert.equal((await replayData(directory, null, quiet)).stateHash, hash);
    assert.equal(directories.flatMap((directory) => droppedIn(directory)).length, dropped);
  });

  test('the tail of a kill between flush and stored is not applied before the stream shows it; then once', async () => {
    for (const isThere of [true, false]) {
      const { leader, traders, stream } = leading(81);
      leader.log.isInstant = false;
      actUntil(leader, traders, () => leader.log.onItsWay !== null);
      const sequence = must(leader.log.onItsWay, 'a record').sequence;
      if (isThere) leader.log.reach();
      else stream.append(sequence, stream.at(1));
      const { applied } = leader.node;
      const { checkpoint } = leader.durability.recover();
      assert.ok((checkpoint?.sequence ?? 0) <= applied);
      await leader.kill();
      const again = new Running(stream, leader.directory, 82);
      assert.equal(again.log.journal?.tail?.sequence, sequence);
      assert.equal(again.log.journal?.applied.sequence, sequence - 1);
      assert.equal(again.node.applied, isThere ? sequence : sequence - 1);
      assert.deepEqual(again.dropped, isThere ? [] : [sequence]);
      assert.equal(droppedIn(leader.directory).length, isThere ? 0 : 1);
      if (isThere) assert.equal(stateHash(again.node.clearing.ledger), hashesOf(stream)[sequence - 1]);
      await again.kill();
      // What is known is remembered: the next start asks nothing.
      const third = new Running(stream, leader.directory, 83);
      assert.equal(third.log.journal?.tail, null);
      await third.kill();
    }
  });

  test('what was verified of a record that is dropped counts no more: the one in its place is read', async () => {
    const { leader, traders, stream } = leading(85);
    leader.log.isInstant = false;
    actUntil(leader, traders, () => leader.log.onItsWay !== null);
    await leader.kill();
    writeVerifiedMark(leader.directory, verifyMap(leader.directory, { since: null }).mark);
    const standby = new Running(stream, temporaryDirectory(), 86);
    standby.follow();
    standby.lead('b');
    const back = new Running(stream, leader.directory, 87);
    back.follow();
    assert.equal(back.dropped.length, 1);
    await Promise.all([standby.kill(), back.kill()]);
    assert.equal(
      verifyMap(leader.directory, { since: readVerifiedMark(leader.directory) }).mark.sequence,
      stream.records.length,
    );
  });

  test('a crash between the copy of a dropped record and its removal is made good by the next start', async () => {
    const { leader, traders, stream } = leading(88);
    leader.log.isInstant = false;
    actUntil(leader, traders, () => leader.log.onItsWay !== null);
    const sequence = must(leader.log.onItsWay, 'a record').sequence;
    const bytes = leader.durability.bytesAt(sequence);
    await leader.kill();
    keepDropped(leader.directory, sequence, bytes);
    stream.append(sequence, stream.at(1));
    const back = new Running(stream, leader.directory, 89);
    assert.deepEqual(back.dropped, [sequence]);
    const [name = '', ...others] = droppedIn(leader.directory);
    assert.deepEqual(others, []);
    assert.deepEqual(new Uint8Array(readFileSync(join(leader.directory, 'dropped', name))), bytes);
    await back.kill();
  });

  test('a takeover that the stream refuses leaves nothing, in the journal either; the next one is of the new epoch', async () => {
    const { leader, stream } = leading(91);
    const standby = new Running(stream, temporaryDirectory(), 92);
    standby.follow();
    leader.log.aliveMs = 0;
    leader.node.poll(CLEARING);
    leader.log.aliveMs = Number.POSITIVE_INFINITY;
    const hash = stateHash(standby.node.clearing.ledger);
    standby.log.campaign({ node: 'b', run: 'b', oms: null, mds: null });
    standby.node.drain();
    assert.equal(standby.log.isRestored, false);
    assert.equal(stateHash(standby.node.clearing.ledger), hash);
    assert.equal(standby.durability.lastSequence, standby.node.applied);
    standby.follow();
    standby.lead('b');
    assert.equal(standby.node.clearing.ledger.leadership.epoch, 2);
    await Promise.all([leader.kill(), standby.kill()]);
  });

  test('a handover is the last record of a leader; the next one continues without a jump', async () => {
    const { leader, traders, stream } = leading(95);
    for (let step = 0; step < 600; step += 1) act(leader, traders);
    leader.node.settle();
    const standby = new Running(stream, temporaryDirectory(), 96);
    leader.log.handOver('b');
    leader.node.settle();
    assert.equal(leader.log.begun.at(-1), 'handover');
    const before = leader.node.clearing.ledger.markets.map(({ sequence, lastTradeId }) => [sequence, lastTradeId]);
    leader.log.aliveMs = 0;
    leader.node.settle();
    assert.equal(leader.log.begun.at(-1), 'handover', 'nothing is begun behind it');
    standby.follow();
    standby.lead('b');
    // Orders that expire meanwhile end with an event each.
    for (const [index, { sequence, lastTradeId }] of standby.node.clearing.ledger.markets.entries()) {
      const [last = 0, trade] = before[index] ?? [];
      assert.ok(sequence >= last && sequence < last + 50, `${last} to ${sequence}`);
      assert.equal(lastTradeId, trade);
    }
    await Promise.all([leader.kill(), standby.kill()]);
  });
});

suite('what goes with a leader', () => {
  for (const setting of ['keep', 'cancel'] as const) {
    test(`orders of a connection that cancels on disconnect, and of users with a timer, at a takeover: ${setting}`, async () => {
      const { leader, stream } = leading(101);
      const { node } = leader;
      node.command({ kind: 'putConfig', config: 'settings', key: '', method: 'patch', body: { on_takeover: setting } });
      const [alice, bob, carol] = SIMULATED_USERS as [UserId, UserId, UserId];
      const create = (user: UserId, id: string, group: DisconnectGroup | null): void => {
        const asset = { id: SIMULATED_MARKETS[0] as AssetId, text: SIMULATED_MARKETS[0] as string };
        const wish = { user, id, side: SIDE.buy, price: 190_000, quantity: 10, postSignNs: node.nowNs } as const;
        const request = createRequest(wish, { baseAsset: asset, creationNs: node.nowNs as TimestampNs });
        const origin = { user, connection: 1, isControl: true, group };
        node.gateway.entry.submit({ kind: 'create', request }, origin, (answer) => node.answers.push(answer));
      };
      create(alice, 'plain', null);
      create(alice, 'connected', new DisconnectGroup());
      create(bob, 'timed', null);
      create(carol, 'disarmed', null);
      node.settle();
      assert.deepEqual(
        node.answers.filter(({ refusal }) => refusal !== null),
        [],
      );
      for (const user of [bob, carol]) assert.ok(node.gateway.automaticCancels.cancelAllAfter(user, 60_000).ok);
      node.settle();
      // Answers of clearing are promises.
      await new Promise(setImmediate);
      assert.ok(node.gateway.automaticCancels.cancelAllAfter(carol, 0).ok);
      node.settle();
      const standby = new Running(stream, temporaryDirectory(), 102);
      standby.follow();
      await leader.kill();
      const idsOf = ({ node: of }: Running): readonly string[] =>
        [...liveOrders(of.clearing.ledger)].map(({ row }) => row.orderId).sort();
      assert.deepEqual(idsOf(standby), ['connected', 'disarmed', 'plain', 'timed']);
      standby.lead('b');
      const left = setting === 'keep' ? ['connected', 'disarmed', 'plain', 'timed'] : ['disarmed', 'plain'];
      assert.deepEqual(idsOf(standby), left);
      const open = standby.node.gateway.orders.ordersInMemory;
      assert.equal(open, left.length, 'nothing else was sent to the gateway');
      // An id that is over stays taken.
      assert.equal(stateHash(standby.node.clearing.ledger), hashesOf(stream).at(-1));
      await standby.kill();
    });
  }
});

/** The replicator's thread with a stream in memory: appends are answered at once, records are given while there is room. */
class StreamActor implements Actor {
  readonly name = REPLICATOR;
  readonly end: ReplicatorEnd;
  readonly flushes: number[] = [];
  journal: OpenedJournal | null = null;
  lastBytes: Uint8Array | null = null;
  isRestored = false;
  follows = false;
  #next = 0;
  readonly #stream: ScriptedStream;

  constructor(stream: ScriptedStream, wiring: ActorWiring) {
    this.#stream = stream;
    this.end = new ReplicatorEnd(wiring.publication(CLEARING), {
      opened: (journal, lastBytes) => {
        this.journal = journal;
        this.lastBytes = lastBytes;
        this.#next = journal.applied.sequence + 1;
        const { tail } = journal;
        if (tail === null) return;
        const isThere = stream.append(tail.sequence, tail.bytes);
        this.end.give({ kind: isThere ? 'tailStored' : 'tailDropped' });
        if (isThere) this.#next += 1;
      },
      hashed: () => assert.fail('no hash is asked for'),
      begin: ({ sequence, bytes }) => {
        assert.ok(stream.append(sequence, bytes));
        this.#next = sequence + 1;
        this.end.give({ kind: 'stored', sequence });
      },
      flushed: ({ sequence, hash }) => {
        assert.deepEqual(hash, decodeStandalone(stream.at(sequence), sequence).hash);
        this.flushes.push(sequence);
      },
      restored: () => {
        this.isRestored = true;
      },
    });
  }

  start(): void {}
  stop(): void {}

  ready(): boolean {
    return true;
  }

  handle(_channel: number, typeId: number, views: Views, at: number): void {
    this.end.receive(typeId, views, at);
  }

  endBatch(): void {
    this.end.flush();
    while (this.follows && this.end.hasRoom && this.#next <= this.#stream.records.length) {
      this.end.give({ kind: 'record', sequence: this.#next as Sequence, bytes: this.#stream.at(this.#next) });
      this.#next += 1;
    }
  }

  tick(): void {}
}

suite('the seam over rings', () => {
  function running(stream: ScriptedStream, directory: string, seed: number, forged: ReadonlySet<string> = new Set()) {
    const journal = new LmdbDurability(directory);
    const made: { actor?: StreamActor } = {};
    const actor = (wiring: ActorWiring): StreamActor => {
      made.actor = new StreamActor(stream, wiring);
      return made.actor;
    };
    const node = new SimulatedNode({
      ...{ durability: journal, replicator: { journal, actor }, forged, startNs: SIMULATION_START_NS, seed },
    });
    return { node, journal, actor: must(made.actor, 'the actor was made') };
  }

  test('a leader, a node that follows through a small ring, a takeover, a start with a tail: all over messages', async () => {
    const stream = new ScriptedStream();
    const traders = new Traders(7);
    const [first, second] = [temporaryDirectory(), temporaryDirectory()];
    const leader = running(stream, first, 1, traders.forged);
    assert.deepEqual(leader.actor.journal?.applied, { sequence: 0, hash: new Uint8Array(32) });
    leader.actor.end.give({ kind: 'campaign', node: 'a', run: 'a', oms: null, mds: null });
    leader.node.settle();
    assert.ok(leader.actor.isRestored);
    prepareMarkets(leader.node);
    for (let step = 0; step < 1_500; step += 1) {
      if (traders.random.below(3) === 0) traders.act(leader.node);
      leader.node.simulation.step();
    }
    leader.node.settle();
    assert.equal(leader.actor.flushes.length, stream.records.length);
    assert.ok(leader.node.toldAs(FILL_STATUS.confirmed).length > 20);
    await leader.journal.close();

    const standby = running(stream, second, 2, traders.forged);
    standby.actor.follows = true;
    standby.node.settle();
    const hashes = hashesOf(stream);
    assert.equal(stateHash(standby.node.clearing.ledger), hashes.at(-1));
    standby.actor.end.give({ kind: 'campaign', node: 'b', run: 'b', oms: null, mds: null });
    standby.node.settle();
    assert.ok(standby.actor.isRestored);
    const last = stream.records.length;
    await standby.journal.close();

    // The first one has a record that no stream has; what it knows of its last one comes with its bytes.
    const journal = new LmdbDurability(first);
    const { timeNs } = decodeBatch(decodeStandalone(stream.at(last), last).payload);
    journal.appendSealed(journal.seal(timeNs, new Uint8Array(16), 1), false);
    await journal.close();
    const back = running(stream, first, 3);
    back.actor.follows = true;
    back.node.settle();
    assert.equal(droppedIn(first).length, 1);
    const { applied } = must(back.actor.journal, 'it was opened');
    assert.deepEqual(back.actor.lastBytes, stream.at(applied.sequence));
    assert.equal(stateHash(back.node.clearing.ledger), hashesOf(stream).at(-1));
    await back.journal.close();
  });
});

function droppedIn(directory: string): readonly string[] {
  const home = join(directory, 'dropped');
  return existsSync(home) ? readdirSync(home) : [];
}
