/**
 * What clients see of a cluster (cluster.md 11): `GET /system/leader` on both listeners of every process, and the refusal of
 * everything else where the process does not serve.
 */
import { LEADER } from '../codec/shapes/system-shapes.ts';
import { leaderReply } from '../codec/system-replies.ts';
import { type Reject, reject } from '../core/reject.ts';
import { Leadership, type NodeState } from '../runtime/leadership.ts';
import type { RouteDoc } from './api/route-doc.ts';

/** What a process is in its cluster. */
export interface ClusterPlace {
  readonly role: 'node' | 'replica';
  readonly leadership: Leadership;
  /** False on one machine: an open listener answers everything. */
  readonly isCluster: boolean;
}

/** A node without a cluster, which leads. */
export const ONE_MACHINE: ClusterPlace = { role: 'node', leadership: new Leadership(), isCluster: false };
ONE_MACHINE.leadership.setState('leading');

export const LEADER_ROUTE: RouteDoc & { readonly auth: 'public'; readonly cost: 'free' } = {
  method: 'GET',
  path: '/system/leader',
  area: 'System',
  auth: 'public',
  cost: 'free',
  summary: 'Whether this process leads, and who does',
  description:
    'Answered in every state. Of several processes that lead the one with the highest epoch does; the others are over and do not know it yet.',
  reply: LEADER,
  example: { reply: '{"role":"node","state":"leading","epoch":0,"sequence":1042,"leader":null}' },
};

export function leaderText({ role, leadership }: ClusterPlace): string {
  return leaderReply({ role, ...leadership.view() });
}

const STARTS: Reject = reject('SERVICE_UNAVAILABLE', 'the node takes over: it answers in a moment');
const REPLICA_STARTS: Reject = reject('SERVICE_UNAVAILABLE', 'the replica has no market data yet: ask another one');
/** States in which the listeners serve. When a leader is stalled or hands over, order entry refuses what it cannot take. */
const SERVES: ReadonlySet<NodeState> = new Set(['leading', 'stalled', 'handing-over']);
const TAKES_OVER: ReadonlySet<NodeState> = new Set(['starting', 'restoring']);
/** The state of the service, and documents, are answered by every process. */
const ALWAYS = /^(?:\/market-data)?\/(?:system\/.*|api-doc\.json|async-api\.json|api-reference.*|\*)$/;

/** For a listener: which requests it does not answer now. Undefined on one machine, where an open listener answers everything. */
export function servingOf(
  place: ClusterPlace,
  isPrivate: (pattern: string) => boolean = () => false,
): ((pattern: string) => Reject | null) | undefined {
  if (!place.isCluster) return undefined;
  if (place.role === 'replica') return (pattern) => notServedByReplica(place, pattern, isPrivate);
  return (pattern) => notServing(place, pattern);
}

/** A replica has public market data alone: what is of a user is the leader's. */
function notServedByReplica(
  { leadership }: ClusterPlace,
  pattern: string,
  isPrivate: (pattern: string) => boolean,
): Reject | null {
  if (ALWAYS.test(pattern)) return null;
  // mutant: replica-has-no-users
  if (isPrivate(pattern)) return notLeader(leadership);
  return leadership.state() === 'following' ? null : REPLICA_STARTS;
}

const STALLED: Reject = reject('SERVICE_UNAVAILABLE', 'the node has no answer of its cluster, try again');
const HANDS_OVER: Reject = reject('SERVICE_UNAVAILABLE', 'the node hands over');

/**
 * Why a node of a cluster does not serve a call of an operator now that is about more than this process; null: it does. A stalled leader
 * and one that hands over are read and not changed (cluster.md 7.4, 7.5).
 */
export function operatorRefusal(leadership: Leadership, isChange: boolean): Reject | null {
  const state = leadership.state();
  if (state === 'leading') return null;
  if (state === 'stalled' || state === 'handing-over') {
    if (!isChange) return null;
    return state === 'stalled' ? STALLED : HANDS_OVER;
  }
  return TAKES_OVER.has(state) ? STARTS : notLeader(leadership);
}

/** Why a node does not answer a request for this pattern now; null: it does. */
function notServing({ leadership }: ClusterPlace, pattern: string): Reject | null {
  const state = leadership.state();
  if (SERVES.has(state) || ALWAYS.test(pattern)) return null;
  return TAKES_OVER.has(state) ? STARTS : notLeader(leadership);
}

/** `details` have the addresses of the leader; null while there is none. */
function notLeader(leadership: Leadership): Reject {
  const { epoch, leader } = leadership.view();
  return {
    ...reject('NOT_LEADER', 'this node does not lead'),
    details: { epoch, oms: leader?.oms ?? null, mds: leader?.mds ?? null },
  };
}
