// tier: full, 5 s
/** Market data as FlatBuffers beside its text form, on both listeners of a whole node, read by the package `flatbuffers` (BMD-01, BMD-02). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { ByteBuffer } from 'flatbuffers';
import WebSocket from 'ws';
import { binaryBest } from '../../src/codec/market-data-binary.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { eventually } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const PROTOCOL = 'ringbook.md.fbs.v1';
const SCHEMA = readFileSync('schemas/market-data.fbs', 'utf8');
/** Fields of each table by their place in the schema, as generated code has them. */
const TABLES = new Map(
  [...SCHEMA.matchAll(/^table (\w+) \{([^}]*)\}/gm)].map(([, name = '', body = '']) => {
    const fields = [...body.matchAll(/^\s*(\w+): \[?(\w+)\]?(?: \(required\))?;/gm)].map(
      ([, field = '', type = '']) => ({
        field,
        type,
      }),
    );
    return [name, fields] as const;
  }),
);
const enumOf = (name: string): string[] =>
  (new RegExp(`enum ${name} : ubyte[^{]*\\{ ([^}]*) \\}`).exec(SCHEMA)?.[1] ?? '')
    .split(', ')
    .map((one) => one.split(' ')[0] ?? '');
const CHANNELS = enumOf('Channel');
const FLAGS = enumOf('Flags');
/** Bytes of each member of a struct, aligned as C does. */
const SIZES: Readonly<Record<string, number>> = {
  ulong: 8,
  long: 8,
  uint: 4,
  ushort: 2,
  Channel: 1,
  Flags: 1,
  bool: 1,
};
const STRUCTS = new Map(
  [...SCHEMA.matchAll(/^struct (\w+) \{([^}]*)\}/gm)].map(([, name = '', body = '']) => {
    let end = 0;
    const members = new Map<string, number>();
    for (const [, member = '', type = ''] of body.matchAll(/^\s*(\w+): (\w+);/gm)) {
      const size = SIZES[type] ?? assert.fail(type);
      end = Math.ceil(end / size) * size;
      members.set(member, end);
      end += size;
    }
    return [name, members] as const;
  }),
);

/** One table, field by field: what code of `flatc` does. */
class Table {
  readonly #buffer: ByteBuffer;
  readonly at: number;
  readonly #slots = new Map<string, number>();

  constructor(buffer: ByteBuffer, at: number, name: string) {
    this.#buffer = buffer;
    this.at = at;
    let slot = 0;
    for (const { field } of TABLES.get(name) ?? assert.fail(name)) {
      this.#slots.set(field, slot);
      slot += 1;
    }
  }

  offset(field: string): number {
    const slot = this.#slots.get(field) ?? assert.fail(field);
    const offset = this.#buffer.__offset(this.at, 4 + 2 * slot);
    return offset === 0 ? 0 : this.at + offset;
  }

  long(field: string): bigint {
    const at = this.offset(field);
    return at === 0 ? 0n : this.#buffer.readInt64(at);
  }

