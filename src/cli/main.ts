#!/usr/bin/env node
/**
 * The `ringbook` command: finds the subcommand, prints help, converts faults to exit codes.
 *
 * Subcommands are loaded on use, so that help needs no native module and `doctor` can diagnose a
 * broken one.
 */
import { nearestName } from '../core/nearest-name.ts';
import { type Command, EXIT, type ExitCode, explain, usageError } from './command.ts';

/** By name, in the order of the help. Starting a node does not load modules that only other commands need. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start-command.ts')).startCommand,
  keygen: async () => (await import('./keygen-command.ts')).keygenCommand,
  order: async () => (await import('./order-command.ts')).orderCommand,
  quote: async () => (await import('./quote-command.ts')).quoteCommand,
  cancel: async () => (await import('./order-command.ts')).cancelCommand,
  'cancel-all': async () => (await import('./order-command.ts')).cancelAllCommand,
  balances: async () => (await import('./read-commands.ts')).balancesCommand,
  orders: async () => (await import('./read-commands.ts')).ordersCommand,
  trades: async () => (await import('./read-commands.ts')).tradesCommand,
  ledger: async () => (await import('./read-commands.ts')).ledgerCommand,
  positions: async () => (await import('./read-commands.ts')).positionsCommand,
  sessions: async () => (await import('./read-commands.ts')).sessionsCommand,
  withdraw: async () => (await import('./withdraw-command.ts')).withdrawCommand,
  signers: async () => (await import('./signers-command.ts')).signersCommand,
  cosign: async () => (await import('./cosign-command.ts')).cosignCommand,
  markets: async () => (await import('./read-commands.ts')).marketsCommand,
  klines: async () => (await import('./read-commands.ts')).klinesCommand,
  book: async () => (await import('./book-command.ts')).bookCommand,
  risk: async () => (await import('./risk-command.ts')).riskCommand,
  demo: async () => (await import('./demo-command.ts')).demoCommand,
  'replay-flow': async () => (await import('./replay-flow-command.ts')).replayFlowCommand,
  trace: async () => (await import('./trace-command.ts')).traceCommand,
  bench: async () => (await import('./bench-command.ts')).benchCommand,
  ready: async () => (await import('./ready-command.ts')).readyCommand,
  doctor: async () => (await import('./doctor-command.ts')).doctorCommand,
  slim: async () => (await import('./slim-command.ts')).slimCommand,
  verify: async () => (await import('./data-commands.ts')).verifyCommand,
  replay: async () => (await import('./data-commands.ts')).replayCommand,
  backup: async () => (await import('./data-commands.ts')).backupCommand,
  restore: async () => (await import('./data-commands.ts')).restoreCommand,
  evidence: async () => (await import('./evidence-command.ts')).evidenceCommand,
  proof: async () => (await import('./proof-command.ts')).proofCommand,
  export: async () => (await import('./export-command.ts')).exportCommand,
  statement: async () => (await import('./statement-command.ts')).statementCommand,
  snapshot: async () => (await import('./data-commands.ts')).snapshotCommand,
  prune: async () => (await import('./data-commands.ts')).pruneCommand,
  cluster: async () => (await import('./cluster-command.ts')).clusterCommand,
  upgrade: async () => (await import('./data-commands.ts')).upgradeCommand,
  follow: async () => (await import('./follow-command.ts')).followCommand,
};

async function help(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  const lines = commands.map((command) => `  ${command.name.padEnd(12)} ${command.summary}`);
  return `ringbook, an exchange node

usage: ringbook <command> [options]

${lines.join('\n')}

"ringbook <command> --help" lists the options of a command, with an example;
"ringbook --version" prints version and commit.
`;
}

async function run(argv: readonly string[]): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(await help());
    return EXIT.done;
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    const { COMMIT, VERSION } = await import('../runtime/version.ts');
    process.stdout.write(`ringbook ${VERSION}, commit ${COMMIT}\n`);
    return EXIT.done;
  }
  if (name === undefined) throw usageError(`which command?\n\n${await help()}`);
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    const nearest = nearestName(name, Object.keys(COMMANDS));
    const meant = nearest === null ? '' : `; did you mean "${nearest}"?`;
    throw usageError(`there is no command "${name}"${meant}; "ringbook --help" lists them`);
  }
  const command = await load();
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
