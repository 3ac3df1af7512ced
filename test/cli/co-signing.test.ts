// tier: full, 7 s
/** `ringbook signers` and `ringbook cosign` against a whole node: keys from files, a withdrawal that three machines sign. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { ringbook } from '../support/ringbook-command.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { TestNode } from '../support/test-node.ts';

const CHAIN = '000000000000007a69';
const TOKEN = '5a'.repeat(20);
const TARGET = '7c'.repeat(20);

suite('co-signing by the command', () => {
  const folder = temporaryDirectory();
  const file = (name: string): string => join(folder, name);
  let node: TestNode;
  let user = '';
  const keys = new Map<string, string>();

  async function done(...argv: readonly string[]): Promise<string> {
    const ended = await ringbook([...argv, ...(argv[0] === 'keygen' ? [] : ['--oms', node.process.oms])]);
    assert.equal(ended.code, 0, `${argv.join(' ')}: ${ended.stderr}`);
    assert.equal(ended.stderr, '');
    return ended.stdout;
  }

  async function refused(reason: RegExp, code: number, ...argv: readonly string[]): Promise<void> {
    const ended = await ringbook([...argv, '--oms', node.process.oms]);
    assert.match(ended.stderr, reason, argv.join(' '));
    assert.equal(ended.code, code, ended.stderr);
  }

  before(async () => {
    node = await TestNode.start();
    user = (await done('keygen', file('me.key'))).trim();
    const party = ['--rp-id', 'localhost', '--origin', 'http://localhost'];
    for (const [name, scheme] of [
      ['phone', 'secp256k1-personal'],
      ['web', 'webauthn'],
      ['lost', 'p256'],
    ] as const) {
      const more = scheme === 'webauthn' ? party : [];
      keys.set(name, (await done('keygen', file(`${name}.key`), '--scheme', scheme, ...more)).trim());
    }
    const deposit = { user, token: TOKEN.padEnd(64, '0'), amount_base_units: String(1_000 * 1e6) };
    await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, deposit);
    await node.rest();
  });
  after(async () => {
    await node?.stop();
    removeDirectory(folder);
  });

  test('keys are files for their owner alone; what is printed is public (MSG-16 to MSG-19)', () => {
    assert.match(keys.get('phone') ?? '', /^secp256k1:0[23][0-9a-f]{64}$/);
    assert.match(keys.get('web') ?? '', /^webauthn:0[23][0-9a-f]{64}$/);
    for (const name of ['me', 'phone', 'web']) {
      assert.equal(statSync(file(`${name}.key`)).mode & 0o777, 0o600);
      const [, secret = ''] = /([0-9a-f]{64})/.exec(readFileSync(file(`${name}.key`), 'utf8')) ?? [];
      assert.ok(![...keys.values(), user].some((shown) => shown.includes(secret)));
    }
  });

  test('co-signers are added and shown, and the account is found by a key (MSG-38, MSG-39, MSG-41)', async () => {
    assert.match(
      await done('signers', '--key', file('me.key')),
      /the key of the account +1 +- +-\norders and logins need 1/,
    );
    await done('signers', 'add', keys.get('phone') ?? '', '--weight', '2', '--key', file('me.key'));
    const table = await done('signers', 'add', keys.get('web') ?? '', '--for', '30d', '--key', file('me.key'));
    assert.match(table, /^secp256k1:\S+ +2 +- +-$/m);
    assert.match(table, /^webauthn:\S+ +1 .*2027/m);
    assert.match(table, /withdrawals and signers 1; config nonce 2$/m);
    assert.equal(await done('signers', 'of', keys.get('web') ?? ''), `${user}\n`);
    assert.match(await done('signers', 'of', keys.get('lost') ?? '', '--key', file('me.key')), /no account/);
  });

  test('a withdrawal goes in a file to two co-signers, each signs its own copy, and it is sent with all signatures (MSG-20, MSG-28)', async () => {
    const request = await done(
      ...['withdraw', '25', `${TOKEN}@${CHAIN}`, '--to', TARGET],
      ...['--key', file('me.key'), '--request', file('pay.json')],
    );
    assert.match(request, /amount: 25 /);
    assert.match(request, /signed by: the key of the account/);
    const before = readFileSync(file('pay.json'), 'utf8');
    assert.match(await done('cosign', file('pay.json')), new RegExp(`paid to: ${TARGET}`));
    assert.equal(readFileSync(file('pay.json'), 'utf8'), before, 'showing it changes nothing');
    copyFileSync(file('pay.json'), file('pay-web.json'));
    assert.match(await done('cosign', file('pay.json'), '--co-signer', file('phone.key')), /signed by: Secp256k1/);
    assert.match(await done('cosign', file('pay-web.json'), '--co-signer', file('web.key')), /signed by: WebAuthn/);
    await refused(/signs twice/, 1, 'cosign', file('pay.json'), '--co-signer', file('phone.key'));
    const session = ['--user', user, '--co-signer', file('phone.key')];
    const sent = await done('cosign', file('pay.json'), file('pay-web.json'), '--send', ...session);
    assert.equal(sent.match(/signed by/g)?.length, 3);
    assert.match(sent, /sent\n$/);
    assert.match(await done('withdraw', ...session), new RegExp(`queued +25 .*${TARGET}`));
    assert.match(await done('withdraw', `${TOKEN}@${CHAIN}`, '--cancel', '0', ...session), /^ +0 +cancelled/m);
  });

  test('a co-signer that is not registered is refused by the node, and an account without its key by the command', async () => {
    const withdraw = ['withdraw', '1', `${TOKEN}@${CHAIN}`, '--to', TARGET];
    await refused(/SIGNER_UNKNOWN/, 1, ...withdraw, '--user', user, '--co-signer', file('lost.key'));
    await refused(/nothing signs this/, 1, ...withdraw, '--user', user);
    await refused(/--user goes without/, 64, ...withdraw, '--user', user, '--key', file('me.key'));
  });

  test('a co-signer is added by a file too', async () => {
    const added = ['signers', 'add', keys.get('lost') ?? '', '--key', file('me.key'), '--request', file('signer.json')];
    assert.match(await done(...added), /new signer: P256/);
    await refused(/exists; choose another name/, 1, ...added);
    await done('cosign', file('signer.json'), '--co-signer', file('web.key'));
    await done('cosign', file('signer.json'), '--send', '--key', file('me.key'));
    assert.match(await done('signers', '--key', file('me.key')), /^p256:/m);
  });

  test('a file whose description is not that of its text is refused before anything is signed', async () => {
    const content = readFileSync(file('pay.json'), 'utf8');
    writeFileSync(file('evil.json'), content.replace('amount: 25 ', 'amount: 2 '));
    await refused(
      /does not mean what the file describes/,
      1,
      'cosign',
      file('evil.json'),
      '--co-signer',
      file('web.key'),
    );
    assert.equal(readFileSync(file('evil.json'), 'utf8').includes('webauthn'), false);
  });
});
