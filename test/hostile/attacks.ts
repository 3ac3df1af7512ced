/**
 * The attacks of the hostile campaign, each a loop until the campaign is over. Money has only who the campaign gave some.
 *
 *   loud      strangers without a session: pipelining, refusals, empty frames, replies left unread, connections, garbage,
 *             subscriptions, handshakes and frames that do not end, pages, long heads, test funds
 *   keys      strangers with keys that cost nothing: sessions, nonces, timers, public reads, orders without money
 *   traders   users with money: orders that they cannot pay twice, races, rollbacks, pages, filtered pages
 *   quotes    sets of 100 that are refused, depth without money, protection groups, old revisions (quote-attacks.ts)
 *   money     users with money who are after that of others (money-attacks.ts)
 *
 * Each pauses as little as it can and stays at or below what one ordinary computer sends.
 */

import type { Order } from '../../src/client/canonical.ts';
import { signTransfer } from '../../src/client/signed-actions.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { frameBytes, OPCODE } from '../fuzz/raw-socket.ts';
import type { SeededRandom } from '../support/simulation.ts';
import { farFills, rebalancing, reducing, replays, unpayable, washTrades } from './money-attacks.ts';
import { QUOTE_ATTACKS } from './quote-attacks.ts';
import { type Answer, count, isOver, pause, RawConnection, Stranger, type Tally, type Target } from './stranger.ts';

export interface AttackWorld {
  readonly target: Target;
  readonly random: SeededRandom;
  readonly tally: Tally;
  /** Users with money, by their seeds; none of them is honest. */
  readonly funded: readonly Uint8Array[];
  /** Users with money of the attacks on money, by role (money-attacks.ts). */
  readonly money: readonly Uint8Array[];
  /** The operator's listener, which has the simulated chains. */
  readonly ops: string;
  /** Ids of the honest pair, for attacks on names. */
  readonly honestIds: readonly string[];
}

export type Attack = (world: AttackWorld) => Promise<void>;

const MARGIN = { account: 1, isSpot: false } as const;
const SPOT = { account: 0, isSpot: true } as const;
const GTC = { kind: 'GTC' } as const;
const IOC = { kind: 'IOC' } as const;

const requestText = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const addressOf = (group: number, index: number): string => `127.0.${group}.${2 + (index % 250)}`;

async function together(workers: number, work: (index: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: workers }, (_, index) => work(index)));
}

function booked({ tally }: AttackWorld, what: string, { status, code }: Answer): Answer {
  count(tally, `${what} ${status}${code === '' ? '' : ` ${code}`}`);
  return { status, code, text: '' };
}

// ---- loud: nothing but connections

/** Thousands of reads in one segment, again and again. */
const pipelining: Attack = async ({ target, tally }) => {
  const burst = Buffer.from(requestText('/trades/2?limit=1000').repeat(9_000));
  await together(2, async (index) => {
    while (!isOver(target)) {
      const raw = new RawConnection({ port: target.mds, from: addressOf(1, index) });
      await raw.write(burst, 1_000);
      await pause(target, 500);
      count(tally, raw.isClosed ? 'pipelining closed' : 'pipelining open');
      raw.end();
    }
  });
};

/** 246 KiB of unknown paths on each of 32 connections. */
const unknownPaths: Attack = async ({ target, tally }) => {
  const burst = Buffer.from(requestText('/no/such/path').repeat(6_500));
  await together(32, async (index) => {
    while (!isOver(target)) {
      const raw = new RawConnection({ port: index % 2 === 0 ? target.oms : target.mds, from: addressOf(2, index % 4) });
      await raw.write(burst, 2_000);
      await pause(target, 1_000);
      count(tally, raw.isClosed ? 'unknown paths closed' : 'unknown paths open');
      raw.end();
    }
  });
};

