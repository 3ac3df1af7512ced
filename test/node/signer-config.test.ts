// tier: quick
/** The members of the configuration that concern signers: what is accepted, and what is derived from them. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { privateKeyToAddress } from 'viem/accounts';
import { ConfigError } from '../../src/core/config-error.ts';
import { approvalLimits, loadConfig, type NodeConfig, webauthnPolicy } from '../../src/node/config.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

suite('the configuration of signers', () => {
  const folder = temporaryDirectory();
  after(() => removeDirectory(folder));
  const load = (changes: object): NodeConfig => {
    const path = join(folder, 'config.json');
    writeFileSync(path, JSON.stringify({ extends: 'dev', ...changes }));
    return loadConfig({ RINGBOOK_CONFIG: path });
  };

  test('dev has a relying party for trials, production has none until it is configured (AMB-119)', () => {
    assert.deepEqual(webauthnPolicy(load({})), { rpId: 'localhost', origins: ['http://localhost'] });
    assert.equal(webauthnPolicy(load({ webauthn: null })), null);
    const production = {
      ...{ extends: 'production', publicListeners: 'plain-behind-terminator' },
      ...{ feeAccount: 'f1'.repeat(32), backstopAccount: 'b1'.repeat(32) },
    };
    const path = join(folder, 'production.json');
    writeFileSync(path, JSON.stringify(production));
    const loaded = loadConfig({ RINGBOOK_CONFIG: path, RINGBOOK_OPERATOR_TOKEN: 't'.repeat(32) });
    assert.deepEqual([webauthnPolicy(loaded), loaded.approvalAddresses], [null, []]);
    writeFileSync(path, JSON.stringify({ ...production, webauthn: { rp_id: 'example.com' } }));
    assert.throws(() => loadConfig({ RINGBOOK_CONFIG: path, RINGBOOK_OPERATOR_TOKEN: 't'.repeat(32) }), /webauthn/);
  });

  test('a relying party is a host name, an origin what a browser writes (MSG-25, MSG-26)', () => {
    const origins = ['https://app.example.com', 'https://example.com:8443', 'http://localhost'];
    const key = `android:apk-key-hash:${'A'.repeat(43)}`;
    const webauthn = { rp_id: 'example.com', origins: [...origins, key] };
    assert.deepEqual(webauthnPolicy(load({ webauthn })), { rpId: 'example.com', origins: [...origins, key] });
    for (const origin of [
      'https://example.com/',
      'https://Example.com',
      'https://example.com:443',
      'example.com',
      '*',
    ]) {
      assert.throws(() => load({ webauthn: { ...webauthn, origins: [origin] } }), ConfigError, origin);
    }
    for (const rpId of ['https://example.com', 'Example.com', 'example.com:8443', '-a.com', 'a..com', '']) {
      assert.throws(() => load({ webauthn: { ...webauthn, rp_id: rpId } }), ConfigError, rpId);
    }
    for (const wrong of [
      { rp_id: 'a.com', origins: [] },
      { ...webauthn, rpId: 'a.com' },
    ]) {
      assert.throws(() => load({ webauthn: wrong }), ConfigError);
    }
    assert.throws(
      () => load({ webauthn: { ...webauthn, origins: ['https://x.com/y'] } }),
      /"https:\/\/x.com\/y" is no origin/,
    );
  });

  test('the addresses of approval keys are derived from their files; the public key of dev has the known one', () => {
    assert.deepEqual(load({}).approvalAddresses, ['5d5c99edf529335160ff180fa141dd4967fc00d2']);
    const keys = ['17'.repeat(32), '29'.repeat(32)];
    const paths = keys.map((key, index) => {
      const path = join(folder, `approval-${index}`);
      writeFileSync(path, `${key}\n`, { mode: 0o600 });
      chmodSync(path, 0o600);
      return path;
    });
    const addresses = keys.map((key) => privateKeyToAddress(`0x${key}`).slice(2).toLowerCase());
    assert.deepEqual(load({ approval_keys: paths }).approvalAddresses, addresses);
    chmodSync(paths[0] ?? '', 0o644);
    assert.throws(() => load({ approval_keys: paths }), /"approval_keys": .*chmod 600/);
  });

  test('limits of approvals are base units by token and chain, and nothing else', () => {
    const token = `${'5a'.repeat(20).padEnd(64, '0')}@000000000000007a69`;
    assert.deepEqual(approvalLimits(load({ approval_limits: { [token]: '2500' } })), new Map([[token, 2_500n]]));
    assert.deepEqual(approvalLimits(load({})), new Map());
    for (const wrong of [
      { USD: '1' },
      { [token.toUpperCase()]: '1' },
      { [token]: '1.5' },
      { [token]: 1 },
      { [token]: '-1' },
    ]) {
      assert.throws(() => load({ approval_limits: wrong }), ConfigError, JSON.stringify(wrong));
    }
  });
});
