/**
 * `ringbook export`: what a data directory holds, as lines on standard output or in a file.
 *
 * The order of the two arguments names the form: `DIR trades` prints the tables as JSON lines, as it always did;
 * `journal DIR` prints for readers.
 */
import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { JournalPlace } from '../tools/readable-journal.ts';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';
import { PROGRESS_OPTION, withProgress, withProgressHelp } from './data-command.ts';

const CHUNK_CHARACTERS = 65_536;
const USAGE = 'ringbook export journal DIR, or ringbook export DIR';

export const exportCommand: Command = {
  name: 'export',
  summary: 'write the journal, trades, balances or positions as lines',
  help: withProgressHelp(`usage: ringbook export journal DIR [--from PLACE] [--to PLACE] [--out FILE]
       ringbook export DIR journal|trades|balances|positions

The first form prints the records of the journal of DIR as JSON for readers, one a line: its time, its hash, every input with
words and exact decimals, every verdict on a signature. The node may be running; the export ends with the newest record of
its begin. A journal that was pruned begins later: an earlier range is refused.

The second form writes JSON lines of everything up to one sequence of the journal, as programs read them: its "journal" is
what "ringbook restore --from-journal" takes. A directory with the name of what is exported is written as ./journal.

options:
  --from PLACE   a sequence, or a UTC time (2026-11-29, 2026-11-29T09:41:26.123456789Z): begins there
  --to PLACE     ends before it
  --out FILE     writes FILE, which appears when it is whole, in the place of an earlier one

example:
  ringbook export journal /var/lib/ringbook --from 2026-11-29T09:41Z --to 2026-11-29T09:42Z
  ringbook export /var/lib/ringbook trades > trades.jsonl
`),
  async run(argv) {
    const { positionals, values } = parseOptions(argv, {
      ...PROGRESS_OPTION,
      from: { type: 'string' },
      to: { type: 'string' },
      out: { type: 'string' },
    });
    // Copies of a ledger are for their owner, as the ledger is (MCH-04).
    process.umask(0o077);
    const [first, second] = positionals;
    if (first === undefined || second === undefined || positionals.length !== 2) throw usageError(`${USAGE} WHAT`);
    const { EXPORTS, exportLines } = await import('../tools/export-data.ts');
    const { withReader } = await import('../tools/audit-data.ts');
    if (first === 'journal') {
      const { readableJournal } = await import('../tools/readable-journal.ts');
      const { parseIsoTime } = await import('../tools/iso-time.ts');
      const range = {
        from: placeOf(values.from, '--from', parseIsoTime),
        to: placeOf(values.to, '--to', parseIsoTime),
      };
      await withProgress(values.progress === true, (progress) =>
        withReader(second, (reader) => writeLines(readableJournal(reader, range, progress), values.out ?? null)),
      );
      return EXIT.done;
    }
    const name = EXPORTS.find((known) => known === second);
    if (name === undefined) throw usageError(`${USAGE} ${EXPORTS.join('|')}`);
    if (values.from !== undefined || values.to !== undefined)
      throw usageError(`ringbook export DIR ${name} has no range; "ringbook export journal DIR" has`);
    await withProgress(values.progress === true, (progress) =>
      withReader(first, (reader) => writeLines(exportLines(reader, name, progress), values.out ?? null)),
    );
    return EXIT.done;
  },
};

function placeOf(
  text: string | undefined,
  option: string,
  parseTime: (text: string) => bigint | null,
): JournalPlace | null {
  if (text === undefined) return null;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return { sequence: Number(text) };
  const timeNs = parseTime(text);
  if (timeNs !== null) return { timeNs };
  throw usageError(`${option} takes a sequence or a UTC time like 2026-11-29T09:41:26Z, not "${text}"`);
}

/** Writes at the speed of the reader. @param file null: standard output. */
async function writeLines(lines: Iterable<string>, file: string | null): Promise<void> {
  if (file === null) return writeTo(process.stdout, lines);
  const part = `${file}.part`;
  const stream = createWriteStream(part, { mode: 0o600 });
  try {
    await writeTo(stream, lines);
    stream.end();
    await finished(stream);
    renameSync(part, file);
  } catch (error) {
    stream.destroy();
    rmSync(part, { force: true });
    throw error;
  }
}

async function writeTo(stream: Writable, lines: Iterable<string>): Promise<void> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    if (!stream.write(chunk)) await once(stream, 'drain');
    chunk = '';
  }
  stream.write(chunk);
}
