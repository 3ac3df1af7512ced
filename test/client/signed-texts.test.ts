// tier: quick
/**
 * The texts that the SDK makes of the shapes, against those that it wrote by hand before (test/judges/canonical.ts): every text
 * equal, and of a request with a member that does not fit the same refusal.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import * as sdk from '../../src/client/canonical.ts';
import { RingbookError } from '../../src/client/errors.ts';
import type { SignerKey } from '../../src/codec/signatures.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import * as judge from '../judges/canonical.ts';
import { propertyParameters } from '../support/property.ts';
import * as wire from '../support/wire-texts.ts';

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits });
const user = hex(64).map((id) => id as UserId);
const address = fc.oneof(
  hex(64),
  hex(40),
  hex(40).map((digits) => `0x${digits.toUpperCase()}`),
);
const chainId = hex(18);
const assetId = fc.constantFrom('0', '1', '65535', `${'ab'.repeat(32)}@000000000000007a69`).map((id) => id as AssetId);
const id = fc.string({ unit: fc.constantFrom(...'abcXYZ019+/=_-.:'), minLength: 1, maxLength: 40 });
const raw = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const instant = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const amount = fc.bigInt({ min: 1n, max: 2n ** 255n });
const decimals = {
  priceDecimals: fc.integer({ min: -128, max: 127 }),
  quantityDecimals: fc.integer({ min: -128, max: 127 }),
};
const kind = fc.constantFrom('PriceAbove', 'PriceBelow');
const condition = fc.record({ kind, price: raw });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const timeInForce = fc.oneof(
  fc.record({ kind: fc.constant('GTC'), postOnly: fc.boolean() }, { requiredKeys: ['kind'] }),
  fc.record(
    { kind: fc.constant('GTD'), postOnly: fc.boolean(), timestampNs: instant },
    { requiredKeys: ['kind', 'timestampNs'] },
  ),
  fc.constantFrom({ kind: 'IOC' }, { kind: 'FOK' }),
);
const common = {
  signer: user,
  orderId: id,
  assetId,
  ...decimals,
  side: fc.constantFrom('Buy', 'Sell'),
  trigger: orNull(fc.record({ kind, price: raw, parentOrderId: id }, { requiredKeys: ['kind', 'price'] })),
  creationTimestampNs: instant,
  target: fc.record({ account: fc.integer({ min: 0, max: 65_535 }), isSpot: fc.boolean() }),
  reduceOnly: fc.boolean(),
  maxTradingFeesRate: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
};
const size = fc.record({ unit: fc.constantFrom('base', 'quote'), quantity: raw, cap: orNull(raw) });
const replace = { orderId: id, timestampNs: instant, newTrigger: orNull(condition), ...decimals };
const scheme = fc.constantFrom('Ed25519', 'Secp256k1', 'P256', 'WebAuthn');
const signer = scheme.chain((name) =>
  fc
    .uint8Array({ minLength: name === 'Ed25519' ? 32 : 33, maxLength: name === 'Ed25519' ? 32 : 33 })
    .map((key) => ({ scheme: name, key })),
);

/** A request, and the texts of it that both write. */
interface Action {
  readonly what: string;
  readonly request: fc.Arbitrary<object>;
  readonly write: (request: never) => string;
  readonly judge: (request: never) => string;
}

const MARKET = '2' as AssetId;
const complete = { ...replace, newLimitPrice: raw, newQuantity: raw };
const OTHER = 'cd'.repeat(32) as UserId;

