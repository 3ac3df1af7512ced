// tier: full, 40 s
/** Two nodes with plain ledgers over three real servers: a leader, a standby, a takeover, a handover, the place of the stream's leader. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BegunKind, LogEvent } from '../../src/clearing/replicated-log.ts';
import type { ClusterEffect } from '../../src/cluster/events.ts';
import { Replicator } from '../../src/cluster/replicator.ts';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { PlainJournal, readPlainHead } from './protocol-player.ts';

const LEASE_MS = 1_000;
const program = natsServer();
const skip = 'missing' in program ? program.missing : false;

async function until(what: string, isSo: () => boolean, withinMs = 15_000): Promise<void> {
  const endMs = Date.now() + withinMs;
  while (!isSo()) {
    if (Date.now() > endMs) assert.fail(`not within ${withinMs} ms: ${what}`);
    await sleep(5);
  }
}

/** Clearing's side, in memory: alive records as the lease asks for them. */
class PlainNode {
  readonly journal = new PlainJournal();
  readonly replicator: Replicator;
  readonly stored: number[] = [];
  ending: Extract<ClusterEffect, { kind: 'end' }> | null = null;
  leaseEndsNs = 0n;
  #begun: { readonly kind: BegunKind; readonly bytes: Uint8Array } | null = null;
  #handOver: { readonly to: string | null } | null = null;
  readonly #timer: NodeJS.Timeout;
  readonly #stream: StreamLog;

  constructor(name: string, stream: StreamLog, home: string | null, rank: number) {
    this.#stream = stream;
    this.replicator = new Replicator(
      {
        node: name,
        run: `${name}1`,
        oms: null,
        mds: null,
        home,
        leaseMs: LEASE_MS,
        rank,
        automatic: true,
        production: true,
        standby: false,
        dataVersion: '16',
        readHead: readPlainHead,
      },
      stream,
      {
        give: (event) => this.#take(event),
        hasRoom: () => true,
        state: (state) => {
          if (state === 'restoring') this.replicator.handle({ kind: 'ready' });
        },
        leader: () => undefined,
        lease: ({ endsNs }) => {
          this.leaseEndsNs = endsNs;
        },
        alert: () => undefined,
        refuse: () => undefined,
        end: (end) => {
          this.ending = end;
        },
        handoverAsked: (to) => this.replicator.handle({ kind: 'stepDown', to }),
        answered: () => undefined,
        reported: () => undefined,
        placed: () => undefined,
      },
    );
    this.replicator.opened(
      {
        applied: { sequence: 0 as never, hash: new Uint8Array(32) },
        epoch: 0,
        tail: null,
        handover: null,
        timeNs: 0n as never,
      },
      null,
    );
    this.#timer = setInterval(() => this.#alive(), LEASE_MS / 3);
  }

  get state(): string {
    return this.replicator.state;
  }

  /** Begins a batch. */
  work(note: string): void {
    this.#begin('batch', { note });
  }

