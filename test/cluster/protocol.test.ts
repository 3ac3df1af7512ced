// tier: quick
/** The sentences of cluster.md 5 to 7, one test each; what happens in every state stands in transitions.test.ts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isLeaseOver, leaseEndNs, silenceNs } from '../../src/cluster/lease.ts';
import { LEASE_MS, PlainJournal, ProtocolPlayer } from './protocol-player.ts';

const MS = 1_000_000n;

/** Ten seconds of reads with this end. */
function readsOf(player: ProtocolPlayer, end: number, refusedWith: number | null): void {
  for (let read = 0; read < 12 && player.state !== 'ended'; read += 1) {
    player.pass(1_000).tick().give({ kind: 'info', first: 1, end }).serveGets(end);
    if (refusedWith !== null && player.count('append') > 0) player.answer({ kind: 'refused', end: refusedWith });
  }
}

suite('lease (cluster.md 7.2)', () => {
  const sent = { monotonicNs: 5n, wallNs: 1_000n };

  test('it ends 0.9 × leaseMs after the sending, in whole nanoseconds', () => {
    assert.equal(leaseEndNs(sent, 1_500), 5n + 1_350n * MS);
    assert.equal(isLeaseOver(sent, { monotonicNs: 4n + 1_350n * MS, wallNs: 999n + 1_350n * MS }, 1_500), false);
    assert.equal(isLeaseOver(sent, { monotonicNs: 5n + 1_350n * MS, wallNs: 1_000n + 1_350n * MS }, 1_500), true);
    assert.equal(isLeaseOver(null, sent, 1_500), true);
  });

  test('it is over when the wall clock ran 100 ms or more further: a suspended guest', () => {
    assert.equal(isLeaseOver(sent, { monotonicNs: 6n, wallNs: 1_000n + 100n * MS }, 1_500), false);
    assert.equal(isLeaseOver(sent, { monotonicNs: 5n, wallNs: 1_000n + 100n * MS }, 1_500), true);
    assert.equal(isLeaseOver(sent, { monotonicNs: 5n, wallNs: 0n }, 1_500), false);
  });

  test('with clocks whose rates differ by less than a tenth it is over before a silence is', () => {
    for (const leaseMs of [500, 1_500, 30_000]) {
      const leaseNs = leaseEndNs({ monotonicNs: 0n, wallNs: 0n }, leaseMs);
      // The lease by a clock at 1000, the silence by one at 1099.
      assert.ok(leaseNs * 1_099n < silenceNs(leaseMs, 0) * 1_000n);
    }
    assert.equal(silenceNs(1_500, 3) - silenceNs(1_500, 0), 300n * MS);
  });
});

