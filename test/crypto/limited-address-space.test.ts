// tier: quick
/** Under a limit of address space no co-signature of secp256k1 is valid, and none ends the process. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const LIMIT_KIB = 6 * 1_024 * 1_024;
const skip = existsSync('/proc/self/limits') ? false : 'this system has no limits in /proc';
const urlOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
const SCRIPT = `
const { verifyCoSignature } = await import(${urlOf('../../src/crypto/co-signature.js')});
const { addressOfKey } = await import(${urlOf('../../src/crypto/secp256k1.js')});
const keys = await import(${urlOf('../../src/client/co-signers.js')});
const text = Buffer.from('text');
const secret = new Uint8Array(32).fill(0xa1);
const verdict = (signer) => verifyCoSignature(keys.coSign([signer], text)[0], text, null);
const signers = [keys.secp256k1CoSigner(secret), keys.secp256k1CoSigner(secret, 'personal'), keys.p256CoSigner(secret), keys.ed25519CoSigner(secret)];
console.log(JSON.stringify([addressOfKey(secret), ...signers.map(verdict)]));
`;

function run(limit: string, flags: readonly string[]): unknown {
  const node = [process.execPath, ...flags, '--input-type=module', '-e', '"$SCRIPT"'].join(' ');
  const { stdout, stderr, status } = spawnSync('bash', ['-c', `${limit} ${node}`], {
    env: { ...process.env, SCRIPT },
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

suite('limited address space', { skip }, () => {
  const ADDRESS = '5d5c99edf529335160ff180fa141dd4967fc00d2';

  test('secp256k1 is refused, the other schemes and the addresses of approval keys are as ever (MSG-17)', () => {
    assert.deepEqual(run(`ulimit -v ${LIMIT_KIB};`, []), [ADDRESS, false, false, true, true]);
    assert.deepEqual(run('', []), [ADDRESS, true, true, true, true]);
  });

  test('without reservations by WebAssembly it is verified under the limit too', () => {
    const flag = '--disable-wasm-trap-handler';
    if (!process.allowedNodeEnvironmentFlags.has(flag)) return;
    assert.deepEqual(run(`ulimit -v ${LIMIT_KIB};`, [flag]), [ADDRESS, true, true, true, true]);
  });
});
