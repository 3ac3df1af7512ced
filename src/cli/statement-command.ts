/** `ringbook statement`: the ledger of a user over a day, with what was before and after, as CSV. */
import { DAY_NS } from '../core/units.ts';
import { CliError, type Command, EXIT, parseOptions, usageError } from './command.ts';
import { toOutput, userGiven } from './export-output.ts';

export const statementCommand: Command = {
  name: 'statement',
  summary: 'write the ledger of a user over a day, with opening and closing balances, as CSV',
  help: `usage: ringbook statement [DIR] --user ID --day DAY [--out FILE]

Writes CSV: a line for each balance at the begin of the UTC day, every change of the day in the order of the journal, a line for
each balance at its end, with the sum of the changes and the difference of the three, which is 0. It is read of the row log of
DIR, the data directory of a node, which may be running. Exits with 1 and a line for each balance whose difference is not 0.

options:
  --user ID     64 hex digits
  --day DAY     a UTC day, like 2026-11-27
  --out FILE    writes FILE, which appears when it is whole, in the place of an earlier one
                DIR is RINGBOOK_DATA_DIR by default

example:
  ringbook statement /var/lib/ringbook --user 8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c --day 2026-11-27
`,
  async run(argv) {
    const { positionals, values } = parseOptions(argv, {
      user: { type: 'string' },
      day: { type: 'string' },
      out: { type: 'string' },
    });
    // A copy of a ledger is for its owner, as the ledger is (MCH-04).
    process.umask(0o077);
    const [directory = process.env['RINGBOOK_DATA_DIR'], ...others] = positionals;
    const { user, day, out } = values;
    if (directory === undefined || others.length > 0 || user === undefined || day === undefined)
      throw usageError('ringbook statement [DIR] --user ID --day 2026-11-27, where DIR may be RINGBOOK_DATA_DIR');
    const owner = userGiven(user);
    const fromNs = await dayOf(day);
    const { mustHoldData } = await import('../tools/audit-data.ts');
    const { evidenceFolder } = await import('../evidence/evidence-files.ts');
    const { RowLogReader } = await import('../evidence/row-log/row-log-reader.ts');
    const { STATEMENT_COLUMNS, statementOf } = await import('../tools/statement.ts');
    const { writeTable } = await import('../tools/table-writers.ts');
    mustHoldData(directory);
    const log = RowLogReader.open(evidenceFolder(directory));
    try {
      const { lines, note, faults } = statementOf(log, owner, fromNs);
      await toOutput(out, (to) => writeTable('csv', STATEMENT_COLUMNS, lines, to));
      if (note !== null) process.stderr.write(`ringbook: ${note}\n`);
      const wrong = faults();
      if (wrong.length > 0) throw new CliError(EXIT.fault, wrong.join('\n'));
    } finally {
      await log?.close();
    }
    return EXIT.done;
  },
};

async function dayOf(text: string): Promise<bigint> {
  const { parseIsoTime } = await import('../tools/iso-time.ts');
  const fromNs = parseIsoTime(text);
  if (fromNs === null || fromNs % DAY_NS !== 0n)
    throw usageError(`--day takes a UTC day like 2026-11-27, not "${text}"`);
  return fromNs;
}
