/** `ringbook backup` and `ringbook restore`: copies of a data directory, and directories created from copies. */
import type { Command } from './command.ts';
import { auditLine, dataCommand } from './data-command.ts';

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
