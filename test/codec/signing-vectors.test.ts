// tier: quick

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import { verifyAsync } from '@noble/ed25519';
import { decodeAuth, decodeSettlement, decodeTransfer } from '../../src/codec/account-requests.ts';
import { decodeCancel, decodeCreate, decodeReplace } from '../../src/codec/order-actions.ts';
import { toHex } from '../../src/core/hex.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { decodeClosePosition, decodeWithdrawal, decodeWithdrawalCancel } from '../support/account-decoders.ts';
import { USER_9D, USER_42, utf8, VECTORS, type Vector, vectorNamed, wrap } from '../support/wire-vectors.ts';

type Decoder = (bytes: Uint8Array, start: number, end: number) => Outcome<{ readonly text: Uint8Array }>;

const DECODERS: Readonly<Record<Vector['kind'], Decoder>> = {
  create: decodeCreate,
  replace: decodeReplace,
  cancel: decodeCancel,
  transfer: decodeTransfer,
  'close-position': decodeClosePosition,
  withdrawal: decodeWithdrawal,
  'withdrawal-cancel': decodeWithdrawalCancel,
  settlement: decodeSettlement,
};

function signedBytes(kind: Vector['kind'], body: string): Uint8Array {
  const bytes = utf8(body);
  const outcome = DECODERS[kind](bytes, 0, bytes.length);
  assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.reject.message} (${outcome.reject.field})`);
  return outcome.value.text;
}

function verifies(vector: Vector, message: Uint8Array): Promise<boolean> {
  return verifyAsync(Buffer.from(vector.signature, 'hex'), message, Buffer.from(vector.user, 'hex'));
}

/** The same JSON with white space, the keys of every object reversed, and strings spelt with escapes on request. */
function reorder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reorder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reorder(member)]),
  );
}

/** Timestamps would not survive JSON.parse, so they hide in strings meanwhile. */
function reshaped(body: string, indent: number): string {
  const hidden: unknown = JSON.parse(body.replace(/:(\d{17,})/g, ':"#$1"'));
  return JSON.stringify(reorder(hidden), null, indent).replace(/"#(\d+)"/g, '$1');
}

suite('canonical bytes', () => {
  for (const vector of VECTORS) {
    test(`${vector.name}: the text is rebuilt to the byte and its signature verifies (SIG-03, SIG-05, SIG-10, SIG-11)`, async () => {
      const message = signedBytes(vector.kind, wrap(vector.kind, vector.user, vector.text));
      assert.equal(new TextDecoder().decode(message), vector.text);
      assert.equal(message.length, vector.byteLength);
      assert.ok(await verifies(vector, message));
    });

    test(`${vector.name}: a pretty-printed body with its keys reversed verifies too (SIG-03, SIG-04, AMB-02)`, async () => {
      const body = reshaped(wrap(vector.kind, vector.user, vector.text), 4);
      assert.notEqual(body, wrap(vector.kind, vector.user, vector.text));
      assert.ok(await verifies(vector, signedBytes(vector.kind, body)));
    });

    test(`${vector.name}: white space of every kind between tokens changes nothing (SIG-04, AMB-02)`, async () => {
      const body = wrap(vector.kind, vector.user, vector.text).replace(/([{}[\],:])/g, ' \t$1\r\n ');
      assert.ok(await verifies(vector, signedBytes(vector.kind, body)));
    });
  }

  test('V-1 has the SHA-256 that is written down for it (SIG-05)', () => {
    const vector = vectorNamed('V-1');
    const message = signedBytes('create', wrap('create', vector.user, vector.text));
    assert.equal(
      createHash('sha256').update(message).digest('hex'),
      '3e5a661096e224b66403ccd3185275cdac4f8ec3c44d633980822a0a6e5cc639',
    );
  });

  test('V-1 over the SHA-256 of its bytes does not verify (SIG-05)', async () => {
    const vector = vectorNamed('V-1');
    assert.equal(await verifies(vector, createHash('sha256').update(utf8(vector.text)).digest()), false);
  });

  test('V-1 with a timestamp that went through a double does not verify (AMB-01, ORD-09)', async () => {
    const vector = vectorNamed('V-1');
    const mangled = vector.text.replace('1760000000123456789', '1760000000123456800');
    assert.equal(await verifies(vector, signedBytes('create', wrap('create', vector.user, mangled))), false);
  });

  test('V-1 without trigger in the body verifies, because the signed text has null; without it in the text it fails (SIG-08)', async () => {
    const vector = vectorNamed('V-1');
    const without = vector.text.replace('"trigger":null,', '');
    assert.ok(await verifies(vector, signedBytes('create', wrap('create', vector.user, without))));
    assert.equal(await verifies(vector, utf8(without)), false);
  });

  test('V-1 with another quantity does not verify (SIG-09)', async () => {
    const vector = vectorNamed('V-1');
    const changed = vector.text.replace('"quantity":15000', '"quantity":15001');
    assert.equal(await verifies(vector, signedBytes('create', wrap('create', vector.user, changed))), false);
  });

  test('a change in any single field of V-1, V-9 and V-10 changes the signed bytes (SIG-09)', () => {
    for (const name of ['V-1', 'V-9', 'V-10']) {
      const vector = vectorNamed(name);
      // Not the version: another one than 1 is never signed for, it is refused before (VER-04).
      const members = vector.text.match(/"[a-z_]+":(?:\d+|"[^"]*"|true|false)/g) ?? [];
      const fields = members.filter((member) => !member.startsWith('"protocol_version"'));
      assert.ok(fields.length > 12);
      for (const field of fields) {
        const changed = vector.text.replace(field, differently(field));
        const message = signedBytes('create', wrap('create', vector.user, changed));
        assert.notEqual(new TextDecoder().decode(message), vector.text, field);
      }
    }
  });

  test('a replace with complete terms signs null for what it leaves out, and version 1 (wire-additions.md 3.2)', async () => {
    const vector = vectorNamed('wire-additions.md replace');
    const short = vector.text.replace('"new_trigger":null,', '').replace(',"protocol_version":1', '');
    assert.ok(await verifies(vector, signedBytes('replace', wrap('replace', vector.user, short))));
  });

  test('complete and partial terms of one order have different bytes: neither signature is that of the other', async () => {
    const complete = vectorNamed('wire-additions.md replace');
    const partial = complete.text.replace('"base_asset":"12",', '');
    assert.equal(await verifies(complete, signedBytes('replace', wrap('replace', complete.user, partial))), false);
    const own = vectorNamed('wire.md replace');
    const named = own.text.replace('"timestamp_ns"', '"base_asset":"12","timestamp_ns"').replace('null', '25000');
    assert.equal(await verifies(own, signedBytes('replace', wrap('replace', own.user, named))), false);
  });

  test('V-4 may leave its account type out, and signs null (AMB-15)', async () => {
    const vector = vectorNamed('V-4');
    const body = wrap('transfer', vector.user, vector.text.replace('"target_account_type":null,', ''));
    assert.ok(await verifies(vector, signedBytes('transfer', body)));
  });

  test('V-5: each spelling of the account type verifies only as sent (AMB-02)', async () => {
    const bare = vectorNamed('V-5 bare name');
    const object = vectorNamed('V-5 object');
    assert.equal(await verifies(bare, signedBytes('transfer', wrap('transfer', object.user, object.text))), false);
    assert.equal(await verifies(object, signedBytes('transfer', wrap('transfer', bare.user, bare.text))), false);
  });

  test('V-7 and the login of wire.md 13: the nonce is signed as its own bytes (SES-06)', async () => {
    const logins = [
      {
        user: USER_9D,
        nonce: '3f9c0f5e-nonce-example',
        signature:
          '68bbf8a01791f76fdea06d9642a520c0781efdb41bdd16c8b5f939629b11ef8dad7ff88f2df6a7ce6745d87a209a8105f28f68bf2128896f7f1d73ffaa2c7a0d',
      },
      {
        user: USER_42,
        nonce: 'q7Zr-41c0',
        signature:
          '1bf500812448c3a427b8790a0f1faa3aee8878f880f2114b4472d56a8a50c33ed94c02b9f79fdfb3aa3a47111ce59c7d756d501e4e1a45ede7021caa01a2b509',
      },
    ];
    for (const login of logins) {
      const body = utf8(
        JSON.stringify({
          user_id: login.user,
          nonce: login.nonce,
          signature: [...Buffer.from(login.signature, 'hex')],
        }),
      );
      const outcome = decodeAuth(body, 0, body.length);
      assert.ok(outcome.ok);
      assert.equal(toHex(outcome.value.signature), login.signature);
      const key = Buffer.from(outcome.value.userId, 'hex');
      assert.ok(await verifyAsync(outcome.value.signature, utf8(outcome.value.nonce), key));
    }
  });

  test('no two kinds of signable object share a text: their member names differ (hazard: strip and sign)', () => {
    const kinds = ['create', 'replace', 'cancel', 'transfer', 'close-position'] as const;
    for (const signed of kinds) {
      const vector = VECTORS.find((candidate) => candidate.kind === signed);
      assert.ok(vector !== undefined);
      for (const read of kinds) {
        const body = utf8(wrap(read, vector.user, vector.text));
        assert.equal(DECODERS[read](body, 0, body.length).ok, read === signed, `${signed} read as ${read}`);
      }
    }
  });
});

/** Another legal value of the same member. */
function differently(field: string): string {
  const [name = '', value = ''] = field.split(/:(.*)/s);
  if (value === 'true') return `${name}:false`;
  if (value === 'false') return `${name}:true`;
  if (name === '"side"') return `${name}:${value === '"Buy"' ? '"Sell"' : '"Buy"'}`;
  if (name === '"signer"') return `${name}:"${USER_42}"`;
  if (value.startsWith('"')) return `${name}:"9"`;
  return `${name}:${value.startsWith('9') ? '8' : '9'}${value.length > 1 ? value.slice(1) : ''}`;
}
