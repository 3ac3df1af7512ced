// tier: quick
/** Co-signers in the SDK: what they sign, how it is sent, key files, and an action that travels in a file. */

import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import fc from 'fast-check';
import { signText } from '../../src/client/action-signers.ts';
import { addSignerText, depositConfigText, type Order, vaultKey } from '../../src/client/canonical.ts';
import { RingbookClient } from '../../src/client/client.ts';
import {
  createCoSigner,
  KEY_KINDS,
  loadCoSigner,
  parsePublicKey,
  publicKeyText,
} from '../../src/client/co-signer-files.ts';
import {
  type CoSigner,
  ed25519CoSigner,
  p256CoSigner,
  SoftwareAuthenticator,
  secp256k1CoSigner,
} from '../../src/client/co-signers.ts';
import {
  cosignFile,
  cosignRequest,
  lineText,
  merged,
  readCosignFile,
  withCoSigner,
} from '../../src/client/cosign-file.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import { readAction } from '../../src/client/read-action.ts';
import {
  bodyOf,
  signAction,
  type UnsignedAction,
  unsignedAddSigner,
  unsignedCancel,
  unsignedClosePosition,
  unsignedCreate,
  unsignedReplace,
  unsignedSettlement,
  unsignedTransfer,
  unsignedWithdrawal,
  unsignedWithdrawalCancel,
} from '../../src/client/signed-actions.ts';
import { decodeAddSigner, decodeSettlement, decodeTransfer } from '../../src/codec/account-requests.ts';
import { decodeCancel, decodeCreate, decodeReplace } from '../../src/codec/order-actions.ts';
import type { Signatures } from '../../src/codec/signatures.ts';
import { must } from '../../src/core/assert.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { verifyCoSignatures } from '../../src/crypto/co-signature.ts';
import { verify } from '../../src/crypto/ed25519.ts';
import { decodeClosePosition, decodeWithdrawal, decodeWithdrawalCancel } from '../support/account-decoders.ts';
import { ETH } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const MASTER = keyFromSeed(new Uint8Array(32).fill(0x42));
const USER = MASTER.userId;
const PARTY = { rpId: 'localhost', origin: 'http://localhost' };
const POLICY = { rpId: 'localhost', origins: ['http://localhost'] };
const SECRET = new Uint8Array(32).fill(5);
const CO_SIGNERS: readonly CoSigner[] = [
  ed25519CoSigner(SECRET),
  secp256k1CoSigner(SECRET),
  p256CoSigner(SECRET),
  new SoftwareAuthenticator(SECRET, PARTY),
];
const HEX = { amountText: 'hex' } as const;
const CHAIN = '000000000000007a69';
const TOKEN = '5a'.repeat(20);

const ORDER: Order = {
  signer: USER,
  orderId: 'co-1',
  assetId: ETH,
  priceDecimals: 2,
  quantityDecimals: 4,
  side: 'Buy',
  limitPrice: 300_025,
  quantity: 15_000,
  timeInForce: { kind: 'GTC', postOnly: true },
  creationTimestampNs: 1_800_000_000_000_000_000n,
  target: { account: 1, isSpot: true },
  reduceOnly: false,
  maxTradingFeesRate: 50_000,
};
const WITHDRAWAL = { token: TOKEN, chainId: CHAIN, amount18: 25n * 10n ** 18n, target: '7c'.repeat(20) };
const SECP = must(CO_SIGNERS[1], 'a co-signer').signer;

