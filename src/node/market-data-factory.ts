/** Market data, made from its wiring and the node's settings; workers/market-data.ts boots it. */

import { CLEARING, MARKET_DATA, marketActor, REPLICA_FEED, REPLICATOR } from '../core/actor-names.ts';
import { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import { EdgeMetrics } from '../http/edge-metrics.ts';
import { MarketStreams, MdsServer } from '../http/mds-server.ts';
import type { SocketMessage } from '../http/passed-sockets.ts';
import { gateOf } from '../http/public-listeners.ts';
import type { MarketData } from '../market-data/market-data.ts';
import { MarketDataActor } from '../market-data/market-data-actor.ts';
import type { TapOptions } from '../market-data/market-data-tap.ts';
import { TapeStore } from '../market-data/tape-store.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { DutyCycle } from '../runtime/duty-cycle.ts';
import { Leadership } from '../runtime/leadership.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { sourceStack } from '../runtime/source-stack.ts';
import { openReader } from '../storage/environment.ts';
import { History } from '../storage/history.ts';
import { NodeWords } from './node-words.ts';
import { type CertificateMessage, peerChannel } from './peer-channel.ts';
import { settingsOf } from './worker-settings.ts';

export const marketDataFactories: ActorFactories = { [MARKET_DATA]: createMarketData };

function createMarketData(wiring: ActorWiring): MarketDataActor {
  const settings = settingsOf(wiring);
  const { host, port } = settings.mdsListener;
  const isReplica = settings.cluster?.role === 'replica';
  const tape = isReplica ? new TapeStore() : null;
  // Replicas heal their own gaps: a whole book comes without a request for it.
  const streams = new MarketStreams(() => undefined);
  const counted = new EdgeMetrics(wiring.metrics);
  return new MarketDataActor({
    clock: wiring.clock,
    clearingChannel: wiring.channelOf(isReplica ? REPLICA_FEED : CLEARING),
    openHistory: () => {
      if (tape !== null) return tape;
      const cycle = new DutyCycle(() => wiring.heartbeat());
      return new History(openReader(settings.dataDirectory, { mapBytes: settings.mapBytes }), () => cycle.done());
    },
    tap: settings.cluster === null || isReplica ? null : tapOf(wiring),
    tape,
    signals: new NodeWords(settings.words),
    answersWithoutData: settings.cluster !== null,
    streams,
    listenerOf: (marketData) => {
      const server = publicServer(wiring, { marketData, streams, counted });
      return {
        open: (wanted) => server.listen({ host, port: wanted }),
        measure: () => counted.level(server),
        close: () => server.close(),
      };
    },
    port,
    pacingNs: () => process.hrtime.bigint(),
  });
}

/** What replicas of a cluster are given. */
function tapOf(wiring: ActorWiring): TapOptions {
  const { shards } = settingsOf(wiring);
  const channelOfMarket = (index: number): number => wiring.channelOf(marketActor(index % shards));
  const own = Array.from({ length: shards }, (_, shard) => channelOfMarket(shard));
  const clearingChannel = wiring.channelOf(CLEARING);
  return {
    publication: wiring.publication(REPLICATOR),
    run: Date.now(),
    wallMs: () => Date.now(),
    clearingChannel,
    // The edge of the replicator comes last.
    channels: Math.max(clearingChannel, ...own) + 1,
    channelOfMarket,
  };
}

interface Served {
  readonly marketData: MarketData;
  readonly streams: MarketStreams;
  readonly counted: EdgeMetrics;
}

function publicServer(wiring: ActorWiring, { marketData, streams, counted }: Served): MdsServer {
  const settings = settingsOf(wiring);
  const budget = new SharedBudget(settings.budget);
  const lane = new LogLane(settings.logs, 'market-data');
  const isInfoLogged = ['trace', 'debug', 'info'].includes(settings.logLevel);
  const server = new MdsServer({
    marketData,
    streams,
    place: {
      role: settings.cluster?.role ?? 'node',
      leadership: new Leadership(settings.leadership),
      isCluster: settings.cluster !== null,
    },
    clock: wiring.clock,
    // A heartbeat after every request: in a burst the loop does not reach its timers.
    observer: {
      answered: (pattern, status, isRead, ms) => {
        wiring.heartbeat();
        counted.answered(pattern, status, isRead, ms);
      },
      refused: (code) => counted.refused(code),
      failed: (where, error) => {
        lane.write(
          line('error', {
            event: 'edge-failed',
            where,
            reason: sourceStack(error instanceof Error ? `${error.stack}` : String(error)),
          }),
        );
      },
      lagged: (socket) => {
        counted.lagged();
        if (isInfoLogged) {
          lane.write(line('info', { event: 'socket-lagged', ...socket, msg: 'a socket fell behind and is closed' }));
        }
      },
    },
    budget,
    gate: gateOf(settings.mdsListener.addresses, budget),
    tls: settings.mdsListener.tls,
    peer: peerChannel(settings.peerName),
    socketPeer: peerChannel<SocketMessage>(`${settings.peerName} sockets`),
  });
  // A port that cannot be opened again ends this thread, and the next one opens it.
  const readAgain = (): void => void server.readCertificateAgain();
  peerChannel<CertificateMessage>(`${settings.peerName} certificate`).receive(readAgain);
  return server;
}

/** One line of the log. This thread logs so little that it loads no logger. */
function line(level: 'error' | 'info', members: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ level, time: new Date().toISOString(), name: MARKET_DATA, ...members })}\n`;
}
