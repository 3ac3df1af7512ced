/**
 * A campaign of actions that are correctly signed and carry strange values: every kind of order with figures at every
 * edge, spot and margin, replaces, cancels, some of them co-signed, transfers, closes, names, simulations and reads, of several users, while
 * prices jump, the clock moves and markets change. What gets past the signature must be handled by everything behind
 * it.
 *
 * An answer is a fault when it is a 5xx other than 503 and 504, or none at all. The end of the node is found at the
 * next request; then its standard error has the reason, and `recent` holds the last request.
 */

import type { HttpAnswer } from '../support/edge-client.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { RICH, TestNode } from '../support/test-node.ts';
import {
  actionBody,
  addSignerText,
  cancelBodyOf,
  createBodyOf,
  type Hands,
  replaceBodyOf,
  wireSigner,
} from '../support/wire-signers.ts';
import { cancelText, closePositionText, innerBody, type orderText, replaceText } from '../support/wire-texts.ts';
import type { Campaign, Case } from './campaign.ts';
import type { Dice } from './dice.ts';

const USERS = 5;
const RECENT_MAX = 60;
const DAY_NS = 86_400_000_000_000n;
const MOST = Number.MAX_SAFE_INTEGER;
/** Centre of prices and a plain quantity per market, raw. */
const MARKETS: Readonly<Record<string, readonly [price: number, quantity: number]>> = {
  '1': [600_000, 1_000],
  '2': [300_000, 1_000],
  '3': [25_000, 100],
};
/** 2 is a spot account, 3 cross-margin, 5 isolated in asset 3; the last ones do not exist. */
const ACCOUNTS = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 5, 5, 255, 65_535];
const AMOUNTS = [
  '0',
  '1',
  '1000000000000000000',
  '5000000000000000000000',
  String(10n ** 30n),
  String(2n ** 127n - 1n),
  String(2n ** 256n),
];
const TYPES = [
  'null',
  'null',
  '"Spot"',
  '"CrossMargin"',
  '{"CrossMargin":null}',
  '{"Isolated":{"asset":"3"}}',
  '{"Isolated":{"asset":"0"}}',
];

/** Of every user; the second one expires. */
const CO_SIGNERS = [wireSigner(0x91), wireSigner(0x92, 'P256')] as const;
const STRANGER = wireSigner(0x93, 'Ed25519');

export class SignedFuzz {
  readonly node: TestNode;
  readonly users: readonly PlainClient[];
  /** The last actions, oldest first. */
  readonly recent: string[] = [];
  /** The last orders of each user. */
  readonly #orders = new Map<PlainClient, { readonly id: string; readonly asset: string }[]>();
  #nonce = 10;

  private constructor(node: TestNode, users: readonly PlainClient[]) {
    this.node = node;
    this.users = users;
  }

  static async start(): Promise<SignedFuzz> {
    const node = await TestNode.start();
    const users: PlainClient[] = [];
    for (let index = 0; index < USERS; index += 1) {
      const user = await node.user(RICH, [0, 1]);
      const accounts = [
        [2, '"Spot"'],
        [3, '"CrossMargin"'],
        [5, '{"Isolated":{"asset":"3"}}'],
      ] as const;
      for (const [target, type] of accounts) {
        await user.transfer({ source: 0, target, amount: String(50_000n * 10n ** 18n), type, nonce: target });
      }
      for (const [ceNonce, signer] of CO_SIGNERS.entries()) {
        const text = addSignerText(user.id, { signer, ceNonce, duration: ceNonce === 0 ? null : DAY_NS / 1_000n });
        await user.post('/multisig/add-signer', actionBody(text, { master: user.key }));
      }
      users.push(user);
    }
    await node.operate('PUT', `/operator/users/${users[0]?.id}`, { is_mm: true });
    return new SignedFuzz(node, users);
  }

  campaign(parallel: number): Campaign {
    return {
      name: 'signed actions',
      parallel,
      make: (dice) => this.#make(dice),
      run: (given) => this.#run(given),
      end: () => undefined,
    };
  }