suite('when a record is stored (cluster.md 6)', () => {
  test('acknowledged and not shown: it is read, and stored when its own bytes are there', () => {
    const player = ProtocolPlayer.in('leading');
    const bytes = player.begin('batch');
    player.answer({ kind: 'stored', sequence: 5 });
    assert.equal(player.count('stored'), 0);
    player.pass(6).tick();
    assert.deepEqual(player.effects.at(-1), { kind: 'get', from: 5 });
    player.give({ kind: 'got', messages: [] });
    assert.equal(player.count('stored'), 0);
    player
      .pass(26)
      .tick()
      .give({ kind: 'got', messages: [{ sequence: 5, bytes, dataVersion: '16' }] });
    assert.deepEqual(
      player.effects.find(({ kind }) => kind === 'stored'),
      { kind: 'stored', sequence: 5 },
    );
  });

  test('shown before its answer: it is stored once, when the answer has come', () => {
    const player = ProtocolPlayer.in('leading');
    const bytes = player.begin('batch');
    player.hearBytes(5, bytes);
    assert.equal(player.count('stored'), 0);
    player.answer({ kind: 'stored', sequence: 5 }).hearBytes(5, bytes);
    assert.equal(player.count('stored'), 1);
    assert.equal(player.count('record'), 0);
  });

  test('acknowledged, and other bytes at its sequence: ended 75, and no answer counts afterwards', () => {
    const player = ProtocolPlayer.in('leading');
    player.begin('batch');
    player.answer({ kind: 'stored', sequence: 5 });
    player.hearBytes(5, player.journal.make({ note: 'of another' }));
    assert.equal(player.ending, '75 OVER');
    const { attempt } = player.appended;
    player.forget().give({ kind: 'answer', attempt, answer: { kind: 'stored', sequence: 5 } });
    assert.deepEqual(player.effects, []);
  });

  test('acknowledged with another sequence than the record has: ended', () => {
    const player = ProtocolPlayer.in('leading');
    player.begin('batch');
    assert.equal(player.answer({ kind: 'stored', sequence: 6 }).ending, '75 DIVERGED');
  });

  test('after a time-out the same bytes are appended again, until the answer is known', () => {
    const player = ProtocolPlayer.in('leading');
    const bytes = player.begin('batch');
    for (let time = 0; time < 3; time += 1) {
      player.answer({ kind: 'unknown' }).forget().pass(26).tick();
      assert.deepEqual([player.appended.sequence, player.appended.expectedEnd], [5, 4]);
      assert.deepEqual(player.appended.bytes, bytes);
    }
    player.store();
    assert.equal(player.count('stored'), 1);
  });

  test('an answer of an earlier attempt does not count', () => {
    const player = ProtocolPlayer.in('leading');
    player.begin('batch');
    const { attempt } = player.appended;
    player.answer({ kind: 'unknown' }).pass(26).tick();
    const bytes = player.appended.bytes;
    player.give({ kind: 'answer', attempt, answer: { kind: 'stored', sequence: 5 } }).hearBytes(5, bytes);
    assert.equal(player.count('stored'), 0);
    assert.equal(player.answer({ kind: 'stored', sequence: 5 }).count('stored'), 1);
  });

  test('refused, with the own bytes there: stored', () => {
    const player = ProtocolPlayer.in('leading');
    const bytes = player.begin('batch');
    player.answer({ kind: 'refused', end: 5 });
    assert.deepEqual(player.effects.at(-1), { kind: 'get', from: 5 });
    player.give({ kind: 'got', messages: [{ sequence: 5, bytes, dataVersion: '16' }] });
    assert.equal(player.count('stored'), 1);
  });

  test('refused, with nothing readable there: sent again, and after 10 s of it the node ends and starts again', () => {
    const player = ProtocolPlayer.in('leading');
    player.begin('batch');
    for (let time = 0; time < 20 && player.state !== 'ended'; time += 1) {
      player.answer({ kind: 'refused', end: 2 }).pass(1_000).tick();
    }
    assert.equal(player.ending, '70 STREAM_LOST_RECORDS');
  });

  test('an own takeover is told by its bytes: one of the own name from another run is another node’s', () => {
    const player = ProtocolPlayer.in('campaigning');
    player.begin('takeover', { takeover: { node: 'a', run: 'a1' } });
    player.journal.add({ takeover: { node: 'a', run: 'a0' } });
    player.hear(4);
    assert.equal(player.state, 'following');
    assert.deepEqual(
      player.kinds().filter((kind) => ['refused', 'record'].includes(kind)),
      ['refused', 'record'],
    );
  });

  test('the chain, the epoch and the data version of every record are compared', () => {
    const wrong: [string, (player: ProtocolPlayer) => void][] = [
      ['chain', (player) => player.hearBytes(4, otherChain().make())],
      ['an epoch that rises without a takeover', (player) => player.hearBytes(4, player.journal.make({}, 2))],
      ['an epoch that falls', (player) => player.hearBytes(4, player.journal.make({}, 0))],
      [
        'a takeover that skips an epoch',
        (player) => player.hearBytes(4, player.journal.make({ takeover: { node: 'b', run: 'x' } }, 3)),
      ],
      ['data version', (player) => player.hearBytes(4, player.journal.make(), '14')],
      ['another sequence inside', (player) => player.hearBytes(4, player.journal.records[2] ?? new Uint8Array())],
      ['damage', (player) => player.hearBytes(4, player.journal.make().slice(1))],
      ['other bytes at a known sequence', (player) => player.hearBytes(3, otherChain().make())],
    ];
    for (const [what, hear] of wrong) {
      const player = ProtocolPlayer.in('following');
      hear(player);
      assert.equal(player.ending, '78 DIVERGED', what);
    }
  });

  test('nothing but a takeover follows a handover', () => {
    const player = ProtocolPlayer.in('following');
    player.journal.add({ handover: { to: 'c' } });
    player.hear(4);
    player.journal.add();
    assert.equal(player.hear(5).ending, '78 DIVERGED');
  });

  test('a record that comes twice, and one that comes late, is given once', () => {
    const player = ProtocolPlayer.in('following');
    player.journal.add();
    player.journal.add();
    player.hear(4).hear(4).hear(5).hear(4);
    assert.equal(player.count('record'), 2);
  });

  test('a gap is read, in one get at a time', () => {
    const player = ProtocolPlayer.in('following');
    for (let more = 0; more < 3; more += 1) player.journal.add();
    player.hear(6).hear(5);
    assert.deepEqual(
      player.effects.filter(({ kind }) => kind === 'get'),
      [{ kind: 'get', from: 4 }],
    );
    assert.equal(player.serveGets().count('record'), 3);
    assert.equal(player.protocol.sequence, 6);
  });
});

