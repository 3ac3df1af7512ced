/** `ringbook upgrade`: converts an older version of the data to the one that this node reads. */
import type { Command } from './command.ts';
import { dataCommand } from './data-command.ts';

export const upgradeCommand: Command = dataCommand({
  name: 'upgrade',
  summary: 'make a data directory of an older version one of today',
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
