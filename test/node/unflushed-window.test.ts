import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { UnflushedWindow } from '../../src/node/unflushed-window.ts';

suite('the loss window of optimistic acknowledgements (AMB-110)', () => {
  test('it is open from the first word that is not flushed until all that was said is', () => {
    const window = new UnflushedWindow();
    assert.equal(window.seconds(1_000), 0);
    window.heard(0, 1, 1_000);
    window.heard(0, 2, 1_500);
    assert.equal(window.seconds(2_000), 1, 'a later word does not shorten it');
    window.flushed(0, 2, 2_000);
    assert.equal(window.seconds(3_000), 0);
  });

  test('a flush that covers a part leaves it open from then on, as what is left was said later', () => {
    const window = new UnflushedWindow();
    window.heard(0, 1, 1_000);
    window.heard(0, 2, 1_200);
    window.flushed(0, 1, 1_400);
    assert.equal(window.seconds(1_900), 0.5);
  });

  test('markets are counted apart: the flush of one does not close the window of another', () => {
    const window = new UnflushedWindow();
    window.heard(0, 5, 1_000);
    window.heard(1, 9, 1_000);
    window.flushed(0, 5, 1_100);
    assert.ok(window.seconds(1_600) > 0);
    window.flushed(1, 9, 1_700);
    assert.equal(window.seconds(9_000), 0);
  });

  test('a word that was flushed before it was heard opens nothing', () => {
    const window = new UnflushedWindow();
    window.flushed(3, 7, 1_000);
    window.heard(3, 7, 1_001);
    assert.equal(window.seconds(2_000), 0);
  });
});
