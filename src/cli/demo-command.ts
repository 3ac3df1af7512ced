/**
 * `ringbook demo failover`: failover-demo.ts. `ringbook demo crash`: a crash of a market on a node of its own, in one command. The node is a child process of the dev
 * profile with a data directory that is removed afterwards. `ringbook demo traders`: the demo traders against a dev node
 * that runs already.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { OperatorClient } from '../client/operator.ts';
import { DemoTraders } from '../load/demo-traders.ts';
import { demoSettings } from '../node/demo-thread.ts';
import {
  ADDRESS_OPTIONS,
  CliError,
  type Command,
  checkAddress,
  EXIT,
  type ExitCode,
  operatorToken,
  parseOptions,
  positiveInteger,
  TOKEN_HELP,
  usageError,
} from './command.ts';
import { CRASH_ACCOUNTS_MAX, playCrash } from './crash-scenario.ts';

const CLI = fileURLToPath(new URL('./main.js', import.meta.url));
const ACCOUNTS = '40';
const ACCOUNTS_MIN = 4;
/** Lines shown of the node's log when its start fails. */
const LOG_LINES = 20;

interface OwnNode {
  readonly child: ChildProcess;
  readonly oms: string;
  readonly ops: string;
}

/** @throws CliError when it ends before it is ready. */
async function startNode(directory: string): Promise<OwnNode> {
  // The scenario is a crash of a market, not an overload: on a busy machine its orders wait.
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify({ extends: 'dev', orderWaitMsMax: 0 }));
  const env = {
    ...process.env,
    RINGBOOK_CONFIG: config,
    RINGBOOK_HOST: '127.0.0.1',
    RINGBOOK_OMS_PORT: '0',
    RINGBOOK_MDS_PORT: '0',
    RINGBOOK_OPS_PORT: '0',
    RINGBOOK_DATA_DIR: join(directory, 'data'),
    RINGBOOK_OPERATOR_TOKEN: 'ringbook-dev',
    RINGBOOK_OPERATOR_TOKEN_FILE: undefined,
    RINGBOOK_DEMO: '0',
  };
  const child = spawn(process.execPath, [CLI, 'start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    if (log.length > LOG_LINES) log.shift();
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { oms, ops } = JSON.parse(line) as { oms: string; ops: string };
    return { child, oms, ops };
  }
  throw new CliError(EXIT.fault, `the node ended before it was ready:\n${log.join('\n')}`);
}

async function stopNode({ child }: OwnNode): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

async function crash(accounts: number): Promise<ExitCode> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-crash-'));
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  let node: OwnNode | null = null;
  try {
    node = await startNode(directory);
    const { oms, ops } = node;
    print(`a node of its own: orders ${oms}, operations ${ops} (try: ringbook risk backstop --ops ${ops})`);
    const operator = new OperatorClient(ops);
    try {
      const report = await playCrash({ oms, operator, accounts, print });
      print(
        `liquidated on the book ${report.liquidated}, taken over ${report.takenOver}, trades of auto-deleveraging ${report.deleveraged}`,
      );
      print(`capital of the backstop ${report.capital} USD: below zero is what the bankrupt accounts could not pay`);
      for (const fault of report.faults) print(`FAULT ${fault}`);
      if (report.faults.length > 0) return EXIT.fault;
      print('the ledger adds up: the difference of every asset is 0');
      return EXIT.done;
    } finally {
      operator.close();
    }
  } finally {
    if (node !== null) await stopNode(node);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Trades until SIGTERM or SIGINT, then cancels its orders. A node that does not answer, or not yet, is tried again. */
async function trade(oms: string, ops: string): Promise<ExitCode> {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const traders = new DemoTraders(demoSettings({ oms, ops, operatorToken: operatorToken() }), (report) => {
    if (report.kind === 'failed') print(`the demo traders pause: ${report.reason}`);
    else print(`the demo traders trade in markets ${report.markets.join(' and ')}`);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => traders.stop());
  await traders.run();
  return EXIT.done;
}

export const demoCommand: Command = {
  name: 'demo',
  summary: 'play a crash of a market, or the death of a leader, on nodes of its own; trade gently on a dev node',
  help: `usage: ringbook demo crash [options]
       ringbook demo traders [options]
       ringbook demo failover

crash

Starts a node of the dev profile with an empty data directory of its own, lets many leveraged accounts buy, then the price
falls by 40 % into a thin book. Prints what the node publishes: accounts at risk, liquidations, what the backstop takes over
and sells, auto-deleveraging. Takes about a minute. Exits with 1 when the ledger does not add up or an account is left below its
maintenance margin.

failover
Starts a cluster on this machine: three NATS servers, two nodes, a replica. Two users trade, the leader is killed with SIGKILL, and the
standby takes over. The last line is JSON: confirmed_before, confirmed_after, lost, doubled, rto_ms. Exits with 1 when a confirmed trade
is lost or doubled. Needs the program of a NATS server: RINGBOOK_NATS_SERVER, or Go in a clone. Takes about 20 seconds.

  --accounts N       of crash: leveraged accounts, ${ACCOUNTS_MIN} to ${CRASH_ACCOUNTS_MAX}  (default ${ACCOUNTS})

traders
Two makers and a taker with published keys trade gently in markets 1 and 3 of a node of the dev profile that runs already,
until SIGTERM or SIGINT; then they cancel their orders. The same traders as those of "ringbook start --demo", in a process of their own.

  --oms URL          of traders: order service    (default http://127.0.0.1:3032)
  --ops URL          of traders: operator API     (default http://127.0.0.1:9464)
${TOKEN_HELP}

example:
  ringbook demo crash --accounts 100
  ringbook demo traders
  ringbook demo failover
`,
  async run(argv) {
    const { oms, ops } = ADDRESS_OPTIONS;
    const { values, positionals } = parseOptions(argv, { accounts: { type: 'string', default: ACCOUNTS }, oms, ops });
    const [play] = positionals;
    if (positionals.length === 1 && play === 'traders')
      return trade(checkAddress(values.oms, 'oms'), checkAddress(values.ops, 'ops'));
    if (positionals.length === 1 && play === 'failover') {
      const { playFailover } = await import('./failover-demo.ts');
      return playFailover((line) => void process.stdout.write(`${line}\n`));
    }
    if (positionals.length !== 1 || play !== 'crash')
      throw usageError('demo plays one of three: ringbook demo crash, ringbook demo traders, ringbook demo failover');
    const accounts = positiveInteger(values.accounts, '--accounts');
    if (accounts < ACCOUNTS_MIN || accounts > CRASH_ACCOUNTS_MAX) {
      throw usageError(`--accounts is ${ACCOUNTS_MIN} to ${CRASH_ACCOUNTS_MAX}`);
    }
    return crash(accounts);
  },
};