  /** Something happens in the world. */
  async disturb(dice: Dice): Promise<void> {
    const { node } = this;
    const asset_id = dice.pick(['1', '2', '3']);
    const centre = ({ '1': 60_000, '2': 3_000, '3': 2.5 } as Record<string, number>)[asset_id] ?? 1;
    switch (dice.below(7)) {
      case 0:
        await node.operate('POST', '/operator/prices', {
          prices: [{ asset_id, price: String(centre * dice.pick([1, 1, 0.9, 1.1, 0.5, 2])) }],
        });
        break;
      case 1:
        await node.advance(dice.pick([1n, 1_000_000n, 1_000_000_000n, 30_000_000_000n, 61_000_000_000n]));
        break;
      case 2:
        await node.operate('PATCH', `/operator/markets/${asset_id}`, { self_trade_prevention: dice.once(2) });
        break;
      case 3:
        await node.operate('PATCH', `/operator/markets/${asset_id}`, {
          maker_fee_rate: dice.pick([-450, 0, 100]),
          taker_fee_rate: dice.pick([450, 1_000]),
        });
        break;
      case 4:
        await node.hook(dice.pick([{ hold: true }, { release: true }, { release: true }]));
        break;
      case 5:
        await node.hook({
          fault: {
            kind: 'reject_fill',
            party: dice.pick(['maker', 'taker', 'both']),
            reason: dice.pick(['InsufficientMargin', 'InsufficientInventory']),
            count: 2,
          },
        });
        break;
      default:
        await node.operate('PATCH', `/operator/markets/${asset_id}`, {
          price_collar: dice.pick([null, '0.05', '0.5']),
        });
    }
  }

  /** All quiet: every read answers, the ledger adds up. */
  async settle(): Promise<void> {
    const { node } = this;
    await node.hook({ release: true });
    await node.hook({ fault: null });
    await node.rest();
    await node.ledgerAddsUp();
    for (const user of this.users) {
      for (const path of [
        'orders/user',
        'trades/user',
        'positions',
        'inventory/user',
        'margin/user',
        'solvency/user',
      ]) {
        await user.read(`/${path}/${user.id}`);
      }
      await user.read(`/positions/close-all/${user.id}/1`);
    }
  }

