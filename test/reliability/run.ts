/**
 * The fault campaigns as commands; docs/reliability.md describes what each covers.
 *
 *   node dist/test/reliability/run.js <campaign> [--seed N] [--runs N]
 *   node dist/test/reliability/run.js simulation [--seed N] [--runs N] [--operations N]
 *   node dist/test/reliability/run.js simulation --script FILE
 *   node dist/test/reliability/run.js quotes [--seed N] [--runs N] [--operations N]
 *   node dist/test/reliability/run.js funds [--seed N] [--runs N] [--operations N]
 *   node dist/test/reliability/run.js soak [--seed N] [--runs N] [--minutes N] [--per-second N]
 *   node dist/test/reliability/run.js failover [--seed N] [--runs N] [--kinds kill,pause,…] [--standby]
 *   node dist/test/reliability/run.js fault-soak [--seed N] [--runs N] [--minutes N] [--per-second N] [--lives N]
 *
 * Prints one JSON line with what was counted. Exits with 1 when something is wrong, and prints the seed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { playScript } from '../simulation/campaign.ts';
import { type Histories, playAll } from '../simulation/histories.ts';
import { Tally } from '../simulation/playing.ts';
import { parseScript } from '../simulation/script.ts';
import { damageCampaign } from '../support/damage-campaign.ts';
import { FAULT_KINDS, failoverCampaign } from '../support/failover-campaign.ts';
import { faultSoak } from '../support/fault-soak.ts';
import { callsOf, faultCampaign, powerLossCampaign } from '../support/io-campaigns.ts';
import { buildShim } from '../support/io-shim.ts';
import { killCampaign } from '../support/kill-campaign.ts';
import { liveDamageCampaign } from '../support/live-damage-campaign.ts';
import { accountCampaign } from '../support/margin-invariants.ts';
import { natsServer } from '../support/nats-servers.ts';
import {
  crashAtFlush,
  drainUnderLoad,
  fillTheDisk,
  killAcknowledged,
  killNodes,
  type NodeCounts,
} from '../support/node-campaigns.ts';
import { soak } from '../support/soak.ts';
import { killPrunes, killUpgrades } from '../support/tool-kills.ts';

interface Result {
  /** Each names what has to be repeated. */
  readonly problems: readonly string[];
  readonly counts: object;
}

interface Campaign {
  /** What `--runs` counts. */
  readonly runs: string;
  readonly usually: number;
  run(seed: number, runs: number): Promise<Result>;
}

