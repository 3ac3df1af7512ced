// tier: quick
/** How threads that wait for the check of the data directory learn its result. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { NodeWords } from '../../src/node/node-words.ts';

/** A thread that still waits records heartbeats: here that is a failure, as the verdict is there. */
function stillWaits(): never {
  throw new InvariantError('the thread waits on');
}

suite('the verdict on a data directory', () => {
  test('a waiting thread goes on when the directory is sound', () => {
    const words = new NodeWords();
    words.setChecked();
    new NodeWords(words.memory).waitUntilChecked(stillWaits);
  });

  test('a waiting thread ends when the start is refused, so a refusal waits for no thread', () => {
    const words = new NodeWords();
    words.setRefused();
    assert.throws(() => new NodeWords(words.memory).waitUntilChecked(stillWaits), /the start is refused/);
  });

  test('until then it records heartbeats', () => {
    assert.throws(() => new NodeWords().waitUntilChecked(stillWaits), /the thread waits on/);
  });
});
