// tier: quick
/**
 * Configuration errors (operator-api.md 1): each names the member or the variable, what was given and what is allowed, and for
 * one that does not exist the nearest that does. Nothing is ignored, no secret is repeated, and it is one line.
 */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { PUBLIC_APPROVAL_KEY } from '../../src/chain/key-file.ts';
import { startCommand } from '../../src/cli/start-command.ts';
import { ConfigError } from '../../src/core/config-error.ts';
import { loadConfig, type NodeConfig } from '../../src/node/config.ts';
import { faultsOf } from '../../src/node/config-faults.ts';
import { ProfileShape } from '../../src/node/config-shape.ts';
import { NODE_VARIABLES } from '../../src/node/environment.ts';
import { propertyParameters } from '../support/property.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const TOKEN = 'f'.repeat(32);
const TERMINATED = { extends: 'production', publicListeners: 'plain-behind-terminator' };

suite('configuration', () => {
  const folder = temporaryDirectory();
  const path = join(folder, 'config.json');
  after(() => removeDirectory(folder));

  function load(config: object | string, environment: Record<string, string> = {}): NodeConfig {
    writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config));
    return loadConfig({ RINGBOOK_CONFIG: path, ...environment });
  }

  /** The line of a refusal. */
  function refusal(run: () => unknown): string {
    try {
      run();
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      assert.doesNotMatch(error.message, /\n/);
      return error.message;
    }
    return assert.fail('it is not refused');
  }

  for (const [what, { config, line }] of Object.entries({
    'an unknown member': { config: { hoooks: false }, line: 'there is no member "hoooks": did you mean "hooks"?' },
    'an unknown member of an object': {
      config: { threads: { marketShard: 2 } },
      line: 'threads has no member "marketShard": did you mean "threads.marketShards"?',
    },
    'a member at the wrong level': {
      config: { marketShards: 2 },
      line: 'there is no member "marketShards": did you mean "threads.marketShards"?',
    },
    'an unknown member of an object that may be null': {
      config: { addresses: { unitPerSecond: 5 } },
      line: 'addresses has no member "unitPerSecond": did you mean "addresses.unitsPerSecond"?',
    },
    'a member that resembles none': {
      config: { snapshots: { telemetry: 1 } },
      line: 'snapshots has no member "telemetry": give everyMs or keep',
    },
    'a number out of its range': {
      config: { threads: { marketShards: 0 } },
      line: 'threads.marketShards is 0: give a whole number from 1 to 64',
    },
    'a number as a text': {
      config: { oracleFeedMs: '60000' },
      line: 'oracleFeedMs is "60000": give a whole number from 0 to 3600000',
    },
    'a text that is none of those allowed': {
      config: { acks: 'fast' },
      line: 'acks is "fast": give "optimistic" or "durable"',
    },
    'a flag as a text': { config: { hooks: 'true' }, line: 'hooks is "true": give true or false' },
    'an account that is none': {
      config: { feeAccount: '0x12' },
      line: 'feeAccount is "0x12": give a user id of 64 hex digits in lower case or null',
    },
    'half of a pair of TLS files': {
      config: { publicListeners: { tls: { certFile: 'a.pem' } } },
      line: 'publicListeners.tls.keyFile is missing: give the path of a file',
    },
    'an object where a list is expected': {
      config: { approval_keys: { a: 1 } },
      line: 'approval_keys is {"a":1}: give a list of 0 to 64, each the path of a file',
    },
    'an entry whose name has no form of a token': {
      config: { approval_limits: { usd: '5' } },
      line: 'approval_limits has the entry "usd": each is named "<token, 64 hex digits>@<chain id, 18 hex digits>"',
    },
    'an entry with a number that a double could round': {
      config: { approval_limits: { [`${'a'.repeat(64)}@${'0'.repeat(18)}`]: 5 } },
      line: `approval_limits.${'a'.repeat(64)}@${'0'.repeat(18)} is 5: give a whole number of base units as a text`,
    },
    'an origin list that is empty': {
      config: { webauthn: { rp_id: 'localhost', origins: [] } },
      line: 'webauthn.origins is []: give a list of 1 to 16, each an origin',
    },
    'a host with a port': {
      config: { hosts: { ops: 'local host' } },
      line: 'hosts.ops is "local host": give an address or a host name, without a port',
    },
  })) {
    test(`names the member, what was given and what is allowed: ${what}`, () => {
      assert.equal(
        refusal(() => load({ extends: 'dev', ...config })),
        `configuration "${path}": ${line}`,
      );
    });
  }

  test('several faults are all in the line, up to eight', () => {
    const two = refusal(() => load({ extends: 'dev', acks: 'fast', threads: { spinTurns: -1 } }));
    assert.match(two, /threads\.spinTurns is -1: .*; acks is "fast": |acks is "fast": .*; threads\.spinTurns is -1: /);
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`invented${index}`, index]));
    assert.match(
      refusal(() => load({ extends: 'dev', ...twenty })),
      /invented7": .*; and 12 more$/,
    );
  });

  test('a long value is cut, and a secret is not repeated', () => {
    assert.ok(refusal(() => load({ extends: 'dev', acks: 'x'.repeat(10_000) })).length < 300);
    const secret = refusal(() => load({ extends: 'dev', operatorToken: ['hunter2'] }));
    assert.match(secret, /operatorToken is not of the form that it has: give a text or null$/);
  });

  test('a file without "extends" is missing members, and the line says what it begins with', () => {
    assert.match(
      refusal(() => load({ acks: 'durable' })),
      /is missing: .*begins with "extends": "production"\)$/,
    );
  });

  for (const [what, { text, line }] of Object.entries({
    'no JSON': { text: '{"extends":"dev",}', line: /config\.json is not valid JSON: \S/ },
    'a secret in the place of JSON': { text: 's3cret-token', line: /is not valid JSON: Unexpected token 's'$/ },
    'a secret beside the fault': {
      text: '{"extends":"dev","operatorToken":["s3,cret",]}',
      line: /is not valid JSON: Unexpected token ']'$/,
    },
    'no object': { text: '[]', line: /does not hold a JSON object$/ },
    'a member twice': { text: '{"extends":"dev","hooks":true,"hooks":false}', line: /a member is named once: hooks$/ },
    'an unknown profile': {
      text: '{"extends":7}',
      line: /extends is 7: give dev, test, production or the path of a file$/,
    },
  })) {
    test(`a file with ${what} is refused`, () =>
      assert.match(
        refusal(() => load(text)),
        line,
      ));
  }

  test('a profile that does not exist is refused with the nearest', () => {
    const line = refusal(() => loadConfig({ RINGBOOK_CONFIG: 'producton' }));
    assert.match(line, /cannot read .*producton \(ENOENT\): .* Did you mean "production"\?$/);
  });

  test('the walk finds a fault exactly where the shape refuses, whatever is given', () => {
    const base = loadedProfile('dev');
    const names = Object.keys(base);
    const values = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(...Object.values(base)),
      fc.constantFrom('lifted', 5, null, {}, []),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names, 'hoooks'), values, (name, value) => {
        const given = { ...base, [name]: value };
        const faults = faultsOf(ProfileShape, given);
        assert.equal(faults.length === 0, Value.Check(ProfileShape, given), faults.join('; '));
      }),
      propertyParameters(300),
    );
  });

  test('production refuses the approval key of dev and test, whose private half is public', () => {
    const key = join(folder, 'public.key');
    writeFileSync(key, PUBLIC_APPROVAL_KEY, { mode: 0o600 });
    const line = refusal(() => load({ ...TERMINATED, approval_keys: [key] }, { RINGBOOK_OPERATOR_TOKEN: TOKEN }));
    assert.match(line, /"approval_keys" has the approval key of dev and test/);
    const inline = refusal(() =>
      load({ ...TERMINATED, approval_keys: ['7f'.repeat(32)] }, { RINGBOOK_OPERATOR_TOKEN: TOKEN }),
    );
    assert.match(inline, /"approval_keys": number 1 looks like a key: write it into a file/);
    assert.doesNotMatch(inline, /7f7f/, 'a key in the place of its path is not repeated');
    assert.equal(load({ extends: 'dev', approval_keys: [key] }).approvalAddresses.length, 1);
  });
});