const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  kills: {
    runs: 'kills of one data directory',
    usually: 100,
    run: async (seed, kills) => {
      const { problems, ...counts } = await killCampaign(seed, { kills });
      return { problems, counts };
    },
  },
  'double-kills': {
    runs: 'kills of one data directory, every second during recovery',
    usually: 100,
    run: async (seed, kills) => {
      const { problems, ...counts } = await killCampaign(seed, { kills, isDouble: true });
      return { problems, counts };
    },
  },
  'node-kills': {
    runs: 'kills of a whole node, every second followed by one during recovery',
    usually: 50,
    run: (seed, kills) => counted([seed], (one) => killNodes(one, kills)),
  },
  crash: {
    runs: 'nodes that end right before or after a flush',
    usually: 20,
    run: (seed, runs) =>
      counted(seedsFrom(seed, runs), (one) => crashAtFlush(one, one % 2 === 0 ? 'before_flush' : 'after_flush')),
  },
  acks: {
    runs: 'kills while orders are acknowledged, durable and optimistic in turn',
    usually: 20,
    run: async (seed, runs) => {
      let [acknowledged, lost] = [0, 0];
      const { problems } = await counted(seedsFrom(seed, runs), async (one) => {
        const counts = await killAcknowledged(one, one % 2 === 0 ? 'durable' : 'optimistic');
        acknowledged += counts.acknowledged;
        lost += counts.lost;
        return counts;
      });
      return { problems, counts: { runs, acknowledged, lost } };
    },
  },
  drain: {
    runs: 'nodes that get SIGTERM under load',
    usually: 20,
    run: (seed, runs) => counted(seedsFrom(seed, runs), drainUnderLoad),
  },
  'full-disk': {
    runs: 'nodes whose data file cannot grow',
    usually: 20,
    run: (seed, runs) => counted(seedsFrom(seed, runs), fillTheDisk),
  },
  threads: {
    runs: 'times that each thread of a node dies and freezes in each way; the seed is not used',
    usually: 3,
    run: (_seed, runs) => Promise.resolve(repeated(THREADS_SUITE, runs)),
  },
  upgrade: {
    runs: 'kills of ringbook upgrade',
    usually: 100,
    run: async (seed, kills) => {
      const { problems, ...counts } = await killUpgrades(seed, kills);
      return { problems, counts };
    },
  },
  prune: {
    runs: 'kills of ringbook prune',
    usually: 100,
    run: async (seed, kills) => {
      const { problems, ...counts } = await killPrunes(seed, kills);
      return { problems, counts };
    },
  },
  'power-loss': {
    runs: 'images of one life',
    usually: 2_000,
    run: async (seed, images) => {
      const { problems, refused, ...counts } = await powerLossCampaign(shim(), { seed, images, lies: false });
      const damaged = refused === 0 ? [] : [`seed ${seed}: ${refused} images were refused as damaged`];
      return { problems: [...problems, ...damaged], counts };
    },
  },
  'lying-disk': {
    runs: 'images of one life',
    usually: 500,
    run: async (seed, images) => {
      const { problems, ...counts } = await powerLossCampaign(shim(), { seed, images, lies: true });
      return { problems, counts };
    },
  },
  io: {
    runs: 'calls that fail, from the first on',
    usually: 10_000,
    run: async (seed, runs) => {
      const points = Math.min(runs, callsOf(shim(), seed));
      const all = Array.from({ length: points }, (_, index) => index + 1);
      const { problems, ...counts } = await faultCampaign(shim(), seed, all);
      return { problems, counts };
    },
  },
  damage: {
    runs: 'damaged images of one life',
    usually: 5_000,
    run: async (seed, images) => {
      const { silent, ...counts } = await damageCampaign(seed, images);
      return { problems: silent.map((what) => `seed ${seed}: ${what} was silent`), counts };
    },
  },
  'live-damage': {
    runs: 'nodes whose map is damaged while they run',
    usually: 90,
    run: async (seed, runs) => {
      const { problems, ...counts } = await liveDamageCampaign(seed, runs);
      return { problems, counts };
    },
  },
  soak: {
    runs: 'runs of --minutes (10) at --per-second (300) orders',
    usually: 1,
    run: async (seed, runs) => {
      const wish = { minutes: Number(values.minutes), perSecond: Number(values['per-second']) };
      const results = [];
      for (const one of seedsFrom(seed, runs)) results.push(await soak({ seed: one, ...wish }));
      const problems = results.flatMap((result) => result.problems);
      return { problems, counts: { ...wish, runs: results.map(({ problems: _, ...counts }) => counts) } };
    },
  },
  'fault-soak': {
    runs: 'runs of --minutes (10) at --per-second (300) orders, in --lives (4) of one data directory',
    usually: 1,
    run: async (seed, runs) => {
      const lives = Number(values.lives);
      const wish = { minutes: Number(values.minutes), perSecond: Number(values['per-second']), lives };
      const results = [];
      for (const one of seedsFrom(seed, runs)) results.push(await faultSoak({ seed: one, ...wish }));
      const problems = results.flatMap((result) => result.problems);
      return { problems, counts: { ...wish, runs: results.map(({ problems: _, ...counts }) => counts) } };
    },
  },
  failover: {
    runs: 'faults of a cluster, in worlds of six',
    usually: 200,
    run: async (seed, runs) => {
      const server = natsServer();
      if ('missing' in server) return { problems: [server.missing], counts: {} };
      const wished = values.kinds?.split(',') ?? FAULT_KINDS;
      return failoverCampaign(server.path, {
        seed,
        runs,
        kinds: FAULT_KINDS.filter((kind) => wished.includes(kind)),
        ...(values.standby ? { members: { confirm: ['stream', 'standby'] } } : {}),
        said: (line) => process.stderr.write(`${line}\n`),
      });
    },
  },
  accounts: {
    runs: 'random margin accounts, and as many books that press',
    usually: 1_000_000,
    run: async (seed, accounts) => accountCampaign(seed, accounts),
  },
  simulation: {
    runs: 'seeds, each of --operations (50000)',
    usually: 20,
    run: (seed, seeds) => simulate({ seed, seeds, operations: Number(values.operations ?? 50_000) }),
  },
  quotes: {
    runs: 'seeds of quote sets and protection groups, each of --operations (2000)',
    usually: 100,
    run: (seed, seeds) => simulate({ seed, seeds, operations: Number(values.operations ?? 2_000), topic: 'quotes' }),
  },
  funds: {
    runs: 'seeds of deposits and withdrawals, each of --operations (1000)',
    usually: 100,
    run: (seed, seeds) => simulate({ seed, seeds, operations: Number(values.operations ?? 1_000), topic: 'funds' }),
  },
};

