/**
 * What ends a node in order, and what makes it read its tokens and certificates again. Handlers are in place before the modules of a node
 * are loaded: in a container the node is process 1, for which the kernel drops a signal that has no handler.
 *
 *   SIGTERM, SIGINT   drain and end
 *   SIGHUP            of a terminal that was closed: the same; of a supervisor: tokens and TLS files are read again (MCH-03, LDG-03)
 *   SIGUSR1           nothing: without a handler Node would open its debugger on a port
 */
import { closeSync, constants, openSync } from 'node:fs';
import { writeLastLine } from '../runtime/log-buffer.ts';

const EXIT_BROKEN = 70;
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/** The first signal that ends a node ends the process in order; further ones change nothing. */
export class Signals {
  isStopping = false;
  /** Until something has begun that has to be ended, there is nothing to do. @param why the name of the signal. */
  stop: (why: string) => Promise<void> = () => Promise.resolve();
  /** Ends the process, with what has to be ended last. */
  exit: (code: number) => Promise<void> = (code) => process.exit(code);
  /** Reads tokens and TLS files again; before a node serves there is nothing to do: it reads them when it starts. */
  reload: () => void = () => undefined;
  readonly #hadTerminal = hasTerminal();

  constructor() {
    for (const signal of ENDING) process.on(signal, () => this.#take(signal));
    process.on('SIGHUP', () => {
      if (this.#hadTerminal && !hasTerminal()) this.#take('SIGHUP');
      else if (!this.isStopping) this.reload();
    });
    process.on('SIGUSR1', () => undefined);
  }

  /** Ends the node as a signal would. @param code of the exit after an orderly stop. */
  end(why: string, code: number): void {
    this.#take(why, code);
  }

  #take(why: string, code = 0): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.stop(why).then(
      () => this.exit(code),
      (error: unknown) => {
        const line = {
          level: 'fatal',
          time: new Date().toISOString(),
          event: 'stop-failed',
          why,
          reason: String(error),
        };
        writeLastLine(null, `${JSON.stringify(line)}\n`);
        return this.exit(EXIT_BROKEN);
      },
    );
  }
}

/** Whether the process has a controlling terminal: the one that sends SIGHUP when it is closed, and is gone then. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}
