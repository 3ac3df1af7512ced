// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { verifyOrder } from '../../src/clearing/order-verdict.ts';
import type { OrderRow, SignedText } from '../../src/clearing/rows.ts';
import { type ConfiguredSigner, DEFAULT_SIGNERS, type SignerConfig } from '../../src/clearing/signers/signer-config.ts';
import type { Order } from '../../src/client/canonical.ts';
import {
  type CoSigner,
  ed25519CoSigner,
  p256CoSigner,
  SoftwareAuthenticator,
  secp256k1CoSigner,
} from '../../src/client/co-signers.ts';
import { devKey } from '../../src/client/keys.ts';
import { limitOrder, marketOrder, signCreate } from '../../src/client/signed-actions.ts';
import { decodeCreate } from '../../src/codec/order-actions.ts';
import { storedSignatures } from '../../src/codec/stored-signatures.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { ORDER_FLAG, ORDER_KIND, type OrderKind, TIF, type Tif, TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';
import type { WebAuthnPolicy } from '../../src/crypto/webauthn.ts';
import { order as orderRow } from '../support/checkpoint-store.ts';
import { ETH } from '../support/names.ts';

const NOW = 1_760_000_000_123_456_789n;

const KEY = devKey('a');
const CONTEXT = { signer: KEY.userId, decimals: { priceDecimals: 2, quantityDecimals: 4 }, nowNs: NOW };
const NAME = { assetId: ETH, side: 'Sell', orderId: 'verdict-1' } as const;
const LIMIT = { ...NAME, price: '3000.25', quantity: '0.5' };

/** A row and what was signed. */
type SignedRow = OrderRow & SignedText;

/** A row as clearing would hold it for an order that A signed; `terms` are those that the gateway read. */
function signedRow(signed: Order = limitOrder(LIMIT, CONTEXT), terms: Partial<OrderRow> = LIMIT_TERMS): SignedRow {
  const { body } = signCreate(KEY, signed, NOW);
  const bytes = Buffer.from(body);
  const decoded = decodeCreate(bytes, 0, bytes.length);
  assert.ok(decoded.ok);
  const { order, text, signature } = decoded.value;
  const row = orderRow(1, {
    user: KEY.userId,
    subAccount: order.account,
    orderId: order.orderId,
    side: order.side,
    flags: 4,
    ...terms,
    maxFeeRate: order.maxTradingFeesRate,
    creationNs: order.creationNs,
    timestampNs: order.creationNs,
    goodUntilNs: 0n as never,
  });
  return { ...row, text: Buffer.from(text).toString('latin1'), signatures: signature };
}

const NOT_ATTESTED = (): boolean => false;

function verified(row: SignedRow, asset: AssetId, config: SignerConfig = DEFAULT_SIGNERS): boolean {
  return verifyOrder({ row, signed: row, asset, config }, { webauthn: null, isAttested: NOT_ATTESTED });
}

const LIMIT_TERMS = { tif: TIF.gtc, price: 300_025 as RawPrice, quantity: 5_000 as RawQuantity };

/** A market order has no price, and what it does not use is 0. */
function marketTerms(kind: OrderKind, quantity: number, amount: number, tif: Tif = TIF.ioc): Partial<OrderRow> {
  return { kind, tif, price: 0 as RawPrice, quantity: quantity as RawQuantity, amount };
}

