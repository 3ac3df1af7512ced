/** What a production node refuses to start with (operator-api.md 1): one line on standard error, exit code 78. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PATIENCE_MS } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const TOKEN = 'f'.repeat(32);
const BEHIND_TERMINATOR = { publicListeners: 'plain-behind-terminator' };

suite('production does not start', () => {
  const directory = temporaryDirectory();
  after(() => removeDirectory(directory));

  for (const [name, { token, config, says }] of Object.entries({
    'without an operator token': { token: undefined, config: BEHIND_TERMINATOR, says: /RINGBOOK_OPERATOR_TOKEN/ },
    'with an operator token of 31 characters': {
      token: TOKEN.slice(1),
      config: BEHIND_TERMINATOR,
      says: /at least 32 characters/,
    },
    'with test hooks': { token: TOKEN, config: { ...BEHIND_TERMINATOR, hooks: true }, says: /test hooks/ },
    'with simulated chains': {
      token: TOKEN,
      config: { ...BEHIND_TERMINATOR, chains: 'simulated' },
      says: /simulated chains/,
    },
    'with a seed': { token: TOKEN, config: { ...BEHIND_TERMINATOR, seed: 'dev' }, says: /a seed/ },
    'with a manual clock': { token: TOKEN, config: { ...BEHIND_TERMINATOR, clock: 'manual' }, says: /manual clock/ },
    'with listeners that nobody declared safe': { token: TOKEN, config: {}, says: /plain-behind-terminator/ },
    'with a misspelt setting': { token: TOKEN, config: { ...BEHIND_TERMINATOR, hoooks: false }, says: /hoooks/ },
  })) {
    test(name, () => {
      const path = `${directory}/config.json`;
      writeFileSync(path, JSON.stringify({ extends: 'production', ...config }));
      const { RINGBOOK_OPERATOR_TOKEN: _none, ...inherited } = process.env;
      const env = {
        ...inherited,
        ...(token === undefined ? {} : { RINGBOOK_OPERATOR_TOKEN: token }),
        RINGBOOK_CONFIG: path,
        RINGBOOK_DATA_DIR: `${directory}/data`,
        RINGBOOK_OMS_PORT: '0',
        RINGBOOK_MDS_PORT: '0',
        RINGBOOK_OPS_PORT: '0',
      };
      const run = spawnSync(process.execPath, [CLI, 'start'], { env, encoding: 'utf8', timeout: PATIENCE_MS });
      assert.equal(run.status, 78, run.stderr);
      assert.equal(run.stdout, '');
      assert.match(run.stderr, says);
      assert.equal(run.stderr.trim().split('\n').length, 1, run.stderr);
    });
  }
});
