/** Half of the million operations of a test run; the other half is a file of its own, as files run side by side. */
import { suite } from 'node:test';
import { testHalfMillion } from './half-million.ts';

suite('a million operations, the first half', () => {
  testHalfMillion(1);
});
