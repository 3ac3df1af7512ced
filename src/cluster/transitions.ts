/**
 * The table of cluster.md 7.1: what a node does in a state when something happens. The compiler holds it complete; protocol.ts
 * acts by it and decides nothing that stands here.
 */
import type { NodeState } from '../runtime/leadership.ts';

/** States in which something can happen. */
export type LiveState = Exclude<NodeState, 'ended'>;

export type Action =
  /** Nothing changes. */
  | '='
  /** Cannot happen: a broken invariant. */
  | 'never'
  | 'join'
  | 'follow'
  | 'apply'
  /** The own takeover is over: refused, then the record is applied by a node that follows. */
  | 'apply, following'
  | 'apply, campaigning at the end'
  | 'apply, campaigning'
  | 'apply, again'
  | 'read the gap'
  | 'snapshot'
  | 'diverged'
  | 'take the stream’s'
  | 'append the last record'
  | 'lost records'
  | 'lost records, restart'
  | 'one record below'
  | 'campaign'
  | 'retry'
  | 'silence does not count'
  | 'tail is stored'
  | 'restore'
  | 'renew the lease'
  | 'lead again'
  | 'handed over'
  | 'send again'
  | 'send again, at most 10 s'
  | 'over'
  | 'stall'
  | 'refuse in production'
  | 'alert'
  | 'alert, no campaign'
  | 'give up the campaign'
  | 'serve'
  | 'refuse'
  | 'ask for a handover'
  | 'hand over'
  | 'learn the outcome'
  | 'stop'
  | 'stop after 5 s'
  | 'stop without the stream'
  | 'fault';

type Row = Readonly<Record<LiveState, Action>>;

/** The columns in the order of the document. */
function row(...cells: readonly [Action, Action, Action, Action, Action, Action, Action, Action]): Row {
  const [starting, joining, following, campaigning, restoring, leading, stalled, handingOver] = cells;
  return { starting, joining, following, campaigning, restoring, leading, stalled, 'handing-over': handingOver };
}

export type Happening =
  | 'loaded'
  | 'endReached'
  | 'nextRecord'
  | 'foreignTakeover'
  | 'handoverToThis'
  | 'handoverToOther'
  | 'gap'
  | 'beginsBehind'
  | 'wrongRecord'
  | 'otherBytes'
  | 'endsOneBelow'
  | 'endsBelow'
  | 'silence'
  | 'noAnswer'
  | 'streamFull'
  | 'ownStored'
  | 'refusedOwnBytes'
  | 'refusedOtherBytes'
  | 'refusedNothing'
  | 'earlierTakeover'
  | 'leaseOver'
  | 'unfit'
  | 'ready'
  | 'promote'
  | 'stepDown'
  | 'terminate'
  | 'fault';

export const TRANSITIONS: Readonly<Record<Happening, Row>> = {
  // starting, joining, following, campaigning, restoring, leading, stalled, handing-over
  loaded: row('join', 'never', 'never', 'never', 'never', 'never', 'never', 'never'),
  endReached: row('never', 'follow', '=', '=', '=', '=', '=', '='),
  nextRecord: row('never', 'apply', 'apply', 'apply, following', 'never', '=', '=', '='),
  foreignTakeover: row('never', 'apply', 'apply', 'apply, following', 'over', 'over', 'over', 'over'),
  handoverToThis: row(
    'never',
    'apply, campaigning at the end',
    'apply, campaigning',
    'apply, again',
    'over',
    'over',
    'over',
    'over',
  ),
  handoverToOther: row('never', 'apply', 'apply', 'apply, following', 'over', 'over', 'over', 'over'),
  gap: row('never', 'read the gap', 'read the gap', 'read the gap', 'over', 'over', 'over', 'over'),
  beginsBehind: row('never', 'snapshot', 'snapshot', 'give up the campaign', '=', '=', '=', '='),
  wrongRecord: row('never', 'diverged', 'diverged', 'diverged', 'diverged', 'never', 'never', 'never'),
  otherBytes: row('never', 'take the stream’s', 'diverged', '=', 'over', 'over', 'over', 'over'),
  endsOneBelow: row('never', 'append the last record', 'one record below', '=', '=', '=', '=', '='),
  endsBelow: row(
    'never',
    'lost records',
    'lost records',
    'lost records',
    'lost records, restart',
    'lost records, restart',
    'lost records, restart',
    'lost records, restart',
  ),
  silence: row('never', '=', 'campaign', '=', '=', '=', '=', '='),
  noAnswer: row('retry', 'retry', 'silence does not count', 'retry', 'retry', '=', '=', 'retry'),
  streamFull: row('never', 'silence does not count', 'silence does not count', '=', '=', '=', '=', '='),
  ownStored: row(
    'never',
    'tail is stored',
    'never',
    'restore',
    'renew the lease',
    'renew the lease',
    'lead again',
    'handed over',
  ),
  refusedOwnBytes: row(
    'never',
    'tail is stored',
    'never',
    'restore',
    'renew the lease',
    'renew the lease',
    'lead again',
    'handed over',
  ),
  refusedOtherBytes: row('never', 'take the stream’s', 'never', 'apply, following', 'over', 'over', 'over', 'over'),
  refusedNothing: row(
    'never',
    'send again',
    'never',
    'send again',
    'send again, at most 10 s',
    'send again, at most 10 s',
    'send again, at most 10 s',
    'send again, at most 10 s',
  ),
  earlierTakeover: row('never', 'apply', 'apply', 'apply, following', 'over', 'over', 'over', 'over'),
  leaseOver: row('=', '=', '=', '=', '=', 'stall', '=', '='),
  unfit: row(
    'refuse in production',
    'refuse in production',
    'alert, no campaign',
    'give up the campaign',
    'alert',
    'alert',
    'alert',
    'alert',
  ),
  ready: row('never', 'never', 'never', 'never', 'serve', '=', '=', '='),
  promote: row('refuse', 'refuse', 'ask for a handover', '=', '=', '=', '=', '='),
  stepDown: row('refuse', 'refuse', 'refuse', 'learn the outcome', 'hand over', 'hand over', 'refuse', '='),
  terminate: row(
    'stop',
    'stop',
    'stop',
    'learn the outcome',
    'hand over',
    'hand over',
    'stop after 5 s',
    'stop without the stream',
  ),
  fault: row('fault', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault'),
};
