/**
 * libsodium's binding, loaded as what it is: CommonJS. For an import Node searches its hundred kilobytes for names to
 * export, and the compiler optimises that search, in every thread that verifies.
 */
import { createRequire } from 'node:module';

export const sodium: typeof import('sodium-native')['default'] = createRequire(import.meta.url)('sodium-native');