/** What `dev` has, as an object. */
function loadedProfile(name: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(`config/${name}.json`, 'utf8')) as Readonly<Record<string, unknown>>;
}

suite('environment of a node', () => {
  const folder = temporaryDirectory();
  after(() => removeDirectory(folder));

  function refused(environment: Record<string, string>): string {
    try {
      loadConfig(environment);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.message;
    }
    return assert.fail(`${JSON.stringify(environment)} is not refused`);
  }

  test('an unknown variable is refused with the nearest one, by its name alone', () => {
    assert.equal(
      refused({ RINGBOOK_OPERATOR_TOKN: 'hunter2' }),
      'there is no variable RINGBOOK_OPERATOR_TOKN: did you mean RINGBOOK_OPERATOR_TOKEN?',
    );
    assert.equal(
      refused({ RINGBOOK_PORT: '1' }),
      `there is no variable RINGBOOK_PORT: there are ${NODE_VARIABLES.join(', ')}`,
    );
    assert.match(
      refused({ RINGBOOK_A_B_C_D: '1', RINGBOOK_OMS_PORTS: '1' }),
      /RINGBOOK_A_B_C_D: .*RINGBOOK_OMS_PORT\?$/,
    );
  });

  test('the variable of demo failover is no fault of a start', () => {
    assert.deepEqual(loadConfig({ RINGBOOK_NATS_SERVER: '/usr/bin/nats-server' }), loadConfig({}));
  });

  test('what Kubernetes sets for a service of this name is not ours', () => {
    const environment = {
      RINGBOOK_SERVICE_HOST: '10.0.0.1',
      RINGBOOK_SERVICE_PORT: '3032',
      RINGBOOK_SERVICE_PORT_OMS: '3032',
      RINGBOOK_PORT: 'tcp://10.0.0.1:3032',
      RINGBOOK_PORT_3032_TCP: 'tcp://10.0.0.1:3032',
      RINGBOOK_PORT_3032_TCP_ADDR: '10.0.0.1',
      RINGBOOK_MDS_SERVICE_HOST: '10.0.0.2',
    };
    assert.equal(loadConfig(environment).profile, 'dev');
    assert.match(refused({ RINGBOOK_OMS_PORT: 'tcp://10.0.0.1:3032' }), /Kubernetes .*enableServiceLinks/);
  });

  test('variables that are set and empty are refused where a fallback would surprise', () => {
    for (const name of ['RINGBOOK_CONFIG', 'RINGBOOK_HOST', 'RINGBOOK_DATA_DIR', 'RINGBOOK_OPERATOR_TOKEN']) {
      assert.equal(refused({ [name]: '' }), `${name} is empty: give it a value or do not set it`);
    }
    assert.equal(loadConfig({ RINGBOOK_OMS_PORT: '', RINGBOOK_LOG_LEVEL: '' }).omsPort, 3032);
  });

  test('MCH-09: a file that begins with a byte order mark and ends its lines with CR LF is read as without them', () => {
    const path = join(folder, 'windows.json');
    const text = JSON.stringify({ extends: 'dev', logLevel: 'error' }, null, 2);
    for (const written of [text, `\ufeff${text}`, `\ufeff${text.replaceAll('\n', '\r\n')}\r\n`]) {
      writeFileSync(path, written);
      assert.equal(loadConfig({ RINGBOOK_CONFIG: path }).logLevel, 'error');
    }
    writeFileSync(path, `\ufeff\ufeff${text}`);
    assert.throws(() => loadConfig({ RINGBOOK_CONFIG: path }), /is not valid JSON/);
  });

  test('the token may be in a file, whose line end is not part of it', () => {
    const path = join(folder, 'token');
    for (const [content, token] of [
      ['own-token', 'own-token'],
      ['own-token\n', 'own-token'],
      ['own-token\r\n', 'own-token'],
      ['two words\n', 'two words'],
      // MCH-09
      ['\ufeffown-token\r\n', 'own-token'],
    ]) {
      writeFileSync(path, content ?? '');
      assert.equal(loadConfig({ RINGBOOK_OPERATOR_TOKEN_FILE: path }).token, token);
    }
    assert.match(
      refused({ RINGBOOK_OPERATOR_TOKEN_FILE: path, RINGBOOK_OPERATOR_TOKEN: 'x' }),
      /^RINGBOOK_OPERATOR_TOKEN and RINGBOOK_OPERATOR_TOKEN_FILE are both set/,
    );
    for (const [content, fault] of [
      ['', 'is empty'],
      ['\n', 'is empty'],
      ['two\nlines\n', 'has more than one line'],
      ['a line\n\n', 'has more than one line'],
      ['x'.repeat(70_000), 'has more than 65536 characters'],
    ] as const) {
      writeFileSync(path, content);
      assert.equal(
        refused({ RINGBOOK_OPERATOR_TOKEN_FILE: path }),
        `RINGBOOK_OPERATOR_TOKEN_FILE is "${path}", which ${fault}: write one line into it, the secret, and nothing else`,
      );
    }
    assert.match(
      refused({ RINGBOOK_OPERATOR_TOKEN_FILE: `${path}.none` }),
      /token\.none", which cannot be read \(ENOENT\)/,
    );
    assert.match(refused({ RINGBOOK_OPERATOR_TOKEN_FILE: folder }), /cannot be read \(EISDIR\)/);
  });

  test('a token that no client can send in a header is refused, and not repeated', () => {
    for (const token of [' sesame', 'sesame ', 'ses\tame', 'sésame']) {
      const line = refused({ RINGBOOK_OPERATOR_TOKEN: token });
      assert.match(
        line,
        /^the operator token \(RINGBOOK_OPERATOR_TOKEN, its _FILE or "operatorToken"\) begins or ends/,
      );
      assert.doesNotMatch(line, /ame/);
    }
  });

  test('an address with a port is none, and listeners do not share a port', () => {
    for (const host of ['127.0.0.1:3032', 'localhost:3032', '[::1]', 'http://localhost']) {
      const line = `RINGBOOK_HOST is "${host}": give an address or a host name, without a port`;
      assert.equal(refused({ RINGBOOK_HOST: host }), line);
    }
    for (const host of ['::1', 'localhost', '127.0.0.2'])
      assert.equal(loadConfig({ RINGBOOK_HOST: host }).omsHost, host);
    assert.equal(
      refused({ RINGBOOK_OMS_PORT: '9464' }),
      'RINGBOOK_OMS_PORT and RINGBOOK_OPS_PORT are both 9464: give each listener a port of its own, or 0',
    );
    const path = join(folder, 'two-hosts.json');
    writeFileSync(path, JSON.stringify({ extends: 'dev', hosts: { ops: '127.0.0.2' } }));
    assert.equal(loadConfig({ RINGBOOK_CONFIG: path, RINGBOOK_OMS_PORT: '9464' }).omsPort, 9464);
    const free = { RINGBOOK_OMS_PORT: '0', RINGBOOK_MDS_PORT: '0', RINGBOOK_OPS_PORT: '0' };
    assert.equal(loadConfig(free).opsPort, 0);
  });

  test('a token that is too short is counted, not repeated', () => {
    const config = join(folder, 'production.json');
    writeFileSync(config, JSON.stringify(TERMINATED));
    chmodSync(config, 0o600);
    const line = refused({ RINGBOOK_CONFIG: config, RINGBOOK_OPERATOR_TOKEN: 'hunter2' });
    assert.match(line, /at least 32 characters: 7 are given;/);
    assert.doesNotMatch(line, /hunter2/);
  });

  test('the level of the log is one of the five', () => {
    assert.equal(loadConfig({ RINGBOOK_LOG_LEVEL: 'debug' }).logLevel, 'debug');
    assert.equal(
      refused({ RINGBOOK_LOG_LEVEL: 'loud' }),
      'RINGBOOK_LOG_LEVEL is "loud": give trace, debug, info, warn, error',
    );
  });

  test('chains whose escape is accepted are chain ids, in any spelling of hex', () => {
    const chains = loadConfig({ RINGBOOK_ACCEPT_ESCAPE: '0x000000000000007A69,' }).acceptsEscape;
    assert.deepEqual(chains, ['000000000000007a69']);
    assert.equal(
      refused({ RINGBOOK_ACCEPT_ESCAPE: '000000000000007a69,31337' }),
      'RINGBOOK_ACCEPT_ESCAPE has "31337": give chain ids of 18 hex digits, with commas',
    );
  });

  test('each listener has its own address where the file gives one, and RINGBOOK_HOST else', () => {
    const path = join(folder, 'hosts.json');
    writeFileSync(path, JSON.stringify({ ...TERMINATED, hosts: { ops: '127.0.0.1' } }));
    const { omsHost, mdsHost, opsHost } = loadConfig({
      RINGBOOK_CONFIG: path,
      RINGBOOK_OPERATOR_TOKEN: TOKEN,
      RINGBOOK_HOST: '0.0.0.0',
    });
    assert.deepEqual([omsHost, mdsHost, opsHost], ['0.0.0.0', '0.0.0.0', '127.0.0.1']);
  });

  test('dev and test listen on loopback, and elsewhere only where the network is declared a container’s own', () => {
    assert.match(refused({ RINGBOOK_HOST: '0.0.0.0' }), /loopback only.*"0\.0\.0\.0".*plain-in-container/);
    const path = join(folder, 'ops.json');
    writeFileSync(path, JSON.stringify({ extends: 'dev', hosts: { ops: '10.0.0.1' } }));
    assert.match(refused({ RINGBOOK_CONFIG: path }), /loopback only.*"10\.0\.0\.1"/);
    const { omsHost, profile } = loadConfig({
      RINGBOOK_CONFIG: 'config/dev-in-container.json',
      RINGBOOK_HOST: '0.0.0.0',
    });
    assert.deepEqual([omsHost, profile], ['0.0.0.0', 'dev']);
    writeFileSync(path, JSON.stringify({ extends: 'production', publicListeners: 'plain-in-container' }));
    assert.match(
      refused({ RINGBOOK_CONFIG: path, RINGBOOK_OPERATOR_TOKEN: TOKEN }),
      /"publicListeners" is "plain-in-container"/,
    );
  });

  test('the help of `ringbook start` and docs/operating.md name every variable', () => {
    const documented = readFileSync('docs/operating.md', 'utf8');
    for (const name of NODE_VARIABLES) {
      assert.ok(startCommand.help.includes(name), `help: ${name}`);
      assert.ok(documented.includes(`\`${name}\``), `docs/operating.md: ${name}`);
    }
  });
});
