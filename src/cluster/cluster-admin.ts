/** What the commands of `ringbook cluster` do on the servers (cluster.md 12). */
import { NODE_STATES } from '../runtime/leadership.ts';
import type { JournalInfo, StreamLogOptions } from './stream-log.ts';
import { StreamLog } from './stream-log.ts';

/** Until a record is applied that comes next. */
const HASH_MS_MAX = 20_000;
/** Time in which nodes answer a question to all of them. */
const STATUS_MS = 1_000;
/** A standby that is further behind has a lag. */
const LAG_RECORDS_MAX = 10_000;

/** A node or a replica as it answers. */
export interface MemberStatus {
  readonly node: string;
  readonly role: string;
  readonly state: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly hash: string;
  readonly version: string;
  readonly data: string;
  /** Records in `dropped/` that are not acknowledged. */
  readonly dropped: number;
}

/** What a node has at one record. */
export interface NodeHash {
  readonly sequence: number;
  readonly record: string;
  /** Null where it could not be had. */
  readonly state: string | null;
  /** Why it could not be had (clearing/replicated-log.ts); null where it is there. */
  readonly why: string | null;
}

/** @param hashes of the nodes that got the request, null without an answer. @param sequence of the request. */
export function comparedHashes(
  hashes: readonly (NodeHash | null)[],
  sequence: number,
): { readonly isEqual: boolean; readonly isComplete: boolean; readonly wasPassed: boolean } {
  const wasPassed = hashes.some((hash) => hash !== null && hash.sequence !== sequence);
  const states = new Set(hashes.flatMap((hash) => hash?.state ?? []));
  const records = new Set(wasPassed ? [] : hashes.flatMap((hash) => hash?.record ?? []));
  // mutant: equal-states
  const isEqual = states.size <= 1 && records.size <= 1;
  // One state that is compared with none is not a comparison.
  // mutant: whole-comparison
  const isComplete = hashes.every((hash) => hash !== null && hash.state !== null);
  return { isEqual, isComplete, wasPassed };
}

export interface ClusterStatus {
  readonly cluster: string;
  /** Null when the stream has no leader, or does not answer. */
  readonly stream: {
    readonly first: number;
    readonly end: number;
    readonly bytes: number;
    readonly bytes_max: number;
    readonly leader: string;
    readonly servers: readonly { readonly name: string; readonly current: boolean }[];
  } | null;
  /** By name. */
  readonly members: readonly (MemberStatus & { readonly lag: number })[];
  readonly leader: string | null;
  /** A leader, a standby without lag, and no dropped record without an acknowledgement. */
  readonly isSound: boolean;
}

export class ClusterAdmin {
  readonly #cluster: string;
  readonly log: StreamLog;

  private constructor(cluster: string, log: StreamLog) {
    this.#cluster = cluster;
    this.log = log;
  }

  /** @throws Error when no server answers. */
  static async connect(options: StreamLogOptions): Promise<ClusterAdmin> {
    return new ClusterAdmin(options.cluster, await StreamLog.connect(options));
  }

  close(): Promise<void> {
    return this.log.close();
  }

  /** Whether the servers have the journal's stream, and the report of its leader; null for no answer. */
  async journal(): Promise<{ readonly isThere: boolean; readonly info: JournalInfo | null }> {
    const info = await this.log.info();
    if (info !== null) return { isThere: true, info };
    try {
      return { isThere: await this.log.isMade(), info };
    } catch {
      return { isThere: true, info };
    }
  }

  async status(): Promise<ClusterStatus> {
    const { log } = this;
    const [info, nodes, replicas] = await Promise.all([
      log.info(),
      log.askStatus(STATUS_MS),
      log.askReplicas(STATUS_MS),
    ]);
    // Replicas have credentials of less: what they answer is never taken for a node's.
    const found = [
      ...nodes.flatMap((bytes) => memberOf(bytes, 'node') ?? []),
      ...replicas.flatMap((bytes) => memberOf(bytes, 'replica') ?? []),
    ];
    const members = found
      .map((member) => ({ ...member, lag: info === null ? 0 : Math.max(0, info.end - member.sequence) }))
      .sort((a, b) => (a.node < b.node ? -1 : 1));
    const leader = members
      .filter(({ state }) => state === 'leading' || state === 'stalled')
      .reduce<MemberStatus | null>((best, one) => (best === null || one.epoch > best.epoch ? one : best), null);
    const hasStandby = members.some(({ state, lag }) => state === 'following' && lag <= LAG_RECORDS_MAX);
    return {
      cluster: this.#cluster,
      stream:
        info === null
          ? null
          : {
              first: info.first,
              end: info.end,
              bytes: info.bytes,
              bytes_max: info.bytesMax,
              leader: info.leader,
              servers: [
                { name: info.leader, current: true },
                ...info.others.map(({ name, isCurrent }) => ({ name, current: isCurrent })),
              ],
            },
      members,
      leader: leader?.node ?? null,
      isSound: leader?.state === 'leading' && hasStandby && members.every(({ dropped }) => dropped === 0),
    };
  }

  /** @returns why it was refused; null when it was taken. */
  async command(node: string, command: 'promote' | 'stepDown', to: string | null): Promise<string | null> {
    const answer = await this.log.request(node, Buffer.from(JSON.stringify({ command, to })));
    if (answer === null) return `${node} does not answer`;
    const { ok, reason } = objectOf(answer);
    return ok === true ? null : String(reason ?? 'it was refused');
  }

  /**
   * What nodes have at one record, which all of them apply some time after the request.
   *
   * @returns null for a node that does not answer.
   */
  async hashes(nodes: readonly string[], sequence: number): Promise<readonly (NodeHash | null)[]> {
    const question = Buffer.from(JSON.stringify({ command: 'hash', sequence }));
    const answers = await Promise.all(nodes.map((node) => this.log.request(node, question, HASH_MS_MAX)));
    return answers.map((answer) => {
      if (answer === null) return null;
      const { ok, sequence: at, record, state, why } = objectOf(answer);
      if (ok !== true || typeof record !== 'string') return null;
      return {
        sequence: Number(at),
        record,
        state: typeof state === 'string' ? state : null,
        why: typeof why === 'string' ? why : null,
      };
    });
  }

  /** @returns names of the dropped records of a node that were not acknowledged before; null when it does not answer. */
  async acknowledge(node: string): Promise<readonly string[] | null> {
    const answer = await this.log.request(node, Buffer.from(JSON.stringify({ command: 'acknowledge' })));
    if (answer === null) return null;
    const { acknowledged } = objectOf(answer);
    return Array.isArray(acknowledged) ? acknowledged.map(String) : [];
  }
}

/** @returns null for what no process of this role answers: it is shown on a terminal. */
function memberOf(bytes: Uint8Array, role: 'node' | 'replica'): MemberStatus | null {
  const { node, state, epoch, sequence, hash, version, data, dropped } = objectOf(bytes);
  const known = NODE_STATES.find((each) => each === state);
  if (typeof node !== 'string' || !/^[a-z0-9-]{1,32}$/.test(node) || known === undefined) return null;
  return {
    node,
    role,
    state: known,
    epoch: Number(epoch),
    sequence: Number(sequence),
    hash: shown(hash),
    version: shown(version),
    data: shown(data),
    dropped: role === 'node' && typeof dropped === 'number' ? dropped : 0,
  };
}

/** A word that another program gave. */
function shown(word: unknown): string {
  return /^[\w.+-]{0,64}$/.test(String(word)) ? String(word) : 'unknown';
}

function objectOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
