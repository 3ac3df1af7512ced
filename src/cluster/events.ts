/** Events that the protocol (protocol.ts) takes, and effects that it returns. Bytes are never changed by either side. */
import type { BegunKind, OpenedJournal } from '../clearing/replicated-log.ts';
import type { NodeState } from '../runtime/leadership.ts';

/** What the protocol reads of a record. */
export interface RecordHead {
  readonly sequence: number;
  readonly epoch: number;
  /** Of the record: 32 bytes. */
  readonly hash: Uint8Array;
  readonly previousHash: Uint8Array;
  readonly takeover: {
    readonly node: string;
    readonly run: string;
    readonly oms: string | null;
    readonly mds: string | null;
  } | null;
  readonly handover: { readonly to: string | null } | null;
}

/** One message of the journal stream, from its log or by a get. */
export interface StreamMessage {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  /** Data version of its writer. */
  readonly dataVersion: string;
}

/** What an append was answered. */
export type AppendAnswer =
  | { readonly kind: 'stored'; readonly sequence: number }
  /** The expected sequence was wrong. */
  | { readonly kind: 'refused'; readonly end: number }
  /** Whether the stream has the record is not known: no answer in time, no responders, a full stream. */
  | { readonly kind: 'unknown' };

/** What a node that follows reports after each flush (`rb.C.applied`). */
export interface StandbyReport {
  readonly node: string;
  readonly sequence: number;
  readonly hash: Uint8Array;
  readonly rank: number;
}

export type ClusterEvent =
  // ---- clearing (clearing/replicated-log.ts)
  /** @param lastBytes the record at `applied`; null where it cannot be had. */
  | { readonly kind: 'opened'; readonly journal: OpenedJournal; readonly lastBytes: Uint8Array | null }
  | {
      readonly kind: 'begin';
      readonly record: BegunKind;
      readonly sequence: number;
      readonly epoch: number;
      readonly bytes: Uint8Array;
    }
  /** Everything is sent, the listeners answer. */
  | { readonly kind: 'ready' }
  // ---- the stream
  | { readonly kind: 'message'; readonly message: StreamMessage }
  /** The answer to `get`: what is there from its sequence on, which proves nothing when it is empty. */
  | { readonly kind: 'got'; readonly messages: readonly StreamMessage[] }
  | { readonly kind: 'answer'; readonly attempt: number; readonly answer: AppendAnswer }
  /** The stream's information, by its leader. @param room bytes that are free; absent: it has no limit. */
  | { readonly kind: 'info'; readonly first: number; readonly end: number; readonly room?: number }
  /** No answer, or the stream has no leader. */
  | { readonly kind: 'infoFailed' }
  // ---- the others
  | { readonly kind: 'report'; readonly report: StandbyReport }
  // ---- the operator and the process
  | { readonly kind: 'fitness'; readonly fit: boolean }
  | { readonly kind: 'confirm'; readonly standby: boolean }
  | { readonly kind: 'promote' }
  /** `to` null: the best standby. */
  | { readonly kind: 'stepDown'; readonly to: string | null }
  | { readonly kind: 'terminate' }
  | { readonly kind: 'fault'; readonly reason: string }
  /** Some milliseconds went by. */
  | { readonly kind: 'tick' };

export type EndCode = 0 | 70 | 75 | 78;

/** Why a node ended: a closed set, which logs and tests name. */
export type EndReason =
  | 'STOPPED'
  | 'HANDED_OVER'
  | 'OVER'
  | 'DIVERGED'
  | 'STREAM_LOST_RECORDS'
  | 'STREAM_ENDS_ONE_BELOW'
  | 'SNAPSHOT_NEEDED'
  | 'SERVERS_NOT_FIT'
  | 'FAULT';

export type ClusterEffect =
  // ---- to clearing
  | { readonly kind: 'record'; readonly sequence: number; readonly bytes: Uint8Array }
  | { readonly kind: 'tailStored' }
  | { readonly kind: 'tailDropped'; readonly sequence: number }
  | { readonly kind: 'campaign' }
  | { readonly kind: 'stored'; readonly sequence: number }
  | { readonly kind: 'refused'; readonly sequence: number }
  | { readonly kind: 'confirmed'; readonly sequence: number }
  | { readonly kind: 'handOver'; readonly to: string | null }
  // ---- to the stream
  | {
      readonly kind: 'append';
      readonly attempt: number;
      readonly sequence: number;
      /** The end that the stream must have. */
      readonly expectedEnd: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'get'; readonly from: number }
  | { readonly kind: 'info' }
  /** Asks the leader for a handover to this node. */
  | { readonly kind: 'askHandover' }
  // ---- to the process
  | { readonly kind: 'state'; readonly state: NodeState; readonly epoch: number; readonly sequence: number }
  | { readonly kind: 'leader'; readonly epoch: number; readonly takeover: NonNullable<RecordHead['takeover']> }
  /** The lease counts from this sending. */
  | { readonly kind: 'lease'; readonly sentNs: bigint; readonly sentWallNs: bigint; readonly endsNs: bigint }
  | { readonly kind: 'alert'; readonly alert: 'dropped' | 'unfit' | 'lostRecords' }
  /** A command of the operator that this state does not take. */
  | { readonly kind: 'refuse'; readonly command: 'promote' | 'stepDown' }
  | { readonly kind: 'end'; readonly code: EndCode; readonly reason: EndReason; readonly text: string };
