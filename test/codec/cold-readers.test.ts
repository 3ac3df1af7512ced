// tier: quick
/**
 * Readers and signed texts that are built from shapes, against those that were written by hand before (test/judges): taken or
 * refused, the code and the member of a refusal, every value and every signed text.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { decodeRename } from '../../src/codec/account-bodies.ts';
import { decodeAddSigner, decodeAuth, decodeSettlement, decodeTransfer } from '../../src/codec/account-requests.ts';
import type { JsonValue } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { decodeAssetList, decodeMarketAsset } from '../../src/codec/registry-requests.ts';
import {
  ADD_SIGNER_REQUEST,
  AUTH_REQUEST,
  CLOSE_POSITION_REQUEST,
  RENAME_REQUEST,
  SETTLEMENT_REQUEST,
  SIMULATE_REQUEST,
  TRANSFER_REQUEST,
  WITHDRAWAL_CANCEL_REQUEST,
  WITHDRAWAL_REQUEST,
} from '../../src/codec/shapes/account-shapes.ts';
import { CANCEL_ALL_AFTER_REQUEST, CANCEL_BATCH_REQUEST } from '../../src/codec/shapes/order-shapes.ts';
import { DECIMALS_REQUEST, MARKET_REQUEST } from '../../src/codec/shapes/registry-shapes.ts';
import type { Shape } from '../../src/codec/shapes/shape-kit.ts';
import { decodeSimulateRequest } from '../../src/codec/simulate-request.ts';
import { decodeCancelAllAfter, decodeCancelBatch } from '../../src/codec/unsigned-cancels.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import * as auth from '../judges/auth-request.ts';
import * as addSigner from '../judges/signed-add-signer.ts';
import * as settlement from '../judges/signed-settlement.ts';
import * as transfer from '../judges/signed-transfer.ts';
import * as withdrawal from '../judges/signed-withdrawal.ts';
import * as tree from '../judges/unsigned-requests.ts';
import { decodeClosePosition, decodeWithdrawal, decodeWithdrawalCancel } from '../support/account-decoders.ts';
import { propertyParameters } from '../support/property.ts';
import { damaged, fitting } from '../support/shape-arbitrary.ts';

type Decode = (bytes: Uint8Array, start: number, end: number) => Outcome<object>;

const COLD: readonly { readonly what: string; readonly shape: Shape; readonly read: Decode; readonly judge: Decode }[] =
  [
    {
      what: 'a transfer (TRF-01, AMB-15)',
      shape: TRANSFER_REQUEST,
      read: decodeTransfer,
      judge: transfer.decodeTransfer,
    },
    {
      what: 'a close-position (POS-04)',
      shape: CLOSE_POSITION_REQUEST,
      read: decodeClosePosition,
      judge: transfer.decodeClosePosition,
    },
    {
      what: 'a withdrawal (WDR-01, MON-01, AMB-11)',
      shape: WITHDRAWAL_REQUEST,
      read: decodeWithdrawal,
      judge: withdrawal.decodeWithdrawal,
    },
    {
      what: 'a withdrawal cancel (WDR-13, MON-01)',
      shape: WITHDRAWAL_CANCEL_REQUEST,
      read: decodeWithdrawalCancel,
      judge: withdrawal.decodeWithdrawalCancel,
    },
    {
      what: 'a settlement with its maker order (STL-01, MON-01, AMB-12)',
      shape: SETTLEMENT_REQUEST,
      read: decodeSettlement,
      judge: settlement.decodeSettlement,
    },
    {
      what: 'an add-signer (MSG-39, AMB-13)',
      shape: ADD_SIGNER_REQUEST,
      read: decodeAddSigner,
      judge: addSigner.decodeAddSigner,
    },
    { what: 'a login (SES-06)', shape: AUTH_REQUEST, read: decodeAuth, judge: auth.decodeAuth },
  ];

/** Everything but the words of a refusal, and the spelling of a kind of account, which only its text needs. */
function verdict(decode: Decode, text: string | Uint8Array): unknown {
  const bytes = Buffer.from(text);
  const outcome = decode(bytes, 0, bytes.length);
  if (!outcome.ok) return { code: outcome.reject.code, field: outcome.reject.field };
  const { inner } = outcome.value as { inner?: { targetAccountType?: object | null } };
  const type = inner?.targetAccountType ?? null;
  if (type === null) return plain(outcome.value);
  const { shape: _, ...kind } = type as { shape?: string };
  return plain({ ...outcome.value, inner: { ...inner, targetAccountType: kind } });
}

/** Without the kinds of arrays of bytes. */
function plain(value: unknown): unknown {
  return value instanceof Uint8Array
    ? Buffer.from(value).toString('latin1')
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
      : value;
}