suite("clearing's own verdict on an order", () => {
  test('the order that was signed passes (GEN-05)', () => {
    assert.equal(verified(signedRow(), ETH), true);
  });

  test('a forged signature fails (FIL-09)', () => {
    const row = signedRow();
    const signatures = row.signatures.slice();
    signatures[7] = (signatures[7] ?? 0) ^ 1;
    assert.equal(verified({ ...row, signatures }, ETH), false);
  });

  test('GEN-05: attested signatures are not verified again; who may sign and the terms of the order are judged all the same', () => {
    const row = signedRow();
    const other = { ...row, signatures: new Uint8Array(64).fill(1) };
    const asked: string[] = [];
    const attested = (given: SignedRow, config: SignerConfig = DEFAULT_SIGNERS): boolean => {
      const isAttested = (key: Uint8Array, text: Uint8Array, signatures: Uint8Array): boolean => {
        asked.push([key, text, signatures].map((bytes) => Buffer.from(bytes).toString('latin1')).join(' '));
        return true;
      };
      return verifyOrder({ row: given, signed: given, asset: ETH, config }, { webauthn: null, isAttested });
    };
    assert.equal(attested(other), true);
    const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
    const booked = [latin1(Buffer.from(row.user, 'hex')), row.text, latin1(other.signatures)].join(' ');
    assert.deepEqual(asked, [booked], 'the digest is over what is booked');
    assert.equal(attested({ ...other, price: 300_026 as RawPrice }), false);
    assert.equal(attested({ ...other, text: row.text.replace('300025', '300026') }), false);
    assert.equal(attested(other, { ...DEFAULT_SIGNERS, masterWeight: 0 }), false);
  });

  test('SIG-02, GEN-05: what was signed is the canonical text, byte for byte, even where another one reads as the same order', () => {
    const row = signedRow();
    const attested = (text: string): boolean => {
      const signed = { text, signatures: row.signatures };
      return verifyOrder(
        { row, signed, asset: ETH, config: DEFAULT_SIGNERS },
        { webauthn: null, isAttested: () => true },
      );
    };
    assert.equal(attested(row.text), true);
    const { text } = row;
    const [side = '', decimals = ''] = [
      /"side":"[A-Za-z]+",/.exec(text)?.[0],
      /"book_price_decimals":[0-9]+,/.exec(text)?.[0],
    ];
    for (const other of [
      `${text} `,
      ` ${text}`,
      text.replace(',"side"', ', "side"'),
      text.replace(side, '').replace(decimals, `${decimals}${side}`),
      text.replace('"trigger":null,', ''),
      text.replace('"verdict-1"', '"verdict\\u002d1"'),
      `${text}${text}`,
      text.slice(0, -1),
      `[${text}]`,
      `{"order":${text},"signature":[],"post_sign_timestamp":0}`,
      `{"more":${' '.repeat(1_024)}1}`,
      '',
      'null',
    ]) {
      assert.equal(attested(other), false, other);
    }
  });

  test('terms other than the signed ones fail, whichever it is', () => {
    const row = signedRow();
    const changes: Partial<SignedRow>[] = [
      { price: 300_026 as never },
      { quantity: 5_001 as never },
      { side: 0 },
      { subAccount: 0 },
      { orderId: 'verdict-2' as never },
      { tif: 2 },
      { flags: 5 },
      { maxFeeRate: 1 },
      { creationNs: (NOW + 1n) as never },
      { goodUntilNs: 1n as never },
      { text: row.text.replace('300025', '300026') },
    ];
    for (const change of changes)
      assert.equal(verified({ ...row, ...change }, ETH), false, JSON.stringify(Object.keys(change)));
    assert.equal(verified(row, '1' as AssetId), false, 'another market');
  });

  test('a resting limit order may be smaller than it was signed, one that never rests may not (AR-01, AMB-61, GEN-05)', () => {
    const row = signedRow();
    assert.equal(verified({ ...row, quantity: 4_999 as RawQuantity }, ETH), true);
    assert.equal(verified({ ...row, quantity: 5_001 as RawQuantity }, ETH), false);
    const timeInForce = { kind: 'FOK' } as const;
    const immediate = signedRow(limitOrder({ ...LIMIT, timeInForce }, CONTEXT), { ...LIMIT_TERMS, tif: TIF.fok });
    assert.equal(verified(immediate, ETH), true);
    assert.equal(verified({ ...immediate, quantity: 4_999 as RawQuantity }, ETH), false);
  });

  test('after a replace price and quantity are no longer the signed ones', () => {
    const row = signedRow();
    assert.equal(verified({ ...row, price: 1 as never, timestampNs: (NOW + 5n) as never }, ETH), true);
  });

  test('a market order passes with its size, its cap and its time in force, and with no other', () => {
    const base = { ...NAME, side: 'Buy', quantity: '0.5', maxAmount: '1500', fillOrKill: true } as const;
    const quote = { ...NAME, amount: '900', maxQuantity: '0.25' } as const;
    const rows = [
      signedRow(marketOrder(base, CONTEXT), marketTerms(ORDER_KIND.marketBase, 5_000, 15_000_000, TIF.fok)),
      signedRow(marketOrder(quote, CONTEXT), marketTerms(ORDER_KIND.marketQuote, 2_500, 9_000_000)),
    ];
    for (const row of rows) {
      assert.equal(verified(row, ETH), true);
      assert.equal(verified({ ...row, budget: 77 }, ETH), true, 'what it may use is not signed');
      const changes: Partial<SignedRow>[] = [
        { quantity: (row.quantity + 1) as RawQuantity },
        { amount: row.amount + 1 },
        { amount: 0 },
        { tif: row.tif === TIF.fok ? TIF.ioc : TIF.fok },
        { kind: ORDER_KIND.limit },
        { kind: row.kind === ORDER_KIND.marketBase ? ORDER_KIND.marketQuote : ORDER_KIND.marketBase },
        { triggerKind: TRIGGER.above, triggerPrice: 1 as RawPrice },
      ];
      for (const change of changes) assert.equal(verified({ ...row, ...change }, ETH), false, JSON.stringify(change));
    }
  });

  test('a trigger and its parent are signed; a replace moves the trigger, a finished parent cuts the child (AMB-20, AMB-29)', () => {
    const trigger = { when: 'above', price: '3100', parentOrderId: 'the-parent' } as const;
    const terms = { triggerKind: TRIGGER.above, triggerPrice: 310_000 as RawPrice, parentIdBytes: 'the-parent'.length };
    const signed = signedRow(limitOrder({ ...LIMIT, trigger }, CONTEXT), { ...LIMIT_TERMS, ...terms });
    const row = { ...signed, parentIdAt: signed.text.indexOf('the-parent') };
    assert.equal(verified(row, ETH), true);
    assert.equal(verified({ ...row, quantity: 100 as RawQuantity }, ETH), true, 'cut with its parent');
    const changes: Partial<SignedRow>[] = [
      { triggerKind: TRIGGER.below },
      { triggerPrice: 310_001 as RawPrice },
      { triggerKind: TRIGGER.none },
      { parentIdBytes: 0 },
      { parentIdAt: row.parentIdAt + 1 },
      { parentIdBytes: row.parentIdBytes - 1 },
      { quantity: 5_001 as RawQuantity },
    ];
    for (const change of changes) assert.equal(verified({ ...row, ...change }, ETH), false, JSON.stringify(change));
    const replaced = { ...row, timestampNs: (NOW + 5n) as never };
    assert.equal(verified({ ...replaced, triggerKind: TRIGGER.below, triggerPrice: 1 as RawPrice }, ETH), true);
    assert.equal(verified({ ...replaced, parentIdBytes: 0 }, ETH), false);
  });

  test('flags that the node sets on its own do not matter (AMB-23, AMB-29, AMB-32)', () => {
    const row = signedRow();
    for (const own of ['cancelPending', 'rolledBack', 'entering'] as const)
      assert.equal(verified({ ...row, flags: row.flags | ORDER_FLAG[own] }, ETH), true, own);
    assert.equal(verified({ ...row, flags: row.flags | ORDER_FLAG.nodeMade }, ETH), false);
  });
});

