// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { decodeControlFrame } from '../../src/codec/control-frame.ts';
import { isJsonObject, JsonFraction, type JsonValue, MemberReader, parseJson } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { decodeCreate } from '../../src/codec/order-actions.ts';
import { propertyParameters } from '../support/property.ts';
import { utf8, vectorNamed, wrap } from '../support/wire-vectors.ts';

function parse(text: string): ReturnType<typeof parseJson> {
  return parseJson(utf8(text));
}

function accept(text: string): JsonValue {
  const outcome = parse(text);
  assert.ok(outcome.ok, outcome.ok ? '' : `${text}: ${outcome.reject.message}`);
  return outcome.value;
}

function refuse(text: string | Uint8Array): { message: string; field: string | undefined } {
  const outcome = typeof text === 'string' ? parse(text) : parseJson(text);
  assert.ok(!outcome.ok, `accepted: ${text}`);
  assert.equal(outcome.reject.code, 'INVALID_REQUEST');
  return { message: outcome.reject.message, field: outcome.reject.field };
}

/** What JSON.parse makes of an accepted text must be the tree, integers compared as doubles. */
function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof JsonFraction) return Number(value.text);
  if (isJsonObject(value)) return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

const jsonValues = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' });

suite('the strict reader', () => {
  test('a duplicate name is refused, also when one of the two is escaped or deep inside (AMB-02)', () => {
    assert.equal(refuse('{"a":1,"a":1}').field, 'a');
    assert.equal(refuse('{"qty":1,"\\u0071ty":2}').field, 'qty');
    assert.equal(refuse('[{"x":{"b":1,"c":2,"b":3}}]').field, 'b');
    assert.deepEqual(plain(accept('{"a":{"a":1},"b":{"a":2}}')), { a: { a: 1 }, b: { a: 2 } });
  });

  test('integers beyond 2^53 keep every digit, up to 80 of them (AMB-01)', () => {
    assert.equal(accept('9007199254740993'), 9007199254740993n);
    assert.equal(accept(`-${'9'.repeat(80)}`), -BigInt('9'.repeat(80)));
    refuse('9'.repeat(81));
    refuse('1'.repeat(1_000_000));
  });

  test('fractions, exponents, leading zeros, -0 and bare signs are refused as integers (AMB-01)', () => {
    for (const text of [
      '1.0',
      '0.10000000000000000555',
      '1e400',
      '1E2',
      '-0',
      '-0.0',
      '01',
      '-01',
      '+1',
      '-',
      '.5',
      '1.',
    ]) {
      refuse(text);
      refuse(`{"n":${text}}`);
    }
    for (const text of ['Infinity', 'NaN', '0x10', '1_000', '١']) refuse(text);
  });

  test('a number with a fraction is kept as its text on request (wire.md G8)', () => {
    const outcome = parseJson(utf8('[3150.25,-0.5,1e3,0]'), { fractions: 'text' });
    assert.ok(outcome.ok && Array.isArray(outcome.value));
    assert.deepEqual(outcome.value, [
      new JsonFraction('3150.25'),
      new JsonFraction('-0.5'),
      new JsonFraction('1e3'),
      0n,
    ]);
    assert.equal(writeJson(outcome.value), '[3150.25,-0.5,1e3,0]');
    for (const text of ['01.5', '1.', '-', '1e', '--1', '1e+', '.5']) {
      assert.equal(parseJson(utf8(text), { fractions: 'text' }).ok, false, text);
    }
  });

  test('"__proto__" is a name like any other and sets nothing (hazard: prototype)', () => {
    const value = accept('{"__proto__":{"admin":true},"constructor":1}');
    assert.ok(isJsonObject(value));
    assert.deepEqual([...value.keys()], ['__proto__', 'constructor']);
    assert.equal(Reflect.get({}, 'admin'), undefined);
    const { signer, text } = { signer: vectorNamed('V-1').user, text: vectorNamed('V-1').text };
    const body = utf8(wrap('create', signer, text.replace('"side"', '"__proto__":{},"side"')));
    const order = decodeCreate(body, 0, body.length);
    assert.ok(!order.ok && order.reject.field === '__proto__');
  });

  test('a lone surrogate is refused, a pair is one character (AMB-02)', () => {
    for (const text of [
      '"\\ud800"',
      '"\\ud801"',
      '"\\udc00"',
      '"\\ud800\\u0041"',
      '"\\ud800x"',
      '"\\udc00\\ud800"',
      '{"\\ud800":1}',
    ]) {
      refuse(text);
    }
    assert.equal(accept('"\\ud83d\\ude00"'), '😀');
    assert.equal(accept('"😀é€"'), '😀é€');
  });

  test('bytes that are not UTF-8 are refused: over-long, surrogates, beyond U+10FFFF, cut short (AMB-02)', () => {
    const quoted = (...bytes: number[]): Uint8Array => Uint8Array.from([0x22, ...bytes, 0x22]);
    for (const bytes of [[0xff], [0xfe], [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xe0, 0x9f, 0xbf]]) {
      refuse(quoted(...bytes));
    }
    for (const bytes of [
      [0xed, 0xa0, 0x80],
      [0xf0, 0x8f, 0xbf, 0xbf],
      [0xf4, 0x90, 0x80, 0x80],
      [0xf5, 0x80, 0x80, 0x80],
    ]) {
      refuse(quoted(...bytes));
    }
    for (const bytes of [[0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xe2, 0x28, 0xa1]]) refuse(quoted(...bytes));
  });

  test('a byte order mark, trailing bytes, an empty text and a second value are refused', () => {
    for (const text of ['\ufeff{}', '{}x', '{} {}', '[]]', '1 2', '', '   ', '{}\u0000']) refuse(text);
    assert.deepEqual(plain(accept(' \t\r\n{ "a" : [ ] } \n')), { a: [] });
    refuse('\u00a0{}');
    refuse('\u000b{}');
  });

  test('sixteen levels are read and seventeen are refused, without recursion running away', () => {
    assert.ok(parse(`${'['.repeat(16)}${']'.repeat(16)}`).ok);
    refuse(`${'['.repeat(17)}${']'.repeat(17)}`);
    refuse('['.repeat(100_000));
    refuse('{"a":'.repeat(100_000));
  });

  test('broken syntax is refused', () => {
    const broken = [
      '{',
      '}',
      '[',
      '[1',
      '[1,]',
      '[,1]',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{,}',
      '{a:1}',
      "{'a':1}",
      'tru',
    ];
    const more = [
      'truefalse',
      'nul',
      '"a',
      '"\\x"',
      '"\\u12g4"',
      '"\\u123',
      '"a\nb"',
      '"\u0000"',
      '[1 2]',
      '{"a" 1}',
      '[}',
      '//',
      '{"a":1]',
    ];
    for (const text of [...broken, ...more]) refuse(text);
  });

  test('what is accepted equals what JSON.parse makes of it (differential)', () => {
    fc.assert(
      fc.property(jsonValues, fc.constantFrom(0, 1, 3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const outcome = parseJson(utf8(text), { fractions: 'text' });
        if (!outcome.ok) return isRefusedForCause(text);
        assert.deepEqual(plain(outcome.value), JSON.parse(text));
        return true;
      }),
      propertyParameters(300),
    );
  });

  test('whatever is accepted, JSON.parse accepts too, and no bytes throw or hang (fuzz)', () => {
    const seeds = [
      wrap('create', vectorNamed('V-10').user, vectorNamed('V-10').text),
      `{"CancelOrderRequest":${wrap('cancel', vectorNamed('V-3').user, vectorNamed('V-3').text)}}`,
      '{"a":[1,-2,"\\u00e9😀",null,true,{"b":""}],"c":1e5}',
    ].map(utf8);
    const edits = fc.array(fc.record({ at: fc.nat(), remove: fc.nat(3), insert: fc.uint8Array({ maxLength: 4 }) }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.constantFrom(...seeds), edits, (seed, changes) => {
        const bytes = changes.reduce((text, change) => edited(text, change), seed);
        const outcome = parseJson(bytes, { fractions: 'text' });
        if (outcome.ok) assert.doesNotThrow(() => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
        const create = decodeCreate(bytes, 0, bytes.length);
        if (create.ok) assert.ok(outcome.ok);
        const frame = decodeControlFrame(bytes, 0, bytes.length);
        if (frame.kind !== 'malformed') assert.ok(outcome.ok);
      }),
      propertyParameters(1_500),
    );
  });
});

function edited(text: Uint8Array, change: { at: number; remove: number; insert: Uint8Array }): Uint8Array {
  const at = change.at % (text.length + 1);
  return Uint8Array.from([...text.subarray(0, at), ...change.insert, ...text.subarray(at + change.remove)]);
}

/** Of what JSON.stringify writes, only a lone surrogate is refused, which it writes as an escape. */
function isRefusedForCause(text: string): boolean {
  return /\\ud[89a-f]/i.test(text);
}

suite('members by name', () => {
  const read = (text: string): MemberReader => {
    const value = accept(text);
    assert.ok(isJsonObject(value));
    return new MemberReader(value);
  };

  test('required and optional members come out typed', () => {
    const members = read('{"s":"x","b":true,"i":7,"n":18446744073709551615,"d":"1000.5","a":[1],"o":{},"z":null}');
    assert.equal(members.string('s'), 'x');
    assert.equal(members.boolean('b'), true);
    assert.equal(members.integer('i', 0, 7), 7);
    assert.equal(members.u64('n'), 18446744073709551615n);
    assert.equal(members.decimal18('d'), 1000500000000000000000n);
    assert.deepEqual(members.array('a'), [1n]);
    assert.equal(members.object('o').size, 0);
    assert.ok(members.isNull('z'));
    assert.ok(!members.has('z') && !members.has('absent') && members.has('s'));
    assert.equal(members.finish('refuse'), null);
  });

  test('the first fault is returned with its field; an unknown member is one (operator-api.md 2)', () => {
    const members = read('{"i":8,"s":1}');
    members.integer('i', 0, 7);
    members.string('s');
    assert.equal(members.finish('skip')?.field, 'i');
    assert.equal(read('{"tick_sise":"1"}').finish('refuse')?.field, 'tick_sise');
    assert.equal(read('{"other":1}').finish('skip'), null);
    const missing = read('{}');
    missing.u64('timestamp_ns');
    assert.equal(missing.finish('skip')?.field, 'timestamp_ns');
  });
});

suite('the writer', () => {
  test('bigints are bare integers, members keep their order, undefined is left out (AMB-01)', () => {
    const text = writeJson({
      z: 18446744073709551615n,
      a: undefined,
      m: new Map([
        ['12', 'x'],
        ['0', 'y'],
      ]),
      l: [null, true, -3],
    });
    assert.equal(text, '{"z":18446744073709551615,"m":{"12":"x","0":"y"},"l":[null,true,-3]}');
  });

  test('what is no safe integer is not written', () => {
    for (const number of [0.5, Number.NaN, 2 ** 53, -0, Number.POSITIVE_INFINITY])
      assert.throws(() => writeJson(number));
  });

  test('a tree written and read again is the same tree', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        const outcome = parseJson(utf8(JSON.stringify(value)), { fractions: 'text' });
        if (!outcome.ok) return;
        const again = parseJson(utf8(writeJson(outcome.value)), { fractions: 'text' });
        assert.ok(again.ok);
        assert.deepEqual(again.value, outcome.value);
      }),
      propertyParameters(300),
    );
  });
});
