// tier: quick
/**
 * The table of cluster.md 7.1, brought about cell by cell: what happens to a node in each state, as the document has it. Written
 * from the document, not from transitions.ts.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LiveState } from '../../src/cluster/transitions.ts';
import { LEASE_MS, ProtocolPlayer } from './protocol-player.ts';

const STATES: readonly LiveState[] = [
  'starting',
  'joining',
  'following',
  'campaigning',
  'restoring',
  'leading',
  'stalled',
  'handing-over',
];

/** A node in the state; one that campaigns has sent its takeover. */
function nodeIn(state: LiveState): ProtocolPlayer {
  const player = ProtocolPlayer.in(state);
  if (state === 'campaigning') player.begin('takeover', { takeover: { node: 'a', run: 'a1' } });
  return player;
}

/** The state, or how it ended, and what clearing was given. */
function outcomeOf(player: ProtocolPlayer): string {
  const given = player
    .kinds()
    .filter((kind) => ['record', 'refused', 'campaign', 'handOver', 'refuse', 'alert', 'askHandover'].includes(kind));
  return [player.ending === 'none' ? player.state : player.ending, ...given].join(' ');
}

/** In the order of STATES; null: not tried, as it cannot happen. */
const ROWS: readonly [what: string, happens: (player: ProtocolPlayer) => void, outcomes: readonly (string | null)[]][] =
  [
    [
      'the next record arrives, its chain right',
      (player) => {
        player.journal.add();
        player.hear(player.journal.records.length);
      },
      [null, 'joining record', 'following record', 'following refused record', null, null, null, null],
    ],
    [
      'a takeover of another node arrives',
      (player) => {
        player.journal.add({ takeover: { node: 'b', run: 'b2' } });
        player.hear(player.journal.records.length);
      },
      [
        null,
        'joining record',
        'following record',
        'following refused record',
        '75 OVER',
        '75 OVER',
        '75 OVER',
        '75 OVER',
      ],
    ],
    [
      'a takeover of an earlier attempt arrives',
      (player) => {
        player.journal.add({ takeover: { node: 'a', run: 'a0' } });
        player.hear(player.journal.records.length);
      },
      [
        null,
        'joining record',
        'following record',
        'following refused record',
        '75 OVER',
        '75 OVER',
        '75 OVER',
        '75 OVER',
      ],
    ],
    [
      'a handover to this node is the end of the stream',
      (player) => {
        player.journal.add({ handover: { to: 'a' } });
        player.hear(player.journal.records.length).info();
      },
      [
        null,
        'campaigning record campaign',
        'campaigning record campaign',
        'campaigning refused record campaign',
        null,
        null,
        null,
        null,
      ],
    ],
    [
      'a handover to another node arrives',
      (player) => {
        player.journal.add({ handover: { to: 'c' } });
        player.hear(player.journal.records.length);
      },
      [null, 'joining record', 'following record', 'following refused record', null, null, null, null],
    ],
    [
      'the stream has other bytes at a sequence of the own journal',
      (player) => player.hearBytes(3, player.journal.make()),
      [null, '78 DIVERGED', '78 DIVERGED', 'campaigning', '75 OVER', '75 OVER', '75 OVER', '75 OVER'],
    ],
    [
      'the stream begins behind the own journal',
      (player) => player.give({ kind: 'info', first: 9, end: 9 }),
      [null, '78 SNAPSHOT_NEEDED', '78 SNAPSHOT_NEEDED', 'following refused', null, null, null, null],
    ],
    [
      'the stream does not answer',
      (player) => player.give({ kind: 'infoFailed' }),
      ['starting', 'joining', 'following', 'campaigning', 'restoring', 'leading', 'stalled', 'handing-over'],
    ],
    [
      'silence of leaseMs, and the stream answers',
      (player) => {
        if (player.state === 'leading') player.begin('alive');
        player.passSilence();
      },
      [null, 'joining', 'campaigning campaign', 'campaigning', 'restoring', 'stalled', 'stalled', 'handing-over'],
    ],
    [
      'the lease is over by the own clock',
      (player) => player.pass(LEASE_MS).tick(),
      ['starting', 'joining', 'following', 'campaigning', 'restoring', 'stalled', 'stalled', 'handing-over'],
    ],
    [
      'an own append is stored',
      (player) => {
        if (player.state !== 'campaigning') player.begin('alive');
        player.store();
      },
      [null, null, null, 'restoring', 'restoring', 'leading', 'leading', 'handing-over'],
    ],
    [
      'an own append is refused, other bytes are there',
      (player) => {
        if (player.state !== 'campaigning') player.begin('alive');
        player.journal.add({ takeover: { node: 'b', run: 'b2' } });
        player.answer({ kind: 'refused', end: player.journal.records.length }).serveGets();
      },
      [null, null, null, 'following refused record', '75 OVER', '75 OVER', '75 OVER', '75 OVER'],
    ],
    [
      'an own append is refused, nothing is readable there',
      (player) => {
        if (player.state !== 'campaigning') player.begin('alive');
        for (let time = 0; time < 15; time += 1) {
          if (player.state !== 'ended') player.answer({ kind: 'refused', end: 1 }).pass(1_000).tick();
        }
      },
      [
        null,
        null,
        null,
        'campaigning',
        '70 STREAM_LOST_RECORDS alert',
        '70 STREAM_LOST_RECORDS alert',
        '70 STREAM_LOST_RECORDS alert',
        '70 STREAM_LOST_RECORDS alert',
      ],
    ],
    [
      'the servers are not fit',
      (player) => player.give({ kind: 'fitness', fit: false }),
      [
        '78 SERVERS_NOT_FIT alert',
        '78 SERVERS_NOT_FIT alert',
        'following alert',
        'campaigning alert',
        'restoring alert',
        'leading alert',
        'stalled alert',
        'handing-over alert',
      ],
    ],
    [
      'all is sent, the listeners are ready',
      (player) => player.give({ kind: 'ready' }),
      [null, null, null, null, 'leading', 'leading', 'stalled', 'handing-over'],
    ],
    [
      'all is sent when the lease is over',
      (player) => player.pass(LEASE_MS).give({ kind: 'ready' }),
      [null, null, null, null, 'stalled', 'stalled', 'stalled', 'handing-over'],
    ],
    [
      'promote of this node',
      (player) => player.give({ kind: 'promote' }),
      [
        'starting refuse',
        'joining refuse',
        'following askHandover',
        'campaigning',
        'restoring',
        'leading',
        'stalled',
        'handing-over',
      ],
    ],
    [
      'step-down',
      (player) => player.give({ kind: 'stepDown', to: null }),
      [
        'starting refuse',
        'joining refuse',
        'following refuse',
        'campaigning',
        'handing-over handOver',
        'handing-over handOver',
        'stalled refuse',
        'handing-over',
      ],
    ],
    [
      'step-down, and the outcome of what is on its way is that this node leads',
      (player) => {
        player.give({ kind: 'stepDown', to: null });
        player.store();
      },
      [null, null, null, 'handing-over handOver', null, null, null, null],
    ],
    [
      'the stream has no room for one largest record, and the silence passes',
      (player) => player.passSilence(LEASE_MS, 1_000_000).passSilence(LEASE_MS, 1_000_000),
      [null, 'joining', 'following', 'campaigning', 'restoring', 'stalled', 'stalled', 'handing-over'],
    ],
    [
      'SIGTERM without a standby',
      (player) => player.give({ kind: 'terminate' }),
      [
        '0 STOPPED',
        '0 STOPPED',
        '0 STOPPED',
        'campaigning',
        'handing-over handOver',
        'handing-over handOver',
        'stalled',
        'handing-over',
      ],
    ],
    [
      'SIGTERM, and 5 s without the stream',
      (player) => player.give({ kind: 'terminate' }).pass(5_000).tick(),
      [
        '0 STOPPED',
        '0 STOPPED',
        '0 STOPPED',
        '0 STOPPED',
        '0 STOPPED handOver',
        '0 STOPPED handOver',
        '0 STOPPED',
        '0 STOPPED',
      ],
    ],
    [
      'the own disk fails',
      (player) => player.give({ kind: 'fault', reason: 'disk full' }),
      ['70 FAULT', '70 FAULT', '70 FAULT', '70 FAULT', '70 FAULT', '70 FAULT', '70 FAULT', '70 FAULT'],
    ],
  ];