suite('Confirmed with a standby (cluster.md 6)', () => {
  const standby = { standby: true };

  test('a batch waits for a report with its sequence and its hash', () => {
    const player = ProtocolPlayer.in('leading', standby);
    const bytes = player.begin('batch');
    player.store();
    assert.deepEqual([player.count('stored'), player.count('confirmed')], [1, 0]);
    player.give({ kind: 'report', report: { node: 'b', sequence: 5, hash: new Uint8Array(32), rank: 0 } });
    player.give({ kind: 'report', report: { node: 'a', sequence: 5, hash: bytes.slice(-32), rank: 0 } });
    assert.equal(player.count('confirmed'), 0);
    player.give({ kind: 'report', report: { node: 'b', sequence: 5, hash: bytes.slice(-32), rank: 0 } });
    assert.equal(player.count('confirmed'), 1);
  });

  test('a report that comes before the record is stored counts when it is', () => {
    const player = ProtocolPlayer.in('leading', standby);
    const bytes = player.begin('batch');
    player.give({ kind: 'report', report: { node: 'b', sequence: 5, hash: bytes.slice(-32), rank: 0 } });
    assert.equal(player.count('confirmed'), 0);
    assert.equal(player.store().count('confirmed'), 1);
  });

  test('when the last standby dies the leader is stalled after 0.9 × leaseMs and alive records go on; a report releases it', () => {
    const player = ProtocolPlayer.in('leading', standby);
    player.begin('batch');
    player.store();
    for (let third = 0; third < 3; third += 1) {
      player.pass(500).tick();
      player.begin('alive');
      player.store();
    }
    assert.equal(player.state, 'stalled');
    const hash = player.journal.hash;
    player.give({ kind: 'report', report: { node: 'b', sequence: 8, hash, rank: 0 } });
    assert.equal(player.state, 'leading');
    assert.equal(player.count('confirmed'), 1);
  });

  test('takeover and alive records never wait', () => {
    const player = ProtocolPlayer.in('restoring', standby);
    player.begin('alive');
    player.store();
    player.pass(500).give({ kind: 'ready' });
    assert.equal(player.state, 'leading');
    player.begin('alive');
    player.store().pass(600).tick();
    assert.equal(player.state, 'leading');
  });

  test('when the operator takes the standby out of confirm, what waits is released', () => {
    const player = ProtocolPlayer.in('leading', standby);
    player.begin('batch');
    player.store().give({ kind: 'confirm', standby: false });
    assert.equal(player.count('confirmed'), 1);
    assert.equal(player.protocol.waitsForStandby, false);
  });
});

