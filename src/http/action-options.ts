/**
 * Options for senders of signed actions. Without them replies are unchanged (docs/safety.md).
 *
 *   REST, a header                /control, in the query of the upgrade
 *   X-Ringbook-Resend: true       ?resend=true                 idempotent retry: the same signed create gets the first reply
 *   X-Ringbook-Timing: true       ?timing=true                 replies contain the time at which the action passed each hop
 *                                 ?cancel_on_disconnect=true   orders created or replaced here are cancelled at disconnect
 *
 * Any value other than true or false is rejected, so that a misspelt option is not silently ignored.
 */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { Query } from './query.ts';
import type { RequestHead } from './request-head.ts';

interface ActionOptions {
  readonly mayRetry: boolean;
  readonly isTimed: boolean;
}

export interface ControlActionOptions extends ActionOptions {
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
export function controlOptionsOf(head: RequestHead): Outcome<ControlActionOptions> {
  const query = new Query(head.query);
  const flags: boolean[] = [];
  for (const key of ['resend', 'timing', 'cancel_on_disconnect']) {
    const given = query.flag(key);
    if (!given.ok) return given;
    flags.push(given.value);
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
