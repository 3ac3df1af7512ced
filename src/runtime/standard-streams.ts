/**
 * Standard error and standard output without waiting for their reader.
 *
 * write(2) to a pipe or a terminal that is not read blocks the thread for ever, and a thread that is blocked in the kernel can
 * neither be ended nor does `process.exit` end without it. So the descriptors are made non-blocking, for native code that
 * prints as well: a pipe or a terminal by opening it once more, which leaves the descriptor of other processes as it was;
 * a socket (systemd, a parent process in Node) by its own flag. A file never waits for a reader.
 *
 * Node itself cannot replace a descriptor by another one, but open(2) takes the lowest free number: 2 after 2 was closed.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

export const STANDARD_OUTPUT = 1;
export const STANDARD_ERROR = 2;
const RETRY_MS = 5;

/** Keeps what holds a descriptor from being collected, which would close it. */
const held: Socket[] = [];

let areUnblocked = false;

/** Call on the main thread before other threads open files; further calls have no effect. */
export function unblockStandardStreams(): void {
  if (areUnblocked) return;
  areUnblocked = true;
  for (const descriptor of [STANDARD_OUTPUT, STANDARD_ERROR]) {
    try {
      unblock(descriptor);
    } catch {
      // It stays as it was: only the thread that writes the lines waits for its reader.
    }
  }
}

function unblock(descriptor: number): void {
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return;
  if (!stat.isSocket() && reopened(descriptor)) return;
  // A terminal of another user stays as it is. Pipes of another user, and sockets, cannot be opened once more.
  if (stat.isCharacterDevice()) return;
  const socket = new Socket({ fd: descriptor, readable: false, writable: true });
  socket.unref();
  // Nothing is written through it.
  socket.on('error', () => undefined);
  held.push(socket);
}

function reopened(descriptor: number): boolean {
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_APPEND;
  let own: number;
  try {
    own = openSync(`/proc/self/fd/${descriptor}`, flags);
  } catch {
    return false;
  }
  closeSync(descriptor);
  const again = openSync(`/proc/self/fd/${own}`, flags);
  // Another thread was faster, and has the number for as long as it likes: what is printed there is lost, or lands in its file.
  if (again !== descriptor) throw new Error(`descriptor ${descriptor} was taken meanwhile`);
  closeSync(own);
  return true;
}

/**
 * Call right before the process exits. Node resets the modes of terminals then, and aborts where one is gone (a closed window); a
 * descriptor that was opened anew is left alone, and the node has changed no modes.
 */
export function leaveTerminals(): void {
  for (const descriptor of [0, STANDARD_OUTPUT, STANDARD_ERROR]) {
    try {
      if (!fstatSync(descriptor).isCharacterDevice()) continue;
      closeSync(descriptor);
      openSync('/dev/null', constants.O_RDWR);
    } catch {
      // It is closed.
    }
  }
}

type Written = 'done' | 'waits' | 'failed';

/**
 * Writes what goes at once.
 *
 * @param write as writeSync of node:fs. @returns how many bytes went, and why no more.
 */
export function writeSome(
  bytes: Uint8Array,
  from: number,
  write: (bytes: Uint8Array, at: number, length: number) => number,
): { readonly at: number; readonly how: Written } {
  let at = from;
  while (at < bytes.length) {
    try {
      at += write(bytes, at, bytes.length - at);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null;
      if (code === 'EINTR') continue;
      return { at, how: code === 'EAGAIN' ? 'waits' : 'failed' };
    }
  }
  return { at, how: 'done' };
}

/** Writes text to a non-blocking descriptor, waiting for its reader at most `withinMs`; what does not go is lost. */
export function writeWithin(descriptor: number, text: string, withinMs: number): void {
  const bytes = Buffer.from(text, 'utf8');
  const endMs = performance.now() + withinMs;
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let at = 0;
  for (;;) {
    const some = writeSome(bytes, at, (from, offset, length) => writeSync(descriptor, from, offset, length));
    at = some.at;
    if (some.how !== 'waits' || performance.now() >= endMs) return;
    Atomics.wait(never, 0, 0, RETRY_MS);
  }
}
