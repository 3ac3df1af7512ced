/**
 * libsodium's binding, loaded with require because it is CommonJS: an import would make Node parse its hundred
 * kilobytes for export names, and the compiler optimise that parser, in every verifying thread.
 */
import { createRequire } from 'node:module';

export const sodium: typeof import('sodium-native')['default'] = createRequire(import.meta.url)('sodium-native');