/** Every kind of action, with the node's own reader of its body. */
const ACTIONS: readonly (readonly [
  UnsignedAction,
  (bytes: Uint8Array, start: number, end: number) => Outcome<Read>,
])[] = [
  [unsignedCreate(ORDER), decodeCreate],
  [
    unsignedReplace(USER, {
      ...{ orderId: 'co-1', timestampNs: 7n, newLimitPrice: 300_000, newQuantity: null, assetId: ETH },
      ...{ priceDecimals: 2, quantityDecimals: 4 },
    }),
    decodeReplace,
  ],
  [unsignedCancel(USER, { orderId: 'co-1', assetId: ETH }), decodeCancel],
  [
    unsignedTransfer(USER, {
      ...{ sourceIndex: 0, targetIndex: 2, assetId: ETH, amount18: 5n * 10n ** 17n, nonce: 3n },
      targetAccountType: { isolated: ETH },
    }),
    decodeTransfer,
  ],
  [unsignedClosePosition(USER, { account: 1, assetId: ETH, nonce: 4n }), decodeClosePosition],
  [unsignedWithdrawal(USER, WITHDRAWAL), decodeWithdrawal],
  [unsignedWithdrawalCancel(USER, { token: TOKEN, chainId: CHAIN, nonce: 6 }), decodeWithdrawalCancel],
  [
    unsignedAddSigner(USER, { signer: SECP, weight: 2, sessionDurationNs: 86_400_000_000_000n, ceNonce: 1 }),
    decodeAddSigner,
  ],
  [
    unsignedAddSigner(USER, {
      ...{ signer: SECP, weight: 1, sessionDurationNs: null, ceNonce: 0, omsNonce: 'n'.repeat(43) },
    }),
    decodeAddSigner,
  ],
  [unsignedWithdrawal(USER, { ...WITHDRAWAL, nonce: 3, requestId: 'r-1' }), decodeWithdrawal],
  [
    unsignedWithdrawalCancel(USER, {
      ...{ token: TOKEN, chainId: CHAIN, nonce: 6 },
      requestedNs: 1_770_000_004_000_000_000n,
    }),
    decodeWithdrawalCancel,
  ],
  [
    unsignedSettlement(USER, {
      ...{ subAccount: 1, tokenIn: TOKEN, tokenOut: '6b'.repeat(20), amountIn18: 1n, amountOut18: 2n, chainId: CHAIN },
      ...{ settler: USER, nonce: 0, requestId: 'r-2' },
    }),
    decodeSettlement,
  ],
];

interface Read extends Signatures {
  readonly text: Uint8Array;
}

const refused =
  (reason: RegExp) =>
  (error: unknown): boolean =>
    error instanceof RingbookError && error.code === 'INVALID_ARGUMENT' && reason.test(error.message);

