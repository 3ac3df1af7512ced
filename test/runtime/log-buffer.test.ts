// tier: quick
/** Lines from threads to a stream that may take nothing, a part, or refuse (MCH-01), without threads and without a stream. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  createLogs,
  droppedLines,
  isLogWaiting,
  LAST,
  LAST_LINE_MS,
  LINE_BYTES_MAX,
  LOG_WORD,
  LOG_WRITER,
  LogLane,
  type LogMemory,
  writeLastLine,
} from '../../src/runtime/log-buffer.ts';
import { LogWriter } from '../../src/runtime/log-writer.ts';

/** A stream that takes so many bytes, then answers with an error. */
class Stream {
  text = '';
  room: number = Number.POSITIVE_INFINITY;
  refusal = 'EAGAIN';

  write(bytes: Uint8Array, at: number, length: number): number {
    if (this.room <= 0) throw Object.assign(new Error(this.refusal), { code: this.refusal });
    const taken = Math.min(this.room, length);
    this.room -= taken;
    this.text += Buffer.from(bytes.subarray(at, at + taken)).toString('utf8');
    return taken;
  }
}

class World {
  readonly memory: LogMemory = createLogs();
  readonly lane = new LogLane(this.memory, 'main');
  readonly clearing = new LogLane(this.memory, 'clearing');
  readonly output = new LogLane(this.memory, 'output');
  readonly out = new Stream();
  readonly err = new Stream();
  readonly writer = new LogWriter(this.memory, (descriptor, bytes, at, length) =>
    (descriptor === 1 ? this.out : this.err).write(bytes, at, length),
  );
}

suite('the log buffer (MCH-01)', () => {
  test('lines of every lane come out whole, in the order of their lane, each at its stream', () => {
    const world = new World();
    world.lane.write('a\n');
    world.clearing.write('b\n');
    world.output.write('ready\n');
    world.lane.write('ä\n');
    assert.equal(world.writer.step(), true);
    assert.deepEqual([world.err.text, world.out.text], ['a\nä\nb\n', 'ready\n']);
    assert.equal(droppedLines(world.memory), 0);
  });

  test('a stream that takes nothing stops no writer of lines; what does not fit is counted and reported once it drains', () => {
    const world = new World();
    world.err.room = 100;
    const line = `${JSON.stringify({ text: 'x'.repeat(990) })}\n`;
    let written = 0;
    for (; droppedLines(world.memory) < 10; written += 1) {
      world.lane.write(line);
      world.writer.step();
      assert.ok(written < 2_000, 'the buffer is bounded');
    }
    assert.equal(isLogWaiting(world.memory), true);
    assert.equal(world.writer.step(), false);
    world.err.room = Number.POSITIVE_INFINITY;
    assert.equal(world.writer.step(), true);
    assert.equal(isLogWaiting(world.memory), false);
    const lines = world.err.text
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    assert.equal(lines.length, written - 10 + 1);
    assert.deepEqual([lines.at(-1)?.['event'], lines.at(-1)?.['lines']], ['log-lines-dropped', 10]);
    // Not again.
    world.lane.write('{}\n');
    world.writer.step();
    assert.ok(world.err.text.endsWith('}\n{}\n'));
  });

  for (const refusal of ['ENOSPC', 'EPIPE', 'EIO', 'EBADF']) {
    test(`a stream that refuses with ${refusal} in the middle of a line: lines are counted, and whole again when it takes them`, () => {
      const world = new World();
      Object.assign(world.err, { room: 4, refusal });
      world.lane.write('{"n":1}\n');
      world.lane.write('{"n":2}\n');
      assert.equal(world.writer.step(), true, 'nothing waits for a stream that refuses');
      assert.equal(droppedLines(world.memory), 2);
      world.lane.write('{"n":3}\n');
      world.writer.step();
      assert.equal(droppedLines(world.memory), 3);
      world.err.room = Number.POSITIVE_INFINITY;
      world.lane.write('{"n":4}\n');
      world.writer.step();
      const [torn, four, dropped, ...more] = world.err.text.trimEnd().split('\n');
      assert.deepEqual([torn, four, more], ['{"n"', '{"n":4}', []]);
      assert.equal((JSON.parse(dropped ?? '') as { lines: number }).lines, 3);
    });
  }

  test('a line that is too long is counted, and the ones after it are written', () => {
    const world = new World();
    world.lane.write('x'.repeat(LINE_BYTES_MAX + 1));
    world.lane.write('y\n');
    world.writer.step();
    assert.equal(droppedLines(world.memory), 1);
    assert.ok(world.err.text.startsWith('y\n'));
  });

  test('a paused standard error does not hold up standard output', () => {
    const world = new World();
    world.err.room = 0;
    world.lane.write('a\n');
    world.output.write('ready\n');
    world.writer.step();
    assert.equal(world.out.text, 'ready\n');
  });

  test('the last line is given up after 200 ms when it is not written, and acknowledged when it is', () => {
    const { memory, err, writer } = new World();
    const words = new Int32Array(memory.state);
    Atomics.store(words, LOG_WORD.writer, LOG_WRITER.runs);
    const fromMs = performance.now();
    writeLastLine(memory, '{"event":"fail-stop"}\n');
    const tookMs = performance.now() - fromMs;
    assert.ok(tookMs >= LAST_LINE_MS - 1 && tookMs < 10 * LAST_LINE_MS, `${tookMs} ms`);
    assert.equal(Atomics.load(words, LOG_WORD.last), LAST.full);
    writer.step();
    assert.equal(err.text, '{"event":"fail-stop"}\n');
    assert.equal(Atomics.load(words, LOG_WORD.last), LAST.written);
  });
});
