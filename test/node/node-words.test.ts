/** What threads that wait for the check of the data directory hear of it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { NodeWords } from '../../src/node/node-words.ts';

/** A thread that still waits beats: here that is a failure, as the verdict is there. */
function stillWaits(): never {
  throw new InvariantError('the thread waits on');
}

suite('the verdict on a data directory', () => {
  test('whoever waits for it goes on when the directory is sound', () => {
    const words = new NodeWords();
    words.setChecked();
    new NodeWords(words.memory).waitUntilChecked(stillWaits);
  });

  test('whoever waits for it ends when the start is refused, so that a refusal waits for nobody', () => {
    const words = new NodeWords();
    words.setRefused();
    assert.throws(() => new NodeWords(words.memory).waitUntilChecked(stillWaits), /the start is refused/);
  });

  test('until then it beats', () => {
    assert.throws(() => new NodeWords().waitUntilChecked(stillWaits), /the thread waits on/);
  });
});