const ACTIONS: readonly Action[] = [
  {
    what: 'a limit order (SIG-03)',
    request: fc.record({ ...common, limitPrice: raw, quantity: raw, timeInForce }),
    write: sdk.orderText,
    judge: judge.orderText,
  },
  {
    what: 'a market order (AMB-05, AMB-06)',
    request: fc.record({ ...common, size, fillOrKill: fc.boolean() }),
    write: sdk.orderText,
    judge: judge.orderText,
  },
  {
    what: 'a replace',
    request: fc.record({ ...replace, newLimitPrice: orNull(raw), newQuantity: orNull(raw) }),
    write: sdk.replaceText,
    judge: judge.replaceText,
  },
  {
    what: 'a replace with complete terms',
    request: fc.record(complete),
    write: (request) => sdk.replaceText(request, MARKET),
    judge: (request) => judge.replaceText(request, MARKET),
  },
  {
    what: 'a cancel',
    request: fc.record({ orderId: id, assetId, signer: user }),
    write: sdk.cancelText,
    judge: judge.cancelText,
  },
  {
    what: 'the body of an amend',
    request: fc.record({
      assetId,
      orderId: id,
      newQuantity: raw,
      quantityDecimals: decimals.quantityDecimals,
      expectedRevisionNs: orNull(instant),
      timestampNs: instant,
    }),
    write: (request) => sdk.amendBody(OTHER, request),
    judge: (request) => judge.amendBody(OTHER, request),
  },
  {
    what: 'a transfer (C10)',
    request: fc.record({
      user,
      sourceIndex: fc.integer({ min: 0, max: 65_535 }),
      targetIndex: fc.integer({ min: 0, max: 65_535 }),
      assetId,
      amount18: amount,
      targetAccountType: fc.oneof(fc.constantFrom(null, 'Spot', 'CrossMargin'), fc.record({ isolated: assetId })),
      nonce: instant,
    }),
    write: sdk.transferText,
    judge: judge.transferText,
  },
  {
    what: 'a close-position',
    request: fc.record({ user, account: fc.integer({ min: 0, max: 65_535 }), assetId, nonce: instant }),
    write: sdk.closePositionText,
    judge: judge.closePositionText,
  },
  {
    what: 'a withdrawal (WDR-01, MON-01)',
    request: fc.record(
      {
        user,
        token: address,
        chainId,
        amount18: amount,
        target: address,
        nonce: orNull(count),
        amountText: fc.constantFrom('hex', '0x', 'decimal'),
        requestId: id,
      },
      { requiredKeys: ['user', 'token', 'chainId', 'amount18', 'target'] },
    ),
    write: sdk.withdrawalText,
    judge: judge.withdrawalText,
  },
  {
    what: 'a withdrawal cancel (WDR-13)',
    request: fc.record(
      { user, token: address, chainId, nonce: count, requestedNs: instant },
      { requiredKeys: ['user', 'token', 'chainId', 'nonce'] },
    ),
    write: sdk.withdrawalCancelText,
    judge: judge.withdrawalCancelText,
  },
  {
    what: 'a settlement (STL-01, C2)',
    request: fc.record(
      {
        user,
        subAccount: fc.integer({ min: 0, max: 255 }),
        mode: fc.constantFrom('spot', 'margin'),
        tokenIn: address,
        tokenOut: address,
        amountIn18: amount,
        amountOut18: amount,
        chainId,
        settler: orNull(user),
        nonce: orNull(count),
        expiresNs: orNull(instant),
        maker: orNull(user),
        vault: address,
        requestId: id,
        amountText: fc.constantFrom('hex', 'decimal'),
      },
      { requiredKeys: ['user', 'subAccount', 'tokenIn', 'tokenOut', 'amountIn18', 'amountOut18', 'chainId'] },
    ),
    write: sdk.settlementText,
    judge: judge.settlementText,
  },
  {
    what: 'the order of a market maker',
    request: fc.record({ maker: user, expiresNs: instant }),
    write: ({ maker, expiresNs }: { maker: UserId; expiresNs: bigint }) => sdk.makerOrderText(maker, OTHER, expiresNs),
    judge: ({ maker, expiresNs }: { maker: UserId; expiresNs: bigint }) =>
      judge.makerOrderText(maker, OTHER, expiresNs),
  } as Action,
  {
    what: 'a further signer, both texts (G9, AMB-13)',
    request: fc.record(
      {
        user,
        signer,
        weight: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
        sessionDurationNs: orNull(instant),
        ceNonce: count,
        omsNonce: fc.string({ unit: fc.constantFrom(...'aZ09_-'), minLength: 43, maxLength: 43 }),
      },
      { requiredKeys: ['user', 'signer', 'weight', 'sessionDurationNs', 'ceNonce'] },
    ),
    write: sdk.addSignerText,
    judge: judge.addSignerText,
  },
];

/** The text, or the refusal. A program in plain JavaScript may give a value of which a writer makes a TypeError. */
function outcomeOf(write: (request: never) => string, request: object): string | RingbookError | null {
  try {
    return write(request as never);
  } catch (error) {
    return error instanceof RingbookError ? error : null;
  }
}

const field = (error: RingbookError): unknown => (error.details as { readonly field?: string } | null)?.field;

