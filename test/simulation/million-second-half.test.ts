/** See million-first-half.test.ts. */
import { suite } from 'node:test';
import { testHalfMillion } from './half-million.ts';

suite('a million operations, the second half', () => {
  testHalfMillion(101);
});