const upgradeText = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`;

/** Sockets that send frames of no bytes and pings as fast as they are taken. */
const emptyFrames: Attack = async ({ target, tally }) => {
  const text = frameBytes(new Uint8Array(0), { opcode: OPCODE.text });
  const ping = frameBytes(new Uint8Array(0), { opcode: OPCODE.ping });
  const burst = Buffer.concat(Array.from({ length: 5_000 }, (_, index) => (index % 2 === 0 ? text : ping)));
  await together(32, async (index) => {
    while (!isOver(target)) {
      const raw = new RawConnection({ port: target.mds, from: addressOf(3, index % 4) });
      await raw.write(upgradeText('/trades/2'), 2_000);
      while (!raw.isClosed && !isOver(target) && (await raw.write(burst, 2_000))) await pause(target, 50);
      count(tally, raw.isClosed ? 'empty frames closed' : 'empty frames open');
      raw.end();
      await pause(target, 100);
    }
  });
};

/**
 * Sockets of `/ws` that subscribe to every channel of every market again and again, which makes a snapshot each time; every
 * second one leaves all of it unread. At the order listener they pass through the thread of the orders (wire-additions.md 8, 10).
 */
const subscriptions: Attack = async ({ target, tally }) => {
  const asset_ids = ['1', '2', '3'];
  const channels = [
    ...['depth', 'bbo', 'trades', 'ticker', 'prices'].map((name) => ({ name, asset_ids })),
    ...['1S', '5S', '1h'].map((interval) => ({ name: 'klines', asset_ids, interval })),
  ];
  const text = JSON.stringify({ type: 'subscribe', id: 'x', channels });
  const burst = Buffer.concat(Array.from({ length: 50 }, () => frameBytes(Buffer.from(text), { opcode: OPCODE.text })));
  await together(48, async (index) => {
    while (!isOver(target)) {
      const port = index % 3 === 0 ? target.mds : target.oms;
      const raw = new RawConnection({ port, from: addressOf(15, index % 8), neverReads: index % 2 === 0 });
      await raw.write(upgradeText('/ws'), 2_000);
      while (!raw.isClosed && !isOver(target) && (await raw.write(burst, 1_000))) await pause(target, 100);
      count(tally, raw.isClosed ? 'subscriptions closed' : 'subscriptions open');
      raw.end();
      await pause(target, 200);
    }
  });
};

/** Sockets of `/ws` that subscribe and unsubscribe in turn, send 64 KiB that are no JSON, or leave as soon as they are open. */
const subscriptionChurn: Attack = async ({ target, random, tally }) => {
  const textOf = (type: string): string => {
    const channels = [{ name: 'depth', asset_ids: ['1', '2', '3'] }];
    return JSON.stringify({ type, id: 'x', channels });
  };
  const framed = (text: string): Buffer => frameBytes(Buffer.from(text), { opcode: OPCODE.text });
  const turns = Buffer.concat(
    Array.from({ length: 40 }, (_, index) => framed(textOf(index % 2 === 0 ? 'subscribe' : 'unsubscribe'))),
  );
  const garbage = framed(`{"type":"${'['.repeat(65_500)}"}`);
  await together(24, async (index) => {
    while (!isOver(target)) {
      const port = index % 2 === 0 ? target.mds : target.oms;
      const raw = new RawConnection({ port, from: addressOf(18, index % 4) });
      await raw.write(upgradeText(index % 3 === 0 ? '/market-data/ws' : '/ws'), 2_000);
      const rounds = random.below(8);
      for (let round = 0; round < rounds && !raw.isClosed && !isOver(target); round += 1) {
        await raw.write(random.below(2) === 0 ? turns : garbage, 1_000);
        await pause(target, 200);
      }
      count(tally, raw.isClosed ? 'subscription churn closed' : 'subscription churn open');
      raw.end();
      await pause(target, 50);
    }
  });
};

/** Upgrades of which the head comes a byte at a time, and sockets with a frame of 512 KiB that does not end. */
const slowHandshakes: Attack = async ({ target, tally }) => {
  const head = upgradeText('/ws');
  const frame = frameBytes(Buffer.alloc(524_288, 0x20), { opcode: OPCODE.text }).subarray(0, 500_000);
  await together(48, async (index) => {
    while (!isOver(target)) {
      const port = index % 2 === 0 ? target.mds : target.oms;
      const raw = new RawConnection({ port, from: addressOf(19, index % 4) });
      if (index % 3 === 0) {
        await raw.write(head, 1_000);
        await pause(target, 200);
        await raw.write(frame, 2_000);
        await pause(target, 10_000);
      } else {
        for (let at = 0; at < head.length - 4 && !raw.isClosed && !isOver(target); at += 1) {
          await raw.write(head[at] ?? '', 500);
          await pause(target, 200);
        }
      }
      count(tally, raw.isClosed ? 'slow handshake closed' : 'slow handshake open');
      raw.end();
    }
  });
};

/** The page and its files, whole, in part, compressed, by strange paths, and as `HEAD`, at both listeners. */
const pageFiles: Attack = async (world) => {
  const paths = [
    '/',
    '/assets/page/trade/main.js',
    '/assets/page/theme.css',
    '/assets/../package.json',
    '/assets/%2e%2e/x',
    '//',
  ];
  await together(4, async (index) => {
    const stranger = new Stranger(world.target, addressOf(20, index));
    for (let at = index; !isOver(world.target); at += 1) {
      const port = at % 2 === 0 ? world.target.oms : world.target.mds;
      const method = at % 3 === 0 ? 'HEAD' : 'GET';
      const headers = { range: 'bytes=0-1,5-,-9', 'accept-encoding': 'br;q=1, *;q=0', 'if-none-match': '"x", W/"y"' };
      const answer = await stranger.call(method, paths[at % paths.length] ?? '', '', port, headers);
      booked(world, 'page', answer);
      if (answer.status === 429 || answer.status === 0) await pause(world.target, 10);
    }
    stranger.end();
  });
};

/** Targets beyond 4,096 bytes and heads beyond 8,192, as fast as they are refused. */
const longHeads: Attack = async ({ target, tally }) => {
  const texts = [
    `GET /ticker/2?${'x'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `HEAD /markets HTTP/1.1\r\nHost: x\r\nx-long: ${'y'.repeat(9_000)}\r\n\r\n`,
    `GET /ws?${'x'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n`,
    `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(400)}`,
  ];
  await together(8, async (index) => {
    for (let at = index; !isOver(target); at += 1) {
      const raw = new RawConnection({ port: at % 2 === 0 ? target.oms : target.mds, from: addressOf(21, index % 4) });
      await raw.write(texts[at % texts.length] ?? '', 500);
      await pause(target, 20);
      count(tally, raw.received > 0 ? 'long head answered' : 'long head unanswered');
      raw.end();
    }
  });
};

