/**
 * The connection of the two threads with a public listener, for the requests and the sockets that one passes to the other
 * (http/passed-requests.ts, http/passed-sockets.ts).
 *
 * It has a name, by which a restarted thread joins it again. Messages to a thread that has ended are lost: the deadline of
 * their request answers.
 */
import { BroadcastChannel } from 'node:worker_threads';
import type { PassedReply, PassedRequest, PeerChannel } from '../http/passed-requests.ts';

/** To the market-data thread: the TLS files of its listener are others now (reload.ts). */
export type CertificateMessage = 'read-again';

/** @param name the same on both threads, and unique to the node in its process. */
export function peerChannel<Message = PassedRequest | PassedReply>(name: string): PeerChannel<Message> {
  const channel = new BroadcastChannel(name);
  channel.unref();
  let isOpen = true;
  return {
    // A handler may end after its listener has closed: its reply has no receiver then.
    post: (message) => {
      if (isOpen) channel.postMessage(message);
    },
    receive: (receiver) => {
      channel.onmessage = (event) => receiver((event as { readonly data: Message }).data);
    },
    close: () => {
      isOpen = false;
      channel.close();
    },
  };
}