const POLICY: WebAuthnPolicy = { rpId: 'app.example', origins: ['https://app.example'] };
const PAGE = { rpId: 'app.example', origin: 'https://app.example' };
const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const CO_SIGNERS: readonly CoSigner[] = [
  ed25519CoSigner(seed(1)),
  secp256k1CoSigner(seed(2)),
  secp256k1CoSigner(seed(3), 'personal'),
  p256CoSigner(seed(4)),
  new SoftwareAuthenticator(seed(5), PAGE),
];
const [ED, SECP, , , PASSKEY] = CO_SIGNERS as [CoSigner, CoSigner, CoSigner, CoSigner, CoSigner];

function registered({ signer }: CoSigner, members: Partial<ConfiguredSigner> = {}): ConfiguredSigner {
  return { ...signer, weight: 1, addedNs: NOW as TimestampNs, expiresAtNs: null, maxSigningWindowNs: null, ...members };
}

/** All of them registered; those of weight 1 together with the master weigh six. */
function configOf(
  members: Partial<SignerConfig>,
  signers: readonly ConfiguredSigner[] = CO_SIGNERS.map((of) => registered(of)),
): SignerConfig {
  return { ...DEFAULT_SIGNERS, signers, ...members };
}

const lowAt = (low: number): Partial<SignerConfig> => ({ thresholds: { low, medium: 1, high: 1 } });

/** The row, signed by the master or not, and by these; `signs` what they sign in place of its text. */
function signedBy(coSigners: readonly CoSigner[], { hasMaster = true, signs = '' } = {}): SignedRow {
  const row = signedRow();
  const text = Buffer.from(signs === '' ? row.text : signs, 'latin1');
  const additionalSigners = coSigners.map((coSigner) => ({ ...coSigner.signer, signature: coSigner.sign(text) }));
  const signature = hasMaster ? row.signatures : new Uint8Array();
  return { ...row, admittedNs: NOW as TimestampNs, signatures: storedSignatures({ signature, additionalSigners }) };
}

function judged(row: SignedRow, config: SignerConfig, webauthn: WebAuthnPolicy | null = POLICY): boolean {
  return verifyOrder({ row, signed: row, asset: ETH, config }, { webauthn, isAttested: NOT_ATTESTED });
}

