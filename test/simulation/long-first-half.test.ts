/** Half of the 300,000 operations of a test run; the other half is a file of its own, as files run side by side. */
import { suite } from 'node:test';
import { testLongHistories } from './long-histories.ts';

suite('long histories, the first half', () => {
  testLongHistories(1);
});
