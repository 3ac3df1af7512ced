/**
 * `ringbook verify` and `ringbook replay`: check that a data directory is undamaged, and that its journal leads to its
 * state.
 */
import type { Command } from './command.ts';
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