suite('lease and silence of a node (cluster.md 7.2, 7.3)', () => {
  test('sending the same bytes again renews nothing beyond the first sending', () => {
    const player = ProtocolPlayer.in('leading');
    player.begin('batch');
    player.answer({ kind: 'unknown' }).pass(1_000).tick();
    assert.equal(player.state, 'leading');
    player.pass(300).store();
    assert.equal(player.state, 'leading');
    player.pass(51).tick();
    assert.equal(player.state, 'stalled');
  });

  test('stored too late for its own lease: stalled, until a record is stored in time', () => {
    const player = ProtocolPlayer.in('leading');
    player.begin('batch');
    player.pass(1_400).store();
    assert.equal(player.state, 'stalled');
    player.begin('alive');
    player.pass(5).store();
    assert.equal(player.state, 'leading');
  });

  test('a process that was stopped is stalled before it does anything with what it finds', () => {
    const player = ProtocolPlayer.in('leading');
    assert.ok(player.protocol.isServing({ monotonicNs: player.nowNs, wallNs: player.nowNs }));
    player.pass(2_000).give({ kind: 'report', report: { node: 'b', sequence: 4, hash: player.journal.hash, rank: 0 } });
    assert.deepEqual(player.effects[0], { kind: 'state', state: 'stalled', epoch: 2, sequence: 4 });
  });

  test('a guest that was suspended is stalled by its wall clock', () => {
    const player = ProtocolPlayer.in('leading');
    player.wallAheadNs = 100n * MS;
    assert.equal(player.tick().state, 'stalled');
  });

  test('silence counts from the receipt, and only while the stream answers', () => {
    const player = ProtocolPlayer.in('following');
    player.journal.add();
    player.pass(1_400).hear(4).passSilence(1_499);
    assert.equal(player.state, 'following');
    player.give({ kind: 'infoFailed' }).pass(5_000).tick().give({ kind: 'info', first: 1, end: 4 });
    assert.equal(player.state, 'following');
    player.passSilence(LEASE_MS);
    assert.equal(player.state, 'campaigning');
  });

  test('an answer to a question that was asked before the silence was over starts no campaign', () => {
    const player = ProtocolPlayer.in('following');
    player.pass(1_400).tick().pass(200).give({ kind: 'info', first: 1, end: 3 });
    assert.equal(player.state, 'following');
  });

  test('without room for one largest record in the stream silence does not count: with room again it counts from there', () => {
    const player = ProtocolPlayer.in('following');
    for (let times = 0; times < 5; times += 1) player.passSilence(LEASE_MS, 1_004_095);
    assert.equal(player.state, 'following');
    // The leader, whose append waits for room, has the time of a lease to be first.
    player.pass(100).give({ kind: 'info', first: 1, end: 3, room: 1_004_096 });
    player.passSilence(LEASE_MS - 1, 1_004_096);
    assert.equal(player.state, 'following');
    player.passSilence(1, 1_004_096);
    assert.equal(player.state, 'campaigning');
  });

  test('a stream without room is no reason against a handover to this node, and promote waits for room as silence does', () => {
    const player = ProtocolPlayer.in('following', { automatic: false });
    player.give({ kind: 'promote' }).passSilence(LEASE_MS, 0).passSilence(LEASE_MS, 0);
    assert.equal(player.state, 'following');
    player.journal.add({ handover: { to: 'a' } });
    assert.equal(player.hear(4).state, 'campaigning');
  });

  test('each rank waits 100 ms longer', () => {
    const player = ProtocolPlayer.in('following', { rank: 2 });
    assert.equal(player.passSilence(1_699).state, 'following');
    assert.equal(player.passSilence(1).state, 'campaigning');
  });

  test('a stream that ends behind what is applied is read first', () => {
    const player = ProtocolPlayer.in('following');
    player.journal.add();
    assert.equal(player.passSilence().state, 'following');
    player.serveGets();
    assert.equal(player.count('record'), 1);
    assert.equal(player.passSilence().state, 'campaigning');
  });

  test('by-operator: silence alone is no reason, after promote it is', () => {
    const player = ProtocolPlayer.in('following', { automatic: false });
    assert.equal(player.passSilence(5_000).state, 'following');
    player.give({ kind: 'promote' });
    assert.equal(player.count('askHandover'), 1);
    assert.equal(player.passSilence().state, 'campaigning');
  });

  test('records of the stream wait until the takeover that was asked for is refused', () => {
    const player = ProtocolPlayer.in('campaigning');
    const own = player.journal.make({ takeover: { node: 'a', run: 'a1' } });
    player.journal.add({ takeover: { node: 'c', run: 'c1' } });
    player.hear(4);
    assert.equal(player.count('record'), 0);
    player.give({ kind: 'begin', record: 'takeover', sequence: 4, epoch: 2, bytes: own });
    player.answer({ kind: 'refused', end: 4 }).serveGets();
    assert.deepEqual(
      player.kinds().filter((kind) => ['refused', 'record'].includes(kind)),
      ['refused', 'record'],
    );
    assert.equal(player.state, 'following');
  });
});