/** Test funds for every new key, where the node has them. */
const testFunds: Attack = async (world) => {
  await together(4, async (index) => {
    const stranger = new Stranger(world.target, addressOf(22, index));
    while (!isOver(world.target)) {
      const fresh = Array.from({ length: 64 }, () => world.random.below(16).toString(16)).join('');
      const answer = await stranger.call('POST', '/dev/faucet', `{"user_id":"${fresh}"}`);
      booked(world, 'test funds', answer);
      if (answer.status !== 200) await pause(world.target, 20);
    }
    stranger.end();
  });
};

/** Large replies that stay in the node's memory, since they are never read. */
const unreadReplies: Attack = async ({ target, tally }) => {
  const documents = Buffer.from(requestText('/api-reference').repeat(500));
  const depths = Buffer.from(requestText('/marketdepth/2').repeat(500));
  await together(64, async (index) => {
    const isOms = index % 2 === 0;
    while (!isOver(target)) {
      const port = isOms ? target.oms : target.mds;
      const raw = new RawConnection({ port, from: addressOf(4, index % 8), neverReads: true });
      for (let round = 0; round < 20 && !raw.isClosed && !isOver(target); round += 1) {
        await raw.write(isOms ? documents : depths, 500);
        await pause(target, 200);
      }
      count(tally, raw.isClosed ? 'unread replies closed' : 'unread replies open');
      raw.end();
      await pause(target, 500);
    }
  });
};

/** Connections that come and go, and some that stay and send nothing. */
const connections: Attack = async ({ target, tally }) => {
  await together(8, async (index) => {
    while (!isOver(target)) {
      const opened = Array.from({ length: 25 }, (_, at) => {
        return new RawConnection({ port: at % 2 === 0 ? target.oms : target.mds, from: addressOf(5, index) });
      });
      await pause(target, index === 0 ? 2_000 : 100);
      count(tally, 'connections', opened.length);
      for (const raw of opened) raw.end();
    }
  });
};

