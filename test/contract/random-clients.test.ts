// tier: quick, 4 s
/**
 * Random clients over REST and `/control` in both versions on a real node: orders of every kind, replaces, cancels,
 * batches, faults of clearing, sockets that come and go. In the end each one's view by events alone equals what REST
 * reads return, the books are the sum of what rests, and money adds up. One seed per run; `RINGBOOK_SEED` repeats one.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Dice } from '../fuzz/dice.ts';
import type { SocketReader } from '../support/edge-client.ts';
import { eventually } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { shareOf } from '../support/shares.ts';
import { TestNode } from '../support/test-node.ts';
import { FOK, GTC, IOC, type OrderWords, POST_ONLY } from '../support/wire-texts.ts';
import { OrderFold, viewOfRecords } from './order-fold.ts';

type Row = Readonly<Record<string, unknown>>;

const CLIENTS = 4;
const ROUNDS = shareOf('rounds of random clients');
const DECIMALS: Readonly<Record<string, readonly [number, number]>> = { '1': [1, 5], '2': [2, 4] };
/** Centre and step of prices, and of quantities, raw. */
const FIGURES: Readonly<Record<string, readonly [number, number, number, number]>> = {
  '1': [600_000, 100, 1_000, 500],
  '2': [300_000, 50, 1_000, 250],
};
const SEED = Number(process.env['RINGBOOK_SEED'] ?? '20260731');

/** One user: one that acts at random, and one that only reads its streams. */
class RandomClient {
  readonly user: PlainClient;
  readonly fold: OrderFold = new OrderFold((asset) => DECIMALS[asset] ?? [0, 0]);
  readonly #dice: Dice;
  readonly #ids: { readonly asset: string; readonly id: string }[] = [];
  #orders: SocketReader | null = null;
  #trades: SocketReader | null = null;
  #control: SocketReader | null = null;
  /** Answers pending from `/control`. */
  #owed = 0;
  answered = 0;

  constructor(user: PlainClient, dice: Dice) {
    this.user = user;
    this.#dice = dice;
  }