suite('handover (cluster.md 7.5)', () => {
  test('the standby named goes on at once', () => {
    const player = ProtocolPlayer.in('following');
    player.journal.add({ handover: { to: 'a' } });
    assert.equal(player.hear(4).state, 'campaigning');
  });

  test('another one counts silence from there', () => {
    const player = ProtocolPlayer.in('following');
    player.journal.add({ handover: { to: 'c' } });
    assert.equal(player.pass(1_400).hear(4).passSilence(1_400).state, 'following');
    assert.equal(player.passSilence(100).state, 'campaigning');
  });

  test('a handover to this node that ends the own journal counts after a restart', () => {
    const player = new ProtocolPlayer();
    player.journal.add({ takeover: { node: 'b', run: 'b1' } });
    player.journal.add({ handover: { to: 'a' } });
    assert.equal(player.open().info().state, 'campaigning');
  });

  test('to the standby of the lowest rank, then the one that has most', () => {
    const player = ProtocolPlayer.in('leading');
    const hash = player.journal.hash;
    for (const [node, sequence, rank] of [
      ['b', 4, 1],
      ['c', 3, 0],
      ['d', 4, 0],
    ] as const) {
      player.give({ kind: 'report', report: { node, sequence, hash, rank } });
    }
    player.give({ kind: 'stepDown', to: null });
    assert.deepEqual(player.effects.at(-1), { kind: 'handOver', to: 'd' });
    player.begin('handover', { handover: { to: 'd' } });
    assert.equal(player.store().ending, '75 HANDED_OVER');
    assert.equal(player.count('stored'), 1);
  });

  test('asked for by SIGTERM, it ends with 0', () => {
    const player = ProtocolPlayer.in('leading');
    player.give({ kind: 'report', report: { node: 'b', sequence: 4, hash: player.journal.hash, rank: 0 } });
    player.give({ kind: 'terminate' });
    assert.equal(player.state, 'handing-over');
    player.begin('handover', { handover: { to: 'b' } });
    assert.equal(player.store().ending, '0 HANDED_OVER');
  });
});

suite('a start (cluster.md 7)', () => {
  test('the tail is applied when the stream shows its bytes', () => {
    const player = ProtocolPlayer.in('starting');
    player.open(2, player.journal.records[2]).info();
    assert.deepEqual([player.count('tailStored'), player.count('record')], [1, 0]);
    assert.equal(player.state, 'following');
  });

  test('the tail gives way to what the stream has, into dropped/', () => {
    const player = ProtocolPlayer.in('starting');
    const other = new PlainJournal();
    other.add({ takeover: { node: 'b', run: 'b1' } });
    other.add();
    player.open(2, other.add({ note: 'never stored' })).info();
    assert.deepEqual(
      player.kinds().filter((kind) => ['tailDropped', 'alert', 'record'].includes(kind)),
      ['tailDropped', 'alert', 'record'],
    );
    assert.equal(player.state, 'following');
  });

  test('a tail that the stream ends below is appended again, as the same bytes, once', () => {
    const player = ProtocolPlayer.in('starting');
    const tail = player.journal.make({ note: 'tail' });
    player.open(3, tail).info();
    assert.deepEqual([player.appended.sequence, player.appended.expectedEnd], [4, 3]);
    assert.deepEqual(player.appended.bytes, tail);
    player.give({ kind: 'info', first: 1, end: 3 });
    assert.equal(player.count('append'), 1);
    player.store();
    assert.equal(player.count('tailStored'), 1);
    assert.equal(player.info().state, 'following');
  });

  test('a record that is stored is never dropped', () => {
    const player = ProtocolPlayer.in('starting');
    const other = otherChain();
    const tail = player.journal.make();
    player.open(3, tail).give({ kind: 'info', first: 1, end: 4 });
    player.hearBytes(3, other.make());
    assert.equal(player.ending, '78 DIVERGED');
    assert.equal(player.count('tailDropped'), 0);
  });

  test('where the own last record is truncated the next one decides', () => {
    const player = ProtocolPlayer.in('starting');
    player.journal.add();
    player.open(3).give({ kind: 'info', first: 4, end: 4 }).serveGets();
    assert.equal(player.count('record'), 1);
    assert.equal(player.give({ kind: 'info', first: 4, end: 4 }).state, 'following');
  });

  test('a stream that begins behind the own journal needs a snapshot', () => {
    const player = ProtocolPlayer.in('joining');
    assert.equal(player.give({ kind: 'info', first: 5, end: 9 }).ending, '78 SNAPSHOT_NEEDED');
  });

  test('an empty answer to a get is no proof of the end', () => {
    const player = ProtocolPlayer.in('starting');
    player.open(1).give({ kind: 'info', first: 1, end: 3 }).give({ kind: 'got', messages: [] });
    assert.equal(player.state, 'joining');
    player.pass(26).tick().serveGets();
    assert.equal(player.count('record'), 2);
  });
});