/** A text that is cut, or has another byte somewhere, or a member twice. */
function broken(value: JsonValue): fc.Arbitrary<Uint8Array> {
  const bytes = Buffer.from(writeJson(value));
  const at = fc.integer({ min: 0, max: bytes.length - 1 });
  const cut = at.map((length) => bytes.subarray(0, length));
  const byte = fc.constantFrom(...Buffer.from('"{}[]:,0x9-e. \\\u00ff'), 0);
  const other = fc.tuple(at, byte).map(([place, given]) => {
    const copy = Buffer.from(bytes);
    copy[place] = given;
    return copy;
  });
  return fc.oneof(cut, other);
}

const UNSIGNED: readonly {
  readonly what: string;
  readonly shape: Shape;
  readonly read: Decode;
  readonly judge: Decode;
}[] = [
  { what: 'a rename (AMB-64)', shape: RENAME_REQUEST, read: of(decodeRename), judge: of(tree.decodeRename) },
  {
    what: 'a simulation (MSG-25)',
    shape: SIMULATE_REQUEST,
    read: of(decodeSimulateRequest),
    judge: of(tree.decodeSimulateRequest),
  },
  {
    what: 'a cancel-batch (CAN-09, AMB-24)',
    shape: CANCEL_BATCH_REQUEST,
    read: of(decodeCancelBatch),
    judge: of(tree.decodeCancelBatch),
  },
  {
    what: 'a cancel-all-after',
    shape: CANCEL_ALL_AFTER_REQUEST,
    read: of(decodeCancelAllAfter),
    judge: of(tree.decodeCancelAllAfter),
  },
  {
    what: 'a list of assets (AMB-12)',
    shape: DECIMALS_REQUEST,
    read: of((body) => decodeAssetList(body, DECIMALS_REQUEST)),
    judge: of((body) => tree.decodeAssetList(body, DECIMALS_REQUEST)),
  },
  { what: 'a market', shape: MARKET_REQUEST, read: of(decodeMarketAsset), judge: of(tree.decodeMarketAsset) },
];

function of(decode: (body: Uint8Array) => Outcome<unknown>): Decode {
  return (bytes) => {
    const outcome = decode(bytes);
    return outcome.ok ? accepted({ value: outcome.value }) : outcome;
  };
}

/** Without the member: of several faults the tree named a missing member first, and the readers name the first in the text. */
function codeOf(outcome: unknown): unknown {
  return (outcome as { code?: string }).code ?? outcome;
}

suite('readers of unsigned bodies, against those over a tree', () => {
  for (const { what, shape, read, judge } of UNSIGNED) {
    test(`${what}: the same values, and the same refusals of damaged ones`, () => {
      let refused = 0;
      fc.assert(
        fc.property(fitting(shape), fitting(shape).chain(damaged), (value, other) => {
          const [text, wrong] = [writeJson(value), writeJson(other)];
          assert.deepEqual(verdict(read, text), verdict(judge, text), text);
          const expected = verdict(judge, wrong);
          if (Object.hasOwn(expected as object, 'code')) refused += 1;
          assert.deepEqual(verdict(read, wrong), expected, wrong);
        }),
        propertyParameters(300),
      );
      assert.ok(refused > 50, `${refused} refused`);
    });

    test(`${what}: the same code for several faults and broken texts`, () => {
      const twice = fitting(shape).chain(damaged).chain(damaged);
      const texts = fc.oneof(
        fitting(shape).chain(broken),
        twice.map((value) => Buffer.from(writeJson(value))),
      );
      fc.assert(
        fc.property(texts, (bytes) => {
          assert.deepEqual(codeOf(verdict(read, bytes)), codeOf(verdict(judge, bytes)), Buffer.from(bytes).toString());
        }),
        propertyParameters(300),
      );
    });
  }
});

suite('readers that are built from shapes, against those written by hand', () => {
  for (const { what, shape, read, judge } of COLD) {
    test(`${what}: the same values and signed texts`, () => {
      fc.assert(
        fc.property(fitting(shape), (value) => {
          const text = writeJson(value);
          const expected = verdict(judge, text);
          assert.ok(!Object.hasOwn(expected as object, 'code'), text);
          assert.deepEqual(verdict(read, text), expected, text);
        }),
        propertyParameters(300),
      );
    });

    test(`${what}: the same refusals of damaged values, once, twice and three times (ERR-02)`, () => {
      let refused = 0;
      const twice = fitting(shape).chain(damaged).chain(damaged);
      fc.assert(
        fc.property(fc.oneof(fitting(shape).chain(damaged), twice, twice.chain(damaged)), (value) => {
          const text = writeJson(value);
          const expected = verdict(judge, text);
          if (Object.hasOwn(expected as object, 'code')) refused += 1;
          assert.deepEqual(verdict(read, text), expected, text);
        }),
        propertyParameters(600),
      );
      assert.ok(refused > 100, `${refused} refused`);
    });

    test(`${what}: the same refusals of texts with other bytes`, () => {
      fc.assert(
        fc.property(fitting(shape).chain(broken), (bytes) => {
          assert.deepEqual(verdict(read, bytes), verdict(judge, bytes), Buffer.from(bytes).toString());
        }),
        propertyParameters(300),
      );
    });
  }
});
