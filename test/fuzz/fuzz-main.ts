/**
 * The fuzzer without end: `node dist/test/fuzz/fuzz-main.js [--seed N] [--seconds N] [--forever] [--only NAME]`.
 *
 * Rounds of ten seconds per campaign, each with the next seed; after each round the node must be sound. It ends with
 * exit code 1 at the first finding, which it prints with the seed that repeats it.
 */
import { parseArgs } from 'node:util';
import { type Campaign, findingText, runCampaign } from './campaign.ts';
import { Dice } from './dice.ts';
import { FuzzNode } from './fuzz-node.ts';
import { bodyCampaign, headCampaign } from './http-campaigns.ts';
import { SignedFuzz } from './signed-campaign.ts';
import { controlCampaign, frameCampaign } from './socket-campaigns.ts';

const ROUND_MS = 10_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    forever: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const fuzzed = await FuzzNode.start();
const { target } = fuzzed;
const campaigns: readonly Campaign[] = [
  bodyCampaign(target, 8),
  headCampaign(target, 24),
  controlCampaign(target, 4),
  frameCampaign(target, 4),
];
const untilMs = values.forever ? Number.POSITIVE_INFINITY : performance.now() + Number(values.seconds) * 1_000;
let exitCode = 0;

/** A node of its own a round, since what one action does depends on those before it. */
async function signedRound(seed: number): Promise<void> {
  const signed = await SignedFuzz.start();
  const dice = new Dice(seed);
  let cases = 0;
  for (const endMs = performance.now() + ROUND_MS; performance.now() < endMs && exitCode === 0; ) {
    const result = await runCampaign(signed.campaign(6), { seed: dice.seed(), casesMax: 40, forMs: ROUND_MS });
    cases += result.cases;
    try {
      if (result.finding === null) await signed.disturb(dice);
      else throw new Error(findingText(result.finding));
      if (performance.now() >= endMs) await signed.settle();
    } catch (error) {
      exitCode = 1;
      say(`seed ${seed}: ${String(error)}\nlast actions:\n${signed.recent.join('\n')}`);
    }
  }
  say(`seed ${seed}, signed actions: ${cases} cases`);
  await signed.node.stop();
}

for (let seed = Number(values.seed); performance.now() < untilMs && exitCode === 0; seed += 1) {
  if ('signed'.includes(values.only)) await signedRound(seed);
  for (const campaign of campaigns.filter(({ name }) => name.includes(values.only))) {
    await fuzzed.login();
    const { cases, finding } = await runCampaign(campaign, {
      seed,
      casesMax: Number.MAX_SAFE_INTEGER,
      forMs: ROUND_MS,
    });
    say(`seed ${seed}, ${campaign.name}: ${cases} cases${finding === null ? '' : `\n${findingText(finding)}`}`);
    if (finding !== null) exitCode = 1;
    await fuzzed.isSound();
  }
}
await fuzzed.stop();
process.exit(exitCode);
