/**
 * Sizes of Ed25519, apart from the verifier (ed25519.ts): a thread that only copies keys and signatures loads no
 * library.
 */

export const SIGNATURE_BYTES = 64;
export const PUBLIC_KEY_BYTES = 32;