/** Bytes that are no request, half of one, two lengths, bodies that drip. */
const garbage: Attack = async ({ target, random, tally }) => {
  await together(4, async (index) => {
    while (!isOver(target)) {
      const raw = new RawConnection({ port: index % 2 === 0 ? target.oms : target.mds, from: addressOf(6, index) });
      const bytes = Buffer.from(Array.from({ length: 64 + random.below(512) }, () => random.below(256)));
      const head = 'POST /orders/create HTTP/1.1\r\nHost: x\r\n';
      const texts = [
        bytes,
        `${head}Content-Length: 16000\r\n\r\n{"order":`,
        `${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
        `${head}Transfer-Encoding: chunked\r\n\r\n4000\r\n`,
      ];
      await raw.write(texts[random.below(texts.length)] ?? bytes, 500);
      await pause(target, 50);
      count(tally, 'garbage');
      raw.end();
    }
  });
};

// ---- keys: identities that cost nothing

/** A session for every new key. */
const sessions: Attack = async (world) => {
  await together(8, async (index) => {
    while (!isOver(world.target)) {
      const stranger = new Stranger(world.target, addressOf(7, index % 2));
      const { status } = booked(world, 'login', await stranger.login());
      if (status !== 200) await pause(world.target, 20);
      stranger.end();
    }
  });
};

/** Nonces for any name, also for those of the honest pair. */
const nonces: Attack = async (world) => {
  const stranger = new Stranger(world.target, addressOf(8, 0));
  while (!isOver(world.target)) {
    const fresh = Array.from({ length: 64 }, () => world.random.below(16).toString(16)).join('');
    booked(world, 'nonce', await stranger.call('GET', `/nonce/${fresh}`));
    for (const id of world.honestIds) booked(world, 'nonce', await stranger.call('GET', `/nonce/${id}`));
  }
  stranger.end();
};

/** Public reads as fast as answers come. */
const publicReads: Attack = async (world) => {
  await together(8, async (index) => {
    const stranger = new Stranger(world.target, addressOf(9, index));
    while (!isOver(world.target)) {
      const answer = booked(world, 'tickers', await stranger.call('GET', '/tickers', '', world.target.mds));
      if (answer.status !== 200) await pause(world.target, 10);
    }
    stranger.end();
  });
};

/** Klines of widths that are made from narrower ones, for pages as long as there are, at either listener. */
const wideKlines: Attack = async (world) => {
  const paths = ['5S', '30S', '1m', '1h', '1d'].map((interval) => `/klines/2?interval=${interval}&limit=1000`);
  await together(4, async (index) => {
    const stranger = new Stranger(world.target, addressOf(16, index));
    const port = index % 2 === 0 ? world.target.oms : world.target.mds;
    for (let at = 0; !isOver(world.target); at += 1) {
      const answer = booked(world, 'klines', await stranger.call('GET', paths[at % paths.length] ?? '', '', port));
      if (answer.status !== 200) await pause(world.target, 10);
    }
    stranger.end();
  });
};

/** A timer for every new key. */
const timers: Attack = async (world) => {
  await together(4, async (index) => {
    while (!isOver(world.target)) {
      const stranger = new Stranger(world.target, addressOf(10, index));
      if ((await stranger.login()).status === 200) {
        booked(world, 'timer', await stranger.call('POST', '/orders/cancel-all-after', '{"timeout_ms":86400000}'));
      } else await pause(world.target, 20);
      stranger.end();
    }
  });
};

/** Reduce-only bids above all others, of users who have nothing. */
const penniless: Attack = async (world) => {
  const { target, random } = world;
  await together(2, async (index) => {
    while (!isOver(target)) {
      const stranger = new Stranger(target, addressOf(11, index));
      if ((await stranger.login()).status === 200) {
        for (let turn = 0; turn < 20 && !isOver(target); turn += 1) {
          const side = random.below(2) === 0 ? 'Buy' : 'Sell';
          const price = side === 'Buy' ? '2999.5' : '3000.5';
          const quantity = `${1 + random.below(1_000_000)}`;
          const order = stranger.order({ side, price, quantity, timeInForce: GTC, target: MARGIN, reduceOnly: true });
          booked(world, 'penniless order', await stranger.create(order));
        }
      }
      stranger.end();
      await pause(target, 100);
    }
  });
};

// ---- traders: users with money

async function trader(world: AttackWorld, index: number, group: number): Promise<Stranger> {
  const stranger = new Stranger(world.target, addressOf(group, index), world.funded[index % world.funded.length]);
  while (!isOver(world.target) && (await stranger.login()).status !== 200) await pause(world.target, 200);
  return stranger;
}

/** The same money for an order and for a transfer, at the same instant, from one account to the next and back. */
const races: Attack = async (world) => {
  const { target } = world;
  const stranger = await trader(world, 3, 12);
  for (let nonce = Date.now(); !isOver(target); nonce += 1) {
    const order = stranger.order({ side: 'Buy', price: '2990', quantity: '300', timeInForce: GTC, target: SPOT });
    const there = nonce % 2 === 0;
    const body = signTransfer(stranger.key, {
      sourceIndex: there ? 0 : 1,
      targetIndex: there ? 1 : 0,
      assetId: '0' as AssetId,
      amount18: 900_000n * 10n ** 18n,
      targetAccountType: null,
      nonce: BigInt(nonce),
    });
    const [moved, placed] = await Promise.all([
      stranger.call('POST', '/account/transfer/sub-account', body),
      stranger.create(order),
    ]);
    booked(world, 'race transfer', moved);
    booked(world, 'race order', placed);
    await stranger.call('DELETE', '/orders/cancel-all');
    await pause(target, 300);
  }
  stranger.end();
};

/** Crossing margin orders in batches, as fast as the budget lets them. */
const crossing: Attack = async (world) => {
  const { random } = world;
  await together(2, (index) =>
    margins(world, 1 + index, (stranger) => {
      const side = random.below(2) === 0 ? 'Buy' : 'Sell';
      const price = `${2_998 + random.below(5)}`;
      const quantity = `0.0${1 + random.below(9)}`;
      const timeInForce = random.below(3) === 0 ? IOC : GTC;
      return stranger.order({ side, price, quantity, timeInForce, target: MARGIN });
    }),
  );
};

/**
 * A position, and then a resting reduce-only order of which the same batch sells the position: a fill of it before its cut is taken back,
 * and is a fault (MON-09). Without a position such an order is refused.
 */
const faults: Attack = async (world) => {
  const { target, random } = world;
  const stranger = await trader(world, 0, 13);
  const common = { quantity: '0.002', target: MARGIN } as const;
  const bought = (): Order => stranger.order({ ...common, side: 'Buy', price: '3005', timeInForce: IOC });
  while (!isOver(target)) {
    booked(world, 'fault position', await stranger.batch([bought(), bought()]));
    await pause(target, 300);
    const orders = Array.from({ length: 5 }, () => {
      const price = `${2_998 + random.below(4)}`;
      return [
        stranger.order({ ...common, side: 'Sell', price, timeInForce: GTC, reduceOnly: true }),
        stranger.order({ ...common, side: 'Sell', price: '2996', timeInForce: IOC }),
      ];
    });
    booked(world, 'fault batch', await stranger.batch(orders.flat()));
    await pause(target, 200);
    if (random.below(5) === 0) await stranger.call('DELETE', '/orders/cancel-all');
  }
  stranger.end();
};

/** Batches of ten margin orders of one user with money, and a cancel-all now and then. */
async function margins(world: AttackWorld, index: number, order: (stranger: Stranger) => Order): Promise<void> {
  const { target, random } = world;
  const stranger = await trader(world, index, 13);
  while (!isOver(target)) {
    const orders = Array.from({ length: 10 }, () => order(stranger));
    booked(world, 'margin batch', await stranger.batch(orders));
    await pause(target, 100);
    if (random.below(10) === 0) booked(world, 'margin cancel-all', await stranger.call('DELETE', '/orders/cancel-all'));
  }
  stranger.end();
}

/** Fills its book with far orders and reads pages of them. */
const pages: Attack = async (world) => {
  const { target } = world;
  const stranger = await trader(world, 4, 14);
  for (let at = 0; !isOver(target); at += 1) {
    if (at < 90) {
      const orders = Array.from({ length: 10 }, (_, index) => {
        const price = `${1_000 + at}.${10 + index}`;
        return stranger.order({ side: 'Buy', price, quantity: '0.001', timeInForce: GTC, target: SPOT });
      });
      booked(world, 'far batch', await stranger.batch(orders));
    }
    booked(world, 'page', await stranger.call('GET', `/orders/user/${stranger.key.userId}?limit=1000&page=0`));
    await pause(target, 50);
  }
  stranger.end();
};

/** Pages of its history that must be searched row by row, the basis of its positions, and the names of its accounts. */
const filteredPages: Attack = async (world) => {
  const { target } = world;
  const stranger = await trader(world, 0, 17);
  const user = stranger.key.userId;
  const paths = [
    `/market-data/orders/user/${user}?side=sell&status=canceled&limit=1000`,
    `/market-data/trades/user/${user}?side=buy&limit=1000`,
    `/trades/user/${user}?sub_account=1&limit=1000`,
    `/market-data/positions/user/${user}/basis`,
    `/market-data/sub-accounts/user/${user}`,
  ];
  for (let at = 0; !isOver(target); at += 1) {
    const port = at % 2 === 0 ? target.oms : target.mds;
    booked(world, 'filtered page', await stranger.call('GET', paths[at % paths.length] ?? '', '', port));
    await pause(target, 20);
  }
  stranger.end();
};

export const ATTACKS: Readonly<Record<string, Readonly<Record<string, Attack>>>> = {
  loud: {
    pipelining,
    unknownPaths,
    emptyFrames,
    unreadReplies,
    connections,
    garbage,
    subscriptions,
    subscriptionChurn,
    slowHandshakes,
    pageFiles,
    longHeads,
    testFunds,
  },
  keys: { sessions, nonces, publicReads, wideKlines, timers, penniless },
  traders: { races, crossing, faults, pages, filteredPages },
  quotes: QUOTE_ATTACKS,
  money: { replays, washTrades, farFills, unpayable, rebalancing, reducing },
};
