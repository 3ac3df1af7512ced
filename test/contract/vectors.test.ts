// tier: quick
/** The plain client produces the vectors of wire.md 13, so the rest of the suite may rely on it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sign, verify } from '@noble/ed25519';
import { cancelText, canonical, PlainKey, replaceText, transferText } from '../support/wire-texts.ts';

const key = new PlainKey(0x42);
const hex = (text: string): string => Buffer.from(key.sign(text)).toString('hex');

suite('the plain client', () => {
  test('has the key of the vectors (IDN-01, wire.md 13)', () => {
    assert.equal(key.id, '2152f8d19b791d24453242e15f2eab6cb7cffa7b6a5ed30097960e069881db12');
  });

  test('signs a login as the vector does: the bytes of the nonce, unhashed (SES-06, SIG-05)', () => {
    assert.equal(
      hex('q7Zr-41c0'),
      '1bf500812448c3a427b8790a0f1faa3aee8878f880f2114b4472d56a8a50c33ed94c02b9f79fdfb3aa3a47111ce59c7d756d501e4e1a45ede7021caa01a2b509',
    );
  });

  test('makes and signs the texts of cancel, replace and transfer as the vectors do (SIG-03, SIG-08, SIG-10, SIG-11)', () => {
    const cancel = cancelText(key.id, 'demo-order-1', '12');
    const replace = replaceText({
      id: 'demo-order-1',
      asset: '12',
      price: 315_100,
      timestampNs: 1_770_000_000_500_000_002n,
    });
    const transfer = transferText(key.id, {
      source: 0,
      target: 2,
      amount: '2500000000000000000',
      nonce: 1_770_000_000_123,
    });
    assert.equal(replace.length, 198);
    assert.equal(transfer.length, 219);
    for (const [text, signature] of [
      [
        cancel,
        '67790da50c2a2233e7b480e8e78ad810303bbfec197a3c8b871c2d4332fe91680d020dbf6cc326c9f02818b90618c9eca81973375c2dffbf126522b4fcfb4f0e',
      ],
      [
        replace,
        '038ba612fb03da1ddd21c64cefb399cbd4c04a956b5373307b680d7f18b85c1a8bc5ad4fd64874b1ecb1dbd5b7cf3702b2e5b7f84c5df7c22805bf1becf86800',
      ],
      [
        transfer,
        '39f62285e1023e3a5e09f4c93659c6b57371939340fc1eb1012f58606f27cd771d3dc61f73d4d9ddd8f23baceaccb5921be437f68b2081b3183c3baf51901f02',
      ],
    ] as const) {
      assert.equal(hex(text), signature);
    }
  });

  test('signs as another implementation of Ed25519 does, and is verified by it', () => {
    const seed = new Uint8Array(32).fill(0x42);
    for (const text of ['', 'q7Zr-41c0', cancelText(key.id, 'x')]) {
      const signature = key.sign(text);
      assert.deepEqual(Buffer.from(signature), Buffer.from(sign(Buffer.from(text), seed)));
      assert.ok(verify(signature, Buffer.from(text), Buffer.from(key.id, 'hex')));
    }
  });

  test('deletes spaces and line ends of a text, tabs stay (SIG-04)', () => {
    assert.equal(canonical('{ "a" :\r\n\t"b c" }'), '{"a":\t"bc"}');
  });
});
