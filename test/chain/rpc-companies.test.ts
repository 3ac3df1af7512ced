// tier: full, 6 s
/** The watch of an EVM chain over HTTP, against providers with the limits and the words of real companies (CHN-01 to 04). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { EventWatch, type WatchLog } from '../../src/chain/event-watch.ts';
import { EvmProvider } from '../../src/chain/evm-provider.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ALICE, BOB } from '../support/names.ts';
import { eventually } from '../support/patience.ts';
import { PLAIN_CHAIN, PLAIN_VAULT, PlainCredits, PlainEvm } from '../support/plain-evm.ts';
import { propertyParameters } from '../support/property.ts';
import { BATCH_LIMITS, type Company, LOG_LIMITS, RpcCompany } from '../support/rpc-companies.ts';
import { shareOf } from '../support/shares.ts';

const HEAD = 30_000;
const STORIES = shareOf('stories of companies');
/** Blocks that a machine behind an address of the property lacks. */
const LAG_MAX = 3;

/** A watch over companies, with a clock of its own: providers rest by it. */
class Market {
  readonly chain: PlainEvm;
  readonly credits: PlainCredits = new PlainCredits();
  readonly alarms: string[] = [];
  readonly changes: string[] = [];
  companies: readonly RpcCompany[] = [];
  providers: readonly EvmProvider[] = [];
  nowMs = 0;
  #watch: EventWatch | null = null;

  private constructor(chain: PlainEvm) {
    this.chain = chain;
  }

