// tier: full, 11 s
/** Orders, replaces and cancels by co-signers at the public API (wire.md 4.4, 7.4 to 7.7, 9.4, 10; ORD-17, ORD-18, MSG, AMB-136). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SoftwareAuthenticator } from '../../src/client/co-signers.ts';
import type { SocketReader } from '../support/edge-client.ts';
import { deposit } from '../support/signed-accounts.ts';
import { TestNode } from '../support/test-node.ts';
import {
  actionBody,
  addSignerText,
  type ConfigRow,
  type ConfigTerms,
  cancelBodyOf,
  configText,
  coSignatures,
  createBodyOf,
  depositConfig,
  type Hands,
  replaceBodyOf,
  type WireSigner,
  wireSigner,
} from '../support/wire-signers.ts';
import { cancelText, limit, type OrderWords, orderText, replaceText } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '10000000', '2': '10000' };
const HOUR = 3_600_000_000_000n;
const PAGE = { rpId: 'localhost', origin: 'http://localhost' };

function passkey(byte: number): WireSigner {
  const authenticator = new SoftwareAuthenticator(new Uint8Array(32).fill(byte), PAGE);
  const { key } = authenticator.signer;
  return { scheme: 'WebAuthn', key, sign: (text) => authenticator.sign(Buffer.from(text, 'latin1')) };
}

const [SECP, P256, ED, PASSKEY] = [
  wireSigner(0x21),
  wireSigner(0x22, 'P256'),
  wireSigner(0x23, 'Ed25519'),
  passkey(0x24),
] as const;
const STRANGER = wireSigner(0x71);
/** Expires an hour after it was added. */
const SHORT = wireSigner(0x25);

const hands = (coSigners: readonly WireSigner[], master: Hands['master'] = null): Hands => ({ master, coSigners });
const idOf = (text: string): string => /"order_id":"([^"]+)"/.exec(text)?.[1] ?? '';

let ids = 0;

/** Orders of one user, signed by any hands. */
class Orders {
  readonly user: Trader;
  readonly #node: TestNode;

  constructor(node: TestNode, user: Trader) {
    this.#node = node;
    this.user = user;
  }

  async addSigner(signer: WireSigner, ceNonce: number, duration: bigint | null = null): Promise<void> {
    const text = addSignerText(this.user.userId, { signer, ceNonce, duration });
    const answer = await this.user.call('POST', '/multisig/add-signer', actionBody(text, { master: this.user.key }));
    assert.equal(answer.text, '{"success":true}');
  }

