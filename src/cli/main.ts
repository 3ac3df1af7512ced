#!/usr/bin/env node
/**
 * The `ringbook` command: finds the subcommand, prints help, turns faults into exit codes.
 *
 * Not here: what the subcommands do (one file each). Each is loaded when it is asked for, so that help needs no native
 * module and a broken one can still be diagnosed by `doctor`.
 */
import { backupCommand, restoreCommand } from './backup-command.ts';
import { bookCommand } from './book-command.ts';
import { cancelAllCommand } from './cancel-all-command.ts';
import { type Command, EXIT, type ExitCode, explain, usageError } from './command.ts';
import { doctorCommand } from './doctor-command.ts';
import { exportCommand } from './export-command.ts';
import { keygenCommand } from './keygen-command.ts';
import { orderCommand } from './order-command.ts';
import { pruneCommand, snapshotCommand } from './prune-command.ts';
import { replayFlowCommand } from './replay-flow-command.ts';
import { startCommand } from './start-command.ts';
import { upgradeCommand } from './upgrade-command.ts';
import { replayCommand, verifyCommand } from './verify-command.ts';

const COMMANDS: readonly Command[] = [
  startCommand,
  keygenCommand,
  orderCommand,
  cancelAllCommand,
  bookCommand,
  replayFlowCommand,
  doctorCommand,
  verifyCommand,
  replayCommand,
  backupCommand,
  restoreCommand,
  exportCommand,
  snapshotCommand,
  pruneCommand,
  upgradeCommand,
];

function help(): string {
  const lines = COMMANDS.map((command) => `  ${command.name.padEnd(12)} ${command.summary}`);
  return `ringbook, an exchange node

usage: ringbook <command> [options]

${lines.join('\n')}

"ringbook <command> --help" tells the options of a command, with an example.
`;
}

async function run(argv: readonly string[]): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return EXIT.done;
  }
  if (name === undefined) throw usageError(`which command?\n\n${help()}`);
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw usageError(`there is no command "${name}"; "ringbook --help" lists them`);
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(command.help);
    return EXIT.done;
  }
  return command.run(rest);
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const { exitCode, message } = explain(error);
  process.stderr.write(`ringbook: ${message}\n`);
  process.exitCode = exitCode;
}
