/**
 * A campaign against the NATS servers that are pinned: two rival writers append to one journal stream while servers are killed,
 * stopped and go on, two at once and all at once. Then the stream is read: what was acknowledged is there, once, unchanged.
 *
 *   node dist/test/support/nats-campaign.js [SECONDS] [SEED]
 *
 * Prints one line of JSON. Exits with 1 when a record is missing, changed or doubled, 69 where no server can be had. kill -9 does not
 * lose what the operating system has cached: this shows nothing about a loss of power.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { Chance } from '../cluster/simulated-stream.ts';
import { NatsServers, natsServer } from './nats-servers.ts';

const RETRY_MS = 25;
const CALM_MS = 60_000;
const EXIT_NO_SERVER = 69;

interface Tally {
  /** By sequence, what a writer knows to be stored. */
  readonly known: Map<number, string>;
  acknowledged: number;
  /** Outcomes that were unknown, and found by reading. */
  readBack: number;
  lostRaces: number;
  clashes: number;
}

interface Writing {
  isOver: boolean;
}

/** Appends until it is over, each record until its fate is known. */
async function write(name: string, log: StreamLog, tally: Tally, writing: Writing): Promise<void> {
  let end = (await ended(log)) ?? 0;
  for (let count = 0; !writing.isOver; count += 1) {
    const text = `${name} ${count}`;
    for (;;) {
      const answer = await log.append(Buffer.from(text), end);
      if (answer.kind === 'stored') {
        tally.acknowledged += 1;
        keep(tally, answer.sequence, text);
        end = answer.sequence;
        break;
      }
      if (answer.kind === 'refused' && answer.end > end) {
        const [there] = await log.get(end + 1);
        if (there !== undefined) {
          const found = Buffer.from(there.bytes).toString();
          if (found === text) {
            tally.readBack += 1;
            keep(tally, end + 1, text);
            end += 1;
          } else {
            tally.lostRaces += 1;
            end = answer.end;
          }
          break;
        }
      }
      if (writing.isOver) return;
      await sleep(RETRY_MS);
    }
    await sleep(5);
  }
}

function keep(tally: Tally, sequence: number, text: string): void {
  if (tally.known.has(sequence)) tally.clashes += 1;
  tally.known.set(sequence, text);
}

async function ended(log: StreamLog): Promise<number | null> {
  return (await log.info())?.end ?? null;
}

/** Kills, stops and lets go on, until it is over. @returns how many faults there were. */
async function trouble(servers: NatsServers, chance: Chance, writing: Writing): Promise<number> {
  let faults = 0;
  while (!writing.isOver) {
    const count = [1, 1, 1, 1, 2, 3][chance.below(6)] ?? 1;
    const struck = [...servers.names].sort(() => chance.next() - 0.5).slice(0, count);
    const isPause = chance.is(0.4);
    faults += 1;
    for (const name of struck) {
      if (isPause) servers.pause(name);
      else servers.kill(name);
    }
    await sleep(chance.between(200, 6_000));
    for (const name of struck) {
      if (isPause) servers.resume(name);
      else servers.launch(name);
    }
    await sleep(chance.between(500, 8_000));
  }
  return faults;
}

async function main(): Promise<number> {
  const [seconds = 60, seed = 1] = process.argv.slice(2).map(Number);
  const program = natsServer();
  if ('missing' in program) {
    process.stderr.write(`${program.missing}\n`);
    return EXIT_NO_SERVER;
  }
  const servers = await NatsServers.start(program.path, { cluster: 'campaign' });
  const open = (): Promise<StreamLog> =>
    StreamLog.connect({
      cluster: 'campaign',
      node: 'writer',
      servers: servers.addresses,
      credentialsFile: servers.credentialsOf('node'),
      tls: null,
      dataVersion: '16',
    });
  const logs = await Promise.all([open(), open()]);
  const [log] = logs;
  for (let made = false; !made; ) {
    made = await log.createJournal({ firstSequence: 1, replicas: 3, bytesMax: 1 << 30 }).then(
      () => true,
      () => sleep(200, false),
    );
  }
  const tally: Tally = { known: new Map(), acknowledged: 0, readBack: 0, lostRaces: 0, clashes: 0 };
  const writing: Writing = { isOver: false };
  const writers = logs.map((one, at) => write(`writer ${at + 1}`, one, tally, writing));
  const troubled = trouble(servers, new Chance(seed), writing);
  await sleep(seconds * 1_000);
  writing.isOver = true;
  const faults = await troubled;
  await Promise.all(writers);
  await servers.ready();
  const verdict = await compare(log, tally);
  process.stdout.write(
    `${JSON.stringify({ seconds, seed, faults, acknowledged: tally.acknowledged, readBack: tally.readBack, lostRaces: tally.lostRaces, ...verdict })}\n`,
  );
  await Promise.all(logs.map((one) => one.close()));
  servers.close();
  return verdict.missing + verdict.changed + verdict.doubled === 0 ? 0 : 1;
}

/** Reads the stream when it has a leader again. @throws Error when it has none within a minute. */
async function compare(
  log: StreamLog,
  tally: Tally,
): Promise<Readonly<Record<'records' | 'missing' | 'changed' | 'doubled', number>>> {
  const endMs = Date.now() + CALM_MS;
  let end = await ended(log);
  while (end === null) {
    if (Date.now() > endMs) throw new Error('the stream has no leader after a minute');
    await sleep(200);
    end = await ended(log);
  }
  const there = new Map<number, string>();
  while (there.size < end) {
    if (Date.now() > endMs) break;
    for (const { sequence, bytes } of await log.get(there.size + 1)) there.set(sequence, Buffer.from(bytes).toString());
  }
  const seen = new Map<string, number>();
  for (const text of there.values()) seen.set(text, (seen.get(text) ?? 0) + 1);
  let missing = 0;
  let changed = 0;
  for (const [sequence, text] of tally.known) {
    const found = there.get(sequence);
    if (found === undefined) missing += 1;
    else if (found !== text) changed += 1;
  }
  const doubled = [...seen.values()].filter((count) => count > 1).length + tally.clashes;
  return { records: end, missing, changed, doubled };
}

process.exitCode = await main();