async function simulate(histories: Histories): Promise<Result> {
  const tally = new Tally();
  const problems: string[] = [];
  try {
    if (values.script !== undefined) {
      const broken = await playScript(parseScript(readFileSync(values.script, 'utf8')));
      if (broken !== null) throw broken;
    } else {
      await playAll(histories, tally, (seed) => {
        process.stderr.write(`seed ${seed} is sound, ${tally.of('operations')} operations so far\n`);
      });
    }
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const [operations, rests, kills] = ['operations', 'rests', 'restarted'].map((name) => tally.of(name));
  const trips = tally.of('protectionTriggered');
  const confirmedSides = tally.of('confirmed sides');
  return { problems, counts: { ...histories, operations, rests, kills, trips, confirmedSides } };
}

const THREADS_SUITE = fileURLToPath(new URL('../node/failing-threads.test.js', import.meta.url));

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** One run a seed; what it throws is a problem. */
async function counted(seeds: readonly number[], run: (seed: number) => Promise<NodeCounts>): Promise<Result> {
  const problems: string[] = [];
  let confirmed = 0;
  for (const seed of seeds) {
    try {
      confirmed += (await run(seed)).confirmed;
    } catch (error) {
      problems.push(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { problems, counts: { runs: seeds.length, confirmed } };
}

function repeated(suite: string, runs: number): Result {
  const problems: string[] = [];
  for (let run = 0; run < runs; run += 1) {
    const { status, stdout } = spawnSync(process.execPath, ['--test', suite], { encoding: 'utf8', maxBuffer: 1 << 26 });
    if (status !== 0) problems.push(`run ${run}:\n${stdout}`);
  }
  return { problems, counts: { runs } };
}

let built: string | null | undefined;

function shim(): string {
  built ??= buildShim();
  if (built === null) throw new Error('this campaign needs a C compiler: cc');
  return built;
}

function usage(): string {
  const lines = Object.entries(CAMPAIGNS).map(
    ([name, { runs, usually }]) => `  ${name.padEnd(12)} --runs: ${runs} (${usually})`,
  );
  return `usage: run.js <campaign> [--seed N] [--runs N]\n\n${lines.join('\n')}\n`;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string' },
    operations: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    'per-second': { type: 'string', default: '300' },
    lives: { type: 'string', default: '4' },
    script: { type: 'string' },
    kinds: { type: 'string' },
    standby: { type: 'boolean', default: false },
  },
});
const campaign = CAMPAIGNS[positionals[0] ?? ''];
if (campaign === undefined || positionals.length !== 1) {
  process.stderr.write(usage());
  process.exit(64);
}
const startedMs = performance.now();
const { problems, counts } = await campaign.run(Number(values.seed), Number(values.runs ?? campaign.usually));
const seconds = Math.round((performance.now() - startedMs) / 1000);
process.stdout.write(
  `${JSON.stringify({ campaign: positionals[0], seed: Number(values.seed), ...counts, seconds })}\n`,
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
