/** The protocol of a cluster on its thread, made from its wiring and the node's settings; workers/replicator.ts boots it. */
import { randomBytes } from 'node:crypto';
import type { ToMain, ToStream } from '../cluster/link.ts';
import { readHead } from '../cluster/record-head.ts';
import { ReplicatorActor, type ReplicatorMeasures } from '../cluster/replicator-actor.ts';
import { fitnessOf } from '../cluster/server-fitness.ts';
import { CLEARING, MARKET_DATA, REPLICATOR } from '../core/actor-names.ts';
import { must } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { Leadership } from '../runtime/leadership.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import type { MetricsWriter } from '../runtime/metrics.ts';
import { VERSION } from '../runtime/version.ts';
import { acknowledgeDropped, droppedRecords } from '../storage/dropped-records.ts';
import { DATA_VERSION, openReader, type StorageReader } from '../storage/environment.ts';
import { journalBounds, storedHashAt } from '../storage/journal.ts';
import { peerChannel } from './peer-channel.ts';
import { settingsOf } from './worker-settings.ts';

export const replicatorFactories: ActorFactories = { [REPLICATOR]: createReplicator };

function createReplicator(wiring: ActorWiring): ReplicatorActor {
  const settings = settingsOf(wiring);
  const cluster = must(settings.cluster ?? undefined, 'the replicator of a node has a cluster');
  const dataVersion = String(DATA_VERSION);
  const lane = new LogLane(settings.logs, REPLICATOR);
  const log = (level: string, facts: Readonly<Record<string, unknown>>, text: string): void => {
    const line = { level, time: new Date().toISOString(), name: REPLICATOR, event: 'cluster', ...facts, msg: text };
    lane.write(`${JSON.stringify(line)}\n`);
  };
  const journal = new OwnJournal(settings.dataDirectory, settings.mapBytes);
  const channel = peerChannel<ToMain | ToStream>(`${settings.peerName} cluster`);
  return new ReplicatorActor({
    name: REPLICATOR,
    protocol: {
      node: cluster.node,
      run: randomBytes(8).toString('hex'),
      leaseMs: cluster.leaseMs,
      rank: cluster.rank,
      automatic: cluster.takeover === 'automatic',
      production: settings.isProduction,
      standby: cluster.confirm.includes('standby'),
      dataVersion,
      readHead,
      ownHash: (sequence) => journal.hashAt(sequence),
      home: cluster.home,
      ...cluster.advertise,
    },
    servers: {
      cluster: cluster.name,
      node: cluster.node,
      servers: cluster.servers,
      credentialsFile: cluster.credentialsFile,
      tls: cluster.tls,
      dataVersion,
      home: cluster.home,
    },
    version: VERSION,
    toClearing: wiring.publication(CLEARING),
    toMarketData: wiring.publication(MARKET_DATA),
    leadership: new Leadership(settings.leadership),
    link: {
      post: (message) => channel.post(message),
      receive: (receiver) => channel.receive((message) => receiver(message as ToStream)),
      close: () => channel.close(),
    },
    fitness: async () => {
      const servers = await Promise.all(cluster.monitoring.map(fitnessOf));
      const unfit = servers.filter(({ name, faults }) => name !== null && faults.length > 0);
      for (const { address, faults } of unfit) log('error', { address, faults }, 'a server is not fit for a cluster');
      return unfit.length === 0;
    },
    snapshots: cluster.snapshots,
    dropped: {
      names: () => droppedRecords(settings.dataDirectory),
      acknowledge: () => acknowledgeDropped(settings.dataDirectory),
    },
    closed: () => journal.close(),
    log,
    measured: measuresOf(wiring.metrics),
  });
}

/** The own journal as this thread reads it: opened at the first question, which few nodes ever have. */
class OwnJournal {
  readonly #directory: string;
  readonly #mapBytes: number;
  #reader: StorageReader | null = null;

  constructor(directory: string, mapBytes: number) {
    this.#directory = directory;
    this.#mapBytes = mapBytes;
  }

  /** Of a record; null where it is not there, or pruned. */
  hashAt(sequence: number): Uint8Array | null {
    this.#reader ??= openReader(this.#directory, { mapBytes: this.#mapBytes });
    const { firstSequence, lastSequence } = journalBounds(this.#reader);
    if (firstSequence === 0 || sequence < firstSequence || sequence > lastSequence) return null;
    return Uint8Array.from(storedHashAt(this.#reader, sequence as Sequence));
  }

  close(): void {
    void this.#reader?.close();
    this.#reader = null;
  }
}

/** Names: gateway/metrics/metric-names.ts. */
function measuresOf(metrics: MetricsWriter): ReplicatorMeasures {
  const stored = metrics.histogram('store_ns');
  const appended = metrics.gauge('appended_sequence');
  const storedSequence = metrics.gauge('stored_sequence');
  const lag = metrics.gauge('lag_s');
  const refused = metrics.counter('appends_refused');
  const retried = metrics.counter('append_retries');
  const takenOver = {
    silence: metrics.counter('takeovers_silence'),
    handover: metrics.counter('takeovers_handover'),
    operator: metrics.counter('takeovers_operator'),
  };
  const stalled = metrics.counter('stalled_s');
  const standbys = metrics.gauge('standbys');
  const bytes = metrics.gauge('stream_bytes');
  const limit = metrics.gauge('stream_bytes_limit');
  const first = metrics.gauge('stream_first_sequence');
  const current = metrics.gauge('stream_servers_current');
  const atHome = metrics.gauge('stream_leader_at_home');
  const dropped = metrics.gauge('dropped_records');
  return {
    stored: (ms, sequence) => {
      stored.record(ms * 1e6);
      storedSequence.set(sequence);
    },
    appended: (sequence) => appended.set(sequence),
    answered: (answer) => {
      if (answer === 'refused') refused.add(1);
      if (answer === 'unknown') retried.add(1);
    },
    applied: (ageSeconds) => lag.set(ageSeconds),
    takenOver: (cause) => takenOver[cause].add(1),
    stalled: (ms) => stalled.add(ms / 1_000),
    standbys: (count) => standbys.set(count),
    dropped: (count) => dropped.set(count),
    placed: (info, isAtHome) => {
      bytes.set(info.bytes);
      limit.set(info.bytesMax);
      first.set(info.first);
      current.set(info.others.filter(({ isCurrent }) => isCurrent).length + 1);
      atHome.set(isAtHome ? 1 : 0);
    },
  };
}
