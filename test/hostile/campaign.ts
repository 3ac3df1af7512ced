/**
 * The hostile campaign: strangers, free keys and traders with money against a node with the limits of
 * `config/production.json`, beside an honest maker and taker. Everything is on loopback and ends by itself.
 *
 *   npm run hostile -- [--seconds 60] [--seed 1] [--only NAME,NAME] [--strict]
 *
 * A fifth of the time the pair trades alone, then the attacks run beside it, and for the middle third of them two busy
 * processes take the machine's cores. Exit code 1 when the node ends, a cancel is refused, an honest order is lost or rolled
 * back beyond the budget of faults of the one who causes it, or memory grows beyond its bound, or the attacks on money gain anything
 * (money-watch.ts); with --strict also when the
 * pair's p99 is above five times its quiet one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { devKey, generateSeed, keyFromSeed } from '../../src/client/keys.ts';
import { OperatorClient } from '../../src/client/operator.ts';
import { parseExposition } from '../support/exposition.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { aMoment } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { ATTACKS } from './attacks.ts';
import { HonestPair, type Phase, type Verdict } from './honest-pair.ts';
import { type MoneyVerdict, MoneyWatch } from './money-watch.ts';
import type { StrangersPlan } from './strangers-main.ts';

const STRANGERS = fileURLToPath(new URL('./strangers-main.js', import.meta.url));
const HONEST_PER_SECOND = 20;
const FUNDED = 9;
const FUNDS = '1000000';
/** Anonymous memory that a node may have gained at its highest, in MiB: the sums of its tables (docs/operating.md). */
const GAINED_MIB_MAX = 768;
const RATIO_MAX = 5;
const SPINNERS = 2;
/** Orders of one user at fault in a minute before a cool-down (MON-08), and those that were on their way when it began. */
const FAULTS_MAX = 20;
const FAULTS_ON_THEIR_WAY = 40;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    strict: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed);

/** Whether this run makes the attack of this name. */
const attacks = (name: string): boolean => values.only === '' || values.only.split(',').includes(name);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A profile with funds for users and the limits of production. */
function writeConfig(directory: string): string {
  const production = JSON.parse(readFileSync('config/production.json', 'utf8')) as Record<string, unknown>;
  const { addresses, rateLimits, acks, threads, rings, journal } = production;
  const path = join(directory, 'config.json');
  const limits = { addresses, rateLimits, acks, threads, rings, journal, selfServiceMarkets: false };
  writeFileSync(path, JSON.stringify({ extends: 'dev', orderWaitMsMax: 0, ...limits }));
  return path;
}

async function fund(node: NodeProcess, userIds: readonly string[]): Promise<void> {
  const operator = new OperatorClient(node.ops);
  for (const userId of userIds) {
    for (const subAccount of [0, 1])
      for (const assetId of ['0', '2']) {
        const amount = assetId === '0' ? FUNDS : '300';
        await operator.faucet({ userId, subAccount, assetId, amount });
      }
  }
  operator.close();
}

const portOf = (base: string): number => Number(new URL(base).port);

interface Attackers {
  readonly children: readonly ChildProcess[];
  readonly tallies: Promise<readonly Readonly<Record<string, number>>[]>;
}

/** One process a group of attacks. */
function attack(plan: Omit<StrangersPlan, 'attacks'>): Attackers {
  const groups = Object.values(ATTACKS)
    .map((group) => Object.keys(group).filter(attacks))
    .filter((names) => names.length > 0);
  const children = groups.map((attacks) => {
    const text = JSON.stringify({ ...plan, attacks } satisfies StrangersPlan);
    return spawn(process.execPath, [STRANGERS, text], { stdio: ['ignore', 'pipe', 'inherit'] });
  });
  const tallies = Promise.all(
    children.map(async (child) => {
      let text = '';
      for await (const part of child.stdout) text += String(part);
      return text === ''
        ? { 'BROKEN a group of attacks ended early': 1 }
        : (JSON.parse(text) as Record<string, number>);
    }),
  );
  return { children, tallies };
}

/** Two processes that do nothing but take the cores, for the middle third. */
async function starve(forMs: number): Promise<void> {
  await aMoment(forMs / 3);
  const spinners = Array.from({ length: SPINNERS }, () => {
    return spawn(process.execPath, ['-e', `const t = Date.now() + ${forMs / 3}; while (Date.now() < t);`]);
  });
  await Promise.all(spinners.map((child) => new Promise((resolve) => child.once('exit', resolve))));
}

function memoryMiB({ pid }: NodeProcess): number {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(line?.[1] ?? 0) / 1_024);
}

interface Outcome {
  readonly quiet: Phase;
  readonly hostile: Phase;
  readonly verdict: Verdict;
  readonly memory: { readonly beforeMiB: number; readonly mostMiB: number };
  /** Null without attacks on money. */
  readonly money: MoneyVerdict | null;
  /** What attacks saw to be wrong. */
  readonly broken: readonly string[];
}

