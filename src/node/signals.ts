/**
 * What ends a node in order. Handlers are in place before the modules of a node are loaded: in a container the node is process 1, for
 * which the kernel drops a signal that has no handler.
 */
import { writeSync } from 'node:fs';

const EXIT_BROKEN = 70;

/** The first SIGTERM or SIGINT ends the process in order; further ones change nothing. */
export class Signals {
  isStopping = false;
  /** Until something has begun that has to be ended, there is nothing to do. */
  stop: () => Promise<void> = () => Promise.resolve();

  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#take());
  }

  #take(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        writeSync(2, `ringbook did not stop in order: ${String(error)}\n`);
        process.exit(EXIT_BROKEN);
      },
    );
  }
}
