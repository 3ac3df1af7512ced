/**
 * `ringbook demo failover`: two users trade on a cluster of this machine, the leader is killed, and what was Confirmed before is
 * compared with what the next leader has.
 *
 *   trades ──▶ kill -9 of the leader ──▶ the clients find the next one ──▶ trades ──▶ history of the leader against what was told
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RingbookClient } from '../client/client.ts';
import type { ControlConnection } from '../client/control.ts';
import { RingbookError } from '../client/errors.ts';
import { devKey } from '../client/keys.ts';
import type { UserTrade } from '../client/replies.ts';
import { EXIT, type ExitCode } from './command.ts';
import { DemoCluster, type DemoMember, natsProgram, whenTrue } from './demo-cluster.ts';

const MARKET = '2';
const TRADERS = ['a', 'b'] as const;
const PRICES = ['2999', '3000', '3001'] as const;
const PAUSE_MS = 5;
const PAGE = 1_000;
/** Sides of trades. */
const CONFIRMED_BEFORE = 400;
const CONFIRMED_AFTER = 200;
/** No standby leads sooner after the last record of a leader; answers of the dead one may be read for some milliseconds. */
const LEASE_MS_MIN = 500;

/** What is printed, as one line of JSON. Sides: each trade has two, one of each user. */
interface FailoverReport {
  /** Sides that clients were told as Confirmed before the leader was killed. */
  readonly confirmed_before: number;
  /** Those that they were told later. */
  readonly confirmed_after: number;
  /** Of both, the sides that the leader at the end does not have. */
  readonly lost: number;
  /** Sides that it has twice. */
  readonly doubled: number;
  /** From the last order that the dead leader answered to the first one that the next leader answered. */
  readonly rto_ms: number;
}

/** Two users whose orders cross, for as long as it is not closed. */
class Traders {
  /** Sides told as Confirmed, `<user> <trade> <maker>`, in the order in which they were told. */
  readonly confirmed: string[] = [];
  /** `performance.now()` of orders that were answered as received. */
  readonly receivedAtMs: number[] = [];
  readonly #clients: readonly RingbookClient[];
  readonly #controls: ControlConnection[] = [];
  readonly #ends: (() => void)[] = [];
  #isStopped = false;
  #running: Promise<void>[] = [];

  constructor(members: readonly DemoMember[]) {
    const oms = members.map((member) => member.oms);
    const mds = members.map((member) => member.mds);
    this.#clients = TRADERS.map((name) => new RingbookClient({ oms, mds, key: devKey(name) }));
  }

  async begin(): Promise<void> {
    for (const client of this.#clients) {
      await client.login();
      const stream = await client.userTrades({ reconnect: true });
      const told = (trade: UserTrade): void => {
        if (trade.status === 'Confirmed') this.confirmed.push(sideOf(client.userId, trade));
      };
      this.#ends.push(stream.listen(told, () => undefined));
      this.#controls.push(await client.control());
    }
    this.#running = this.#clients.map((client, at) => this.#trade(client, at));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  close(): void {
    for (const end of this.#ends) end();
    for (const control of this.#controls) control.close();
    for (const client of this.#clients) client.close();
  }

  /** All Confirmed sides of both users, as the leader has them. */
  async history(): Promise<readonly string[]> {
    const sides: string[] = [];
    for (const client of this.#clients) {
      for (let page: number | null = 0; page !== null; ) {
        const found: Awaited<ReturnType<RingbookClient['trades']>> = await client.trades({ page, limit: PAGE });
        sides.push(...found.items.map((trade) => sideOf(client.userId, trade)));
        page = found.nextPage;
      }
    }
    return sides;
  }

  async #trade(client: RingbookClient, at: number): Promise<void> {
    const control = this.#controls[at];
    for (let order = 0; !this.#isStopped; order += 1) {
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      if (control === undefined || !control.isOpen) continue;
      const side = (order + at) % 2 === 0 ? 'Buy' : 'Sell';
      const price = PRICES[order % PRICES.length] ?? PRICES[0];
      try {
        const made = await client.order({ assetId: MARKET, side, price, quantity: '0.01' });
        const { status } = await control.send(client.signCreate(made));
        if (status === 'Received') this.receivedAtMs.push(performance.now());
      } catch (error) {
        // Its outcome is unknown: the history shows it.
        if (!(error instanceof RingbookError)) throw error;
      }
    }
  }
}

function sideOf(user: string, { tradeId, isMaker }: UserTrade): string {
  return `${user} ${tradeId} ${isMaker}`;
}

/** @returns 1 when a Confirmed side is lost or doubled. @throws CliError where there is no server, or a process ends. */
export async function playFailover(print: (line: string) => void): Promise<ExitCode> {
  const program = natsProgram(print);
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-failover-'));
  const cluster = new DemoCluster(directory, program);
  let traders: Traders | null = null;
  try {
    await cluster.startServers();
    print('three servers hold the journal');
    const leader = await cluster.start('a', 'node', 'leading');
    const standby = await cluster.start('b', 'node', 'following');
    await cluster.start('r', 'replica', null);
    print(`a leads at ${leader.oms}, b follows at ${standby.oms}, a replica serves market data`);
    traders = new Traders([leader, standby]);
    await traders.begin();
    const { confirmed, receivedAtMs } = traders;
    await whenTrue('trades are confirmed', () => confirmed.length >= CONFIRMED_BEFORE);
    leader.child.kill('SIGKILL');
    const killedAtMs = performance.now();
    const before = confirmed.length;
    print(`a is killed: ${before} sides were confirmed`);
    await whenTrue('b leads', () => receivedAtMs.some((atMs) => atMs > killedAtMs + LEASE_MS_MIN));
    const told = confirmed.length;
    await whenTrue('trades are confirmed by b', () => confirmed.length >= told + CONFIRMED_AFTER);
    await traders.stop();
    // A trade published from here on may be missing in a history that is read meanwhile.
    const toldAll = [...confirmed];
    const report = reportOf({ told: toldAll, history: await traders.history(), before, killedAtMs, receivedAtMs });
    print(JSON.stringify(report));
    return report.lost + report.doubled === 0 ? EXIT.done : EXIT.fault;
  } finally {
    traders?.close();
    await cluster.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function reportOf({
  told,
  history,
  before,
  killedAtMs,
  receivedAtMs,
}: {
  readonly told: readonly string[];
  readonly history: readonly string[];
  readonly before: number;
  readonly killedAtMs: number;
  readonly receivedAtMs: readonly number[];
}): FailoverReport {
  const has = new Set(history);
  const first = receivedAtMs.findIndex((atMs) => atMs > killedAtMs + LEASE_MS_MIN);
  return {
    confirmed_before: before,
    confirmed_after: told.length - before,
    lost: told.filter((side) => !has.has(side)).length,
    doubled: history.length - has.size,
    rto_ms: Math.round((receivedAtMs[first] ?? 0) - (receivedAtMs[first - 1] ?? 0)),
  };
}
