/**
 * The lower bound for control.bench.ts: a raw uWebSockets.js server that makes one native Ed25519 verification per
 * message and echoes the head of the frame, about as long as a reply. It parses and stores nothing: no node that
 * verifies signatures can be faster. Prints its address as one JSON line.
 */

import uWS from 'uWebSockets.js';
import { generateKeyPairSync, sign } from 'node:crypto';
import sodium from 'sodium-native';
import { assert } from '../src/core/assert.ts';

/** Length of the signed text of a create here. */
const SIGNED_BYTES = 380;
const ANSWER_BYTES = 190;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
const text = Buffer.alloc(SIGNED_BYTES, 'x');
const signature = sign(null, text, privateKey);

uWS
  .App()
  .ws('/control', {
    maxPayloadLength: 65_536,
    message(socket, message) {
      assert(sodium.crypto_sign_verify_detached(signature, text, key) === true, 'the signature is valid');
      socket.send(message.slice(0, ANSWER_BYTES), false);
    },
  })
  .listen('127.0.0.1', 0, (token) => {
    assert(token !== false, 'a free port is found');
    const base = `http://127.0.0.1:${uWS.us_socket_local_port(token)}`;
    process.stdout.write(`${JSON.stringify({ base })}\n`);
  });