  text(field: string): string {
    const at = this.offset(field);
    return at === 0 ? '' : String(this.#buffer.__string(at));
  }

  /** Figures of each struct of a vector. */
  structs(field: string, bytes: number, read: (at: number) => bigint[]): bigint[][] {
    const at = this.offset(field);
    if (at === 0) return [];
    const count = this.#buffer.__vector_len(at);
    const first = this.#buffer.__vector(at);
    return Array.from({ length: count }, (_, index) => read(first + index * bytes));
  }

  longs(field: string, bytes: number, count: number): bigint[][] {
    return this.structs(field, bytes, (at) =>
      Array.from({ length: count }, (_, member) => this.#buffer.readInt64(at + 8 * member)),
    );
  }

  /** A side, in either form. */
  side(name: 'bids' | 'asks'): bigint[][] {
    const narrow = this.structs(name, 8, (at) => [at, at + 4].map((place) => BigInt(this.#buffer.readUint32(place))));
    return [...narrow, ...this.longs(`wide_${name}`, 16, 2)];
  }
}

interface Shown {
  readonly kind: string;
  readonly channel: string;
  readonly assetId: string;
  readonly sequence: number;
  readonly data: unknown;
}

/** The frames of a message. */
function decodedAll(bytes: Buffer): Shown[] {
  const frames: Shown[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32LE(at)) {
    assert.equal(at % 8, 0, 'a frame is aligned');
    frames.push(decoded(bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at))));
  }
  return frames;
}

function decoded(bytes: Buffer): Shown {
  const buffer = new ByteBuffer(new Uint8Array(bytes));
  const root = new Table(buffer, buffer.readInt32(0), 'Frame');
  const headAt = root.offset('head');
  const member = (name: string): number => headAt + (STRUCTS.get('Head')?.get(name) ?? assert.fail(name));
  const flags = buffer.readUint8(member('flags'));
  const has = (flag: string): boolean => (flags & (1 << FLAGS.indexOf(flag))) !== 0;
  const name = CHANNELS[buffer.readUint8(member('channel'))] ?? assert.fail('an unknown channel');
  const head = {
    kind: has('Snapshot') ? 'snapshot' : 'update',
    channel: name.toLowerCase(),
    assetId: has('Token') ? root.text('asset_id') : String(buffer.readUint16(member('asset'))),
    sequence: Number(buffer.readInt64(member('sequence'))),
  };
  const number = Number(buffer.readInt64(member('sequence_number')));
  assert.ok(buffer.readInt64(member('timestamp_ns')) > 0n);
  const [bids, asks] = [root.side('bids'), root.side('asks')];
  if (name === 'Depth') {
    const checksum = has('Checksum') ? buffer.readUint32(member('checksum')) : null;
    return { ...head, data: { asks, bids, sequence: number, checksum } };
  }
  if (name === 'Bbo') return { ...head, data: { bid: bids[0] ?? null, ask: asks[0] ?? null, sequence: number } };
  if (name === 'Trades') return { ...head, data: root.longs('trades', 40, 4) };
  const at = root.offset('ticker');
  assert.notEqual(at, 0);
  const ticker = new Table(buffer, buffer.__indirect(at), 'Ticker');
  const data = { last: ticker.long('last_price'), volume: ticker.text('volume'), open: ticker.long('open') };
  return { ...head, data };
}

/** A frame of the text form in the same figures. @param raw of a decimal with so many decimals. */
function ofText(text: string, [price, quantity]: readonly [number, number]): Shown | null {
  const frame = JSON.parse(text.replace(/"timestamp_ns":(\d+)/g, '"timestamp_ns":"$1"'));
  if (frame.channel === undefined || frame.channel === 'prices') return null;
  const raw = (value: unknown, decimals: number): bigint => {
    const [whole = '', fraction = ''] = String(value).split('.');
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  };
  const level = (one: unknown): bigint[] => {
    const [p, q] = Array.isArray(one) ? one : [(one as { price: string }).price, (one as { size: string }).size];
    return [raw(p, price), raw(q, quantity)];
  };
  const head = { kind: frame.type, channel: frame.channel, assetId: frame.asset_id, sequence: frame.sequence };
  const { data } = frame;
  if (frame.channel === 'depth') {
    const levels = { asks: data.asks.map(level), bids: data.bids.map(level) };
    return { ...head, data: { ...levels, sequence: data.sequence_number, checksum: data.checksum } };
  }
  if (frame.channel === 'bbo') {
    const side = (one: unknown): bigint[] | null => (one === null ? null : level(one));
    return { ...head, data: { bid: side(data.bid), ask: side(data.ask), sequence: data.sequence_number } };
  }
  if (frame.channel === 'trades') {
    const rows = data.trades.map((trade: Record<string, string>) => [
      BigInt(trade['trade_id'] ?? 0),
      raw(trade['price'], price),
      raw(trade['quantity'], quantity),
      BigInt(trade['timestamp_ns'] ?? 0),
    ]);
    return { ...head, data: rows };
  }
  const opened = data.open === null ? 0n : raw(data.open, price);
  const last = data.last_price === null ? 0n : raw(data.last_price, price);
  return { ...head, data: { last, volume: data.volume, open: opened } };
}

suite('market data as FlatBuffers', () => {
  let node: TestNode;
  let maker: PlainClient;
  let taker: PlainClient;
  before(async () => {
    node = await TestNode.start();
    maker = await node.user();
    taker = await node.user();
  });
  after(() => node?.stop());

  test('BMD-01: the frames of four channels carry what the text form carries, on both listeners; other frames stay text', async () => {
    const definition = JSON.parse((await maker.get('/market/2', {})).text) as Record<string, number>;
    const decimals = [definition['book_price_decimals'] ?? 0, definition['book_quantity_decimals'] ?? 0] as const;
    const items = ['depth', 'bbo', 'trades', 'ticker', 'prices'].map((name) => ({
      ...{ name, asset_ids: ['2'] },
      ...(name === 'depth' ? { checksum_every: 1, numbers: 'string' } : {}),
    }));
    const sockets: WebSocket[] = [];
    const binary: Shown[][] = [];
    const sizes = { text: 0, binary: 0 };
    const words: string[] = [];
    const text: Shown[] = [];
    const open = async (port: number, protocols: string[], take: (data: Buffer, isBinary: boolean) => void) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, protocols);
      socket.on('message', take);
      sockets.push(socket);
      await new Promise((resolve) => {
        socket.once('open', resolve);
      });
      assert.equal(socket.protocol, protocols[0] ?? '');
      socket.send(JSON.stringify({ type: 'subscribe', id: 's', channels: items }));
    };
    const ports = [node.ports.mds, node.ports.oms];
    for (const [index, port] of ports.entries()) {
      binary.push([]);
      await open(port, [PROTOCOL], (data, isBinary) => {
        if (!isBinary) words.push(JSON.parse(String(data)).channel ?? JSON.parse(String(data)).type);
        else {
          if (index === 0) sizes.binary += data.byteLength;
          binary[index]?.push(...decodedAll(data));
        }
      });
    }
    await open(node.ports.mds, [], (data, isBinary) => {
      assert.equal(isBinary, false);
      const shown = ofText(String(data), decimals);
      if (shown !== null) {
        text.push(shown);
        sizes.text += data.byteLength;
      }
    });
    await eventually(() =>
      [text, ...binary].every((list) => list.filter(({ kind }) => kind === 'snapshot').length === 4),
    );
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await maker.create({ side: 'Sell', quantity: 2_000 + count })).status, 200);
      assert.equal((await taker.create({ side: 'Buy', quantity: 1_000 })).status, 200);
      await node.rest();
    }
    const updatesOf = (list: readonly Shown[], channel: string): readonly Shown[] =>
      list.filter((frame) => frame.channel === channel);
    const all = (channel: string): number => updatesOf(text, channel).length;
    await eventually(() => all('trades') > 1 && all('depth') > 5 && all('bbo') > 1);
    for (const channel of ['depth', 'bbo', 'trades']) {
      await eventually(() => binary.every((list) => updatesOf(list, channel).length === all(channel)));
      for (const list of binary) assert.deepEqual(updatesOf(list, channel), updatesOf(text, channel), channel);
    }
    assert.equal(
      new Set(updatesOf(text, 'depth').map(({ data }) => (data as { checksum: number | null }).checksum === null)).size,
      1,
    );
    assert.deepEqual(updatesOf(binary[0] ?? [], 'ticker')[0], updatesOf(text, 'ticker')[0]);
    assert.ok(words.includes('subscriptions') && words.includes('prices'), 'those are text');
    assert.ok(2 * sizes.binary < sizes.text, `${sizes.binary} bytes, text ${sizes.text}`);
    for (const socket of sockets) socket.terminate();
  });

  test('BMD-02: one frame has the number of each of its readers, up to the largest', () => {
    const head = { isSnapshot: false, assetId: '2' as AssetId, timestampNs: 7n as TimestampNs };
    const frame = binaryBest(head, { bid: null, ask: null, sequenceNumber: 4 });
    for (const sequence of [1, 2, 300, Number.MAX_SAFE_INTEGER, 5]) {
      const shown = decodedAll(Buffer.from(frame.of(sequence)))[0] ?? assert.fail();
      assert.deepEqual([shown.sequence, shown.kind, shown.channel, shown.assetId], [sequence, 'update', 'bbo', '2']);
    }
    assert.equal(frame.of(9).byteLength, frame.byteLength);
  });
});
