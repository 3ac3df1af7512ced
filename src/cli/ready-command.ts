/** `ringbook ready`: whether the node serves, for scripts, supervisors and the health check of the image. */
import { OperatorClient } from '../client/operator.ts';
import { ADDRESS_OPTIONS, CliError, type Command, checkAddress, EXIT, parseOptions, usageError } from './command.ts';

/** Between two looks, and the time that one may take. */
const LOOK_MS = 200;
const SECONDS_MAX = 86_400;

type State =
  | { readonly isReady: true }
  | { readonly isReady: false; readonly exitCode: 1 | 69; readonly reason: string };

async function stateOf(operator: OperatorClient, ops: string): Promise<State> {
  try {
    const { ready, waitingFor } = await operator.readiness();
    if (ready) return { isReady: true };
    return { isReady: false, exitCode: EXIT.fault, reason: `the node at ${ops} waits for ${waitingFor.join(', ')}` };
  } catch {
    return { isReady: false, exitCode: EXIT.unreachable, reason: `no node answers at ${ops}` };
  }
}

/** Looks until the node is ready or the time is over. */
async function awaitReady(ops: string, waitMs: number): Promise<State> {
  const operator = new OperatorClient(ops);
  const deadlineMs = performance.now() + waitMs;
  try {
    let state = await stateOf(operator, ops);
    while (!state.isReady && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      state = await stateOf(operator, ops);
    }
    return state;
  } finally {
    operator.close();
  }
}

export const readyCommand: Command = {
  name: 'ready',
  summary: 'whether the node is ready, for scripts and health checks',
  help: `usage: ringbook ready [--wait SECONDS]

Exits with 0 when the node has recovered and all listeners are open; with 1 while it starts or drains, and with 69 when
none answers. With --wait it looks again until then.

  --wait SECONDS     how long to wait, up to ${SECONDS_MAX}  (default 0: look once)
  --ops URL          operator API           (default http://127.0.0.1:9464)

example:
  ringbook ready --wait 60
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      ops: ADDRESS_OPTIONS.ops,
      wait: { type: 'string', default: '0' },
    });
    if (positionals.length > 0) throw usageError('ready takes no argument: ringbook ready --wait 60');
    const seconds = Number(values.wait);
    if (!/^[0-9]{1,5}$/.test(values.wait) || seconds > SECONDS_MAX) {
      throw usageError(`--wait takes whole seconds from 0 to ${SECONDS_MAX}, not "${values.wait}"`);
    }
    const state = await awaitReady(checkAddress(values.ops, 'ops'), seconds * 1_000);
    if (!state.isReady) throw new CliError(state.exitCode, state.reason);
    return EXIT.done;
  },
};
