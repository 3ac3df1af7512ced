/** The calls of sodium-native that ringbook uses; the package ships no types. */
declare module 'sodium-native' {
  const sodium: {
    /** Returns undefined, not false, for views over shared memory. */
    crypto_sign_verify_detached(signature: Buffer, message: Buffer, publicKey: Buffer): boolean | undefined;
    /** Canonical, of the main subgroup, and not of small order. */
    crypto_core_ed25519_is_valid_point(point: Buffer): boolean;
  };
  // biome-ignore lint/style/noDefaultExport: the package is CommonJS; Node gives its exports as the default.
  export default sodium;
}
