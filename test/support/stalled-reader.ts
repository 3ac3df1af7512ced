/**
 * A WebSocket client that reads nothing, on any machine: how much the kernels between it and the server take before the
 * server notices is a matter of megabytes and differs by ten times. So they are filled first, by pings of which each
 * has as long an answer.
 *
 *   server's queue ─▶ kernel ═ full of pongs ═▶ kernel ─▶ nobody reads
 */
import assert from 'node:assert/strict';
import type WebSocket from 'ws';

/** As long as a ping may be (RFC 6455 5.5). */
const PING = Buffer.alloc(125, 'p');
/** So many at once are a megabyte: less than a server queues for a reader before it gives up. */
const PINGS_AT_ONCE = 8_192;
/** More than the events published meanwhile, less than the pongs of one round. */
const QUEUED_BYTES = 131_072;
/** Far more than any kernel keeps. */
const ROUNDS_MAX = 256;

export interface Choke {
  /** Makes the server send something to its readers, and waits until it has. */
  readonly tell: () => Promise<void>;
  /** What waits at the server for all of its readers, in bytes. */
  readonly backlogBytes: () => Promise<number>;
}

/** Stops reading, and returns when whatever is sent from now on waits at the server. */
export async function choke(socket: WebSocket, { tell, backlogBytes }: Choke): Promise<void> {
  socket.pause();
  const before = await backlogBytes();
  for (let round = 0; (await backlogBytes()) < before + QUEUED_BYTES; round += 1) {
    assert.ok(round < ROUNDS_MAX, 'a reader that does not read is noticed');
    await new Promise<void>((resolve) => {
      for (let sent = 1; sent < PINGS_AT_ONCE; sent += 1) socket.ping(PING);
      socket.ping(PING, true, () => resolve());
    });
    await tell();
  }
}

/** A reader that stalls is no dead one: it sends something now and then, and does not close it as silent. */
export function nudge(socket: WebSocket): void {
  socket.ping();
}