suite('co-signers in the SDK', () => {
  test('every action carries the signatures of all its signers, and the node reads the text that they signed (MSG-20, ORD-17, SIG-14)', () => {
    for (const [action, decode] of ACTIONS) {
      for (const master of [MASTER, null]) {
        const body = Buffer.from(signAction({ userId: USER, master, coSigners: CO_SIGNERS }, action, 9n));
        const read = decode(body, 0, body.length);
        assert.ok(read.ok, `${action.kind}: ${body}`);
        const { text, signature, additionalSigners } = read.value;
        assert.equal(Buffer.from(text).toString(), action.text, action.kind);
        assert.equal(additionalSigners.length, 4);
        assert.equal(verifyCoSignatures(additionalSigners, text, POLICY), true, action.kind);
        assert.equal(
          master === null ? signature.length : verify(signature, text, Buffer.from(USER, 'hex')),
          master === null ? 0 : true,
        );
      }
    }
  });

  test('no text is the text of two kinds of actions: what was signed for one is none of another (SIG-10, SIG-11)', () => {
    const members = ['order', 'request', 'cancel', 'inner'];
    for (const [action] of ACTIONS) {
      const readers = new Set<unknown>();
      for (const [, decode] of ACTIONS) {
        for (const member of members) {
          const outer = `"signature":[${new Array(64).fill(1).join(',')}],"signer":"${USER}","asset_id":"2","post_sign_timestamp":1`;
          const body = Buffer.from(`{"${member}":${action.text},${outer}}`);
          const read = decode(body, 0, body.length);
          if (read.ok && Buffer.from(read.value.text).toString() === action.text) readers.add(decode);
        }
      }
      assert.equal(readers.size, 1, action.kind);
    }
  });

  test('without co-signers the body of an order has no member for them, and that of other actions an empty one (wire.md 4.4)', () => {
    for (const [action] of ACTIONS) {
      const body = signAction(MASTER, action, 9n);
      const isOrder = ['create', 'replace', 'cancel'].includes(action.kind);
      assert.equal(body.includes('additional_signers'), !isOrder, action.kind);
      if (!isOrder) assert.ok(body.endsWith('"additional_signers":[]}'));
    }
  });

  test('the two texts of a new signer (MSG-39, AMB-13, wire.md G9)', () => {
    const signer = { scheme: 'Secp256k1', key: new Uint8Array(33).fill(2) } as const;
    const key = `{"Secp256k1":[${new Array(33).fill(2).join(',')}]}`;
    const request = { user: USER, signer, weight: 1, sessionDurationNs: 86_400_000_000_000n, ceNonce: 0 };
    assert.equal(
      addSignerText(request),
      `{"user":"${USER}","signer":${key},"weight":1,"session_duration_ns":86400000000000,"ce_nonce":0}`,
    );
    const omsNonce = 'N'.repeat(43);
    assert.equal(
      addSignerText({ ...request, sessionDurationNs: null, omsNonce }),
      `{"user":"${USER}","oms_nonce":"${omsNonce}","ce_nonce":0,"signer":${key},"weight":1,"session_duration_ns":null}`,
    );
    for (const wrong of [
      { weight: 0 },
      { weight: 2 ** 32 },
      { ceNonce: -1 },
      { sessionDurationNs: 1n << 64n },
      { omsNonce: 'x' },
    ]) {
      assert.throws(() => addSignerText({ ...request, ...wrong }), RingbookError);
    }
    assert.throws(
      () => addSignerText({ ...request, signer: { scheme: 'Ed25519', key: signer.key } }),
      refused(/32 bytes/),
    );
  });

  test('the configuration of a deposit has the text and the signature of wire.md 13 (MSG-04)', () => {
    const signer = { scheme: 'Secp256k1', key: Uint8Array.from([2, ...new Array<number>(32).fill(7)]) } as const;
    const row = { signer, weight: 1, expiresAtNs: 0n, maxSigningWindowNs: 0n };
    const config = { masterWeight: 1, thresholds: { low: 1, medium: 1, high: 1 }, signers: [row] };
    const text = depositConfigText(config);
    assert.equal(text.length, 246);
    assert.equal(
      Buffer.from(MASTER.sign(Buffer.from(text))).toString('hex'),
      '94bada0729ca5c253bb92f65e8d16296b28990a9ee96e7d863aa89008b3cd79a8adadec3485479ebf156977e2746a09bcde7b09f418be6015079114da1c29c0b',
    );
    assert.deepEqual(vaultKey(must(CO_SIGNERS[0], 'Ed25519').signer).keyPrefix, 0);
    assert.throws(() => depositConfigText({ ...config, masterWeight: -1 }), RingbookError);
  });

  test('what every node refuses is refused before it is sent: no signature, a key twice, seventeen of them (AMB-124, AMB-136, MSG-31)', () => {
    const nothing = { userId: USER, master: null, coSigners: [] };
    assert.throws(() => signText(nothing, 'x'), refused(/nothing signs this/));
    const [first] = CO_SIGNERS;
    assert.throws(
      () => signText(MASTER, 'x', { coSigners: [must(first, 'one'), must(first, 'one')] }),
      refused(/signs twice/),
    );
    const many = Array.from({ length: 17 }, (_, index) => p256CoSigner(new Uint8Array(32).fill(index + 1)));
    assert.throws(() => signText(MASTER, 'x', { coSigners: many }), refused(/at most 16/));
    assert.equal(signText(MASTER, 'x', { coSigners: many.slice(1) }).additionalSigners.length, 16);
    assert.throws(
      () =>
        signAction(
          { ...nothing, master: MASTER, userId: 'f0'.repeat(32) as typeof USER },
          ACTIONS[0]?.[0] ?? assert.fail(),
          1n,
        ),
      refused(/signed by its signer/),
    );
  });

  test('a client has an account: its key, or its user id with co-signers', () => {
    const oms = 'http://127.0.0.1:9';
    assert.equal(new RingbookClient({ oms, account: USER, coSigners: CO_SIGNERS }).userId, USER);
    assert.throws(() => new RingbookClient({ oms, coSigners: CO_SIGNERS }), refused(/user id as `account`/));
    const other = keyFromSeed(SECRET);
    assert.throws(() => new RingbookClient({ oms, key: other, account: USER }), refused(/one of the two/));
  });
});