  /** Opens the streams, then re-reads what they do not repeat (wire.md 9.8). */
  async listen(): Promise<void> {
    for (const reader of [this.#orders, this.#trades]) reader?.socket.terminate();
    const [orders, trades] = [
      await this.user.stream('/orders'),
      await this.user.stream(`/trades/user/events/${this.user.id}`),
    ];
    const early: [boolean, Row][] = [];
    let isReread = false;
    const hear =
      (isOrder: boolean) =>
      (data: Buffer): void => {
        const frame = JSON.parse(String(data)) as Row;
        if (!isReread) early.push([isOrder, frame]);
        else if (isOrder) this.fold.event(frame);
        else this.fold.trade(frame);
      };
    orders.socket.on('message', hear(true));
    trades.socket.on('message', hear(false));
    [this.#orders, this.#trades] = [orders, trades];
    this.fold.startOrders(await this.pages('orders'));
    this.fold.startTrades(await this.pages('trades'));
    isReread = true;
    for (const [isOrder, frame] of early) isOrder ? this.fold.event(frame) : this.fold.trade(frame);
  }

  async openControl(): Promise<void> {
    this.#control?.socket.terminate();
    const isV1 = this.#dice.once(2);
    this.#owed = 0;
    const control = await this.user.stream('/control', isV1 ? ['svc.ws.v1'] : []);
    control.socket.on('message', (data: Buffer) => {
      if (!String(data).includes('"response":')) return;
      this.#owed -= 1;
      this.answered += 1;
    });
    this.#control = control;
  }

  async pages(name: 'orders' | 'trades'): Promise<Row[]> {
    const rows: Row[] = [];
    for (let page = 0; ; page += 1) {
      const reply = (await this.user.read(`/${name}/user/${this.user.id}?limit=1000&page=${page}`)) as Row;
      rows.push(...(reply[name] as Row[]));
      if (reply['has_next_page'] !== true) return rows;
    }
  }

  async act(): Promise<void> {
    const dice = this.#dice;
    const choice = dice.below(20);
    if (choice < 9) await this.#single(choice);
    else if (choice < 12) await this.#batch();
    else if (choice < 15) this.#burst();
    else if (choice < 17) await this.#settled(this.user.replace(this.#change()));
    else if (choice < 18) await this.#settled(this.#cancel());
    else if (choice === 18 && dice.once(3)) await this.#bulkCancel();
    else if (choice === 19 && dice.once(5)) await Promise.all([this.listen(), this.openControl()]);
  }

  /** Every request on `/control` is answered (LIM-22). */
  async settle(): Promise<void> {
    await eventually(
      () => this.#owed <= 0,
      () => `${this.#owed} frames of /control are not answered`,
    );
  }

  close(): void {
    for (const reader of [this.#orders, this.#trades, this.#control]) reader?.socket.terminate();
  }

  #words(): Partial<OrderWords> {
    const dice = this.#dice;
    const asset = dice.pick(['1', '2', '2']);
    const [centre, step, least, more] = FIGURES[asset] ?? [0, 0, 0, 0];
    const id = this.user.newId();
    this.#ids.push({ asset, id });
    const words = {
      id,
      asset,
      side: dice.pick(['Buy', 'Sell'] as const),
      price: centre + step * (dice.below(11) - 5),
      quantity: least + more * dice.below(4),
      tif: dice.pick([GTC, GTC, GTC, POST_ONLY, IOC, FOK]),
    };
    if (dice.once(12)) {
      const cap = dice.once(2) ? 'null' : '99999999';
      const size = `{"BaseAsset":{"quantity":${words.quantity},"max_sellable_amount":${cap}}}`;
      return { ...words, details: `{"Market":{"quantity":${size},"fill_or_kill":${dice.once(3)}}}` };
    }
    const trigger = `{"parent_order_id":null,"condition":{"${dice.pick(['PriceAbove', 'PriceBelow'])}":{"price":${words.price}}}}`;
    return dice.once(12) && words.tif === GTC ? { ...words, trigger } : words;
  }

  #known(): { readonly asset: string; readonly id: string } {
    return this.#ids.length === 0 ? { asset: '2', id: 'none' } : this.#dice.pick(this.#ids.slice(-30));
  }

  #change(): { id: string; asset: string; price?: number; quantity?: number } {
    const { asset, id } = this.#known();
    const [centre, step, least, more] = FIGURES[asset] ?? [0, 0, 0, 0];
    const price = centre + step * (this.#dice.below(11) - 5);
    const quantity = least + more * this.#dice.below(6);
    return { id, asset, ...(this.#dice.once(2) ? { price } : { quantity }) };
  }

  #cancel(): Promise<{ readonly status: number }> {
    const { asset, id } = this.#known();
    return this.user.cancel(id, asset);
  }

  async #settled(answer: Promise<{ readonly status: number }>): Promise<void> {
    const { status } = await answer;
    this.answered += 1;
    assert.ok(status < 500 || status === 503, `answered ${status}`);
  }

  async #single(choice: number): Promise<void> {
    if (choice < 5) await this.#settled(this.user.create(this.#words()));
    else this.#say(`{"CreateOrderRequest":${this.user.createBody(this.#words())}}`, 1);
  }

  /** Several actions at once on `/control`, none awaited. */
  #burst(): void {
    for (let left = 1 + this.#dice.below(5); left > 0; left -= 1) {
      const { asset, id } = this.#known();
      if (this.#dice.once(2)) this.#say(`{"CancelOrderRequest":${this.user.cancelBody(id, asset)}}`, 1);
      else this.#say(`{"ReplaceOrderRequest":${this.user.replaceBody(this.#change())}}`, 1);
    }
  }

  async #batch(): Promise<void> {
    const bodies = Array.from({ length: 1 + this.#dice.below(6) }, () => this.user.createBody(this.#words()));
    if (this.#dice.once(2)) await this.#settled(this.user.post('/orders/batch-create', `{"orders":[${bodies}]}`));
    else this.#say(`{"BatchCreateRequest":{"orders":[${bodies}]}}`, bodies.length);
  }

  async #bulkCancel(): Promise<void> {
    const path = this.#dice.pick(['/orders/cancel-all', '/orders/cancel-all/1', '/orders/cancel-batch']);
    const ids = [this.#known().id, this.#known().id];
    const body = path.endsWith('batch') ? JSON.stringify({ order_ids: ids }) : '';
    await this.#settled(this.user.send('DELETE', path, body));
  }

  #say(frame: string, answers: number): void {
    this.#owed += answers;
    this.#control?.socket.send(frame);
  }
}

suite('random clients', () => {
  let node: TestNode;
  const clients: RandomClient[] = [];

  before(async () => {
    node = await TestNode.start();
    const dice = new Dice(SEED);
    for (let index = 0; index < CLIENTS; index += 1) {
      const client = new RandomClient(
        await node.user({ '0': '100000000', '1': '1000', '2': '20000' }),
        new Dice(dice.seed()),
      );
      await client.listen();
      await client.openControl();
      clients.push(client);
    }
  });
  after(async () => {
    for (const client of clients) client.close();
    await node?.stop();
  });

  /** What clearing does badly now and then. */
  async function disturb(dice: Dice): Promise<void> {
    const party = dice.pick(['maker', 'taker', 'both']);
    const fault = {
      kind: 'reject_fill',
      party,
      reason: 'InsufficientInventory',
      skip: dice.below(5),
      count: 1 + dice.below(3),
    };
    const body = dice.pick([
      { hold: true },
      { release: true },
      { release: { fills: 3 } },
      { fault },
      { delay_ms: dice.below(10) },
    ]);
    await node.hook(body);
  }

  test('each one’s view by events equals REST reads, and money adds up (STR-01, STR-02, QRY-01, WS-16, LIM-22, AMB-128)', async (t) => {
    const dice = new Dice(SEED + 1);
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(
        clients.map(async (client) => {
          for (let turn = 0; turn < 4; turn += 1) await client.act();
        }),
      );
      if (dice.once(5)) await disturb(dice);
      if (dice.once(10)) await node.advance(BigInt(dice.below(5_000_000)));
    }
    for (const body of [{ release: true }, { fault: null }, { delay_ms: 0 }]) await node.hook(body);
    for (const client of clients) await client.settle();
    await node.rest();
    const resting = new Map<string, number>();
    for (const [index, client] of clients.entries()) {
      const records = await client.pages('orders');
      assert.equal(client.fold.pending, 0, `client ${index}, seed ${SEED}: nothing is pending`);
      const view = client.fold.view();
      assert.deepEqual(view, viewOfRecords(records, view), `client ${index}, seed ${SEED}`);
      for (const { status, side, base_asset: asset } of records) {
        const key = `${asset} ${side}`;
        if (status === 'Open' || status === 'PartiallyFilled') resting.set(key, (resting.get(key) ?? 0) + 1);
      }
      t.diagnostic(`client ${index}: ${client.answered} answers, ${records.length} orders`);
      assert.ok(records.length > 20 && client.answered > 50);
    }
    await booksAreWhatRests(clients);
    assert.ok([...resting.values()].length > 0);
    await node.ledgerAddsUp();
  });

  /** Depth is the sum of what is open: nothing is pending. */
  async function booksAreWhatRests(all: readonly RandomClient[]): Promise<void> {
    const rows = (await Promise.all(all.map((client) => client.pages('orders')))).flat();
    const scale = 1e6;
    for (const asset of ['1', '2']) {
      const book = JSON.parse((await (all[0] ?? assert.fail()).user.market(`/marketdepth/${asset}`)).text) as Record<
        'asks' | 'bids',
        [number, number][]
      >;
      for (const [side, levels] of [
        ['Sell', book.asks],
        ['Buy', book.bids],
      ] as const) {
        const sums = new Map<string, number>();
        for (const row of rows) {
          const isOpen = row['status'] === 'Open' || row['status'] === 'PartiallyFilled';
          if (!isOpen || row['base_asset'] !== asset || row['side'] !== side) continue;
          const left = Math.round((Number(row['quantity']) - Number(row['confirmed_filled_quantity'])) * scale);
          sums.set(String(row['limit_price']), (sums.get(String(row['limit_price'])) ?? 0) + left);
        }
        const shown = new Map(levels.map(([price, quantity]) => [String(price), Math.round(quantity * scale)]));
        assert.deepEqual([...shown].sort(), [...sums].sort(), `${side} of ${asset}, seed ${SEED}`);
      }
    }
  }
});