suite('a stream that lost records (cluster.md 7.1)', () => {
  test('an end that is too low proves nothing before 10 s, five reads and a refused append', () => {
    const player = ProtocolPlayer.in('following');
    for (let read = 0; read < 9; read += 1) player.pass(1_000).tick().give({ kind: 'info', first: 1, end: 1 });
    assert.equal(player.state, 'following');
    player.pass(2_000).tick().give({ kind: 'info', first: 1, end: 1 });
    assert.deepEqual([player.state, player.appended.expectedEnd], ['following', 2]);
    player.answer({ kind: 'refused', end: 3 }).tick().give({ kind: 'info', first: 1, end: 1 });
    assert.equal(player.state, 'following');
  });

  test('proven, a node that follows ends with 78 and a leader with 70', () => {
    const player = ProtocolPlayer.in('following');
    readsOf(player, 1, 1);
    assert.equal(player.ending, '78 STREAM_LOST_RECORDS');
    const leader = ProtocolPlayer.in('leading');
    leader.begin('batch');
    for (let read = 0; read < 12 && leader.state !== 'ended'; read += 1) {
      leader
        .pass(900)
        .tick()
        .give({ kind: 'info', first: 1, end: 2 })
        .answer({ kind: 'refused', end: 2 })
        .pass(26)
        .tick();
    }
    assert.equal(leader.ending, '70 STREAM_LOST_RECORDS');
  });

  test('one read of the right end takes the proof back', () => {
    const player = ProtocolPlayer.in('following');
    for (let read = 0; read < 30; read += 1) {
      player
        .pass(900)
        .tick()
        .give({ kind: 'info', first: 1, end: read % 9 === 0 ? 3 : 1 });
      assert.notEqual(player.state, 'ended');
      if (player.state === 'campaigning') return;
    }
    assert.equal(player.count('append'), 0);
  });

  test('a stream that was made anew and moves on below the own journal is of another history: a node with more records ends with 78', () => {
    for (const isOther of [true, false]) {
      const player = new ProtocolPlayer({
        ownHash: (sequence) => player.journal.records[sequence - 1]?.slice(-32) ?? null,
      });
      for (let records = 0; records < 6; records += 1) player.journal.add();
      player.open(6).give({ kind: 'info', first: 1, end: 2 });
      assert.deepEqual(player.effects.at(-1), { kind: 'get', from: 2 });
      const bytes = (isOther ? otherChain() : player.journal).records[1];
      assert.ok(bytes !== undefined);
      player.give({ kind: 'got', messages: [{ sequence: 2, bytes, dataVersion: '15' }] });
      assert.equal(player.ending, isOther ? '78 DIVERGED' : 'none');
    }
  });

  test('two records below, the last of them a tail: it is not appended, and the node ends with 78', () => {
    const player = new ProtocolPlayer();
    for (let records = 0; records < 3; records += 1) player.journal.add();
    player.open(3, player.journal.make()).give({ kind: 'info', first: 1, end: 2 }).serveGets(2);
    readsOf(player, 2, null);
    assert.equal(player.appended.sequence, 3, 'what was stored is appended as a proof, expecting the record before it');
    player.answer({ kind: 'refused', end: 2 });
    readsOf(player, 2, null);
    assert.equal(player.ending, '78 STREAM_LOST_RECORDS');
  });

  test('one record below: a node that follows ends with 75, and appends its last record as it joins', () => {
    const player = ProtocolPlayer.in('following');
    readsOf(player, 2, null);
    assert.equal(player.ending, '75 STREAM_ENDS_ONE_BELOW');
    const joining = ProtocolPlayer.in('joining');
    readsOf(joining, 2, null);
    assert.equal(joining.state, 'joining');
    assert.deepEqual([joining.appended.sequence, joining.appended.expectedEnd], [3, 2]);
    assert.deepEqual(joining.appended.bytes, joining.journal.records[2]);
  });
});

function otherChain(): PlainJournal {
  const other = new PlainJournal();
  for (let at = 0; at < 2; at += 1) other.add({ note: `other ${at}` });
  return other;
}
