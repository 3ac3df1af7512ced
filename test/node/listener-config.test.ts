// tier: quick
/** What a node reports about its public listeners before it starts: one line that names the fault (AMB-114). */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { ConfigError } from '../../src/core/config-error.ts';
import { loadConfig, type NodeConfig } from '../../src/node/config.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { writeTlsPair } from '../support/tls-pair.ts';

suite('public listeners', () => {
  const folder = temporaryDirectory();
  const tls = writeTlsPair(folder);
  const otherKey = `${folder}/other.pem`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(otherKey, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  after(() => removeDirectory(folder));

  function load(config: object): NodeConfig {
    const path = `${folder}/config.json`;
    writeFileSync(path, JSON.stringify({ extends: 'production', ...config }));
    return loadConfig({ RINGBOOK_CONFIG: path, RINGBOOK_OPERATOR_TOKEN: 'f'.repeat(32) });
  }

  for (const [name, { config, says }] of Object.entries({
    'a certificate that is not there': {
      config: { publicListeners: { tls: { certFile: '/nowhere.pem', keyFile: tls.keyFile } } },
      says: /^publicListeners\.tls\.certFile is "\/nowhere\.pem", which cannot be read \(ENOENT\)$/,
    },
    'a key that is not there': {
      config: { publicListeners: { tls: { certFile: tls.certFile, keyFile: '/nowhere.key' } } },
      says: /^publicListeners\.tls\.keyFile is "\/nowhere\.key", which cannot be read \(ENOENT\)$/,
    },
    'a certificate that is none': {
      config: { publicListeners: { tls: { certFile: otherKey, keyFile: otherKey } } },
      says: /^publicListeners\.tls\.certFile is ".*other\.pem", which is no certificate in PEM$/,
    },
    'a key that is none': {
      config: { publicListeners: { tls: { certFile: tls.certFile, keyFile: tls.certFile } } },
      says: /^publicListeners\.tls\.keyFile is ".*cert\.pem", which is no private key/,
    },
    'the key of another certificate': {
      config: { publicListeners: { tls: { certFile: tls.certFile, keyFile: otherKey } } },
      says: /^publicListeners\.tls\.keyFile is ".*other\.pem", which is not the key of the certificate .*cert\.pem$/,
    },
    'half of a pair': { config: { publicListeners: { tls: { certFile: tls.certFile } } }, says: /publicListeners/ },
    'addresses out of a header that anybody can write': {
      config: { publicListeners: { tls }, addresses: { from: 'x-forwarded-for' } },
      says: /x-forwarded-for.*plain-behind-terminator/,
    },
    'a command ring that the longest order does not fit': {
      config: {
        publicListeners: { tls },
        rings: { commandBytes: 65_536, commandReservedBytes: 16_384, eventBytes: 65_536, depthBytes: 65_536 },
      },
      says: /at least 53248/,
    },
    'budgets of nobody knows what': {
      config: { publicListeners: { tls }, rateLimits: 'none' },
      says: /rateLimits/,
    },
  })) {
    test(`${name}: refused in one line`, () => {
      assert.throws(
        () => load(config),
        (error: unknown) => error instanceof ConfigError && says.test(error.message) && !error.message.includes('\n'),
      );
    });
  }

  test('a pair that fits, or a terminator whose header is declared, is taken (AMB-114)', () => {
    assert.deepEqual(load({ publicListeners: { tls } }).publicListeners, { tls });
    const behind = load({ publicListeners: 'plain-behind-terminator', addresses: { from: 'x-forwarded-for' } });
    assert.equal(behind.addresses?.from, 'x-forwarded-for');
    assert.equal(load({ publicListeners: { tls }, addresses: null }).addresses, null);
  });
});
