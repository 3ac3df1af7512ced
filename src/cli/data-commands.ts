/** The commands about a data directory: verify and replay, backup and restore, snapshot and prune, upgrade. */

import { type Command, positiveInteger } from './command.ts';
import { auditLine, dataCommand } from './data-command.ts';

export const verifyCommand: Command = dataCommand({
  name: 'verify',
  summary: 'check a data directory: pages, checksums, chain, conservation',
  help: `usage: ringbook verify DIR

Reads every page of DIR, which no node may hold: checksums of rows and records, the hash chain of the journal, what each
table must add up to; then loads the state and checks that every asset is conserved and every hold is right. Prints one
JSON line. Exits with 1 and one line at the first damage. For a running node, verify a backup.

example:
  ringbook verify /var/lib/ringbook
`,
  takes: ['DIR'],
  async run([directory = ''], _values, progress) {
    const { auditUnheld } = await import('../tools/audit-data.ts');
    return auditLine(await auditUnheld(directory, progress));
  },
});

export const replayCommand: Command = dataCommand({
  name: 'replay',
  summary: 'replay the journal of a data directory and compare the states',
  help: `usage: ringbook replay --verify DIR [--from BACKUP]

Applies every record of the journal of DIR, from the first, or from where BACKUP was taken, and checks that the state has
the same hash as the one that the tables lead to. Exits with 1 when it has not.

example:
  ringbook replay --verify /var/lib/ringbook --from /backups/monday
`,
  takes: ['DIR'],
  options: { verify: { type: 'boolean', default: true }, from: { type: 'string' } },
  async run([directory = ''], { from }, progress) {
    const { replayData } = await import('../tools/audit-data.ts');
    const replayed = await replayData(directory, typeof from === 'string' ? from : null, progress);
    return { from_sequence: replayed.fromSequence, sequence: replayed.sequence, state_hash: replayed.stateHash };
  },
});

// `ringbook backup` and `ringbook restore`: copies of a data directory, and directories created from copies.

export const backupCommand: Command = dataCommand({
  name: 'backup',
  summary: 'copy the data directory of a node, which may be running',
  help: `usage: ringbook backup DIR TO

Copies DIR as it is at one sequence of its journal into the new directory TO, and verifies the copy. The node goes on
meanwhile. TO appears only when it is whole. Prints one JSON line with the sequence and the state hash.

example:
  ringbook backup /var/lib/ringbook /backups/monday
`,
  takes: ['DIR', 'TO'],
  async run([directory = '', to = ''], _values, progress) {
    const { backupData } = await import('../tools/copy-data.ts');
    return auditLine(await backupData(directory, to, progress));
  },
});

export const restoreCommand: Command = dataCommand({
  name: 'restore',
  summary: 'make a data directory from a backup, or from a journal alone',
  help: `usage: ringbook restore BACKUP DIR
       ringbook restore --from-journal SOURCE DIR [--from SNAPSHOT]

Verifies BACKUP and makes the new data directory DIR of it. With --from-journal only the journal of SOURCE is used, a data
directory whose tables may be damaged, or a file that "ringbook export DIR journal" wrote: tables and history are made
anew by replaying it, a pruned one from the oldest snapshot of SOURCE, or from SNAPSHOT, on. What happened after the backup is not in it: ids, nonces and sequences of that time come again.

example:
  ringbook restore /backups/monday /var/lib/ringbook
`,
  takes: ['SOURCE', 'DIR'],
  options: { 'from-journal': { type: 'boolean', default: false }, from: { type: 'string' } },
  async run([source = '', to = ''], values, progress) {
    if (values['from-journal'] !== true) {
      const { restoreData } = await import('../tools/copy-data.ts');
      return auditLine(await restoreData(source, to, progress));
    }
    const { rebuildFrom } = await import('../tools/export-data.ts');
    const snapshot = typeof values['from'] === 'string' ? values['from'] : null;
    return auditLine(await rebuildFrom(source, to, snapshot, progress));
  },
});

// `ringbook snapshot` and `ringbook prune`: a snapshot that replaces the earlier journal, and the removal of that part.

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

// `ringbook upgrade`: converts an older version of the data to the one that this node reads.

export const upgradeCommand: Command = dataCommand({
  name: 'upgrade',
  summary: 'convert a data directory of an older version',
  help: `usage: ringbook upgrade DIR

Makes a new map of what DIR holds, which no node may hold and which was stopped in order (SIGTERM, exit 0), verifies it,
and puts it in the place of the old one, which stays as DIR/data-<version>-at-<sequence>. Killed at any moment it leaves
DIR as it was or upgraded; run it again. Needs room for the data two times more. The journal of the new map begins where
the old one ends. There is no way back but the old map, and what was traded since then is not in that.

example:
  ringbook upgrade /var/lib/ringbook
`,
  takes: ['DIR'],
  async run([directory = ''], _values, progress) {
    const { upgradeData } = await import('../tools/upgrade-data.ts');
    const upgraded = await upgradeData(directory, progress);
    if (upgraded === null) return { upgraded: false };
    const { from, to, sequence, stateHash, kept } = upgraded;
    return { upgraded: true, from, to, sequence, state_hash: stateHash, kept };
  },
});
