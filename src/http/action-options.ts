/**
 * What a sender of signed actions may opt into. Nothing of it changes an answer of who does not (docs/trading.md).
 *
 *   REST, a header                /control, in the query of the upgrade
 *   X-Ringbook-Resend: true       ?resend=true                 the same signed create again is answered as the first was
 *   X-Ringbook-Timing: true       ?timing=true                 answers carry when the action passed each hop
 *                                 ?cancel_on_disconnect=true   what was created or replaced here goes with the connection
 *
 * Any other word than true or false is refused: nobody may believe to be protected who is not.
 */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { Query } from './query.ts';
import type { RequestHead } from './request-head.ts';

export interface ActionOptions {
  readonly mayRetry: boolean;
  readonly isTimed: boolean;
}

export interface ControlOptions extends ActionOptions {
  readonly endsWithConnection: boolean;
}

/** @returns INVALID_REQUEST with the header. */
export function actionOptionsOf({ headers }: RequestHead): Outcome<ActionOptions> {
  const mayRetry = flag('x-ringbook-resend', headers['x-ringbook-resend']);
  if (!mayRetry.ok) return mayRetry;
  const isTimed = flag('x-ringbook-timing', headers['x-ringbook-timing']);
  return isTimed.ok ? accepted({ mayRetry: mayRetry.value, isTimed: isTimed.value }) : isTimed;
}

/** @returns INVALID_REQUEST with the key. */
export function controlOptionsOf(head: RequestHead): Outcome<ControlOptions> {
  const query = new Query(head.query);
  const flags: boolean[] = [];
  for (const key of ['resend', 'timing', 'cancel_on_disconnect']) {
    const given = query.one(key);
    const read = given.ok ? flag(key, given.value ?? '') : given;
    if (!read.ok) return read;
    flags.push(read.value);
  }
  const [mayRetry = false, isTimed = false, endsWithConnection = false] = flags;
  return accepted({ mayRetry, isTimed, endsWithConnection });
}

function flag(name: string, text: string): Outcome<boolean> {
  if (text === 'true') return accepted(true);
  return text === '' || text === 'false'
    ? accepted(false)
    : rejected(reject('INVALID_REQUEST', `${name} is true or false`, name));
}
