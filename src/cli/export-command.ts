/** `ringbook export`: the content of a data directory, as JSON lines on standard output. */
import { once } from 'node:events';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';
import { PROGRESS_OPTION, withProgress, withProgressHelp } from './data-command.ts';

const CHUNK_CHARACTERS = 65_536;

export const exportCommand: Command = {
  name: 'export',
  summary: 'write the journal, trades, balances or positions as JSON lines',
  help: withProgressHelp(`usage: ringbook export DIR journal|trades|balances|positions

Writes JSON lines to standard output, of everything up to one sequence of the journal. The node may be running.

example:
  ringbook export /var/lib/ringbook trades > trades.jsonl
`),
  async run(argv) {
    const { positionals, values } = parseOptions(argv, PROGRESS_OPTION);
    const [directory, what] = positionals;
    const { EXPORTS, exportLines } = await import('../tools/export-data.ts');
    const name = EXPORTS.find((known) => known === what);
    if (directory === undefined || name === undefined || positionals.length !== 2) {
      throw usageError(`ringbook export DIR ${EXPORTS.join('|')}`);
    }
    const { withReader } = await import('../tools/audit-data.ts');
    await withProgress(values.progress === true, (progress) =>
      withReader(directory, (reader) => writeLines(exportLines(reader, name, progress))),
    );
    return EXIT.done;
  },
};

/** Writes at the speed of the reader. */
async function writeLines(lines: Iterable<string>): Promise<void> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    chunk = '';
  }
  process.stdout.write(chunk);
}
