// tier: quick
/** Which bytes are signed and what follows when they are not (wire.md 4; SIG, ORD-13, VER-04). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';
import { createBody, replaceText } from '../support/wire-texts.ts';

suite('signatures', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
    // A second market with the figures of the first, so that a wrong asset is wrong by its signature alone.
    await node.operate('PUT', '/operator/assets/12', { symbol: 'TWIN' });
    const figures = { book_price_decimals: 2, book_quantity_decimals: 4, tick_size: '0.01', min_order_size: '0.001' };
    await node.operate('PUT', '/operator/markets/12', figures);
    await node.fund(alice.id, { '12': '100' });
    await node.rest();
  });
  after(() => node?.stop());

  const create = (body: string): Promise<HttpAnswer> => alice.post('/orders/create', body);
  /** Signed is one text, sent another. */
  const signedAs = (signed: string, sent: string): Promise<HttpAnswer> =>
    create(createBody(alice.key, sent, alice.nowNs(), alice.key.signature(signed)));

  test('every signed action needs a signature of 64 bytes, as integers (SIG-01, SIG-07, ORD-18)', async () => {
    const good = alice.createBody();
    const resting = alice.newId();
    assert.equal((await alice.create({ id: resting })).status, 200);
    const wrong = [
      '',
      ',"signature":[]',
      ',"signature":null',
      ',"signature":"00"',
      `,"signature":[${new Array(63).fill(1)}]`,
      `,"signature":[${new Array(65).fill(1)}]`,
      `,"signature":[${[...new Array(63).fill(1), 256]}]`,
      `,"signature":[${[...new Array(63).fill(1), -1]}]`,
      `,"signature":[${[...new Array(63).fill(1), '"1"']}]`,
      `,"signature":"${'00'.repeat(64)}"`,
    ];
    const actions = [
      ['POST', '/orders/create', good],
      ['PATCH', '/orders/replace', alice.replaceBody({ id: resting, price: 310_000 })],
      ['DELETE', '/orders/cancel', alice.cancelBody(resting)],
    ] as const;
    for (const [method, path, body] of actions) {
      for (const signature of wrong) {
        const unsigned = body.replace(/,"signature":\[[^\]]*\]/, signature);
        assert.notEqual(unsigned, body);
        const answer = await alice.send(method, path, unsigned);
        assert.equal(answer.status, 400, `${path} ${signature}: ${answer.text}`);
        assert.match(errorOf(answer).code, /^(INVALID_REQUEST|INSUFFICIENT_SIGNER_WEIGHT)$/);
      }
      const zeros = body.replace(/"signature":\[[^\]]*\]/, `"signature":[${new Array(64).fill(0)}]`);
      assert.equal(toldBy(await alice.send(method, path, zeros)), '401 INVALID_SIGNATURE', path);
    }
    assert.equal((await create(good)).status, 200);
  });

  test('co-signers of an order are held against the configuration, which has none (ORD-17, MSG-01, MSG-30, AMB-136)', async () => {
    const good = alice.createBody();
    const master = /"signature":(\[[^\]]*\])/.exec(good)?.[1] ?? '';
    const cosigner = (scheme: string, keyBytes: number): string =>
      `[{"signer":{"${scheme}":[${new Array(keyBytes).fill(2)}]},"signature":[${new Array(64).fill(1)}]}]`;
    const signed = (own: string, others: string): string =>
      good.replace(/"signature":\[[^\]]*\]/, `"signature":${own},"additional_signers":${others}`);
    for (const own of [master, '[]'])
      for (const others of [cosigner('P256', 33), cosigner('Secp256k1', 33), cosigner('Ed25519', 32)])
        assert.equal(toldBy(await create(signed(own, others))), '400 SIGNER_UNKNOWN', others.slice(0, 30));
    assert.equal(toldBy(await create(signed('[]', '[]'))), '400 INSUFFICIENT_SIGNER_WEIGHT');
    assert.equal((await create(signed(master, '[]'))).status, 200, 'none of them took the id');
  });

  test('the signer is the session’s user (SIG-02, ORD-01)', async () => {
    const body = bob.createBody();
    assert.equal(toldBy(await create(body)), '403 SIGNER_MISMATCH');
    assert.equal(toldBy(await alice.send('DELETE', '/orders/cancel', bob.cancelBody('x'))), '403 SIGNER_MISMATCH');
    const replace = bob.replaceBody({ id: 'x', price: 1 });
    assert.equal(toldBy(await alice.send('PATCH', '/orders/replace', replace)), '403 SIGNER_MISMATCH');
    assert.equal((await bob.post('/orders/create', body)).status, 200);
  });

  test('the text has its declared order, the body any (SIG-03)', async () => {
    const text = alice.order();
    const members = text.slice(1, -1).split(/,(?="(?!price|quantity|time|is_spot|limit))/);
    assert.ok(members.length >= 10);
    const turned = `{${members.reverse().join(',')}}`;
    assert.equal((await signedAs(text, turned)).status, 200);
    const again = alice.order();
    const signedTurned = `{${again
      .slice(1, -1)
      .split(/,(?="(?!price|quantity|time|is_spot|limit))/)
      .reverse()
      .join(',')}}`;
    assert.equal(toldBy(await signedAs(signedTurned, again)), '401 INVALID_SIGNATURE');
  });

  test('blanks and line ends of the body are not signed, nor are they of a pretty-printed text (SIG-04)', async () => {
    const text = alice.order();
    const pretty = text.replaceAll(',', ' ,\r\n ').replaceAll(':', ' : ');
    assert.equal((await signedAs(text, pretty)).status, 200);
    const other = alice.order();
    assert.equal(
      (await signedAs(other.replaceAll(',', ',\n  '), other)).status,
      200,
      'the client signs what it deletes',
    );
    const tab = alice.order();
    const bytes = tab.replace(',', ',\t');
    assert.equal((await signedAs(tab, bytes)).status, 200, 'a tab between values is JSON');
    const tabSigned = alice.order();
    assert.equal(toldBy(await signedAs(tabSigned.replace(',', ',\t'), tabSigned)), '401 INVALID_SIGNATURE');
  });

  test('the bytes are signed unhashed and by this key (SIG-05)', async () => {
    const text = alice.order();
    const digest = createHash('sha256').update(text).digest();
    const hashed = `[${alice.key.sign(digest).join(',')}]`;
    assert.equal(toldBy(await create(createBody(alice.key, text, alice.nowNs(), hashed))), '401 INVALID_SIGNATURE');
    const foreign = bob.key.signature(text);
    assert.equal(toldBy(await create(createBody(alice.key, text, alice.nowNs(), foreign))), '401 INVALID_SIGNATURE');
    assert.equal((await create(createBody(alice.key, text, alice.nowNs()))).status, 200);
  });

  test('signed strings hold none of the deleted bytes, escaped or not (SIG-06)', async () => {
    for (const id of ['a b', 'ab ', ' ab', 'a\\u0020b', 'a\\nb', 'a\\rb', 'a\\tb', 'a\\u00e9', 'é']) {
      const answer = await alice.create({ id });
      assert.equal(answer.status, 400, id);
      assert.match(errorOf(answer).code, /^INVALID_(ORDER|REQUEST)$/, id);
    }
  });

  test('an optional member left out is signed as null (SIG-08)', async () => {
    const text = alice.order();
    assert.equal((await signedAs(text, text.replace('"trigger":null,', ''))).status, 200);
    const without = alice.order();
    assert.equal(toldBy(await signedAs(without.replace('"trigger":null,', ''), without)), '401 INVALID_SIGNATURE');
    const id = alice.newId();
    assert.equal((await alice.create({ id })).status, 200);
    const request = replaceText({ id, price: 301_000, timestampNs: alice.nowNs() });
    const sparse = request.replace('"new_quantity":null,"new_trigger":null,', '');
    const wrapper = `"signer":"${alice.id}","asset_id":"2","signature":${alice.key.signature(request)}`;
    const body = `{"request":${sparse},${wrapper},"post_sign_timestamp":${alice.nowNs()}}`;
    assert.equal((await alice.send('PATCH', '/orders/replace', body)).status, 200);
  });

  test('any other value of any field of a create fails (SIG-09)', async () => {
    const id = alice.newId();
    const text = alice.order({ id, price: 299_900 });
    const changes: [string, string][] = [
      [`"order_id":"${id}"`, `"order_id":"${id}0"`],
      ['"base_asset":"2"', '"base_asset":"12"'],
      ['"limit_price":299900', '"limit_price":299901'],
      ['"quantity":1000', '"quantity":1001'],
      ['"GTC":{"post_only":false}', '"GTC":{"post_only":true}'],
      ['"GTC":{"post_only":false}', '"IOC":{"fill_or_kill":false}'],
      ['"side":"Sell"', '"side":"Buy"'],
      ['"trigger":null', '"trigger":{"parent_order_id":null,"condition":{"PriceAbove":{"price":999999}}}'],
      [/"creation_timestamp_ns":\d+/.exec(text)?.[0] ?? '', `"creation_timestamp_ns":${node.nowNs}`],
      ['"max_trading_fees_rate":50000', '"max_trading_fees_rate":50001'],
    ];
    for (const [from, to] of changes) {
      assert.ok(text.includes(from), from);
      assert.equal(toldBy(await signedAs(text, text.replace(from, to))), '401 INVALID_SIGNATURE', to);
    }
    assert.equal((await signedAs(text, text)).status, 200);
  });

  test('any other value of any field of a replace or cancel fails (SIG-09, SIG-10)', async () => {
    const [id, other] = [alice.newId(), alice.newId()];
    for (const each of [id, other]) assert.equal((await alice.create({ id: each })).status, 200);
    const replace = alice.replaceBody({ id, price: 302_000, quantity: 900 });
    for (const [from, to] of [
      [`"order_id":"${id}"`, `"order_id":"${other}"`],
      ['"new_price_limit":302000', '"new_price_limit":302001'],
      ['"new_price_limit":302000', '"new_price_limit":null'],
      ['"new_quantity":900', '"new_quantity":901'],
      [/"timestamp_ns":\d+/.exec(replace)?.[0] ?? '', `"timestamp_ns":${node.nowNs}`],
    ] as const) {
      const answer = await alice.send('PATCH', '/orders/replace', replace.replace(from, to));
      assert.equal(toldBy(answer), '401 INVALID_SIGNATURE', to);
    }
    const cancel = alice.cancelBody(id);
    const misdirected = cancel.replace(`"order_id":"${id}"`, `"order_id":"${other}"`);
    assert.equal(toldBy(await alice.send('DELETE', '/orders/cancel', misdirected)), '401 INVALID_SIGNATURE');
    assert.equal((await alice.send('PATCH', '/orders/replace', replace)).status, 200);
    assert.equal((await alice.send('DELETE', '/orders/cancel', cancel)).status, 200);
  });

  test('one signature does not stand for another action (SIG-10, SIG-11, RPL-06)', async () => {
    const id = alice.newId();
    const body = alice.createBody({ id });
    const signature = /"signature":\[[^\]]*\]/.exec(body)?.[0] ?? '';
    assert.equal((await create(body)).status, 200);
    for (const [method, path, other] of [
      ['PATCH', '/orders/replace', alice.replaceBody({ id, price: 303_000 })],
      ['DELETE', '/orders/cancel', alice.cancelBody(id)],
    ] as const) {
      const stolen = other.replace(/"signature":\[[^\]]*\]/, signature);
      assert.equal(toldBy(await alice.send(method, path, stolen)), '401 INVALID_SIGNATURE', path);
    }
  });

  test('post_sign_timestamp is not signed, but must be of this minute (wire.md 4.1, 7.4)', async () => {
    const text = alice.order();
    const at = (ns: bigint): Promise<HttpAnswer> => create(createBody(alice.key, text, ns));
    assert.equal(toldBy(await at(node.nowNs - 60_000_000_001n)), '400 REQUEST_TOO_OLD');
    assert.equal(toldBy(await at(node.nowNs + 5_000_000_001n)), '400 REQUEST_TOO_OLD');
    assert.equal((await at(node.nowNs - 60_000_000_000n)).status, 200);
  });

  test('integers keep every digit beyond 2^53 (ORD-09, wire.md 2.4)', async () => {
    const createdNs = node.nowNs - 1n;
    const id = alice.newId();
    const stream = await alice.stream('/orders');
    assert.equal((await alice.create({ id, createdNs })).status, 200);
    const frame = await stream.frame();
    assert.ok(frame.includes(`"creation_timestamp_ns":${createdNs}`), frame);
    stream.socket.terminate();
  });

  test('the protocol version is the number 1 (ORD-13, VER-04)', async () => {
    for (const version of ['0', '2', '"1"', 'null', '1.0', '-1']) {
      const text = alice.order().replace('"protocol_version":1', `"protocol_version":${version}`);
      const answer = await signedAs(text, text);
      assert.equal(answer.status, 400, version);
      assert.match(errorOf(answer).code, /^INVALID_(ORDER|REQUEST)$/, version);
    }
  });

  test('cancels of many are unsigned (SIG-13)', async () => {
    for (const [path, body] of [
      ['/orders/cancel-all', ''],
      ['/orders/cancel-all/2', ''],
      ['/orders/cancel-batch', '{"order_ids":["none"]}'],
    ] as const) {
      const answer = await alice.send('DELETE', path, body);
      assert.deepEqual([answer.status, answer.text], [202, '{"status":"accepted"}'], path);
    }
  });
});