  /** A sell far from the market. */
  text(words: Partial<OrderWords> = {}): string {
    ids += 1;
    const fixed = { id: `co-${ids}`, createdNs: this.#node.stamp(), side: 'Sell', price: 400_000 } as const;
    return orderText(this.user.userId, { ...fixed, ...words });
  }

  /** A sell at 3000 that waits for a taker. */
  offer(): string {
    return this.text({ details: limit(300_000, 1_000) });
  }

  createBody(text: string, by: Hands): string {
    return createBodyOf(text, by, this.#node.nowNs);
  }

  cancelBody(id: string, by: Hands): string {
    return cancelBodyOf(cancelText(this.user.userId, id), by, this.#node.nowNs);
  }

  replaceBody(id: string, by: Hands, isComplete = false): string {
    const terms = isComplete ? { isComplete, quantity: 900 } : {};
    const text = replaceText({ id, price: 410_000, timestampNs: this.#node.stamp(), ...terms });
    return replaceBodyOf(this.user.userId, text, by, this.#node.nowNs);
  }

  /** `Received`, or the code of the refusal. @param session other headers than the user's own. */
  async ask(
    method: string,
    path: string,
    body: string,
    session: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { text } = await this.user.call(method, path, body, session);
    const answer = JSON.parse(text) as { status?: string; error?: { code: string } };
    return answer.error?.code ?? answer.status ?? text;
  }

  create(text: string, by: Hands): Promise<string> {
    return this.ask('POST', '/orders/create', this.createBody(text, by));
  }

  cancel(id: string, by: Hands): Promise<string> {
    return this.ask('DELETE', '/orders/cancel', this.cancelBody(id, by));
  }

  replace(id: string, by: Hands, isComplete = false): Promise<string> {
    return this.ask('PATCH', '/orders/replace', this.replaceBody(id, by, isComplete));
  }

  /** Past the front checks that are named (operator-api.md 7.3). */
  async inject(text: string, by: Hands, skip: readonly string[]): Promise<void> {
    const fault = `{"kind":"inject_order","wrapper":${this.createBody(text, by)},"skip":${JSON.stringify(skip)}}`;
    await this.#node.operate('POST', '/operator/clearing', `{"fault":${fault}}`);
    await this.#node.rest();
  }

  /** The taker buys what is offered at 3000. @returns what became of the fill of this order. */
  async fill(text: string, taker: Trader): Promise<readonly string[]> {
    assert.equal((await taker.buy(limit(300_000, 1_000))).word, 'Received');
    await this.#node.rest();
    const fills = this.user.fillsOf(idOf(text));
    assert.equal((await taker.cancelAll()).slice(0, 3), '202');
    await this.#node.rest();
    return fills;
  }
}

const CONFIRMED = ['Pending 3000 0.1', 'Confirmed 3000 0.1'];
const INVALID = ['Pending 3000 0.1', 'Rollbacked 3000 0.1 InvalidSignature'];

suite('co-signed orders', () => {
  let node: TestNode;
  /** Has co-signers of each scheme. */
  let alice: Trader;
  let bob: Trader;
  let orders: Orders;

  before(async () => {
    node = await TestNode.start();
    alice = await node.trader(FUNDS);
    bob = await node.trader(FUNDS);
    orders = new Orders(node, alice);
    for (const [nonce, signer] of [SECP, P256, ED, PASSKEY].entries()) await orders.addSigner(signer, nonce);
  });
  after(() => node?.stop());

  test('ORD-17, ORD-18, MSG-16 to MSG-20, MSG-28: a co-signer of each scheme places an order, with the master or without, and its fill is confirmed', async () => {
    for (const signer of [SECP, P256, ED, PASSKEY]) {
      for (const master of [null, alice.key]) {
        const text = orders.offer();
        assert.equal(await orders.create(text, hands([signer], master)), 'Received', signer.scheme);
        assert.deepEqual(await orders.fill(text, bob), CONFIRMED, signer.scheme);
      }
    }
    const together = orders.offer();
    assert.equal(await orders.create(together, hands([SECP, P256, ED, PASSKEY], alice.key)), 'Received');
    assert.deepEqual(await orders.fill(together, bob), CONFIRMED);
  });

  test('a co-signer of each scheme replaces in both forms, the text of each signed (wire-additions.md 3.2)', async () => {
    const text = orders.text();
    assert.equal(await orders.create(text, hands([SECP])), 'Received');
    for (const signer of [SECP, P256, ED, PASSKEY]) {
      for (const master of [null, alice.key]) {
        for (const isComplete of [false, true]) {
          assert.equal(
            await orders.replace(idOf(text), hands([signer], master), isComplete),
            'Received',
            signer.scheme,
          );
        }
      }
    }
    const other = { ...ED, sign: (signed: string) => ED.sign(signed.replace('"base_asset":"2",', '')) };
    assert.equal(await orders.replace(idOf(text), hands([other]), true), 'INVALID_SIGNATURE');
  });

  test('wire.md 9.4: `Created` has the master’s signature, or an empty one where co-signers alone signed; reads are as ever', async () => {
    const [alone, both] = [orders.text(), orders.text()];
    assert.equal(await orders.create(alone, hands([SECP])), 'Received');
    assert.equal(await orders.create(both, hands([SECP], alice.key)), 'Received');
    await node.rest();
    const signatureOf = (text: string): unknown => {
      const frame = alice.events.find((event) => JSON.stringify(event).includes(`"order_id":"${idOf(text)}"`));
      const { user_order, signature } = (frame?.['Created'] ?? {}) as Record<string, unknown>;
      assert.deepEqual(user_order, JSON.parse(text));
      return signature;
    };
    assert.deepEqual(signatureOf(alone), []);
    assert.deepEqual(signatureOf(both), [...alice.key.sign(both)]);
    const [first, second] = await Promise.all([alone, both].map((text) => alice.record(idOf(text))));
    assert.deepEqual(Object.keys(first ?? {}), Object.keys(second ?? {}));
  });

  test('MSG-30, MSG-31, MSG-29, MSG-20, AMB-136: an unknown, a repeated or a wrong co-signer refuses create, replace and cancel', async () => {
    const resting = orders.text();
    assert.equal(await orders.create(resting, hands([SECP])), 'Received');
    const id = idOf(resting);
    for (const [act, of] of [
      ['create', (by: Hands) => orders.create(orders.text(), by)],
      ['replace', (by: Hands) => orders.replace(id, by)],
      ['cancel', (by: Hands) => orders.cancel(id, by)],
    ] as const) {
      assert.equal(await of(hands([STRANGER], alice.key)), 'SIGNER_UNKNOWN', act);
      assert.equal(await of(hands([{ ...SECP, scheme: 'P256' }], alice.key)), 'SIGNER_UNKNOWN', act);
      assert.equal(await of(hands([SECP, P256, SECP])), 'SIGNER_DUPLICATE', act);
      assert.equal(
        await of(hands([SECP, { ...P256, sign: (text) => P256.sign(`${text} `) }])),
        'INVALID_SIGNATURE',
        act,
      );
      assert.equal(await of(hands([{ ...SECP, sign: STRANGER.sign }], alice.key)), 'INVALID_SIGNATURE', act);
      assert.equal(await of(hands([SECP], bob.key)), 'INVALID_SIGNATURE', `${act}: the master's is verified too`);
      assert.equal(await of(hands([])), 'INSUFFICIENT_SIGNER_WEIGHT', act);
    }
    assert.equal(await alice.status(id), 'Open', 'nothing has changed');
    assert.equal(await orders.replace(id, hands([P256])), 'Received');
    assert.equal((await alice.record(id))['limit_price'], '4100');
    assert.equal(await orders.cancel(id, hands([ED])), 'Received');
  });

  test('AMB-136: in a session that co-signers opened a cancel needs no signature, on REST and on /control; an order does', async () => {
    const [first, second] = [orders.text(), orders.text()];
    for (const text of [first, second]) assert.equal(await orders.create(text, hands([], alice.key)), 'Received');
    const unsigned = hands([]);
    assert.equal(await orders.cancel(idOf(first), unsigned), 'INSUFFICIENT_SIGNER_WEIGHT');
    const nonce = JSON.parse((await alice.call('GET', `/nonce/${alice.userId}`)).text) as { value: string };
    const signed = `"signature":[],"additional_signers":${coSignatures([P256], nonce.value)}`;
    const login = await alice.call('POST', '/auth', `{"user_id":"${alice.userId}","nonce":"${nonce.value}",${signed}}`);
    const { token } = JSON.parse(login.text) as { token: string };
    const session = { authorization: `Bearer ${token}`, 'user-id': alice.userId };
    const ask = (method: string, path: string, body: string): Promise<string> =>
      orders.ask(method, path, body, session);
    assert.equal(
      await ask('POST', '/orders/create', orders.createBody(orders.text(), unsigned)),
      'INSUFFICIENT_SIGNER_WEIGHT',
    );
    assert.equal(
      await ask('PATCH', '/orders/replace', orders.replaceBody(idOf(first), unsigned)),
      'INSUFFICIENT_SIGNER_WEIGHT',
    );
    assert.equal(await ask('DELETE', '/orders/cancel', orders.cancelBody(idOf(first), unsigned)), 'Received');
    const forged = hands([{ ...SECP, sign: STRANGER.sign }]);
    assert.equal(await ask('DELETE', '/orders/cancel', orders.cancelBody(idOf(second), forged)), 'INVALID_SIGNATURE');
    const frames: Record<string, unknown>[] = [];
    const own = node.stranger();
    Object.assign(own, { key: { ...alice.key, id: alice.userId }, token });
    const socket: SocketReader = await own.stream('/control');
    const last = orders.text();
    socket.socket.send(`{"CreateOrderRequest":${orders.createBody(last, hands([SECP]))}}`);
    socket.socket.send(`{"CancelOrderRequest":${orders.cancelBody(idOf(last), unsigned)}}`);
    socket.socket.send(`{"CancelOrderRequest":${orders.cancelBody(idOf(second), unsigned)}}`);
    for (let count = 0; count < 3; count += 1) frames.push(JSON.parse(await socket.frame()) as Record<string, unknown>);
    for (const frame of frames) assert.match(JSON.stringify(frame), /"status":"Received"/);
    await node.rest();
    assert.equal(await alice.status(idOf(last)), 'Canceled', 'the cancel did not pass its create');
    assert.equal(await alice.status(idOf(second)), 'Canceled');
  });

  test('BAT-05, MSG-12, MSG-30: items of a batch are judged one by one', async () => {
    const [good, unknown, none, forged] = [orders.text(), orders.text(), orders.text(), orders.text()];
    const bodies = [
      orders.createBody(good, hands([SECP])),
      orders.createBody(unknown, hands([STRANGER])),
      orders.createBody(none, hands([])),
      orders.createBody(forged, hands([{ ...SECP, sign: STRANGER.sign }])),
    ];
    assert.deepEqual(await alice.batchCreate(...bodies.map((text) => ({ text }))), [
      `${idOf(good)} Received`,
      `${idOf(unknown)} SignerUnknown`,
      `${idOf(none)} InsufficientSignerWeight`,
      `${idOf(forged)} InvalidSignature`,
    ]);
    const other = orders.text();
    assert.equal(await orders.create(other, hands([SECP])), 'Received');
    const replaces = [
      orders.replaceBody(idOf(good), hands([SECP, P256])),
      orders.replaceBody(idOf(other), hands([P256, P256])),
    ];
    assert.deepEqual(await alice.batchReplace(...replaces), [
      `${idOf(good)} Received`,
      `${idOf(other)} SignerDuplicate`,
    ]);
  });

  test('CTL-01 to CTL-03, BAT-05, MSG-12, MSG-30, MSG-31: /control answers with the same codes as PascalCase reasons, in both versions', async () => {
    const own = node.stranger();
    const token = /Bearer (.*)/.exec(alice.session()['authorization'] ?? '')?.[1] ?? '';
    Object.assign(own, { key: { ...alice.key, id: alice.userId }, token });
    for (const version of [0, 1]) {
      const socket = await own.stream('/control', version === 0 ? [] : ['svc.ws.v1']);
      const resting = orders.text();
      const say = async (tag: string, body: string): Promise<string> => {
        const frame = `{"${tag}":${body}}`;
        socket.socket.send(
          version === 0 ? frame : `{"type":"request","channel":"control","request_id":"r-1","data":${frame}}`,
        );
        const answer = await socket.frame();
        if (version === 1) assert.match(answer, /"request_id":"r-1"/);
        const [, status, reason] = /"status":"(\w+)","reason":(?:null|"(\w+)")/.exec(answer) ?? [answer];
        return reason ?? status ?? answer;
      };
      assert.equal(await say('CreateOrderRequest', orders.createBody(resting, hands([PASSKEY]))), 'Received');
      const id = idOf(resting);
      for (const [tag, of] of [
        ['CreateOrderRequest', (by: Hands) => orders.createBody(orders.text(), by)],
        ['ReplaceOrderRequest', (by: Hands) => orders.replaceBody(id, by)],
        ['CancelOrderRequest', (by: Hands) => orders.cancelBody(id, by)],
      ] as const) {
        assert.equal(await say(tag, of(hands([STRANGER]))), 'SignerUnknown', tag);
        assert.equal(await say(tag, of(hands([SECP, SECP]))), 'SignerDuplicate', tag);
        assert.equal(await say(tag, of(hands([]))), 'InsufficientSignerWeight', tag);
        assert.equal(await say(tag, of(hands([{ ...SECP, sign: STRANGER.sign }]))), 'InvalidSignature', tag);
      }
      assert.equal(await say('ReplaceOrderRequest', orders.replaceBody(id, hands([P256]))), 'Received');
      const [good, bad] = [orders.text(), orders.text()];
      const bodies = [orders.createBody(good, hands([SECP])), orders.createBody(bad, hands([STRANGER]))];
      assert.match(await say('BatchCreateRequest', `{"orders":[${bodies}]}`), /submitted/);
      const items = [await socket.frame(), await socket.frame()];
      const itemOf = (text: string): string =>
        items.find((frame) => frame.includes(`"order_id":"${idOf(text)}"`)) ?? '';
      assert.match(itemOf(good), /"status":"Received","reason":null/);
      assert.match(itemOf(bad), /"status":"Rejected","reason":"SignerUnknown"/);
      assert.equal(await say('CancelOrderRequest', orders.cancelBody(id, hands([ED]))), 'Received');
    }
  });

  test('MSG-35, MSG-37, GEN-05, FIL-09: what is injected past the signers or past the signatures rolls back as InvalidSignature', async () => {
    const wrong: readonly (readonly [by: Hands, skip: readonly string[], front: string])[] = [
      [hands([{ ...SECP, sign: STRANGER.sign }]), ['signature'], 'INVALID_SIGNATURE'],
      [hands([{ ...SECP, sign: STRANGER.sign }], alice.key), ['signature'], 'INVALID_SIGNATURE'],
      [hands([STRANGER], alice.key), ['multisig'], 'SIGNER_UNKNOWN'],
      [hands([P256, P256]), ['multisig'], 'SIGNER_DUPLICATE'],
      [hands([]), ['multisig'], 'INSUFFICIENT_SIGNER_WEIGHT'],
      [hands([]), ['multisig', 'signature'], 'INSUFFICIENT_SIGNER_WEIGHT'],
    ];
    for (const [by, skip, front] of wrong) {
      const text = orders.text({ details: limit(300_000, 1_000) });
      assert.equal(await orders.create(text, by), front);
      await orders.inject(text, by, skip);
      assert.equal(await alice.status(idOf(text)), 'Open', 'the market has it');
      assert.deepEqual(await orders.fill(text, bob), INVALID, `${front} past ${skip.join()}`);
    }
    const valid = orders.offer();
    await orders.inject(valid, hands([SECP, P256]), ['signature', 'multisig']);
    assert.deepEqual(await orders.fill(valid, bob), CONFIRMED, 'clearing has the co-signatures too');
  });

  test('MSG-32 to MSG-34: created before its co-signer expired, filled afterwards: valid; created afterwards: SIGNER_EXPIRED', async () => {
    await orders.addSigner(SHORT, 4, HOUR);
    const text = orders.offer();
    const late = orders.text();
    assert.equal(await orders.create(text, hands([SHORT])), 'Received');
    await node.advance(HOUR);
    assert.equal(
      await orders.create(late, hands([SHORT])),
      'REQUEST_TOO_OLD',
      'created in time, and an hour ago (MON-12)',
    );
    assert.equal(await orders.create(orders.text(), hands([SHORT])), 'SIGNER_EXPIRED');
    assert.equal(await orders.replace(idOf(text), hands([SHORT])), 'SIGNER_EXPIRED', 'a replace is judged now');
    assert.equal(await orders.cancel(idOf(text), hands([SHORT])), 'SIGNER_EXPIRED');
    assert.deepEqual(await orders.fill(text, bob), CONFIRMED);
  });

  test('MSG-34, MSG-35: co-signed orders that rest survive kill and restart, and their fills are confirmed behind it', async () => {
    const [killed, stopped] = [orders.offer(), orders.offer()];
    assert.equal(await orders.create(killed, hands([SECP, PASSKEY])), 'Received');
    await node.rest();
    await node.restart('SIGKILL');
    assert.deepEqual(await orders.fill(killed, bob), CONFIRMED, 'its signatures come from the journal');
    assert.equal(await orders.create(stopped, hands([P256])), 'Received');
    await node.restart('SIGTERM');
    await node.restart('SIGKILL');
    assert.deepEqual(await orders.fill(stopped, bob), CONFIRMED, 'its signatures come from the tables');
  });
});

/** Weight 1 each; one may sign for an hour from when it was added. */
const WINDOWED = wireSigner(0x26);

suite('orders of accounts that a deposit has set up', () => {
  let node: TestNode;
  let taker: Trader;

  before(async () => {
    node = await TestNode.start();
    taker = await node.trader(FUNDS);
  });
  after(() => node?.stop());

  async function account(): Promise<Orders> {
    return new Orders(node, await node.trader(FUNDS));
  }

  async function configure({ user }: Orders, terms: ConfigTerms, rows: readonly ConfigRow[]): Promise<void> {
    const text = configText(terms, rows);
    await deposit(node, user.userId, depositConfig(text, user.key.sign(text)));
    await node.rest();
    // A master of weight 0 does not log in (MON-13).
    if (terms.master === 0) user.hands = hands(rows.map(({ signer }) => signer));
  }

  const rows = [SECP, P256].map((signer) => ({ signer, weight: 2 }));

  test('MSG-11 to MSG-13, MSG-36: the weights reach the threshold low, and a master of weight 0 adds nothing', async () => {
    const orders = await account();
    const { key } = orders.user;
    await configure(orders, { master: 0, low: 4, high: 4 }, rows);
    const resting = orders.offer();
    assert.equal(await orders.create(resting, hands([SECP, P256])), 'Received');
    for (const by of [hands([], key), hands([SECP], key), hands([P256])]) {
      assert.equal(await orders.create(orders.text(), by), 'INSUFFICIENT_SIGNER_WEIGHT');
      assert.equal(await orders.replace(idOf(resting), by), 'INSUFFICIENT_SIGNER_WEIGHT');
    }
    assert.deepEqual(await orders.fill(resting, taker), CONFIRMED);
    const other = orders.text();
    assert.equal(await orders.create(other, hands([SECP, P256], key)), 'Received');
    assert.equal(
      await orders.cancel(idOf(other), hands([], key)),
      'INSUFFICIENT_SIGNER_WEIGHT',
      'it weighs 0 (MON-13)',
    );
    assert.equal(await orders.cancel(idOf(other), hands([SECP])), 'Received', 'any weight cancels (AMB-136)');
  });

  test('MON-13: a master of weight 0 does not log in; with less than low its session reads, and changes nothing', async () => {
    const retired = await account();
    await configure(retired, { master: 0, low: 2, high: 2 }, rows);
    const { hands: coSigned } = retired.user;
    retired.user.hands = hands([], retired.user.key);
    await assert.rejects(retired.user.login());
    retired.user.hands = coSigned;
    await retired.user.login();
    assert.match(await retired.user.cancelAll(), /^202 /);
    const light = await account();
    const { user } = light;
    const resting = light.offer();
    assert.equal(await light.create(resting, hands([], user.key)), 'Received');
    await configure(light, { master: 1, low: 2, high: 2 }, rows);
    await user.login();
    assert.equal((await user.call('GET', `/orders/user/${user.userId}`)).status, 200);
    for (const [method, path, body] of [
      ['POST', '/orders/create', light.createBody(light.text(), hands([SECP, P256]))],
      ['DELETE', '/orders/cancel', light.cancelBody(idOf(resting), hands([SECP]))],
      ['DELETE', '/orders/cancel-all', undefined],
    ] as const) {
      const { status, text } = await user.call(method, path, body);
      assert.deepEqual([status, /"code":"(\w+)"/.exec(text)?.[1]], [403, 'READ_ONLY_SESSION'], path);
    }
    await assert.rejects(user.listen('/control', []));
    assert.equal((await user.call('POST', '/logout')).status, 200);
    assert.equal((await user.call('GET', `/orders/user/${user.userId}`)).status, 401);
  });

  test('MSG-37: an order that is too light and injected past the front check rolls back as InvalidSignature', async () => {
    const orders = await account();
    await configure(orders, { master: 0, low: 2, high: 2 }, rows);
    for (const by of [hands([], orders.user.key), hands([WINDOWED])]) {
      const text = orders.offer();
      await orders.inject(text, by, ['multisig']);
      assert.deepEqual(await orders.fill(text, taker), INVALID);
    }
  });

  test('MSG-33, MSG-34: the signing window is judged at the creation of the order', async () => {
    const orders = await account();
    const windowed = { signer: WINDOWED, maxSigningWindowNs: HOUR };
    await configure(orders, {}, [windowed]);
    const text = orders.offer();
    assert.equal(await orders.create(text, hands([WINDOWED])), 'Received');
    await node.advance(HOUR);
    assert.equal(await orders.create(orders.text(), hands([WINDOWED])), 'SIGNER_EXPIRED');
    assert.deepEqual(await orders.fill(text, taker), CONFIRMED, 'created inside, filled outside');
  });

  test('MSG-35: an order that rests when a configuration comes is filled as before, through a restart too', async () => {
    const orders = await account();
    const { key } = orders.user;
    const [first, second] = [orders.offer(), orders.offer()];
    for (const text of [first, second]) assert.equal(await orders.create(text, hands([], key)), 'Received');
    await node.advance(1_000_000_000n);
    await configure(orders, { master: 0, low: 2, high: 2 }, rows);
    assert.equal(await orders.create(orders.offer(), hands([], key)), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.deepEqual(await orders.fill(first, taker), CONFIRMED);
    await node.restart('SIGKILL');
    assert.deepEqual(await orders.fill(second, taker), CONFIRMED);
    const later = orders.offer();
    await orders.inject(later, hands([], key), ['multisig']);
    assert.deepEqual(await orders.fill(later, taker), INVALID, 'what comes after it is judged by it');
  });
});
