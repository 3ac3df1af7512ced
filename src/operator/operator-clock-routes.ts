/**
 * How the node's clock follows the system clock (MCH-02): where it stands, and the operator's word for a step that nothing else
 * bears out. In every profile; the clock of `test` follows nothing.
 */
import type { Reply } from '../clearing/inputs.ts';
import { formatScaled } from '../core/decimal.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { BodyReader } from './body-reader.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';

type Body = Readonly<Record<string, unknown>>;

const PATH = '/operator/wall-clock';
const SECOND_NS = 1_000_000_000n;
/** Seconds: a century. */
const DIFFERENCE = { min: 1, max: 3_155_760_000 };
/** The operator names the difference that is seen: so far it may be beside it. */
const BESIDE_NS = 2n * SECOND_NS;

export function clockRoutes(parts: OpsParts): readonly OpsRoute[] {
  return [
    { method: 'GET', pattern: PATH, whileRecovering: true, handler: () => accepted(view(parts)) },
    { method: 'POST', pattern: `${PATH}/accept`, handler: ({ body }) => accept(parts, body) },
  ];
}

function view({ clock, wallClock }: OpsParts): Body {
  const { differenceNs, held } = wallClock.state;
  return {
    follows: clock.mode === 'system',
    now_ns: clock.nowNs(),
    difference_seconds: formatScaled(differenceNs, 9),
    held: held !== null,
    reason: held,
  };
}

async function accept(parts: OpsParts, body: Body): Promise<Reply> {
  const reader = new BodyReader(body, ['difference_seconds']);
  const seconds = reader.integer('difference_seconds', DIFFERENCE, undefined);
  if (reader.failure !== null) return reader.failure;
  const { differenceNs, held } = parts.wallClock.state;
  if (held === null) return rejected(reject('INVALID_REQUEST', 'no step of the system clock is held'));
  const besideNs = BigInt(seconds) * SECOND_NS - differenceNs;
  if (besideNs > BESIDE_NS || besideNs < -BESIDE_NS) {
    const message = `the system clock is ${(differenceNs + SECOND_NS / 2n) / SECOND_NS} s ahead of the node`;
    return rejected(reject('INVALID_REQUEST', message, 'difference_seconds'));
  }
  parts.wallClock.accept();
  return accepted(view(parts));
}
