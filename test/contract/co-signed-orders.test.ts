/** Orders, replaces and cancels by co-signers at the public API (wire.md 4.4, 7.4 to 7.7, 9.4, 10; ORD-17, ORD-18, MSG, AMB-136). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SoftwareAuthenticator } from '../../src/client/co-signers.ts';
import type { SocketReader } from '../support/edge-client.ts';
import { TestNode } from '../support/test-node.ts';
import {
  actionBody,
  addSignerText,
  cancelBodyOf,
  coSignatures,
  createBodyOf,
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

suite('co-signed orders', () => {
  let node: TestNode;
  /** Has co-signers of each scheme. */
  let alice: Trader;
  let bob: Trader;
  let ids = 0;

  before(async () => {
    node = await TestNode.start();
    alice = await node.trader(FUNDS);
    bob = await node.trader(FUNDS);
    for (const [nonce, signer] of [SECP, P256, ED, PASSKEY].entries()) await addSigner(alice, signer, nonce);
  });
  after(() => node?.stop());

  const newId = (): string => {
    ids += 1;
    return `co-${ids}`;
  };

  async function addSigner(
    of: Trader,
    signer: WireSigner,
    ceNonce: number,
    duration: bigint | null = null,
  ): Promise<void> {
    const text = addSignerText(of.userId, { signer, ceNonce, duration });
    const answer = await of.call('POST', '/multisig/add-signer', actionBody(text, { master: of.key }));
    assert.equal(answer.text, '{"success":true}');
  }

  function orderOf(words: Partial<OrderWords> = {}): string {
    return orderText(alice.userId, { id: newId(), createdNs: node.stamp(), side: 'Sell', price: 400_000, ...words });
  }

  const hands = (coSigners: readonly WireSigner[], master: Hands['master'] = null): Hands => ({ master, coSigners });
  const createOf = (text: string, by: Hands): string => createBodyOf(text, by, node.nowNs);
  const cancelOf = (id: string, by: Hands): string => cancelBodyOf(cancelText(alice.userId, id), by, node.nowNs);
  const replaceOf = (id: string, by: Hands): string => {
    const text = replaceText({ id, price: 310_000, timestampNs: node.stamp() });
    return replaceBodyOf(alice.userId, text, by, node.nowNs);
  };

  /** `Received`, or the code of the refusal. */
  async function wordOf(method: string, path: string, body: string): Promise<string> {
    const { text } = await alice.call(method, path, body);
    const answer = JSON.parse(text) as { status?: string; error?: { code: string } };
    return answer.error?.code ?? answer.status ?? text;
  }

  const create = (text: string, by: Hands): Promise<string> => wordOf('POST', '/orders/create', createOf(text, by));
  const cancel = (id: string, by: Hands): Promise<string> => wordOf('DELETE', '/orders/cancel', cancelOf(id, by));
  const replace = (id: string, by: Hands): Promise<string> => wordOf('PATCH', '/orders/replace', replaceOf(id, by));
  const idOf = (text: string): string => /"order_id":"([^"]+)"/.exec(text)?.[1] ?? '';

  /** Bob takes what the order offers. */
  async function fill(): Promise<void> {
    assert.equal((await bob.buy(limit(300_000, 1_000))).word, 'Received');
    await node.rest();
  }

  async function inject(text: string, by: Hands, skip: readonly string[]): Promise<void> {
    const fault = `{"kind":"inject_order","wrapper":${createOf(text, by)},"skip":${JSON.stringify(skip)}}`;
    await node.operate('POST', '/operator/clearing', `{"fault":${fault}}`);
    await node.rest();
  }

  /** An order at 3000 that waits for a taker. */
  const offer = (): string => orderOf({ details: limit(300_000, 1_000) });

  test('ORD-17, ORD-18, MSG-16 to MSG-20, MSG-28: a co-signer of each scheme places an order, with the master or without, and its fill is confirmed', async () => {
    for (const signer of [SECP, P256, ED, PASSKEY]) {
      for (const master of [null, alice.key]) {
        const text = offer();
        assert.equal(await create(text, hands([signer], master)), 'Received', signer.scheme);
        await fill();
        assert.deepEqual(alice.fillsOf(idOf(text)), ['Pending 3000 0.1', 'Confirmed 3000 0.1'], signer.scheme);
      }
    }
    const together = offer();
    assert.equal(await create(together, hands([SECP, P256, ED, PASSKEY], alice.key)), 'Received');
    await fill();
    assert.equal(alice.fillsOf(idOf(together)).at(-1), 'Confirmed 3000 0.1');
  });

  test('wire.md 9.4: `Created` has the master’s signature, or an empty one where co-signers alone signed; reads are as ever', async () => {
    const [alone, both] = [orderOf(), orderOf()];
    assert.equal(await create(alone, hands([SECP])), 'Received');
    assert.equal(await create(both, hands([SECP], alice.key)), 'Received');
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
    const resting = orderOf();
    assert.equal(await create(resting, hands([SECP])), 'Received');
    const id = idOf(resting);
    for (const [act, of] of [
      ['create', (by: Hands) => create(orderOf(), by)],
      ['replace', (by: Hands) => replace(id, by)],
      ['cancel', (by: Hands) => cancel(id, by)],
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
    assert.equal(await replace(id, hands([P256])), 'Received');
    assert.equal((await alice.record(id))['limit_price'], '3100');
    assert.equal(await cancel(id, hands([ED])), 'Received');
  });

  test('AMB-136: in a session that co-signers opened a cancel needs no signature, on REST and on /control; an order does', async () => {
    const [first, second] = [orderOf(), orderOf()];
    for (const text of [first, second]) assert.equal(await create(text, hands([], alice.key)), 'Received');
    const unsigned = hands([]);
    assert.equal(await cancel(idOf(first), unsigned), 'INSUFFICIENT_SIGNER_WEIGHT');
    const nonce = JSON.parse((await alice.call('GET', `/nonce/${alice.userId}`)).text) as { value: string };
    const signed = `"signature":[],"additional_signers":${coSignatures([P256], nonce.value)}`;
    const login = await alice.call('POST', '/auth', `{"user_id":"${alice.userId}","nonce":"${nonce.value}",${signed}}`);
    const { token } = JSON.parse(login.text) as { token: string };
    const session = { authorization: `Bearer ${token}`, 'user-id': alice.userId };
    const ask = async (method: string, path: string, body: string): Promise<string> => {
      const { text } = await alice.call(method, path, body, session);
      const answer = JSON.parse(text) as { status?: string; error?: { code: string } };
      return answer.error?.code ?? answer.status ?? text;
    };
    assert.equal(await ask('POST', '/orders/create', createOf(orderOf(), unsigned)), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(await ask('PATCH', '/orders/replace', replaceOf(idOf(first), unsigned)), 'INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal(await ask('DELETE', '/orders/cancel', cancelOf(idOf(first), unsigned)), 'Received');
    const forged = hands([{ ...SECP, sign: STRANGER.sign }]);
    assert.equal(await ask('DELETE', '/orders/cancel', cancelOf(idOf(second), forged)), 'INVALID_SIGNATURE');
    const frames: Record<string, unknown>[] = [];
    const own = node.stranger();
    Object.assign(own, { key: { ...alice.key, id: alice.userId }, token });
    const socket: SocketReader = await own.stream('/control');
    const last = orderOf();
    socket.socket.send(`{"CreateOrderRequest":${createOf(last, hands([SECP]))}}`);
    socket.socket.send(`{"CancelOrderRequest":${cancelOf(idOf(last), unsigned)}}`);
    socket.socket.send(`{"CancelOrderRequest":${cancelOf(idOf(second), unsigned)}}`);
    for (let count = 0; count < 3; count += 1) frames.push(JSON.parse(await socket.frame()) as Record<string, unknown>);
    for (const frame of frames) assert.match(JSON.stringify(frame), /"status":"Received"/);
    await node.rest();
    assert.equal(await alice.status(idOf(last)), 'Canceled', 'the cancel did not pass its create');
    assert.equal(await alice.status(idOf(second)), 'Canceled');
  });

  test('BAT-05, MSG-12, MSG-30: items of a batch are judged one by one', async () => {
    const [good, unknown, none, forged] = [orderOf(), orderOf(), orderOf(), orderOf()];
    const bodies = [
      createOf(good, hands([SECP])),
      createOf(unknown, hands([STRANGER])),
      createOf(none, hands([])),
      createOf(forged, hands([{ ...SECP, sign: STRANGER.sign }])),
    ];
    assert.deepEqual(await alice.batchCreate(...bodies.map((text) => ({ text }))), [
      `${idOf(good)} Received`,
      `${idOf(unknown)} SignerUnknown`,
      `${idOf(none)} InsufficientSignerWeight`,
      `${idOf(forged)} InvalidSignature`,
    ]);
    const other = orderOf();
    assert.equal(await create(other, hands([SECP])), 'Received');
    const replaces = [replaceOf(idOf(good), hands([SECP, P256])), replaceOf(idOf(other), hands([P256, P256]))];
    assert.deepEqual(await alice.batchReplace(...replaces), [
      `${idOf(good)} Received`,
      `${idOf(other)} SignerDuplicate`,
    ]);
  });

  test('CTL-01 to CTL-03, MSG-12, MSG-30, MSG-31: /control answers with the same codes as PascalCase reasons, in both versions', async () => {
    const own = node.stranger();
    const token = /Bearer (.*)/.exec(alice.session()['authorization'] ?? '')?.[1] ?? '';
    Object.assign(own, { key: { ...alice.key, id: alice.userId }, token });
    for (const version of [0, 1]) {
      const socket = await own.stream('/control', version === 0 ? [] : ['svc.ws.v1']);
      const resting = orderOf();
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
      assert.equal(await say('CreateOrderRequest', createOf(resting, hands([PASSKEY]))), 'Received');
      const id = idOf(resting);
      for (const [tag, of] of [
        ['CreateOrderRequest', (by: Hands) => createOf(orderOf(), by)],
        ['ReplaceOrderRequest', (by: Hands) => replaceOf(id, by)],
        ['CancelOrderRequest', (by: Hands) => cancelOf(id, by)],
      ] as const) {
        assert.equal(await say(tag, of(hands([STRANGER]))), 'SignerUnknown', tag);
        assert.equal(await say(tag, of(hands([SECP, SECP]))), 'SignerDuplicate', tag);
        assert.equal(await say(tag, of(hands([]))), 'InsufficientSignerWeight', tag);
        assert.equal(await say(tag, of(hands([{ ...SECP, sign: STRANGER.sign }]))), 'InvalidSignature', tag);
      }
      assert.equal(await say('ReplaceOrderRequest', replaceOf(id, hands([P256]))), 'Received');
      assert.equal(await say('CancelOrderRequest', cancelOf(id, hands([ED]))), 'Received');
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
      const text = orderOf({ details: limit(300_000, 1_000) });
      assert.equal(await create(text, by), front);
      await inject(text, by, skip);
      assert.equal(await alice.status(idOf(text)), 'Open', 'the market has it');
      await fill();
      assert.deepEqual(
        alice.fillsOf(idOf(text)),
        ['Pending 3000 0.1', 'Rollbacked 3000 0.1 InvalidSignature'],
        `${front} past ${skip.join()}`,
      );
      await bob.cancelAll();
      await node.rest();
    }
    const valid = offer();
    await inject(valid, hands([SECP, P256]), ['signature', 'multisig']);
    await fill();
    assert.equal(alice.fillsOf(idOf(valid)).at(-1), 'Confirmed 3000 0.1', 'clearing has the co-signatures too');
  });

  test('MSG-32 to MSG-34: created before its co-signer expired, filled afterwards: valid; created afterwards: SIGNER_EXPIRED', async () => {
    await addSigner(alice, SHORT, 4, HOUR);
    const text = offer();
    assert.equal(await create(text, hands([SHORT])), 'Received');
    await node.advance(HOUR);
    assert.equal(await create(orderOf(), hands([SHORT])), 'SIGNER_EXPIRED');
    assert.equal(await replace(idOf(text), hands([SHORT])), 'SIGNER_EXPIRED', 'a replace is judged now');
    assert.equal(await cancel(idOf(text), hands([SHORT])), 'SIGNER_EXPIRED');
    await fill();
    assert.equal(alice.fillsOf(idOf(text)).at(-1), 'Confirmed 3000 0.1');
  });

  test('MSG-34, MSG-35: co-signed orders that rest survive kill and restart, and their fills are confirmed behind it', async () => {
    const [killed, stopped] = [offer(), offer()];
    assert.equal(await create(killed, hands([SECP, PASSKEY])), 'Received');
    await node.rest();
    await node.restart('SIGKILL');
    await fill();
    assert.equal(alice.fillsOf(idOf(killed)).at(-1), 'Confirmed 3000 0.1', 'its signatures come from the journal');
    assert.equal(await create(stopped, hands([P256])), 'Received');
    await node.restart('SIGTERM');
    await node.restart('SIGKILL');
    await fill();
    assert.equal(alice.fillsOf(idOf(stopped)).at(-1), 'Confirmed 3000 0.1', 'its signatures come from the tables');
  });
});
