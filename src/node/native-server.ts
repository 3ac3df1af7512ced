/** Whether the native server may be loaded: its C library is here, and its binary is the compared one. Loads nothing. */

import { binaryFault, packageFolder } from '../http/uws-integrity.ts';
import { libraryFault, type NativeHost } from '../runtime/c-library.ts';

/** @returns one sentence why it must not be loaded; null when it may. */
export function serverFault(host: NativeHost): string | null {
  return libraryFault(host) ?? binaryFault(packageFolder());
}
