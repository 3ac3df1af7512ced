/**
 * The signing vectors of the contract for the tests of the Python package, packages/python/tests/vectors.json:
 * `node dist/test/support/make-python-vectors.js` writes the file. It is no part of `npm run generate`, as the image is built
 * without tests.
 */
import { writeFileSync } from 'node:fs';
import { USER_9D, USER_07, USER_42, VECTORS } from './wire-vectors.ts';

export const PYTHON_VECTORS = 'packages/python/tests/vectors.json';
/** examples.md: RFC 8032, test 1. */
const SEED_9D = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';

export function pythonVectors(): string {
  const seeds = { [USER_42]: '42'.repeat(32), [USER_07]: '07'.repeat(32), [USER_9D]: SEED_9D };
  const vectors = VECTORS.map(({ byteLength, ...vector }) => ({ ...vector, byte_length: byteLength }));
  return `${JSON.stringify({ seeds, vectors }, null, 1)}\n`;
}

if (process.argv[1]?.endsWith('make-python-vectors.js') === true) writeFileSync(PYTHON_VECTORS, pythonVectors());