suite('transitions of a node (cluster.md 7.1)', () => {
  for (const [what, happens, outcomes] of ROWS) {
    test(what, () => {
      assert.equal(outcomes.length, STATES.length);
      STATES.forEach((state, at) => {
        const expected = outcomes[at] ?? null;
        if (expected === null) return;
        const player = nodeIn(state);
        happens(player);
        assert.equal(outcomeOf(player), expected, `a node that is ${state}`);
      });
    });
  }

  test('in production alone a node that starts ends where the servers are not fit', () => {
    const player = ProtocolPlayer.in('joining', { production: false });
    player.give({ kind: 'fitness', fit: false });
    assert.equal(outcomeOf(player), 'joining alert');
  });

  test('a campaign whose takeover was not sent yet is given up where the servers are not fit', () => {
    const player = ProtocolPlayer.in('campaigning');
    player.give({ kind: 'fitness', fit: false });
    player.begin('takeover', { takeover: { node: 'a', run: 'a1' } });
    assert.equal(outcomeOf(player), 'following alert refused');
    assert.equal(player.count('append'), 0);
  });

  test('servers that are not fit: no campaign by silence, but after a handover to this node', () => {
    const player = ProtocolPlayer.in('following');
    player.give({ kind: 'fitness', fit: false });
    assert.equal(player.passSilence(5_000).state, 'following');
    player.journal.add({ handover: { to: 'a' } });
    assert.equal(player.hear(4).state, 'campaigning');
  });
});
