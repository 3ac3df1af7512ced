// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createLogger } from '../../src/runtime/logging.ts';

suite('logging', () => {
  test('a line is JSON with a level in words and hides secrets at every level it looks at', () => {
    const lines: string[] = [];
    const logger = createLogger({ name: 'gateway', level: 'info', stream: { write: (line) => lines.push(line) } });
    const secret = 'do-not-print-me';
    logger.info(
      { token: secret, request: { signature: secret, user: 'ab' }, a: { b: { private_key: secret } } },
      'login',
    );
    logger.debug('not at this level');
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.includes(secret), false);
    const line = JSON.parse(lines[0] ?? '');
    assert.deepEqual([line.level, line.name, line.msg, line.request.user], ['info', 'gateway', 'login', 'ab']);
    assert.equal(line.request.signature, '[hidden]');
  });
});