suite('what a text means', () => {
  test('every action is read back from its text, in human terms (MSG-20)', () => {
    const read = ACTIONS.map(([action]) => {
      const { action: again, meaning } = readAction(action.text, { ...HEX, assetId: action.assetId });
      assert.equal(again.text, action.text);
      assert.equal(again.kind, action.kind);
      return meaning.map(lineText);
    });
    assert.deepEqual(read[0], [
      'action: place an order',
      `account: ${USER}, sub-account 1`,
      'market: 2',
      'order: co-1',
      'buy: 1.5 at 3000.25, GTC, post only',
      'highest fee: 50000 millionths',
    ]);
    assert.deepEqual(read[5], [
      'action: withdraw to a chain',
      `account: ${USER}`,
      'amount: 25 (the text is hex)',
      `token: ${TOKEN.padEnd(64, '0')}@${CHAIN}`,
      `paid to: ${'7c'.repeat(20).padEnd(64, '0')}`,
      'nonce: the smallest that is free',
      'request id: none: an equal request is the same one',
    ]);
    assert.ok(read[9]?.includes('nonce: 3') && read[9].includes('request id: r-1'), 'MON-01');
    assert.ok(read[6]?.includes('requested: whenever: the live one of this nonce'));
    assert.ok(read[10]?.includes('requested: 1770000004000000000 ns'));
    assert.ok(read[11]?.includes('request id: r-2') && read[11].includes('nonce: 0'));
    assert.ok(
      read[3]?.includes('amount: 0.5') &&
        read[3].includes('to: sub-account 2, made as isolated margin of asset 2 if it is not there'),
    );
    assert.ok(read[7]?.includes('may sign: for 86400 s from then on') && read[7].includes('weight: 2'));
    assert.ok(read[8]?.includes('may sign: for ever'));
    for (const [index, [action]] of ACTIONS.entries()) {
      assert.ok(action.kind === 'replace' || read[index]?.some((line) => line.includes(USER)), action.kind);
    }
  });

  test('orders of every kind are read back (ORD-02)', () => {
    const { limitPrice: _price, quantity: _quantity, timeInForce: _time, ...common } = ORDER;
    const trigger = { kind: 'PriceBelow', price: 250_000 } as const;
    const orders: readonly (readonly [Order, RegExp])[] = [
      [{ ...ORDER, timeInForce: { kind: 'FOK' } }, /FOK/],
      [{ ...ORDER, timeInForce: { kind: 'IOC' }, side: 'Sell' }, /sell: 1.5 at 3000.25, IOC/],
      [
        { ...ORDER, timeInForce: { kind: 'GTD', timestampNs: 5n }, reduceOnly: true },
        /good until 5 ns[\s\S]*reduce only/,
      ],
      [
        { ...ORDER, trigger: { ...trigger, parentOrderId: 'p-1' } },
        /waits for: a trade at or below 2500, child of p-1/,
      ],
      [{ ...ORDER, trigger, target: { account: 0, isSpot: false } }, /sub-account 0, margin/],
      [
        { ...common, size: { unit: 'base', quantity: 15_000, cap: 90_000 }, fillOrKill: true },
        /1.5 at the market, at most 9 USD, all/,
      ],
      [
        { ...common, size: { unit: 'quote', quantity: 15_000, cap: null }, fillOrKill: false },
        /1.5 USD worth at the market, at any/,
      ],
    ];
    for (const [order, meaning] of orders) {
      const action = unsignedCreate(order);
      const read = readAction(action.text, HEX);
      assert.equal(read.action.text, action.text);
      assert.match(read.meaning.map(lineText).join('\n'), meaning);
    }
  });

  test('nothing that is not exactly an action is signed: no nonce of a login, no member more, no other spelling', () => {
    const { text } = unsignedWithdrawal(USER, WITHDRAWAL);
    const wrong = [
      'n'.repeat(43),
      '"n"',
      '{}',
      `${text} `,
      text.replace('{', '{ '),
      text.replace('}', ',"fee":1}'),
      text.replace('"nonce":null', '"nonce":null,"nonce":null'),
      text.replace('de0b6b', 'DE0B6B').replace(/"amount":"/, '"amount":"0'),
      text.replace(/"amount":"[^"]*"/, '"amount":"0"'),
      text.replace(USER, USER.toUpperCase()),
      text.replace(/"target":"[^"]*"/, '"target":"7c"'),
      '{"tplus_user":"x"}',
      unsignedCreate(ORDER).text.replace(/"book_price_decimals":[^,]*/, '"book_price_decimals":-127'),
      '{"details":{}}',
      '{"weight":1,"session_duration_ns":1}',
    ];
    for (const given of wrong) assert.throws(() => readAction(given, HEX), RingbookError, given);
    assert.throws(() => readAction(text, { amountText: 'decimal' }), refused(/setting amount_text/));
  });

  test('any change of one byte of a text is refused or means something else', () => {
    const texts = ACTIONS.filter(([{ kind }]) => kind !== 'replace').map(([{ text }]) => text);
    const change = fc.tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 0x20, max: 0x7e }));
    fc.assert(
      fc.property(change, ([text, at, code]) => {
        const index = at % text.length;
        const changed = text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1);
        if (changed === text) return;
        const meaningOf = (given: string): string => readAction(given, HEX).meaning.map(lineText).join('\n');
        let meaning: string;
        try {
          meaning = meaningOf(changed);
        } catch (error) {
          assert.ok(error instanceof RingbookError, String(error));
          return;
        }
        // Times and nonces, which say when and not what, are the only parts that are not shown.
        const isTime = /"(?:nonce|oms_nonce|creation_timestamp_ns)":"?[^,}]*$/.test(text.slice(0, index));
        assert.ok(isTime || meaning !== meaningOf(text), changed);
      }),
      propertyParameters(500),
    );
  });
});

