/**
 * Attacks of users with money on the money of others: they say the same twice, trade with themselves at far prices, reach through many makers,
 * stand in the way of others' withdrawals, go round the rebalancing curve, and play with reduce-only orders.
 *
 * Their keys trade among themselves, in markets of their own, or pay an honest maker at the oracle's price or worse, so that what they are
 * worth can only fall: money-watch.ts adds it up. What an attack itself sees to be wrong is counted as `BROKEN …`, which fails the campaign.
 */

import type { OrderTicket } from '../../src/client/signed-actions.ts';
import {
  bodyOf,
  randomOrderId,
  signAction,
  signCreate,
  unsignedSettlement,
  unsignedWithdrawal,
  unsignedWithdrawalCancel,
} from '../../src/client/signed-actions.ts';
import { operator } from '../support/node-process.ts';
import type { Attack, AttackWorld } from './attacks.ts';
import { type Answer, count, isOver, pause, Stranger } from './stranger.ts';

/** What each key does. */
export const ROLE = {
  washSeller: 0,
  washBuyer: 1,
  filler: 2,
  replayer: 3,
  blocker: 4,
  rebalancer: 5,
  reducer: 6,
  reducersPeer: 7,
} as const;
export const ROLES: number = Object.keys(ROLE).length;

/** Markets of 2 and 4 decimals with the oracle at 100: where they trade with themselves, and where bystanders have positions. */
export const WASHED = '20';
export const REDUCED = '22';
/** The market of an honest maker with many small orders. */
export const WALLED = '1';
export const CHAIN = '000000000000007a69';
export const OTHER_CHAIN = '000000000000000001';
const token = (byte: string): string => byte.repeat(20).padEnd(64, '0');
export const USD_TOKEN: string = token('5a');
const BTC_TOKEN = token('b1');
interface Curved {
  readonly assetId: string;
  /** By chain. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly decimals: number;
}

/** An asset with a vault on two chains and a rebalancing curve, which nobody but the attacker has. */
export const CURVED: Curved = {
  assetId: '21',
  tokens: { [CHAIN]: token('e2'), [OTHER_CHAIN]: token('e1') },
  decimals: 6,
};
const SETTLER = 'ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1';
const TARGET = token('77');
const UNIT18 = 10n ** 18n;
const SPOT = { account: 0, isSpot: true } as const;
const MARGIN = { account: 1, isSpot: false } as const;
const GROUP = 30;

/** A call of the operator's listener; null when its connection ended. */
export async function asked(
  ops: string,
  method: string,
  path: string,
  body?: object,
): Promise<Awaited<ReturnType<typeof operator>> | null> {
  try {
    return await operator({ ops }, method, path, body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

async function keyed(world: AttackWorld, role: number): Promise<Stranger> {
  const stranger = new Stranger(world.target, `127.0.${GROUP}.${2 + role}`, world.money[role]);
  while (!isOver(world.target) && (await stranger.login()).status !== 200) await pause(world.target, 200);
  return stranger;
}

function booked({ tally }: AttackWorld, what: string, { status, code }: Answer): void {
  count(tally, `${what} ${status}${code === '' ? '' : ` ${code}`}`);
}

/** The same signed bytes in other words: the first is the original. */
function spellings(body: string): readonly string[] {
  const spaced = body.replaceAll('":', '" : ').replaceAll(',"', ' ,\n\t"');
  const signature = /,"signature":\[[0-9,]*\]/.exec(body)?.[0] ?? '';
  const inFront = `{${signature.slice(1)},${body.replace(signature, '').slice(1)}`;
  return [body, body, spaced, inFront, ...turned(body)];
}

/** With the members of the signed text in another order, and one of their names escaped. Numbers that JSON cannot keep stay as they are. */
function turned(body: string): readonly string[] {
  const text = /^\{"inner":(\{.*\}),"signature"/.exec(body)?.[1];
  if (text === undefined) return [];
  const members = JSON.parse(text) as Record<string, unknown>;
  if (JSON.stringify(members) !== text) return [];
  const written = Object.entries(members).reverse();
  const other = written.map(([name, value]) => `${JSON.stringify(name)} :\t${JSON.stringify(value)}`).join(' ,\n');
  return [body.replace(text, `{${other.replace('"tplus_user"', '"\\u0074plus_user"')}}`)];
}

/** Withdrawals, settlements and orders, each signed once and sent again in all spellings, at once and later. */
export const replays: Attack = async (world) => {
  const { target, random } = world;
  const stranger = await keyed(world, ROLE.replayer);
  const texts: { readonly what: string; readonly path: string; readonly body: string }[] = [];
  let [withdrawals, settlements] = [0, 0];
  const isFirst = ({ status, text }: Answer): boolean =>
    status === 200 && /"success":true|"Received"/.test(text) && !text.includes('"duplicate":true');
  for (let turn = 0; !isOver(target); turn += 1) {
    const kind = (['withdrawal', 'settlement', 'order'] as const)[turn % 3] ?? 'order';
    const body = signed(stranger, kind, turn % 2 === 0 ? `r-${turn}` : undefined);
    const path = kind === 'order' ? '/orders/create' : `/${kind}/init`;
    const all = spellings(body);
    const answers = await Promise.all(all.map((one) => stranger.call('POST', path, one)));
    for (const answer of answers) booked(world, `replayed ${kind}`, answer);
    const firsts = answers.filter(isFirst).length;
    if (firsts > 1) count(world.tally, `BROKEN ${kind} accepted more than once`, firsts - 1);
    if (firsts > 0 && kind === 'withdrawal') withdrawals += 1;
    if (firsts > 0 && kind === 'settlement') settlements += 1;
    // One that was refused may be accepted later.
    if (firsts > 0) texts.push({ what: kind, path, body });
    const old = texts[random.below(Math.max(1, texts.length))];
    if (old !== undefined) {
      for (const one of spellings(old.body)) {
        const answer = await stranger.call('POST', old.path, one);
        booked(world, `old ${old.what}`, answer);
        if (isFirst(answer)) count(world.tally, `BROKEN old ${old.what} accepted again`);
      }
    }
    const queue = await stranger.call('GET', `/withdrawal/queue/${stranger.key.userId}`);
    if (queue.status === 200 && (queue.text.match(/"requested_at_ns"/g) ?? []).length > withdrawals) {
      count(world.tally, 'BROKEN more withdrawals than signed texts');
    }
    const approvals = await stranger.call('GET', `/settlement/signatures/${stranger.key.userId}`);
    if (approvals.status === 200 && (approvals.text.match(/"expiry"/g) ?? []).length > settlements) {
      count(world.tally, 'BROKEN more settlements than signed texts');
    }
    await pause(target, 300);
  }
  stranger.end();
};

function signed(stranger: Stranger, kind: 'withdrawal' | 'settlement' | 'order', requestId?: string): string {
  const { key } = stranger;
  const also = requestId === undefined ? {} : { requestId };
  if (kind === 'withdrawal') {
    const request = { token: USD_TOKEN, chainId: CHAIN, amount18: UNIT18, target: TARGET, nonce: null, ...also };
    return signAction(key, unsignedWithdrawal(key.userId, request), 0n);
  }
  if (kind === 'settlement') {
    const tokens = { tokenOut: USD_TOKEN, amountOut18: 2n * UNIT18, tokenIn: BTC_TOKEN, amountIn18: UNIT18 / 10_000n };
    const request = { subAccount: 0, ...tokens, chainId: CHAIN, settler: SETTLER as never, nonce: null, ...also };
    return signAction(key, unsignedSettlement(key.userId, { ...request, maker: null }), 0n);
  }
  // A new id each time, so that a second acceptance would be a second order.
  const ticket = { side: 'Buy', price: '1', quantity: '1', timeInForce: { kind: 'GTC' }, target: SPOT } as const;
  const order = { ...stranger.order({ ...ticket, assetId: WASHED }), orderId: randomOrderId() };
  return signCreate(key, order, BigInt(Date.now()) * 1_000_000n).body;
}

/** A sale to itself at a hundred times, and at a hundredth, of the oracle's price. */
export const washTrades: Attack = async (world) => {
  const { target, random } = world;
  const [seller, buyer] = [await keyed(world, ROLE.washSeller), await keyed(world, ROLE.washBuyer)];
  for (let turn = 0; !isOver(target); turn += 1) {
    const common = {
      assetId: WASHED,
      price: turn % 2 === 0 ? '10000' : '1',
      quantity: `${1 + random.below(9)}`,
      target: random.below(4) === 0 ? MARGIN : SPOT,
    } as const;
    const [from, to] = turn % 4 < 2 ? [seller, buyer] : [buyer, seller];
    const sold = await from.create(from.order({ ...common, side: 'Sell', timeInForce: { kind: 'GTC' } }));
    booked(world, 'wash sell', sold);
    if (sold.status === 200) {
      booked(world, 'wash buy', await to.create(to.order({ ...common, side: 'Buy', timeInForce: { kind: 'IOC' } })));
    }
    await from.call('DELETE', '/orders/cancel-all');
    await pause(target, 600);
  }
  for (const one of [seller, buyer]) one.end();
};

/** Batches of fill-or-kills far through a market of many small makers, each of which it could pay alone, or none. */
export const farFills: Attack = async (world) => {
  const { target, random } = world;
  const stranger = await keyed(world, ROLE.filler);
  while (!isOver(target)) {
    const side = random.below(2) === 0 ? 'Buy' : 'Sell';
    const price = side === 'Buy' ? '66000' : '54000';
    const account = random.below(2) === 0 ? SPOT : MARGIN;
    const quantity = (['0.0005', '0.002', '0.004', '0.008', '0.05'] as const)[random.below(5)] ?? '0.004';
    const orders = Array.from({ length: 10 }, () => {
      const kind = random.below(4) === 0 ? 'IOC' : 'FOK';
      return stranger.order({ assetId: WALLED, side, price, quantity, target: account, timeInForce: { kind } });
    });
    booked(world, 'far fills', await stranger.batch(orders));
    await pause(target, 200);
  }
  stranger.end();
};

/** Requests for far more than the vault has, at the head of the queue, with small ones behind them. */
export const unpayable: Attack = async (world) => {
  const { target, random } = world;
  const stranger = await keyed(world, ROLE.blocker);
  const { key } = stranger;
  const common = { token: USD_TOKEN, chainId: CHAIN, target: TARGET, nonce: null };
  for (let turn = 0; !isOver(target); turn += 1) {
    const amount18 = (turn % 3 === 0 ? 200_000_000n : 1n) * UNIT18;
    const request = { ...common, amount18, requestId: `b-${turn}` };
    const body = signAction(key, unsignedWithdrawal(key.userId, request), 0n);
    booked(world, 'unpayable', await stranger.call('POST', '/withdrawal/init', body));
    if (random.below(5) === 0) {
      // Never the head, which stays in the way.
      const cancelled = { token: USD_TOKEN, chainId: CHAIN, nonce: 1 + random.below(4) };
      const cancel = signAction(key, unsignedWithdrawalCancel(key.userId, cancelled), 0n);
      booked(world, 'unpayable cancel', await stranger.call('POST', '/withdrawal/cancel', cancel));
    }
    await pause(target, 500);
  }
  stranger.end();
};

/** Deposits on one chain, withdrawals on the other, cancels and payouts, in any order. The chain is of the operator here. */
export const rebalancing: Attack = async (world) => {
  const { target, random, ops } = world;
  const stranger = await keyed(world, ROLE.rebalancer);
  const { key } = stranger;
  while (!isOver(target)) {
    const chainId = random.below(2) === 0 ? CHAIN : OTHER_CHAIN;
    const at = `/operator/chains/${chainId}`;
    const asset = CURVED.tokens[chainId] ?? '';
    switch (random.below(4)) {
      case 0: {
        const body = { user: key.userId, token: asset, amount_base_units: `${1 + random.below(5_000_000)}` };
        const deposited = await asked(ops, 'POST', `${at}/deposits`, { ...body, confirm: false });
        count(world.tally, `curve deposit ${deposited?.status ?? 0}`);
        break;
      }
      case 1: {
        const amount18 = BigInt(1 + random.below(3_000_000)) * 1_000_000_000_000n;
        const request = { token: asset, chainId, amount18, target: TARGET, nonce: null, requestId: randomOrderId() };
        const body = signAction(key, unsignedWithdrawal(key.userId, request), 0n);
        booked(world, 'curve withdrawal', await stranger.call('POST', '/withdrawal/init', body));
        break;
      }
      case 2: {
        const cancel = { token: asset, chainId, nonce: random.below(6) };
        const action = unsignedWithdrawalCancel(key.userId, cancel);
        const body = bodyOf(action, { signature: key.sign(Buffer.from(action.text)), additionalSigners: [] }, 0n);
        booked(world, 'curve cancel', await stranger.call('POST', '/withdrawal/cancel', body));
        break;
      }
      default: {
        const counters = await asked(ops, 'GET', `${at}/counters?user=${key.userId}`);
        const nonce = Number(counters?.body['withdrawalCounts'] ?? 0);
        const body = { user: key.userId, nonce, confirm: false };
        const paid = await asked(ops, 'POST', `${at}/withdrawals/execute`, body);
        count(world.tally, `curve payout ${paid?.status ?? 0}`);
      }
    }
    await pause(target, 150);
  }
  stranger.end();
};

/** Reduce-only orders beside everything that moves their position: sales, flips, cancels, both sides at once. */
export const reducing: Attack = async (world) => {
  const { target, random } = world;
  const [player, peer] = [await keyed(world, ROLE.reducer), await keyed(world, ROLE.reducersPeer)];
  const common = { assetId: REDUCED, target: MARGIN } as const;
  const order = (
    by: Stranger,
    ticket: Pick<OrderTicket, 'side' | 'price' | 'quantity' | 'timeInForce' | 'reduceOnly'>,
  ) => by.order({ ...common, ...ticket });
  const size = (): string => `0.${1 + random.below(9)}`;
  while (!isOver(target)) {
    const quotes = (['Buy', 'Sell'] as const).map((side) =>
      order(peer, { side, price: side === 'Buy' ? '99.9' : '100.1', quantity: size(), timeInForce: { kind: 'GTC' } }),
    );
    booked(world, 'quotes', await peer.batch(quotes));
    const orders = Array.from({ length: 10 }, () => {
      const side = random.below(2) === 0 ? 'Buy' : 'Sell';
      const kind = (['GTC', 'IOC', 'FOK'] as const)[random.below(3)] ?? 'IOC';
      const isNear = random.below(2) === 0;
      const price = isNear ? '100' : side === 'Buy' ? '100.2' : '99.8';
      const reduceOnly = random.below(3) > 0;
      return order(player, { side, price, quantity: size(), timeInForce: { kind }, reduceOnly });
    });
    booked(world, 'reduce-only batch', await player.batch(orders));
    if (random.below(4) === 0) await peer.call('DELETE', '/orders/cancel-all');
    if (random.below(8) === 0) await player.call('DELETE', '/orders/cancel-all');
    await pause(target, 300);
  }
  for (const one of [player, peer]) one.end();
};
