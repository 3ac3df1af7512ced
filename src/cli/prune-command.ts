/**
 * `ringbook snapshot` and `ringbook prune`: a snapshot that replaces the earlier journal, and the removal of that part.
 */
import { type Command, positiveInteger } from './command.ts';
import { dataCommand } from './data-command.ts';

export const snapshotCommand: Command = dataCommand({
  name: 'snapshot',
  summary: 'make a snapshot of the tables, from which the journal can be replayed',
  help: `usage: ringbook snapshot DIR

Copies the tables of the last checkpoint of DIR, whose node may be running, into DIR/snapshots, verifies them, and replays
the journal from the snapshot before, or from its first record, to see that it leads there. Prints one JSON line.

example:
  ringbook snapshot /var/lib/ringbook
`,
  takes: ['DIR'],
  async run([directory = ''], _values, progress) {
    const { makeSnapshot } = await import('../tools/snapshot-data.ts');
    return makeSnapshot(directory, progress);
  },
});

export const pruneCommand: Command = dataCommand({
  name: 'prune',
  summary: 'remove the journal below a snapshot',
  help: `usage: ringbook prune DIR [--keep N]

Makes a snapshot of DIR, which no node may hold, keeps the newest N (2), and removes the older ones and the journal below
the oldest that stays. What was below can not be replayed any more, nor exported as a journal: take a backup before if it
may be asked for. Trades, finished orders and remembered ids stay. The file keeps its size; its space is used again.

options:
  --keep N     snapshots that stay    (2)

example:
  ringbook prune /var/lib/ringbook --keep 3
`,
  takes: ['DIR'],
  options: { keep: { type: 'string', default: '2' } },
  async run([directory = ''], { keep }, progress) {
    const { pruneData } = await import('../tools/snapshot-data.ts');
    const pruned = await pruneData(directory, positiveInteger(String(keep), '--keep'), progress);
    return {
      first_sequence: pruned.firstSequence,
      sequence: pruned.lastSequence,
      journal_bytes: pruned.journalBytes,
      snapshots: pruned.snapshots,
    };
  },
});