suite("clearing's own verdict on the co-signers of an order", () => {
  test('MSG-20, MSG-28, MSG-35: co-signers of every scheme place an order, with the master or in place of it', () => {
    for (const hasMaster of [true, false]) {
      for (const coSigner of CO_SIGNERS) assert.equal(judged(signedBy([coSigner], { hasMaster }), configOf({})), true);
      assert.equal(judged(signedBy(CO_SIGNERS, { hasMaster }), configOf(lowAt(5))), true);
    }
    assert.equal(judged(signedBy(CO_SIGNERS), configOf(lowAt(6))), true);
  });

  test('MON-12, MSG-37: one that a co-signer had ended for by its admission was not created long before', () => {
    for (const [age, valid] of [
      [120_000_000_000n, true],
      [120_000_000_001n, false],
    ] as const) {
      const order = signedBy([ED], { hasMaster: false });
      const { creationNs } = order;
      const row = { ...order, admittedNs: (creationNs + age) as TimestampNs };
      const signer = registered(ED, { expiresAtNs: creationNs + 1n });
      assert.equal(judged(row, configOf({}, [signer])), valid);
      assert.equal(judged(row, configOf({})), true, 'one that has not ended');
    }
  });

  test('MSG-12, MSG-36, MSG-37: too light, or a master of weight 0 alone, is refused', () => {
    assert.equal(judged(signedBy(CO_SIGNERS, { hasMaster: false }), configOf(lowAt(6))), false);
    assert.equal(judged(signedBy([ED]), configOf(lowAt(3))), false);
    const light = configOf({ masterWeight: 0 });
    assert.equal(judged(signedBy([]), light), false);
    assert.equal(judged(signedBy([ED]), light), true);
    assert.equal(judged(signedBy([], { hasMaster: false }), configOf({})), false, 'no signature at all');
  });

  test('MSG-20, MSG-35: each signature is verified over the text of the order, whatever the others weigh', () => {
    const config = configOf({ masterWeight: 9 });
    for (const coSigner of CO_SIGNERS) {
      const other = signedBy([ED]).text.replace('verdict-1', 'verdict-2');
      const row = signedBy([coSigner], { signs: other });
      assert.equal(judged(row, config), false, `${coSigner.signer.scheme} over another order`);
    }
    const forgedMaster = signedBy([ED]);
    const signatures = forgedMaster.signatures.slice();
    signatures[9] = (signatures[9] ?? 0) ^ 1;
    assert.equal(judged({ ...forgedMaster, signatures }, config), false);
  });

  test('MSG-30, MSG-31: an unknown co-signer or one that is there twice refuses the order', () => {
    assert.equal(judged(signedBy([ED]), DEFAULT_SIGNERS), false);
    assert.equal(judged(signedBy([ED, SECP]), configOf({}, [registered(SECP)])), false);
    assert.equal(judged(signedBy([SECP, SECP]), configOf({})), false);
  });

  test('MSG-34: the window and the expiry of a co-signer are judged at the creation of the order', () => {
    const hour = 3_600_000_000_000n;
    const at = (members: Partial<ConfiguredSigner>): SignerConfig => configOf({}, [registered(ED, members)]);
    assert.equal(judged(signedBy([ED]), at({ expiresAtNs: NOW + 1n })), true);
    assert.equal(judged(signedBy([ED]), at({ expiresAtNs: NOW })), false);
    const before = { addedNs: (NOW - hour) as TimestampNs };
    assert.equal(judged(signedBy([ED]), at({ ...before, maxSigningWindowNs: hour + 1n })), true);
    assert.equal(judged(signedBy([ED]), at({ ...before, maxSigningWindowNs: hour })), false);
  });

  test('MSG-35: a configuration that comes later does not refuse an order that was admitted before it', () => {
    const config = configOf({ masterWeight: 0, setNs: NOW as TimestampNs });
    const row = signedBy([]);
    assert.equal(judged({ ...row, admittedNs: (NOW - 1n) as TimestampNs }, config), true);
    assert.equal(judged({ ...row, admittedNs: NOW as TimestampNs }, config), false);
    const early = { ...signedBy([ED]), admittedNs: (NOW - 1n) as TimestampNs };
    assert.equal(judged(early, config), false, 'there was no co-signer then');
  });

  test('MSG-25, MSG-26: without a relying party, or with another one, no assertion is valid', () => {
    const row = signedBy([PASSKEY]);
    assert.equal(judged(row, configOf({}), null), false);
    assert.equal(judged(row, configOf({}), { ...POLICY, rpId: 'other.example' }), false);
    assert.equal(judged(row, configOf({}), { ...POLICY, origins: ['https://other.example'] }), false);
  });
});
