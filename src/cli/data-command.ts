/** Common parts of the commands for a data directory: arguments, progress, and the mapping of faults to exit codes. */
import { writeSync } from 'node:fs';
import type { Audit, Progress } from '../tools/audit-data.ts';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';
import { ProgressReport } from './data-progress.ts';

type Options = Parameters<typeof parseOptions>[1];

interface DataCommand {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  /** Names of its directory and file arguments, in order. */
  readonly takes: readonly string[];
  readonly options?: Options;
  /** Returns the JSON line for standard output; null for none. */
  run(names: readonly string[], values: Readonly<Record<string, unknown>>, progress: Progress): Promise<object | null>;
}

/** A command that reads or creates data directories. A fault that it finds ends it with exit code 1 and one line. */
export function dataCommand({ name, summary, help, takes, options = {}, run }: DataCommand): Command {
  return {
    name,
    summary,
    help: withProgressHelp(help),
    async run(argv) {
      const { positionals, values } = parseOptions(argv, { ...options, ...PROGRESS_OPTION });
      // Copies of a ledger are for their owner, as the ledger is (MCH-04).
      process.umask(0o077);
      if (positionals.length !== takes.length) throw usageError(`ringbook ${name} ${takes.join(' ')}`);
      const result = await withProgress(values['progress'] === true, (progress) => run(positionals, values, progress));
      if (result !== null) process.stdout.write(`${JSON.stringify(result)}\n`);
      return EXIT.done;
    },
  };
}

/** The help of a command with the common option appended. */
export function withProgressHelp(help: string): string {
  const at = help.indexOf('\nexample:');
  const before = help.includes('\noptions:\n') ? '' : '\noptions:\n';
  return `${help.slice(0, at).trimEnd()}\n${before}${PROGRESS_HELP}\n${help.slice(at)}`;
}

/** Common to every command for a data directory. */
export const PROGRESS_OPTION: { readonly progress: { readonly type: 'boolean'; readonly default: false } } = {
  progress: { type: 'boolean', default: false },
};
const PROGRESS_HELP = '  --progress   writes progress to standard error, also without a terminal';

const STDERR = 2;

/** Runs a long operation with progress output. */
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

/** The output line of an audit. */
export function auditLine({ map, sequence, stateHash, clean }: Audit): object {
  const { pages, freePages, records, checkpoint, tables } = map;
  return { sequence, state_hash: stateHash, clean, checkpoint, records, pages, free_pages: freePages, tables };
}