  async #run({ frame, pieces }: Case): Promise<string | null> {
    const [method = '', path = '', index = '0'] = frame.split(' ');
    const user = this.users[Number(index)] ?? this.users[0];
    const body = Buffer.concat(pieces).toString('utf8');
    this.recent.push(`${frame} ${body.replace(/"signature":\[[^\]]*\]/g, '"signature":[]')}`);
    if (this.recent.length > RECENT_MAX) this.recent.shift();
    if (user === undefined) return 'no user';
    const answer = await user.send(method, path, body).catch((error: unknown): HttpAnswer => {
      return { status: 0, headers: {}, text: String(error) };
    });
    if (answer.status === 0) return `no answer: ${answer.text}\n${this.node.process.stderr().slice(-2_000)}`;
    return answer.status >= 500 && answer.status !== 503 && answer.status !== 504 ? `answered ${answer.status}` : null;
  }

  #make(dice: Dice): Case {
    const index = dice.below(USERS);
    const user = this.users[index];
    if (user === undefined) throw new Error('there are users');
    const [method, path, body] = this.#action(dice, user);
    return { frame: `${method} ${path} ${index}`, pieces: [Buffer.from(body)] };
  }

  #action(dice: Dice, user: PlainClient): readonly [string, string, string] {
    const choice = dice.below(24);
    const known = this.#known(dice, user);
    if (choice < 11) return ['POST', '/orders/create', this.#create(dice, user)];
    if (choice < 13) {
      const bodies = Array.from({ length: 1 + dice.below(5) }, () => this.#create(dice, user));
      return ['POST', '/orders/batch-create', `{"orders":[${bodies}]}`];
    }
    if (choice < 16) return ['PATCH', '/orders/replace', this.#replace(dice, user)];
    if (choice < 17) return ['PATCH', '/orders/batch-replace', `{"requests":[${this.#replace(dice, user)}]}`];
    if (choice < 19) {
      const text = cancelText(user.id, known.id, known.asset);
      return ['DELETE', '/orders/cancel', cancelBodyOf(text, this.#hands(dice, user), user.nowNs())];
    }
    if (choice < 20) return ['DELETE', dice.pick(['/orders/cancel-all', '/orders/cancel-all/2']), ''];
    if (choice < 22) return this.#transfer(dice, user);
    if (choice < 23) return ['POST', `/account/simulate/${user.id}`, this.#simulation(dice)];
    return ['GET', this.#read(dice, user), ''];
  }

  #create(dice: Dice, user: PlainClient): string {
    return createBodyOf(user.order(this.#words(dice, user)), this.#hands(dice, user), user.nowNs());
  }

  /** Mostly the master alone; co-signers that are registered, expired, strange, repeated or wrong, and none at all. */
  #hands(dice: Dice, user: PlainClient): Hands {
    if (!dice.once(6)) return { master: user.key };
    const wrong = { ...CO_SIGNERS[0], sign: STRANGER.sign };
    const signers = dice.pick([CO_SIGNERS, CO_SIGNERS.slice(0, 1), [...CO_SIGNERS, STRANGER], [wrong], []]);
    return { master: dice.once(2) ? user.key : null, coSigners: signers };
  }

  #known(dice: Dice, user: PlainClient): { readonly id: string; readonly asset: string } {
    const orders = this.#orders.get(user) ?? [];
    if (dice.once(15) || orders.length === 0) return { id: 'none', asset: dice.pick(['1', '2', '3']) };
    return dice.pick(orders.slice(-25));
  }

  #words(dice: Dice, user: PlainClient): Partial<Parameters<typeof orderText>[1]> {
    const asset = dice.once(25) ? dice.pick(['0', '12', '65535']) : dice.pick(['1', '2', '2', '3']);
    const [centre, plain] = MARKETS[asset] ?? [1_000, 1_000];
    const id = dice.once(20) ? this.#known(dice, user).id : user.newId();
    this.#orders.set(user, [...(this.#orders.get(user) ?? []).slice(-50), { id, asset }]);
    const near = centre + Math.trunc(centre / 500) * (dice.below(9) - 4);
    const price = dice.once(8) ? dice.pick([1, 2, centre * 100, MOST - 1, MOST]) : near;
    const quantity = dice.once(6)
      ? dice.pick([1, 10, plain * 1_000, plain * 1_000_000, MOST])
      : plain * (1 + dice.below(20));
    const now = this.node.nowNs;
    const gtd = `{"GTD":{"post_only":${dice.once(2)},"timestamp_ns":${dice.pick([now, now + 1n, now + 50_000_000n, now + DAY_NS, 2n ** 64n - 1n])}}}`;
    const tif = dice.pick([
      '{"GTC":{"post_only":false}}',
      '{"GTC":{"post_only":false}}',
      '{"GTC":{"post_only":true}}',
      '{"IOC":{"fill_or_kill":false}}',
      '{"IOC":{"fill_or_kill":true}}',
      gtd,
    ]);
    const cap = dice.pick(['null', '1', String(quantity), String(MOST)]);
    const sized = dice.pick([
      `{"BaseAsset":{"quantity":${quantity},"max_sellable_amount":${cap}}}`,
      `{"QuoteAsset":{"quantity":${dice.pick([1, 1_000_000, 100_000_000, MOST])},"max_sellable_quantity":${cap}}}`,
    ]);
    const market = `{"Market":{"quantity":${sized},"fill_or_kill":${dice.once(3)}}}`;
    const parent = dice.once(3) ? `"${this.#known(dice, user).id}"` : 'null';
    const trigger = `{"parent_order_id":${parent},"condition":{"${dice.pick(['PriceAbove', 'PriceBelow'])}":{"price":${price}}}}`;
    const account = dice.pick(ACCOUNTS);
    return {
      id,
      asset,
      side: dice.pick(['Buy', 'Sell'] as const),
      price,
      quantity,
      tif,
      account,
      isSpot: dice.once(20) ? dice.once(2) : account === 0 || account === 2,
      reduceOnly: dice.once(account === 0 || account === 2 ? 40 : 6),
      ...(dice.once(5) ? { details: market } : {}),
      ...(dice.once(6) ? { trigger } : {}),
      ...(dice.once(25)
        ? {
            createdNs: dice.pick([
              0n,
              now - 30n * DAY_NS,
              now - 30n * DAY_NS + 1n,
              now + 5_000_000_000n,
              2n ** 64n - 1n,
            ]),
          }
        : {}),
    };
  }

  #replace(dice: Dice, user: PlainClient): string {
    const { id, asset } = this.#known(dice, user);
    const [centre, plain] = MARKETS[asset] ?? [1_000, 1_000];
    const price = dice.pick([null, 1, centre, centre + Math.trunc(centre / 500), MOST]);
    const quantity = dice.pick([null, null, 1, plain, plain * 5, plain * 100_000, MOST]);
    const timestampNs = dice.once(10) ? dice.pick([0n, 2n ** 64n - 1n]) : user.nowNs();
    const text = replaceText({ id, asset, price, quantity, timestampNs });
    const condition = `{"PriceAbove":{"price":${centre}}}`;
    const turned = dice.once(6) ? text.replace('"new_trigger":null', `"new_trigger":${condition}`) : text;
    return replaceBodyOf(user.id, turned, this.#hands(dice, user), user.nowNs(), asset);
  }

  #transfer(dice: Dice, user: PlainClient): readonly [string, string, string] {
    this.#nonce += 1;
    const nonce = dice.once(10) ? dice.pick([0, 1, this.#nonce]) : this.#nonce;
    if (dice.once(4)) {
      const text = closePositionText(user.id, dice.pick(ACCOUNTS), dice.pick(['0', '1', '2', '3', '77']), nonce);
      return ['POST', '/account/transfer/close-position', innerBody(user.key, text)];
    }
    const words = {
      source: dice.pick(ACCOUNTS),
      target: dice.pick(ACCOUNTS),
      asset: dice.pick(['0', '0', '1', '2', '3', '77']),
      amount: dice.pick(AMOUNTS),
      type: dice.pick(TYPES),
      nonce,
    };
    return ['POST', '/account/transfer/sub-account', user.transferBody(words)];
  }

  #simulation(dice: Dice): string {
    const trade = {
      asset: dice.pick(['0', '1', '2', '3', '77']),
      is_buy: dice.once(2),
      size: dice.pick(AMOUNTS),
      limit_price: dice.pick([...AMOUNTS, '3000000000000000000000']),
      trade_type: dice.pick(['margin', 'spot']),
    };
    const pending = dice.once(2)
      ? []
      : [{ asset: dice.pick(['0', '2', '77']), amount: `${dice.pick(['', '-'])}${dice.pick(AMOUNTS)}` }];
    return JSON.stringify({ sub_account: dice.pick(ACCOUNTS), trade, pending_transfers: pending });
  }

  #read(dice: Dice, user: PlainClient): string {
    const path = dice.pick([
      'orders/user/ID',
      'orders/user/ID/2',
      'trades/user/ID',
      'positions/ID',
      'margin/user/ID',
      'inventory/user/ID',
      'positions/close-all/ID/1',
    ]);
    const query = dice.pick([
      '',
      '?limit=1000',
      `?page=${MOST}&limit=1000`,
      '?page=1&limit=1',
      '?sub_account=255',
      '?include_positions=true',
    ]);
    return `/${path.replace('ID', user.id)}${query}`;
  }
}