suite('a file to co-sign', () => {
  const action = unsignedWithdrawal(USER, WITHDRAWAL);
  const own = signText(MASTER, action.text);
  const bytes = (text: string): Uint8Array => Buffer.from(text);

  test('it goes to each co-signer and back, and what was signed anywhere is sent together (MSG-20, MSG-28)', () => {
    const start = cosignFile(cosignRequest(action, HEX, own));
    const copies = CO_SIGNERS.map((coSigner) => cosignFile(withCoSigner(readCosignFile(bytes(start), HEX), coSigner)));
    const all = copies.map((copy) => readCosignFile(bytes(copy), HEX)).reduce(merged);
    assert.deepEqual(all.action, action);
    const body = Buffer.from(bodyOf(all.action, all.signatures, 0n));
    const read = decodeWithdrawal(body, 0, body.length);
    assert.ok(read.ok);
    assert.equal(verify(read.value.signature, read.value.text, Buffer.from(USER, 'hex')), true);
    assert.equal(read.value.additionalSigners.length, 4);
    assert.equal(verifyCoSignatures(read.value.additionalSigners, read.value.text, POLICY), true);
    const twice = readCosignFile(bytes(copies[0] ?? ''), HEX);
    assert.throws(() => withCoSigner(twice, must(CO_SIGNERS[0], 'one')), refused(/signs twice/));
    assert.equal(merged(twice, twice).signatures.additionalSigners.length, 1);
  });

  test('a replace keeps its market and its account, which its text does not have', () => {
    const [replace] = must(ACTIONS[1], 'the replace');
    const read = readCosignFile(bytes(cosignFile(cosignRequest(replace, HEX))), HEX);
    assert.deepEqual(read.action, replace);
  });

  test('a file that describes another action than its text is refused, and one of another account, version or form', () => {
    const good = cosignFile(cosignRequest(action, HEX, own));
    const other = cosignFile(cosignRequest(unsignedWithdrawal(USER, { ...WITHDRAWAL, amount18: 1n }), HEX));
    const meant = (text: string): string => JSON.stringify((JSON.parse(text) as { meaning: unknown }).meaning);
    assert.throws(
      () =>
        readCosignFile(
          bytes(JSON.stringify({ ...(JSON.parse(good) as object), meaning: JSON.parse(meant(other)) as unknown })),
          HEX,
        ),
      refused(/does not mean what the file describes/),
    );
    const changes: readonly (readonly [object, RegExp])[] = [
      [{ account: 'f0'.repeat(32) }, /another account/],
      [{ ringbook_cosign: 2 }, /version 1/],
      [{ text: 'n'.repeat(43) }, /no action/],
      [{ note: 'x' }, /note/],
      [{ signature: 'zz' }, /malformed/],
      [{ additional_signers: [{ signer: 'rsa:00', signature: '' }] }, /malformed/],
      [{ meaning: [] }, /does not mean/],
    ];
    for (const [change, reason] of changes) {
      const changed = JSON.stringify({ ...(JSON.parse(good) as object), ...change });
      assert.throws(() => readCosignFile(bytes(changed), HEX), refused(reason), changed);
    }
    assert.throws(() => readCosignFile(bytes('x'), HEX), refused(/no file to co-sign/));
    assert.throws(
      () => merged(readCosignFile(bytes(good), HEX), readCosignFile(bytes(other), HEX)),
      refused(/different actions/),
    );
  });
});

