/**
 * Compares ways of verifying signatures: libsodium on this thread, our rings into a thread of the verifier pool, or
 * piscina tasks; also noble and node:crypto.
 *
 *   raw         this thread, libsodium on prepared buffers: the capacity of one core
 *   the rest    one verifying thread, fed by this one, which is idle in its event loop meanwhile
 *
 * Every eighth signature is forged (a bit of the signature, the text or the key); every verdict of every contender is
 * compared with the expected one. Rounds are short and many. A third busy thread on two processors slows a round many
 * times over: the best round is an undisturbed one, the median shows the load of the machine.
 *
 * "Event loop" is the busy time of the feeding thread per verification: the cost for the gateway.
 */
import { createPublicKey, type KeyObject, verify as verifyNode } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hashes, verify as verifyNoble } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { Piscina } from 'piscina';
import sodium from 'sodium-native';
import { keyFromSeed } from '../src/client/keys.ts';
import { assert, must } from '../src/core/assert.ts';
import { verify, verifyRange } from '../src/crypto/ed25519.ts';
import { PUBLIC_KEY_BYTES } from '../src/crypto/ed25519-sizes.ts';
import { VerifyPool } from '../src/crypto/verify-pool.ts';
import {
  type BenchResult,
  type BenchRow,
  type Contender,
  interleave,
  median,
  percentile,
  type Scale,
} from './bench-kit.ts';
import type { SignedJob } from './verify-task.ts';

/** Different texts and keys, so that caching has no effect. */
const JOBS = 512;
const KEYS = 16;
/** Length of the signed text of a limit order. */
const TEXT_BYTES = 458;
const FORGED_EVERY = 8;
/** Unanswered tasks of piscina: enough to keep its thread busy. */
const TASKS_IN_FLIGHT = 128;
const BATCH = 32;
const IDLE_GAP_MS = 2;
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

interface Job extends SignedJob {
  readonly valid: boolean;
  /** Node's own form of the key, made beforehand. */
  readonly keyObject: KeyObject;
}

