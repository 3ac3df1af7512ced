/** What the commands about a data directory share: its name, progress, and which faults mean what. */
import type { Audit, Progress } from '../node/audit-data.ts';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';
import { dataProgress } from './data-progress.ts';

type Options = Parameters<typeof parseOptions>[1];

interface DataCommand {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  /** How many directories and files it takes, in order. */
  readonly takes: readonly string[];
  readonly options?: Options;
  /** What it tells on standard output, as one JSON line; null for nothing. */
  run(names: readonly string[], values: Readonly<Record<string, unknown>>, progress: Progress): Promise<object | null>;
}

/** A command that reads or makes data directories. A fault that it finds ends it with 1 and one line. */
export function dataCommand({ name, summary, help, takes, options = {}, run }: DataCommand): Command {
  return {
    name,
    summary,
    help,
    async run(argv) {
      const { positionals, values } = parseOptions(argv, options);
      if (positionals.length !== takes.length) throw usageError(`ringbook ${name} ${takes.join(' ')}`);
      const progress = dataProgress();
      try {
        const told = await run(positionals, values, progress.report);
        if (told !== null) process.stdout.write(`${JSON.stringify(told)}\n`);
        return EXIT.done;
      } finally {
        progress.end();
      }
    },
  };
}

/** An audit as a line tells it. */
export function auditLine({ map, sequence, stateHash, clean }: Audit): object {
  const { pages, freePages, records, checkpoint, tables } = map;
  return { sequence, state_hash: stateHash, clean, checkpoint, records, pages, free_pages: freePages, tables };
}