  static async open(companies: readonly Partial<Company>[], chain: PlainEvm): Promise<Market> {
    const market = new Market(chain);
    market.companies = await Promise.all(companies.map((company) => RpcCompany.start(market.chain, company)));
    market.providers = market.companies.map(({ url }) => {
      const changed = (fault: string | null): void => void market.changes.push(fault ?? 'answers');
      return new EvmProvider({ url, vmId: 31_337n, nowMs: () => market.nowMs, changed });
    });
    const error = (_details: object, message: string): void => void market.alarms.push(message);
    const log: WatchLog = { info: () => undefined, warn: () => undefined, error };
    market.#watch = await EventWatch.open({
      chainId: PLAIN_CHAIN,
      event: 'deposit',
      vault: PLAIN_VAULT,
      store: { load: async () => null, save: async (_chain, _event, _step, cursor) => cursor },
      providers: market.providers,
      confirmations: () => 1,
      isForkWhole: false,
      approvalEnds: null,
      offer: async (deposits) => deposits.map((deposit) => market.credits.take(deposit)),
      log,
      nowMs: () => market.nowMs,
      savedEveryMs: 0,
    });
    return market;
  }

  get watch(): EventWatch {
    assert.ok(this.#watch !== null);
    return this.#watch;
  }

  /** Polls, with a second between two when there is nothing to do, until everything up to the head is processed. */
  async catchUp(pollsMax = 5_000, behind = 0): Promise<number> {
    for (let polls = 1; polls <= pollsMax; polls += 1) {
      if ((await this.watch.poll()) === 'again') continue;
      if (this.watch.state().processed >= this.chain.head - behind) return polls;
      this.nowMs += 1_000;
    }
    return assert.fail(`the chain stays at ${this.watch.state().processed} of ${this.chain.head}: ${this.changes}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.companies.map((company) => company.stop()));
  }
}

async function inMarket(
  companies: readonly Partial<Company>[],
  build: (chain: PlainEvm) => void,
  work: (market: Market) => Promise<void>,
): Promise<void> {
  await inMarketOf(companies, built(build), work);
}

function built(build: (chain: PlainEvm) => void): PlainEvm {
  const chain = new PlainEvm();
  build(chain);
  return chain;
}

async function inMarketOf(
  companies: readonly Partial<Company>[],
  chain: PlainEvm,
  work: (market: Market) => Promise<void>,
): Promise<void> {
  const market = await Market.open(companies, chain);
  try {
    await work(market);
  } finally {
    await market.close();
  }
}

const thirtyThousand = (chain: PlainEvm): void => {
  chain.mine(4);
  chain.deposit([ALICE, 5n]);
  chain.mine(29_980 - 6);
  chain.deposit([BOB, 7n]);
  chain.mine(HEAD - 29_980);
};

suite('providers of real companies', () => {
  /** Only read: its blocks take longer to make than to read. */
  const long = built(thirtyThousand);

  for (const logs of LOG_LIMITS) {
    // The property has the others.
    if (logs.blocks < 1_000 || (logs.refusal.status === 200 && logs.name.includes('results'))) continue;
    test(`CHN-01: head 30,000, all three serve ${logs.name} (${logs.refusal.status}, ${logs.refusal.code}): all is read`, () =>
      inMarketOf([{ logs }, { logs }, { logs }], long, async (market) => {
        const polls = await market.catchUp(400);
        assert.deepEqual(market.credits.credited, market.chain.deposits());
        const requests = market.companies.map((company) => company.requests);
        assert.ok(Math.max(...requests) < 1_000, `${requests} requests in ${polls} polls`);
      }));
  }

  test('CHN-01: ten blocks at a time, in two of three: 3,000 blocks are read, and the third waits for them', () => {
    const [logs] = LOG_LIMITS;
    assert.ok(logs !== undefined);
    return inMarket(
      [{ logs }, { logs }, {}],
      (chain) => {
        chain.deposit([ALICE, 5n]);
        chain.mine(2_900);
        chain.deposit([ALICE, 6n], [BOB, 7n]);
        chain.mine(100);
      },
      async (market) => {
        await market.catchUp();
        assert.deepEqual(market.credits.credited, market.chain.deposits());
        assert.deepEqual(
          market.companies.slice(0, 2).map(({ widest }) => widest),
          [8, 8],
        );
      },
    );
  });

  for (const batch of BATCH_LIMITS) {
    test(`CHN-02: batches: ${batch.name} (${batch.refusal.status}, ${batch.refusal.code}): the head is read and deposits are credited`, () =>
      inMarket(
        [{ batch }, { batch }, { batch }],
        (chain) => {
          for (let index = 0; index < 20; index += 1) chain.deposit([ALICE, BigInt(index + 1)]);
        },
        async (market) => {
          await market.catchUp(100);
          assert.equal(market.watch.state().head, 20);
          assert.deepEqual(market.credits.credited, market.chain.deposits());
          // Remembered: further polls meet no refusal.
          const before = market.companies.map(({ requests }) => requests);
          await market.watch.poll();
          await market.watch.poll();
          for (const [index, { requests }] of market.companies.entries()) {
            assert.ok(requests - (before[index] ?? 0) <= 8, `${requests - (before[index] ?? 0)} requests`);
          }
        },
      ));
  }

  test('CHN-03: null for no logs, any order, doubled logs, leading zeros, ids as texts are read', () =>
    inMarket(
      [
        { hasNull: true, order: 'reversed', hasZeros: true },
        { order: 'shuffled', isDoubled: true, hasTextIds: true },
        { hasNull: true, hasZeros: true, isDoubled: true, missingIsError: true },
      ],
      (chain) => {
        chain.deposit([ALICE, 5n], [BOB, 6n], [ALICE, 7n]);
        chain.mine(9);
        chain.deposit([BOB, 8n]);
        chain.mine(2);
      },
      async (market) => {
        await market.catchUp(50);
        assert.deepEqual(market.credits.credited, market.chain.deposits());
        assert.deepEqual(market.changes, [], 'none of it is a fault');
        assert.equal(market.watch.state().agreeing, 3);
      },
    ));

  for (const bomb of ['[', '{"a":', '[0,', '9', '"', ' ']) {
    test(`CHN-03: one of three answers 30 MiB of ${bomb}: memory stays, it rests for five minutes, the others go on`, () =>
      inMarket(
        [{}, {}, {}],
        (chain) => chain.mine(50),
        async (market) => {
          const [first] = market.companies;
          assert.ok(first !== undefined);
          await market.catchUp();
          first.fault = 'bomb';
          first.bomb = bomb;
          const before = process.memoryUsage().rss;
          let most = before;
          for (let round = 0; round < 20; round += 1) {
            market.chain.deposit([ALICE, 5n]);
            await market.catchUp();
            most = Math.max(most, process.memoryUsage().rss);
          }
          assert.ok(most - before < 150e6, `${Math.round((most - before) / 1e6)} MB more`);
          assert.deepEqual(market.credits.credited, market.chain.deposits());
          const asked = first.requests;
          market.nowMs += 60_000;
          await market.catchUp();
          await market.watch.poll();
          assert.equal(first.requests, asked, 'it rests');
          assert.equal(market.providers[0]?.bombs, 1);
          assert.deepEqual([market.watch.state().answering, market.watch.state().agreeing], [2, 2]);
          first.fault = 'none';
          market.nowMs += 300_000;
          market.chain.deposit([ALICE, 5n]);
          await market.catchUp();
          // It is asked for its chain first, so that the others decide without it.
          await eventually(async () => {
            await market.watch.poll();
            return market.watch.state().agreeing === 3;
          });
          assert.equal(market.watch.state().answering, 3);
        },
      ));
  }

  test('CHN-03: no fault has an address of a provider or its words', () =>
    inMarket(
      [{}, {}, {}],
      (chain) => chain.mine(5),
      async (market) => {
        for (const fault of ['dead', 'limited', 'overloaded', 'bomb'] as const) {
          for (const company of market.companies) company.fault = fault;
          market.nowMs += 400_000;
          await market.watch.poll();
        }
        assert.ok(market.changes.length > 0);
        for (const change of market.changes) assert.doesNotMatch(change, /secret|127\.0\.0\.1|server is/);
      },
    ));

  test('CHN-05: two of three dead: one answers, none agrees, and the head is unknown', () =>
    inMarket(
      [{}, {}, {}],
      (chain) => chain.mine(5),
      async (market) => {
        await market.catchUp();
        await market.watch.poll();
        assert.deepEqual([market.watch.state().answering, market.watch.state().agreeing], [3, 3]);
        for (const company of market.companies.slice(1)) company.fault = 'dead';
        market.chain.mine(1);
        await market.watch.poll();
        const { head, answering, agreeing, providers } = market.watch.state();
        assert.deepEqual(
          { head, answering, agreeing, providers },
          { head: -1, answering: 1, agreeing: 0, providers: 3 },
        );
      },
    ));

  test('property: whatever the limits and the words of three companies, every deposit is credited once, in its order (CHN-01 to 03)', async () => {
    const company = fc.record({
      logs: fc.constantFrom(...LOG_LIMITS),
      batch: fc.constantFrom(...BATCH_LIMITS),
      hasNull: fc.boolean(),
      order: fc.constantFrom('chain' as const, 'reversed' as const, 'shuffled' as const),
      isDoubled: fc.boolean(),
      hasZeros: fc.boolean(),
      hasTextIds: fc.boolean(),
      lags: fc.constantFrom([0], [0, 1], [0, 3, 1]),
      missingIsError: fc.boolean(),
    });
    const blocks = fc.array(
      fc.oneof(
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.constantFrom(ALICE, BOB), { minLength: 1, maxLength: 12 }),
      ),
      { minLength: 1, maxLength: 8 },
    );
    const faults = fc.array(
      fc.constantFrom('none' as const, 'dead' as const, 'limited' as const, 'overloaded' as const),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.tuple(company, company, company), blocks, faults, (companies, story, minority) =>
        inMarket(
          companies,
          (chain) => {
            for (const step of story) {
              if (typeof step === 'number') chain.mine(step);
              else chain.deposit(...step.map((user, index): [UserId, bigint] => [user, BigInt(index + 1)]));
            }
            // Machines behind an address may lack the last blocks: what is read lies behind those.
            chain.mine(LAG_MAX);
          },
          async (market) => {
            const [first] = market.companies;
            for (const fault of minority) {
              if (first !== undefined) first.fault = fault;
              for (let polls = 0; polls < 3; polls += 1) await market.watch.poll();
            }
            await market.catchUp(5_000, LAG_MAX);
            assert.deepEqual(market.credits.credited, market.chain.deposits());
            assert.deepEqual(market.alarms, []);
          },
        ),
      ),
      propertyParameters(STORIES),
    );
  });
});
