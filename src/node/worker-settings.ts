/** Settings of the actors on worker threads, beside their wiring. */

import type { ReplicatedLog } from '../clearing/replicated-log.ts';
import type { WebAuthnPolicy } from '../crypto/webauthn.ts';
import type { ListenerSettings } from '../http/public-listeners.ts';
import type { ActorWiring } from '../runtime/actor.ts';
import type { LogMemory } from '../runtime/log-buffer.ts';
import type { ClusterConfig } from './cluster-config.ts';
import type { NodeConfig } from './config.ts';

/** Given to every worker; a structured clone. */
export interface WorkerSettings {
  readonly dataDirectory: string;
  readonly mapBytes: number;
  readonly checkpointMs: number;
  readonly checkpointRecords: number;
  readonly checkpointRows: number;
  readonly shards: number;
  readonly mdsListener: ListenerSettings;
  readonly logLevel: NodeConfig['logLevel'];
  /** What a thread logs goes through its lane. */
  readonly logs: LogMemory;
  readonly words: SharedArrayBuffer;
  /** The memory of runtime/leadership.ts. */
  readonly leadership: SharedArrayBuffer;
  /** Several machines; null: one. */
  readonly cluster: ClusterConfig | null;
  /** Null: none is kept. */
  readonly evidence: NodeConfig['evidence'];
  readonly isProduction: boolean;
  /** How clearing begins on the log of a cluster, where there is a replicator; absent: its records are stored when they are flushed. */
  readonly log?: Pick<ReplicatedLog, 'aliveMs' | 'waitsForStandby'>;
  /** Key of the hashes of ids: 64 random bits, new at every start, given to the node's own threads and stored nowhere. */
  readonly hashSeed: bigint;
  /** What assertions of co-signers are judged by; null: none is valid. */
  readonly webauthn: WebAuthnPolicy | null;
  /** From each verifier thread to clearing (crypto/attestations.ts). */
  readonly attestations: readonly SharedArrayBuffer[];
  /** Name of the connection of the threads with a public listener (peer-channel.ts). */
  readonly peerName: string;
  /** The memory of SharedBudget. */
  readonly budget: SharedArrayBuffer;
}

export function settingsOf(wiring: ActorWiring): WorkerSettings {
  return wiring.settings as WorkerSettings;
}