  /** As a process that is killed. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.replicator.close();
    await this.#stream.close();
  }

  #take(event: LogEvent): void {
    switch (event.kind) {
      case 'record':
        this.#add(event.sequence, event.bytes);
        return;
      case 'campaign':
        setImmediate(() => this.#begin('takeover', { takeover: { node: event.node, run: event.run } }));
        return;
      case 'stored': {
        const begun = this.#begun;
        assert.ok(begun !== null);
        this.#begun = null;
        this.stored.push(event.sequence);
        this.#add(event.sequence, begun.bytes);
        return;
      }
      case 'refused':
        this.#begun = null;
        return;
      case 'handOver':
        this.#handOver = { to: event.to };
        setImmediate(() => this.#begin('handover', { handover: { to: event.to } }));
    }
  }

  #add(sequence: number, bytes: Uint8Array): void {
    assert.equal(sequence, this.journal.records.length + 1, 'each record once');
    this.journal.records.push(bytes);
    this.journal.epoch = readPlainHead(bytes, sequence)?.epoch ?? -1;
    this.replicator.flushed({ sequence: sequence as never, hash: bytes.slice(-32) });
  }

  #begin(record: BegunKind, inputs: Parameters<PlainJournal['make']>[0]): void {
    if (this.#begun !== null || this.ending !== null) return;
    const bytes = this.journal.make(inputs);
    this.#begun = { kind: record, bytes };
    const epoch = this.journal.epoch + (record === 'takeover' ? 1 : 0);
    this.replicator.begin({ kind: record, sequence: (this.journal.records.length + 1) as never, epoch, bytes });
  }

  #alive(): void {
    if (['restoring', 'leading', 'stalled'].includes(this.state)) this.#begin('alive', {});
    else if (this.state === 'handing-over' && this.#handOver !== null)
      this.#begin('handover', { handover: this.#handOver });
  }
}

suite('replicators over three servers', { skip, timeout: 100_000 }, () => {
  let servers: NatsServers;
  let a: PlainNode;
  let b: PlainNode;

  async function node(name: string, home: string | null, rank: number): Promise<PlainNode> {
    const credentialsFile = servers.credentialsOf('node');
    const addresses = servers.addresses;
    const options = { cluster: 'c', node: name, servers: addresses, credentialsFile, tls: null, dataVersion: '16' };
    return new PlainNode(name, await StreamLog.connect(options), home, rank);
  }

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'c' });
    const credentialsFile = servers.credentialsOf('node');
    const maker = await StreamLog.connect({
      cluster: 'c',
      node: 'init',
      servers: servers.addresses,
      credentialsFile,
      tls: null,
      dataVersion: '16',
    });
    for (let made = false; !made; ) {
      made = await maker.createJournal({ firstSequence: 1, replicas: 3, bytesMax: 1 << 28 }).then(
        () => true,
        () => sleep(200, false),
      );
    }
    await maker.close();
  });

  after(async () => {
    await a?.close();
    await b?.close();
    servers?.close();
  });

  test('the first node leads, the second follows, both have the same records', async () => {
    a = await node('a', 'nats1', 0);
    await until('a leads', () => a.state === 'leading');
    b = await node('b', 'nats2', 1);
    await until('b follows', () => b.state === 'following');
    for (let batch = 0; batch < 50; batch += 1) {
      const before = a.stored.length;
      await until('nothing is on its way', () => {
        a.work(`batch ${batch}`);
        return a.stored.length > before;
      });
    }
    await until('b has all', () => b.journal.records.length >= a.journal.records.length);
    const both = Math.min(a.journal.records.length, b.journal.records.length);
    for (let at = 0; at < both; at += 1) assert.deepEqual(b.journal.records[at], a.journal.records[at]);
    assert.equal(a.state, 'leading');
  });

  test('a leader that is silent is followed by its standby within two seconds; nothing that was stored is missing', async (t) => {
    const known = a.stored.length;
    const beganMs = Date.now();
    await a.close();
    await until('b leads', () => b.state === 'leading', 5_000);
    t.diagnostic(`${Date.now() - beganMs} ms from silence to leading, lease ${LEASE_MS} ms`);
    for (const sequence of a.stored.slice(0, known)) {
      assert.deepEqual(b.journal.records[sequence - 1], a.journal.records[sequence - 1]);
    }
    assert.equal(b.replicator.epoch, 2);
  });

  test('a step-down hands over to the standby, which goes on at once', async (t) => {
    a = await node('a2', 'nats1', 0);
    await until('a follows', () => a.state === 'following');
    await sleep(300);
    const beganMs = Date.now();
    b.replicator.handle({ kind: 'stepDown', to: null });
    await until('a leads', () => a.state === 'leading', 5_000);
    t.diagnostic(`${Date.now() - beganMs} ms`);
    assert.ok(Date.now() - beganMs < LEASE_MS, 'no silence was waited for');
    assert.deepEqual([b.ending?.code, b.ending?.reason], [75, 'HANDED_OVER']);
    assert.equal(a.replicator.epoch, 3);
  });

  test('the stream’s leader is not left on the machine of the leader', async () => {
    const credentialsFile = servers.credentialsOf('node');
    const options = {
      cluster: 'c',
      node: 'look',
      servers: servers.addresses,
      credentialsFile,
      tls: null,
      dataVersion: '16',
    };
    const stream = await StreamLog.connect(options);
    await until('all are current', () => true);
    await stream.stepDown('nats1');
    let leader = '';
    for (let looks = 0; looks < 100 && (leader === 'nats1' || leader === ''); looks += 1) {
      await sleep(100);
      leader = (await stream.info())?.leader ?? '';
    }
    assert.ok(leader !== 'nats1' && leader !== '', leader);
    await stream.close();
  });
});
