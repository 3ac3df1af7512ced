/**
 * The fault campaigns as commands; docs/reliability.md tells what each covers.
 *
 *   node dist/test/reliability/run.js <campaign> [--seed N] [--runs N]
 *   node dist/test/reliability/run.js simulation [--seed N] [--runs N] [--operations N]
 *   node dist/test/reliability/run.js simulation --script FILE
 *
 * Prints one JSON line with what was counted. Exits with 1 when something is wrong, and says with which seed.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { playScript } from '../simulation/campaign.ts';
import { type Histories, playAll } from '../simulation/histories.ts';
import { Tally } from '../simulation/playing.ts';
import { parseScript } from '../simulation/script.ts';
import { damageCampaign } from '../support/damage-campaign.ts';
import { callsOf, faultCampaign, powerLossCampaign } from '../support/io-campaigns.ts';
import { buildShim } from '../support/io-shim.ts';
import { killCampaign } from '../support/kill-campaign.ts';
import { accountCampaign } from '../support/margin-laws.ts';

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
      const { problems, ...counts } = await killCampaign(seed, kills);
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
  accounts: {
    runs: 'random margin accounts, and as many books that press',
    usually: 1_000_000,
    run: async (seed, accounts) => accountCampaign(seed, accounts),
  },
  simulation: {
    runs: 'seeds, each of --operations (50000)',
    usually: 20,
    run: (seed, seeds) => simulate({ seed, seeds, operations: Number(values.operations) }),
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
  return { problems, counts: { ...histories, operations, rests, kills, confirmedSides: tally.of('confirmed sides') } };
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
    operations: { type: 'string', default: '50000' },
    script: { type: 'string' },
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
