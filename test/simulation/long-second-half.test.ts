/** See long-first-half.test.ts. */
import { suite } from 'node:test';
import { testLongHistories } from './long-histories.ts';

suite('long histories, the second half', () => {
  testLongHistories(101);
});