/** Values of which each fits few members: one beyond a bound, or of another type. */
const WRONG = [
  -1,
  0,
  1.5,
  129,
  2 ** 53,
  Number.NaN,
  '',
  'a b',
  'sys-1',
  '0x',
  'x'.repeat(65),
  -1n,
  2n ** 64n,
  true,
  null,
];

suite('signed texts of the SDK', () => {
  for (const { what, request, write, judge } of ACTIONS) {
    test(`${what}: the text that was written by hand`, () => {
      fc.assert(
        fc.property(request, (one) => assert.equal(write(one as never), judge(one as never))),
        propertyParameters(200),
      );
    });

    test(`${what}: a member that does not fit is refused as before, or is refused now`, () => {
      let refused = 0;
      const damage = fc.tuple(request, fc.nat(), fc.constantFrom(...WRONG));
      fc.assert(
        fc.property(damage, ([one, at, wrong]) => {
          const names = Object.keys(one);
          const name = names[at % names.length] as string;
          const broken = { ...one, [name]: wrong };
          const before = outcomeOf(judge, broken);
          const now = outcomeOf(write, broken);
          if (typeof now === 'string') return assert.equal(now, before, name);
          if (now === null)
            return assert.ok(typeof before !== 'string' || name === 'size', `${name}: ${String(before)}`);
          refused += 1;
          assert.equal(now.code, 'INVALID_ARGUMENT');
          // Of a target that is no object it was its account that did not fit.
          if (name === 'target' || !(before instanceof RingbookError) || field(before) === undefined) return;
          assert.equal(field(now), field(before));
        }),
        propertyParameters(400),
      );
      assert.ok(refused > 20, `${refused} of 400 were refused`);
    });
  }

  test('the texts of accounts are those of wire.md, written from it alone (4.2, 7.17 to 7.20)', () => {
    const token = fc.tuple(hex(64), hex(18)).map(([digits, chain]) => ({ token: digits, chainId: chain }));
    const members = fc.record({
      user,
      token,
      to: hex(64),
      nonce: orNull(count),
      amount18: amount,
      at: instant,
      id,
      signer,
    });
    fc.assert(
      fc.property(members, ({ user, token, to, nonce, amount18, at, id, signer }) => {
        const asset = `${token.token}@${token.chainId}`;
        const hexAmount = amount18.toString(16);
        assert.equal(
          sdk.withdrawalText({ user, ...token, amount18, target: to, nonce, requestId: id }),
          wire.withdrawalText(user, { asset, amount: hexAmount, nonce, target: to, requestId: id }),
        );
        assert.equal(
          sdk.withdrawalCancelText({ user, ...token, nonce: nonce ?? 0, requestedNs: at }),
          wire.withdrawalCancelText(user, asset, nonce ?? 0, at),
        );
        const of = {
          amountIn: hexAmount,
          amountOut: '1',
          assetIn: token.token,
          assetOut: to,
          expiresNs: at,
          vault: to,
        };
        const both = { chainId: token.chainId, maker: OTHER, settler: user, requestId: id };
        const own = {
          tokenIn: token.token,
          tokenOut: to,
          amountIn18: amount18,
          amountOut18: 1n,
          expiresNs: at,
          vault: to,
        };
        assert.equal(
          sdk.settlementText({ user, subAccount: 3, nonce, ...own, ...both }),
          wire.settlementText(user, { subAccount: 3, ...of, ...both, ...(nonce === null ? {} : { nonce }) }),
        );
        assert.equal(sdk.makerOrderText(OTHER, user, at), wire.makerOrderText(OTHER, user, at));
        assert.equal(
          sdk.transferText({
            user,
            sourceIndex: 0,
            targetIndex: 1,
            assetId: MARKET,
            amount18,
            targetAccountType: null,
            nonce: at,
          }),
          wire.transferText(user, { source: 0, target: 1, asset: '2', amount: `${amount18}`, nonce: at }),
        );
        const terms = { weight: 7, ceNonce: nonce ?? 0 };
        const key = `{"${signer.scheme}":[${signer.key.join(',')}]}`;
        for (const omsNonce of [undefined, 'n'.repeat(43)]) {
          const nonces = omsNonce === undefined ? {} : { omsNonce };
          assert.equal(
            sdk.addSignerText({ user, signer: signer as SignerKey, sessionDurationNs: at, ...terms, ...nonces }),
            wire.addSignerText(user, { signer: key, durationNs: at, ...terms, ...nonces }),
          );
        }
      }),
      propertyParameters(200),
    );
  });
});
