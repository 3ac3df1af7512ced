/** What the commands about a data directory share: its name, progress, and which faults mean what. */
import { writeSync } from 'node:fs';
import type { Audit, Progress } from '../tools/audit-data.ts';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';
import { ProgressReport } from './data-progress.ts';

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
    help: withProgressHelp(help),
    async run(argv) {
      const { positionals, values } = parseOptions(argv, { ...options, ...PROGRESS_OPTION });
      if (positionals.length !== takes.length) throw usageError(`ringbook ${name} ${takes.join(' ')}`);
      const told = await withProgress(values['progress'] === true, (progress) => run(positionals, values, progress));
      if (told !== null) process.stdout.write(`${JSON.stringify(told)}\n`);
      return EXIT.done;
    },
  };
}

/** The options of a command, and the one that all of them have. */
export function withProgressHelp(help: string): string {
  const at = help.indexOf('\nexample:');
  const before = help.includes('\noptions:\n') ? '' : '\noptions:\n';
  return `${help.slice(0, at).trimEnd()}\n${before}${PROGRESS_HELP}\n${help.slice(at)}`;
}

/** Every command about a data directory has it. */
export const PROGRESS_OPTION: { readonly progress: { readonly type: 'boolean'; readonly default: false } } = {
  progress: { type: 'boolean', default: false },
};
const PROGRESS_HELP = '  --progress   says how far it is on standard error, also where that is no terminal';

const STDERR = 2;

/** Runs something that takes long. */
export async function withProgress<T>(isAsked: boolean, run: (progress: Progress) => Promise<T>): Promise<T> {
  const report = new ProgressReport({
    isTerminal: process.stderr.isTTY === true,
    isAsked,
    write: (text) => void writeSync(STDERR, text),
    nowMs: () => performance.now(),
  });
  try {
    return await run((step, done, of) => report.report(step, done, of));
  } finally {
    report.end();
  }
}

/** An audit as a line tells it. */
export function auditLine({ map, sequence, stateHash, clean }: Audit): object {
  const { pages, freePages, records, checkpoint, tables } = map;
  return { sequence, state_hash: stateHash, clean, checkpoint, records, pages, free_pages: freePages, tables };
}
