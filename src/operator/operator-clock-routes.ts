/**
 * How the node's clock follows the system clock (MCH-02): where it stands, and the operator's word for a step that nothing else
 * bears out. In every profile; the clock of `test` follows nothing.
 */
import type { ActionReply } from '../clearing/inputs.ts';
import { formatScaled } from '../core/decimal.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { readBody } from './body-reader.ts';
import { body, integer } from './body-shapes.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { WALL_CLOCK_SHOWN } from './reply-shapes.ts';

type Body = Readonly<Record<string, unknown>>;

const PATH = '/operator/wall-clock';
const SECOND_NS = 1_000_000_000n;
/** At most a century. */
const ACCEPT_BODY = body({ difference_seconds: integer(1, 3_155_760_000) });
/** The operator names the difference that is seen: so far it may be beside it. */
const BESIDE_NS = 2n * SECOND_NS;

const EXAMPLE =
  '{"follows":true,"now_ns":1800000000000000000,"difference_seconds":"-0.000316603","held":false,"reason":null}';

export function clockRoutes(parts: OpsParts): readonly OpsRoute[] {
  return [
    {
      method: 'GET',
      path: PATH,
      area: 'Clock',
      summary: 'How the clock follows the system clock',
      reply: WALL_CLOCK_SHOWN,
      example: { reply: EXAMPLE },
      whileRecovering: true,
      handler: () => accepted(view(parts)),
    },
    {
      method: 'POST',
      path: `${PATH}/accept`,
      area: 'Clock',
      isJournaled: true,
      summary: 'Accept a step of the system clock',
      description: 'Names the difference that is seen.',
      body: ACCEPT_BODY,
      reply: WALL_CLOCK_SHOWN,
      example: { body: '{"difference_seconds":3600}', reply: EXAMPLE },
      // Of this machine: a standby whose clock is held is not ready either.
      whileRecovering: true,
      handler: (call) => accept(parts, call.body),
    },
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

async function accept(parts: OpsParts, given: Body): Promise<ActionReply> {
  const read = readBody(ACCEPT_BODY, given);
  if (!read.ok) return read;
  const { differenceNs, held } = parts.wallClock.state;
  if (held === null) return rejected(reject('INVALID_REQUEST', 'no step of the system clock is held'));
  const besideNs = BigInt(read.value.difference_seconds) * SECOND_NS - differenceNs;
  if (besideNs > BESIDE_NS || besideNs < -BESIDE_NS) {
    const message = `the system clock is ${(differenceNs + SECOND_NS / 2n) / SECOND_NS} s ahead of the node`;
    return rejected(reject('INVALID_REQUEST', message, 'difference_seconds'));
  }
  parts.wallClock.accept();
  return accepted(view(parts));
}
