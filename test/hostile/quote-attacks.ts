/**
 * Attacks by quote sets and on protection groups, of keys that cost nothing and of users with money. What must not happen is counted as
 * `BROKEN …`, which ends the campaign with 1.
 *
 *   refusedSets    sets of 100 entries without money, forged or paid by nobody, as fast as they are refused
 *   freeDepth      four sets at a time, over many connections, of all the money of their owner: more than it must never rest
 *   ownTrips       a maker's own takers and fills below `min_fill_notional` of others do not trip its group
 *   frozenGroups   members of a group that is frozen, and what it had at the trip, do not trade
 *   oldRevisions   what was signed before a cancel of all is sent after it, again and again
 *
 * All of it is in market 1, in which the honest pair does not trade, and far below its price.
 */

import { limitOrder, type OrderTicket, quoteSet, signCreate, signQuotes } from '../../src/client/signed-actions.ts';
import { systemClock } from '../../src/client/time.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { Attack, AttackWorld } from './attacks.ts';
import { type Answer, count, isOver, pause, Stranger } from './stranger.ts';

const BTC = '1' as AssetId;
const DECIMALS = { priceDecimals: 1, quantityDecimals: 5 } as const;
const SPOT = { account: 0, isSpot: true } as const;
const MARGIN = { account: 1, isSpot: false } as const;
const IOC = { kind: 'IOC' } as const;
/** Of USD, given to each (campaign.ts). */
const OWNED = 1_000_000;
const SIDE_MAX = 50;
const CONNECTIONS = 4;
/** Each has one part of the book, so that no fill of one is of another. */
const BASE = { protection: 40_000, depth: 20_000, revisions: 15_000 } as const;
/** Of the funded users, those of this file. */
const ROLE = { depth: 5, maker: 6, taker: 7, replayer: 8 } as const;

const clockNs = systemClock();
let lastNs = 0n;
/** A revision above all before. */
function revisionNs(): bigint {
  const nowNs = clockNs();
  lastNs = nowNs > lastNs ? nowNs : lastNs + 1n;
  return lastNs;
}

interface Words {
  readonly id?: string;
  readonly bids?: readonly (readonly [string, string])[];
  readonly group?: string;
}

function setBody(stranger: Stranger, { id = 'mm', bids = [], group }: Words): string {
  const ticket = { assetId: BTC, setId: id, bids, asks: [], target: SPOT };
  const protection = group === undefined ? {} : { protectionGroup: group };
  const context = { signer: stranger.key.userId, decimals: DECIMALS, nowNs: revisionNs() };
  return signQuotes(stranger.key, quoteSet({ ...ticket, ...protection }, context), clockNs()).body;
}

const put = (stranger: Stranger, body: string): Promise<Answer> => stranger.call('PUT', '/orders/quotes', body);
const ladder = (from: number, count: number, quantity: string): readonly (readonly [string, string])[] =>
  Array.from({ length: count }, (_, at) => [`${from - at}`, quantity] as const);

async function user(world: AttackWorld, role: number): Promise<Stranger> {
  const seed = must(world.funded[role], 'there are as many funded users as roles');
  const stranger = new Stranger(world.target, `127.0.30.${2 + role}`, seed);
  while (!isOver(world.target) && (await stranger.login()).status !== 200) await pause(world.target, 200);
  return stranger;
}

function booked({ tally }: AttackWorld, what: string, { status, code }: Answer): void {
  count(tally, `${what} ${status}${code === '' ? '' : ` ${code}`}`);
}

const refusedSets: Attack = async (world) => {
  const { target } = world;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const stranger = new Stranger(target, `127.0.31.${2 + index}`);
      while (!isOver(target) && (await stranger.login()).status !== 200) await pause(target, 200);
      while (!isOver(target)) {
        const body = setBody(stranger, { id: `s${index}`, bids: ladder(30_000, SIDE_MAX, '0.01') });
        const sent = index % 2 === 0 ? body : body.replace(/"signature":\[\d+,/, '"signature":[1,');
        const answer = await put(stranger, sent);
        booked(world, 'refused set', answer);
        if (answer.status === 200) count(world.tally, 'BROKEN a set of a user without money rests');
        if (answer.status === 429 || answer.status === 0) await pause(target, 20);
      }
      stranger.end();
    }),
  );
};

interface Resting {
  readonly limit_price: string;
  readonly quantity: string;
  readonly confirmed_filled_quantity: string;
  readonly pending_filled_quantity: string;
}

/** What the open bids of a user would cost. */
async function restingUsd(stranger: Stranger): Promise<number | null> {
  const { status, text } = await stranger.call('GET', `/orders/user/${stranger.key.userId}?open_only=true&limit=1000`);
  if (status !== 200) return null;
  let sum = 0;
  for (const match of text.matchAll(/\{[^{}]*"limit_price"[^{}]*\}/g)) {
    const order = JSON.parse(match[0]) as Resting;
    const filled = Number(order.confirmed_filled_quantity) + Number(order.pending_filled_quantity);
    sum += Number(order.limit_price) * (Number(order.quantity) - filled);
  }
  return sum;
}