/** Samples of a family of the node's metrics that are not zero. */
async function counted(node: NodeProcess, family: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${node.ops}/metrics`);
  const samples = parseExposition(await response.text()).get(family)?.samples ?? [];
  return Object.fromEntries([...samples].filter(([, value]) => value !== 0));
}

function problemsOf({ quiet, hostile, verdict, memory, money, broken }: Outcome): string[] {
  const ratio = hostile.p99Ms / quiet.p99Ms;
  const rolledBack = Object.values(verdict.rollbacks).reduce((all, times) => all + times, 0);
  return [
    ...Object.entries(verdict.cancelsRefused).map(([code, times]) => `${times} cancels refused: ${code}`),
    ...Object.entries(hostile.refused).map(([code, times]) => `${times} honest orders refused: ${code}`),
    ...(rolledBack > (attacks('faults') ? FAULTS_MAX * Math.ceil(seconds / 60) + FAULTS_ON_THEIR_WAY : 0)
      ? [`${rolledBack} honest sides rolled back: ${JSON.stringify(verdict.rollbacks)}`]
      : []),
    ...verdict.lost.slice(0, 10).map((order) => `lost: ${order}`),
    ...(money?.problems ?? []),
    ...broken,
    ...(memory.mostMiB - memory.beforeMiB > GAINED_MIB_MAX
      ? [`memory grew from ${memory.beforeMiB} to ${memory.mostMiB} MiB`]
      : []),
    ...(values.strict && !(ratio <= RATIO_MAX) ? [`p99 is ${ratio.toFixed(1)} times the quiet one`] : []),
  ];
}

async function play(node: NodeProcess): Promise<Outcome> {
  const seeds = Array.from({ length: FUNDED }, () => generateSeed());
  const keys = [devKey('a'), devKey('b')] as const;
  await fund(node, [...seeds.map((one) => keyFromSeed(one).userId), ...keys.map(({ userId }) => userId)]);
  const operator = new OperatorClient(node.ops);
  await operator.setMarketMaker(keys[0].userId, true);
  operator.close();
  const money = Object.keys(ATTACKS['money'] ?? {}).some(attacks) ? new MoneyWatch(node, attacks('washTrades')) : null;
  await money?.prepare();
  const pair = new HonestPair(node, keys, HONEST_PER_SECOND);
  await pair.start();
  await pair.trade(2);
  const quiet = await pair.trade(Math.max(5, seconds / 5));
  say(`quiet: p50 ${quiet.p50Ms} ms, p99 ${quiet.p99Ms} ms`);
  const beforeMiB = memoryMiB(node);
  let mostMiB = beforeMiB;
  const watching = setInterval(() => {
    mostMiB = Math.max(mostMiB, memoryMiB(node));
  }, 250);
  const hostileMs = (seconds * 4_000) / 5;
  money?.start();
  const { tallies } = attack({
    ops: node.ops,
    money: (money?.seeds ?? []).map((one) => [...one]),
    oms: portOf(node.oms),
    mds: portOf(node.mds),
    ms: hostileMs,
    seed,
    funded: seeds.map((one) => [...one]),
    honestIds: keys.map(({ userId }) => userId),
  });
  try {
    const [hostile] = await Promise.all([pair.trade(hostileMs / 1_000), starve(hostileMs)]);
    const all = await tallies;
    for (const tally of all) say(JSON.stringify(tally));
    const broken = all.flatMap((tally) => Object.entries(tally).filter(([what]) => what.startsWith('BROKEN')));
    const verdict = await pair.finish();
    const owned = (await money?.finish()) ?? null;
    say(JSON.stringify(await counted(node, 'ringbook_rollbacks_total')));
    return {
      ...{ quiet, hostile, verdict, memory: { beforeMiB, mostMiB }, money: owned },
      broken: broken.map(([what, times]) => `${what}, ${times} times`),
    };
  } finally {
    clearInterval(watching);
  }
}

const home = temporaryDirectory();
const node = await startNode({
  profile: 'dev',
  dataDirectory: join(home, 'data'),
  rateLimits: 'standard',
  env: { RINGBOOK_CONFIG: writeConfig(home) },
});
const died = node.ended.then((how) => {
  throw new Error(`the node ended with ${how}:\n${node.stderr().split('\n').slice(-8).join('\n')}`);
});
died.catch(() => undefined);
try {
  const outcome = await Promise.race([play(node), died]);
  const problems = problemsOf(outcome);
  const ratio = Math.round((outcome.hostile.p99Ms / outcome.quiet.p99Ms) * 10) / 10;
  say(JSON.stringify({ seconds, seed, ratio, ...outcome, problems }));
  if (problems.length > 0) process.exitCode = 1;
} catch (error) {
  say(String(error));
  process.exitCode = 1;
} finally {
  await stopNode(node, 'SIGKILL');
  removeDirectory(home);
}
process.exit();