suite('key files of co-signers', () => {
  const folder = temporaryDirectory();
  after(() => removeDirectory(folder));

  test('each kind is written for its owner alone, read back, and never overwritten', () => {
    for (const kind of KEY_KINDS) {
      const path = join(folder, kind);
      const made = createCoSigner(path, kind, kind === 'webauthn' ? PARTY : null);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const read = loadCoSigner(path);
      assert.deepEqual(read.signer, made.signer);
      const entries = signText({ userId: USER, master: null, coSigners: [read] }, 'text').additionalSigners;
      assert.equal(verifyCoSignatures(entries, Buffer.from('text'), POLICY), true, kind);
      assert.equal(entries[0]?.signature.length === 65, kind === 'secp256k1-personal');
      assert.deepEqual(parsePublicKey(publicKeyText(made.signer)), made.signer);
      assert.throws(() => createCoSigner(path, kind, PARTY), /EEXIST/);
      assert.ok(!readFileSync(path, 'utf8').includes(publicKeyText(made.signer)));
    }
    assert.throws(() => createCoSigner(join(folder, 'none'), 'webauthn'), refused(/relying party/));
    assert.throws(
      () => createCoSigner(join(folder, 'none'), 'webauthn', { rpId: 'a b', origin: 'c' }),
      refused(/without spaces/),
    );
  });

  test('a file that others may read, or that holds something else, is refused without its content', () => {
    const path = join(folder, 'open');
    const secret = 'ab'.repeat(32);
    writeFileSync(path, `p256 ${secret}\n`, { mode: 0o644 });
    chmodSync(path, 0o644);
    assert.throws(() => loadCoSigner(path), refused(/chmod 600/));
    chmodSync(path, 0o600);
    assert.equal(loadCoSigner(path).signer.scheme, 'P256');
    for (const line of [
      `rsa ${secret}`,
      `p256 ${secret} x`,
      `webauthn ${secret} localhost`,
      'p256',
      secret.slice(2),
      '',
    ]) {
      writeFileSync(path, line);
      assert.throws(
        () => loadCoSigner(path),
        (error: Error) => /no key of a co-signer/.test(error.message) && !error.message.includes('abab'),
      );
    }
    writeFileSync(path, `secp256k1 ${'00'.repeat(32)}`);
    assert.throws(() => loadCoSigner(path), refused(/above 0 and below the order/));
    for (const text of ['secp256k1:02', 'rsa:02', `ed25519:${'0'.repeat(66)}`, '', `p256:${'02'.repeat(33)}:`]) {
      assert.equal(parsePublicKey(text), null, text);
    }
  });
});