const freeDepth: Attack = async (world) => {
  const { target, random } = world;
  const stranger = await user(world, ROLE.depth);
  while (!isOver(target)) {
    // Four sets that want all of the money each, at once; some of them twice, the second time as much again.
    const bids = ladder(BASE.depth, 20, '2.4');
    const bodies = ['a', 'b', 'c', 'd', 'a', 'b'].map((id) =>
      setBody(stranger, { id, bids: random.below(3) === 0 ? [] : bids.slice(0, 1 + random.below(20)) }),
    );
    for (const answer of await Promise.all(bodies.map((body) => put(stranger, body))))
      booked(world, 'deep set', answer);
    const usd = await restingUsd(stranger);
    if (usd !== null) count(world.tally, 'depth read');
    if (usd !== null && usd > OWNED) count(world.tally, `BROKEN ${Math.round(usd)} USD rest of ${OWNED}`);
    await pause(target, 200);
  }
  stranger.end();
};

const PATH = `/account/protection/${BTC}`;

interface Pair {
  readonly maker: Stranger;
  readonly taker: Stranger;
}

async function pairOf(world: AttackWorld): Promise<Pair> {
  return { maker: await user(world, ROLE.maker), taker: await user(world, ROLE.taker) };
}

function sell(stranger: Stranger, id: string, price: number, quantity: string): Promise<Answer> {
  const ticket: OrderTicket = {
    ...{ assetId: BTC, orderId: id, side: 'Sell', price: `${price}`, quantity, timeInForce: IOC, target: MARGIN },
  };
  const context = { signer: stranger.key.userId, decimals: DECIMALS, nowNs: clockNs() };
  return stranger.call('POST', '/orders/create', signCreate(stranger.key, limitOrder(ticket, context), clockNs()).body);
}

async function isFrozen(stranger: Stranger, group: string): Promise<boolean | null> {
  const { status, text } = await stranger.call('GET', PATH);
  if (status !== 200) return null;
  const { groups } = JSON.parse(text) as { groups: readonly { readonly group: string; readonly is_frozen: boolean }[] };
  return groups.find((each) => each.group === group)?.is_frozen ?? null;
}

/** Trips that cost an attacker next to nothing, and one that does not: its members are over, and new ones are refused. */
const protectionTrips: Attack = async (world) => {
  const { target } = world;
  const { maker, taker } = await pairOf(world);
  const limits = { window_ms: 60_000, frozen_ms: 0, max_fills: 1, min_fill_notional: '1000' };
  let orders = 0;
  const taking = (stranger: Stranger, quantity: string): Promise<Answer> => {
    orders += 1;
    return sell(stranger, `p-${stranger.key.userId.slice(0, 6)}-${orders}`, BASE.protection, quantity);
  };
  while (!isOver(target)) {
    booked(world, 'group put', await maker.call('PUT', PATH, JSON.stringify({ group: 'g', ...limits })));
    booked(world, 'group reset', await maker.call('POST', `${PATH}/g/reset`));
    const bids = [[`${BASE.protection}`, '0.1'] as const];
    const quoted = await put(maker, setBody(maker, { bids, group: 'g' }));
    booked(world, 'group set', quoted);
    if (quoted.status !== 200) {
      await pause(target, 500);
      continue;
    }
    // Of the own user, and of another one below the least that counts.
    for (const [who, quantity] of [
      [maker, '0.05'],
      [taker, '0.001'],
      [taker, '0.001'],
    ] as const)
      booked(world, 'small fill', await taking(who, quantity));
    if ((await isFrozen(maker, 'g')) === true) count(world.tally, 'BROKEN small fills trip a group');
    // One that counts: whatever is sent for the group behind it is refused, and nothing of it is taken.
    await put(maker, setBody(maker, { bids, group: 'g' }));
    booked(world, 'large fill', await taking(taker, '0.05'));
    if ((await isFrozen(maker, 'g')) === true) {
      count(world.tally, 'group tripped');
      const sets = await Promise.all(
        ['mm', 'm2', 'm3'].map((id) =>
          put(maker, setBody(maker, { id, bids: [[`${BASE.protection - 5}`, '0.1']], group: 'g' })),
        ),
      );
      for (const answer of sets) {
        booked(world, 'set of a frozen group', answer);
        if (answer.status === 200 && !/"created":0/.test(answer.text))
          count(world.tally, 'BROKEN a frozen group quotes');
      }
      const left = await restingUsd(maker);
      if (left !== null && left > 0) count(world.tally, 'BROKEN members of a frozen group rest');
    }
    await pause(target, 500);
  }
  maker.end();
  taker.end();
};

const oldRevisions: Attack = async (world) => {
  const { target } = world;
  const stranger = await user(world, ROLE.replayer);
  while (!isOver(target)) {
    const bodies = Array.from({ length: 6 }, (_, at) =>
      setBody(stranger, { id: at % 2 === 0 ? 'mm' : 'm2', bids: ladder(BASE.revisions - at, 5, '0.01') }),
    );
    for (const body of bodies.slice(0, 4)) booked(world, 'signed set', await put(stranger, body));
    const cancelled = await stranger.call('DELETE', '/orders/cancel-all');
    booked(world, 'cancel of all sets', cancelled);
    if (cancelled.status === 202) {
      for (const answer of await Promise.all(bodies.map((body) => put(stranger, body)))) {
        booked(world, 'old revision', answer);
        if (answer.status === 200) count(world.tally, 'BROKEN a revision of before a cancel of all is applied');
      }
    }
    await pause(target, 300);
  }
  stranger.end();
};

export const QUOTE_ATTACKS: Readonly<Record<string, Attack>> = {
  refusedSets,
  freeDepth,
  protectionTrips,
  oldRevisions,
};
