/** Names of streams and subjects of a cluster (cluster.md 4). */
import { assert } from '../core/assert.ts';

const NAME_FORM = /^[a-z0-9-]{1,32}$/;

export interface StreamNames {
  readonly journal: string;
  readonly journalSubject: string;
  /** Where the server publishes each record as soon as it is stored. */
  readonly log: string;
  readonly tape: string;
  /** One subject for each market follows. */
  readonly tapeSubjects: string;
  readonly snapshots: string;
  readonly status: string;
  /** The question to all replicas: an answer here is a replica's, whatever its content. */
  readonly replicas: string;
  readonly applied: string;
  /** The request of a node that is promoted to the leader. */
  readonly handover: string;
  /** An epoch and a channel follow. */
  readonly marketData: string;
  readonly bookQuestions: string;
}

/** @throws InvariantError for a name that is not of 1 to 32 of `a-z 0-9 -`: it was validated with the configuration. */
export function streamNames(cluster: string): StreamNames {
  assert(NAME_FORM.test(cluster), 'the name of a cluster was validated');
  const upper = cluster.toUpperCase().replaceAll('-', '_');
  return {
    journal: `RB_${upper}_JOURNAL`,
    journalSubject: `rb.${cluster}.journal`,
    log: `rb.${cluster}.log`,
    tape: `RB_${upper}_TAPE`,
    tapeSubjects: `rb.${cluster}.tape`,
    snapshots: `rb_${upper}_snapshots`,
    status: `rb.${cluster}.status`,
    replicas: `rb.${cluster}.replicas`,
    applied: `rb.${cluster}.applied`,
    handover: `rb.${cluster}.handover`,
    marketData: `rb.${cluster}.md`,
    bookQuestions: `rb.${cluster}.md.snapshot`,
  };
}