function makeJobs(): Job[] {
  const keys = Array.from({ length: KEYS }, (_, index) => keyFromSeed(new Uint8Array(32).fill(index + 1)));
  return Array.from({ length: JOBS }, (_, index): Job => {
    const key = must(keys[index % KEYS], 'a key');
    const text = Uint8Array.from({ length: TEXT_BYTES }, (_, at) => 32 + ((at * 7 + index * 13) % 95));
    const signature = Uint8Array.from(key.sign(text));
    const publicKey = Uint8Array.from(Buffer.from(key.userId, 'hex'));
    const valid = index % FORGED_EVERY !== 0;
    if (!valid) {
      const forged = must([signature, text, publicKey][(index / FORGED_EVERY) % 3], 'a part of the job');
      forged[index % PUBLIC_KEY_BYTES] = must(forged[index % PUBLIC_KEY_BYTES], 'a byte') ^ 1;
    }
    const der = Buffer.concat([SPKI_HEAD, publicKey]);
    return { signature, text, publicKey, valid, keyObject: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
  });
}

/** Verdicts of the whole run, each compared with what is expected. */
class Tally {
  valid = 0;
  forged = 0;

  take(job: Job, verdict: boolean): void {
    assert(verdict === job.valid, 'a contender judges as it must');
    if (verdict) this.valid += 1;
    else this.forged += 1;
  }
}

/** Milliseconds that this thread was busy. */
function busyMs(): number {
  return performance.eventLoopUtilization().active;
}

class Contest {
  readonly jobs: readonly Job[] = makeJobs();
  readonly tally: Tally = new Tally();
  /** Busy microseconds of this thread per verification, by contender, a round each. */
  readonly busy: Map<string, number[]> = new Map();
  #verdictOf: (ticket: number, valid: boolean) => void = () => undefined;
  readonly #piscina: Piscina;
  readonly #pool: VerifyPool;

  constructor() {
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./verify-task.js', import.meta.url)),
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: 2,
    });
    this.#pool = new VerifyPool({
      threads: 1,
      onVerdict: (ticket, valid) => this.#verdictOf(ticket, valid),
      onDeath: (error) => must<never>(null, `the verify thread ended: ${error.message}`),
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#piscina.destroy()]);
  }

  job(index: number): Job {
    return must(this.jobs[index % JOBS], 'a job');
  }

  /** @returns verifications a second. */
  async rate(label: string, count: number, work: (count: number) => Promise<void> | void): Promise<number> {
    const busyFrom = busyMs();
    const startedMs = performance.now();
    await work(count);
    const elapsedMs = performance.now() - startedMs;
    const busy = this.busy.get(label) ?? [];
    busy.push(((busyMs() - busyFrom) * 1e3) / count);
    this.busy.set(label, busy);
    return (count * 1e3) / elapsedMs;
  }

  inline(count: number, judge: (job: Job) => boolean): void {
    for (let index = 0; index < count; index += 1) {
      const job = this.job(index);
      this.tally.take(job, judge(job));
    }
  }

  /**
   * The job ring is kept filled: every verdict frees a place for the next job, sent once per pass as in the gateway.
   */
  rings(count: number): Promise<void> {
    const { tally } = this;
    const pool = this.#pool;
    let sent = 0;
    let answered = 0;
    let isScheduled = false;
    const fill = (): void => {
      isScheduled = false;
      while (sent < count) {
        const { signature, text, publicKey } = this.job(sent);
        if (!pool.submit(0, sent, { signature, text, publicKey })) break;
        sent += 1;
      }
      pool.flush();
    };
    return new Promise((resolve) => {
      this.#verdictOf = (ticket, valid) => {
        tally.take(this.job(ticket), valid);
        answered += 1;
        if (answered === count) resolve();
        if (isScheduled || sent === count) return;
        isScheduled = true;
        setImmediate(fill);
      };
      fill();
    });
  }

  async tasks(count: number): Promise<void> {
    let next = 0;
    const channel = async (): Promise<void> => {
      while (next < count) {
        const job = this.job(next);
        next += 1;
        this.tally.take(job, await this.ask(job));
      }
    };
    await Promise.all(Array.from({ length: TASKS_IN_FLIGHT }, channel));
  }

  async batches(count: number): Promise<void> {
    let next = 0;
    const channel = async (): Promise<void> => {
      while (next < count) {
        const jobs = Array.from({ length: BATCH }, (_, index) => this.job(next + index));
        next += BATCH;
        const verdicts = (await this.#piscina.run(jobs.map(message), { name: 'verifyMany' })) as boolean[];
        for (const [index, job] of jobs.entries()) this.tally.take(job, must(verdicts[index], 'a verdict'));
      }
    };
    await Promise.all(Array.from({ length: TASKS_IN_FLIGHT / BATCH }, channel));
  }

  ask(job: Job): Promise<boolean> {
    return this.#piscina.run(message(job), { name: 'verifyOne' }) as Promise<boolean>;
  }

  trip(index: number): Promise<boolean> {
    const { signature, text, publicKey } = this.job(index);
    return new Promise((resolve) => {
      this.#verdictOf = (_ticket, valid) => resolve(valid);
      assert(this.#pool.submit(0, index, { signature, text, publicKey }), 'an idle ring has room');
      this.#pool.flush();
    });
  }
}

/** The message to a piscina thread. */
function message({ signature, text, publicKey }: SignedJob): SignedJob {
  return { signature, text, publicKey };
}

/** libsodium alone: the buffers are made beforehand and hold no shared memory. */
function rawJudge(jobs: readonly Job[]): (job: Job) => boolean {
  const buffers = new Map(
    jobs.map((job) => [job, [Buffer.from(job.signature), Buffer.from(job.text), Buffer.from(job.publicKey)] as const]),
  );
  return (job) => {
    const [signature, text, publicKey] = must(buffers.get(job), 'buffers of a job');
    return sodium.crypto_sign_verify_detached(signature, text, publicKey) === true;
  };
}

/** Our verifier as the pool's thread calls it: on bytes that lie in shared memory. */
function sharedJudge(): (job: Job) => boolean {
  const shared = new Uint8Array(new SharedArrayBuffer(1_024));
  return (job) => {
    shared.set(job.signature, 0);
    shared.set(job.publicKey, 64);
    shared.set(job.text, 96);
    return verifyRange(
      { bytes: shared, at: 0, length: 64 },
      { bytes: shared, at: 96, length: job.text.length },
      { bytes: shared, at: 64, length: 32 },
    );
  };
}

const RAW = 'libsodium, this thread';
const RINGS = 'verify pool, rings, 1 thread';
const TASKS = 'piscina, one a task, 1 thread';
const BATCHES = `piscina, ${BATCH} a task, 1 thread`;

function contendersOf(contest: Contest, count: number): readonly Contender[] {
  const few = Math.ceil(count / 40);
  const raw = rawJudge(contest.jobs);
  const shared = sharedJudge();
  const entry = (label: string, turns: number, work: (turns: number) => Promise<void> | void): Contender => ({
    label,
    round: () => contest.rate(label, turns, work),
  });
  const inline = (label: string, turns: number, judge: (job: Job) => boolean): Contender =>
    entry(label, turns, (wanted) => contest.inline(wanted, judge));
  return [
    inline(RAW, count, raw),
    entry(RINGS, count, (wanted) => contest.rings(wanted)),
    inline('our verifier on shared memory, this thread', count, shared),
    entry(BATCHES, count, (wanted) => contest.batches(wanted)),
    entry(TASKS, count, (wanted) => contest.tasks(wanted)),
    inline('node:crypto, key made beforehand', few, (job) => verifyNode(null, job.text, job.keyObject, job.signature)),
    inline('noble', few, nobleJudge),
  ];
}

/** noble throws on a key that is not a point of the curve. */
function nobleJudge(job: Job): boolean {
  try {
    return verifyNoble(job.signature, job.text, job.publicKey);
  } catch {
    return false;
  }
}

/** One verification at a time with a pause between, in turn: the cost of a hop without other load. */
async function idleRows(contest: Contest, count: number): Promise<BenchRow[]> {
  const ways = [
    { label: 'inline', ask: async (job: Job) => verify(job.signature, job.text, job.publicKey) },
    { label: 'verify pool', ask: (_job: Job, index: number) => contest.trip(index) },
    { label: 'piscina task', ask: (job: Job) => contest.ask(job) },
  ];
  const times = ways.map((): number[] => []);
  for (let index = 0; index < count; index += 1) {
    for (const [way, { ask }] of ways.entries()) {
      await sleep(IDLE_GAP_MS);
      const job = contest.job(index);
      const startedMs = performance.now();
      const verdict = await ask(job, index);
      times[way]?.push((performance.now() - startedMs) * 1e3);
      contest.tally.take(job, verdict);
    }
  }
  return ways.flatMap(({ label }, way): BenchRow[] => {
    const counted = must(times[way], 'times of every way').slice(Math.floor(count / 10));
    return [
      { label: `one when idle, ${label}, p50`, value: percentile(counted, 0.5), unit: 'µs' },
      { label: `one when idle, ${label}, p99`, value: percentile(counted, 0.99), unit: 'µs' },
    ];
  });
}

export async function run(scale: Scale): Promise<BenchResult> {
  const full = scale === 'full';
  hashes.sha512 = sha512;
  const contest = new Contest();
  try {
    const contenders = contendersOf(contest, (full ? 8 : 4) * JOBS);
    const figures = await interleave(contenders, full ? 25 : 3);
    const rates = new Map(
      contenders.map(({ label }, index) => [label, must(figures[index], 'figures of a contender')]),
    );
    const rows: BenchRow[] = [];
    for (const [label, ofRounds] of rates) {
      rows.push({ label: `${label}, median`, value: median(ofRounds), unit: 'verifications/s' });
      rows.push({ label: `${label}, best`, value: Math.max(...ofRounds), unit: 'verifications/s' });
    }
    const raw = Math.max(...must(rates.get(RAW), 'the raw rate'));
    for (const label of [RINGS, BATCHES, TASKS]) {
      const best = Math.max(...must(rates.get(label), 'the rate of a contender'));
      const busy = must(contest.busy.get(label), 'busy time of a contender').slice(1);
      rows.push({ label: `${label}: of the raw rate, best by best`, value: (100 * best) / raw, unit: '%' });
      rows.push({ label: `${label}: event loop, least`, value: Math.min(...busy), unit: 'µs/verification' });
    }
    rows.push(...(await idleRows(contest, full ? 1_000 : 100)));
    const { valid, forged } = contest.tally;
    const checks = `${valid} valid and ${forged} forged signatures, every verdict as expected`;
    return { name: 'verify', rows, checks };
  } finally {
    await contest.close();
  }
}
