// tier: full, 20 s
/** A user's part in what a venue owes: what is true passes, and a venue that cheats is refused (LIA-04 to LIA-07). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { must } from '../../src/core/assert.ts';
import { format18 } from '../../src/core/decimal.ts';
import { toHex } from '../../src/core/hex.ts';
import { Liabilities } from '../../src/evidence/liabilities/liabilities.ts';
import { type LiabilityFile, liabilityText, readLiabilities } from '../../src/evidence/liabilities/liability-file.ts';
import { parseStatement, statementText } from '../../src/evidence/liabilities/statement.ts';
import {
  LIABILITIES_SUBJECT,
  type LiabilityOptions,
  type LiabilityVerdict,
  statementHash,
  verifyLiabilities,
} from '../../src/evidence/liabilities/verify-liabilities.ts';
import { NOTE_TYPE, noteSigner, signNote, verifierKey, vkeyText } from '../../src/evidence/notes.ts';
import { provenRecord } from '../../src/evidence/order-evidence.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { type EvidenceVenue, FIRST, ORIGIN, START_NS, USER, usualVenue } from '../support/evidence-venue.ts';
import { propertyParameters } from '../support/property.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const SECRET = new Uint8Array(32).fill(77);
const ONE = 10n ** 18n;
const CHAIN = '000000000000007a69';
const VAULT = {
  chainId: CHAIN,
  address: '0d'.repeat(20),
  token: '5a'.repeat(20),
  assetId: '0',
  block: 812,
  blockHash: 'ab'.repeat(32),
};
const user = (at: number): string => toHex(new Uint8Array(32).fill(at));

type Asset = ConstructorParameters<typeof Liabilities>[0]['assets'][number];
const SUMS = { negative: 0n, own: 3n * ONE, longs: 5n * ONE, shorts: 4n * ONE };

/** USD of forty users, of ours in two sub-accounts, and ETH of three. */
function usualAssets(): Asset[] {
  const everyone = Array.from({ length: 40 }, (_, at) => ({
    user: user(at + 100),
    subAccount: at % 2,
    amount: BigInt(at + 1) * ONE,
  }));
  const own = [
    { user: USER, subAccount: 0, amount: 1_234n * ONE + 567n },
    { user: USER, subAccount: 1, amount: 1n },
  ];
  return [
    { ...SUMS, asset: '0', accounts: [...everyone, ...own] },
    { ...SUMS, asset: '2', accounts: [{ user: USER, subAccount: 0, amount: 7n * ONE }, ...everyone.slice(0, 2)] },
    { ...SUMS, asset: '3', accounts: everyone.slice(0, 1) },
  ];
}

interface Venue {
  readonly log: EvidenceVenue;
  readonly liabilities: Liabilities;
  readonly note: string;
  /** Of the record with the row of the statement. */
  readonly sequence: number;
}

/** A venue that has committed to its statement. @param hash of what its row has. */
function stated(assets: readonly Asset[] = usualAssets(), hash: (text: string) => string = statementHash): Venue {
  const log = usualVenue();
  const timeNs = START_NS + 39_000_000n;
  const vaults = [{ ...VAULT, units: 2_000_000_000n, decimals: 6 }];
  const lastRowOf = (of: string): { n: number; hash: Uint8Array } | null =>
    of === USER ? { n: 9, hash: new Uint8Array(32).fill(9) } : null;
  const ledger = { origin: ORIGIN, sequence: FIRST + 39, timeNs, secret: SECRET, assets, lastRowOf, vaults };
  const liabilities = new Liabilities(ledger);
  const row = {
    kind: 'statement',
    user: null,
    members: { subject: LIABILITIES_SUBJECT, text: hash(liabilities.text) },
  };
  const sequence = log.append([row]);
  log.append([]);
  return { log, liabilities, note: signNote(liabilities.text, log.logKey), sequence };
}

function fileOf({ log, liabilities, note, sequence }: Venue, of = USER): LiabilityFile {
  const records = [provenRecord(log.context(), must(log.record(sequence), 'a record'), [0])];
  const certificates = [log.certificate()];
  return {
    origin: ORIGIN,
    certificates,
    checkpoint: log.head(),
    note,
    records,
    user: of,
    assets: liabilities.partOf(of),
  };
}

const venue = stated();
const witnesses = venue.log.witnesses.map(({ key }) => verifierKey(key.name, NOTE_TYPE.cosignature, key.publicKey));
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function verdict(file: LiabilityFile | string, changes: Partial<LiabilityOptions> = {}): LiabilityVerdict {
  const text = typeof file === 'string' ? file : liabilityText(file);
  return verifyLiabilities(bytesOf(text), {
    ...{ venueKey: venue.log.venue.key, witnesses, quorum: 2, ends: [], user: USER, units: new Map() },
    ...changes,
  });
}

function refusedBy(file: LiabilityFile, changes: Partial<LiabilityOptions> = {}): number {
  const found = verdict(file, changes);
  assert.equal(
    found.kind,
    'wrong',
    JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
  return found.kind === 'wrong' ? found.check : 0;
}

const usual = fileOf(venue);

/** The file with something else in a chunk. */
function withChunk(
  change: (chunk: LiabilityFile['assets'][number]['chunks'][number]) => object,
  place = 0,
): LiabilityFile {
  const [first, ...rest] = usual.assets;
  assert.ok(first !== undefined);
  const chunks = first.chunks.map((chunk, at) => (at === place ? { ...chunk, ...change(chunk) } : chunk));
  return { ...usual, assets: [{ ...first, chunks }, ...rest] };
}

suite('LIA-06: what a user is owed', () => {
  test('every unit of the user is proven, by sub-account, and the sentence says what is not proven', () => {
    const found = verdict(usual);
    assert.equal(found.kind, 'true', JSON.stringify(found.kind === 'true' ? '' : found));
    const sums = (found.sums ?? []).map(
      ({ assetId, subAccount, amount }) => `${assetId} ${subAccount} ${format18(amount)}`,
    );
    assert.deepEqual(sums, ['0 0 1234.000000000000000567', '0 1 0.000000000000000001', '2 0 7']);
    const sentence = found.kind === 'true' ? found.sentence : '';
    assert.match(
      sentence,
      /Of asset 0 it owes 2054\.000000000000000568, and its vaults hold 2000, by the venue's word/,
    );
    assert.match(sentence, /1 % of users looking: 37 %, 90 %, 99 %/);
    assert.match(sentence, /does not prove that what is owed to others is complete/);
  });

  test('a user that is owed nothing sees so', () => {
    const found = verdict(fileOf(venue, user(250)), { user: user(250) });
    assert.match(found.kind === 'true' ? found.sentence : JSON.stringify(found), /is in it: nothing/);
  });

  test('units that the caller read itself are compared', () => {
    const place = `${CHAIN} ${VAULT.address} ${VAULT.token}`;
    const same = verdict(usual, { units: new Map([[place, 2_000_000_000n]]) });
    assert.match(same.kind === 'true' ? same.sentence : '', /hold 2000, as you have read it from the chain/);
    assert.equal(refusedBy(usual, { units: new Map([[place, 1_999_999_999n]]) }), 8);
  });

  test('LIA-04: a statement is read strictly, and written as it was read', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt(0n, 1n << 126n), { minLength: 5, maxLength: 5 }),
        fc.nat(),
        ([owed = 0n, negative = 0n, own = 0n, longs = 0n, shorts = 0n], leaves) => {
          const root = new Uint8Array(32).fill(leaves);
          const asset = {
            assetId: `${'a'.repeat(64)}@${CHAIN}`,
            leaves,
            root,
            owed,
            negative,
            own: -own,
            longs,
            shorts,
          };
          const statement = { ...venue.liabilities.statement, assets: [asset] };
          assert.deepEqual(parseStatement(statementText(statement)), statement);
        },
      ),
      propertyParameters(100),
    );
    const { text } = venue.liabilities;
    for (const wrong of [
      '',
      text.slice(0, -1),
      text.replace('v1', 'v2'),
      `${text}more\n`,
      text.replace('asset 0 ', 'asset 0  '),
      text.replace(/leaves (\d+)/, 'leaves 0$1'),
      text.replace('asset 2 ', 'asset 0 '),
      text.replace('owed ', 'owed -'),
      text.replace('decimals 6', 'decimals 06'),
      text.replace(/\nvault.*\n/, (line) => line + line.slice(1)),
    ])
      assert.equal(typeof parseStatement(wrong), 'string', wrong.slice(0, 200));
  });
});

suite('LIA-07: a venue that cheats', () => {
  test('every byte of a file that is changed is found', () => {
    const bytes = bytesOf(liabilityText(usual));
    const check = {
      ...{ venueKey: venue.log.venue.key, witnesses, quorum: 2, ends: [], user: USER, units: new Map() },
    };
    const step = process.env['RINGBOOK_SHARE'] === 'night' ? 1 : 7;
    for (let at = 0; at < bytes.length; at += step) {
      const flipped = bytes.with(at, (bytes[at] ?? 0) ^ (1 << (at % 7)));
      assert.notEqual(verifyLiabilities(flipped, check).kind, 'true', `byte ${at}`);
    }
  });

  test('an amount, a sum, a nonce, a path, an index or an account that is another leads elsewhere', () => {
    const changes: [string, (chunk: LiabilityFile['assets'][number]['chunks'][number]) => object][] = [
      ['amount', ({ amount }) => ({ amount: amount + 1n })],
      ['nonce', () => ({ nonce: new Uint8Array(32) })],
      ['account', ({ subAccount }) => ({ subAccount: subAccount + 5 })],
      ['rows', ({ n }) => ({ n: n + 1 })],
      ['cut path', ({ path }) => ({ path: path.slice(1) })],
      ['sum', ({ path }) => ({ path: path.map((node, at) => (at === 3 ? { ...node, sum: node.sum + 1n } : node)) })],
      ['index', ({ index }) => ({ index: index ^ 1 })],
    ];
    for (const [name, change] of changes) assert.equal(refusedBy(withChunk(change)), 8, name);
  });

  test('a chunk that is left out, or there twice, is found', () => {
    const [first, ...rest] = usual.assets;
    assert.ok(first !== undefined);
    const { chunks } = first;
    assert.equal(refusedBy({ ...usual, assets: [{ ...first, chunks: chunks.slice(1) }, ...rest] }), 9);
    assert.equal(
      refusedBy({ ...usual, assets: [{ ...first, chunks: [...chunks, ...chunks.slice(0, 1)] }, ...rest] }),
      8,
    );
    assert.equal(refusedBy({ ...usual, assets: [first, first, ...rest] }), 8);
  });

  test('sub-accounts and users that share leaves, netted amounts and a lower sum are found by who is owed', () => {
    const netted = usualAssets().map((asset) => ({
      ...asset,
      accounts: asset.accounts.filter(({ subAccount, user: of }) => of !== USER || subAccount === 0),
    }));
    const found = verdict(fileOf(stated(netted)));
    assert.equal(
      (found.sums ?? []).find(({ assetId, subAccount }) => assetId === '0' && subAccount === 1),
      undefined,
      'what is missing is not in the sums that are compared',
    );
    assert.equal(refusedBy({ ...usual, user: user(100) }, { user: user(100) }), 8, 'the leaves of another user');
    assert.equal(refusedBy(usual, { user: user(100) }), 6);
  });

  test('a statement of another origin, key, time, text or hash is refused', () => {
    const stranger = noteSigner(ORIGIN, new Uint8Array(32).fill(99));
    assert.equal(refusedBy({ ...usual, note: signNote(venue.liabilities.text, stranger) }), 6);
    const answers = { ...usual, certificates: [venue.log.certificate('answers')] };
    assert.equal(refusedBy(answers), 2);
    const lower = venue.liabilities.text.replace(/asset 2 (.*) owed \d+/, 'asset 2 $1 owed 1');
    assert.notEqual(lower, venue.liabilities.text);
    assert.equal(refusedBy({ ...usual, note: signNote(lower, venue.log.logKey) }), 7);
    assert.equal(refusedBy(fileOf(stated(usualAssets(), () => 'ab'.repeat(32)))), 7);
    const early = venue.log.certificate('heads', venue.log.logKey, 0n);
    assert.notEqual(verdict({ ...usual, certificates: [early] }).kind, 'true');
    assert.equal(refusedBy({ ...usual, origin: 'other' }), 1);
  });

  test('another row of the log, or none, is no commitment', () => {
    const other = provenRecord(venue.log.context(), must(venue.log.record(FIRST + 1), 'a record'), [0]);
    assert.equal(refusedBy({ ...usual, records: [other] }), 7);
    assert.equal(refusedBy({ ...usual, records: [other, ...usual.records] }), 7);
  });

  test('too few witnesses are an error', () => {
    assert.equal(refusedBy(usual, { quorum: 3 }), 3);
    assert.equal(typeof readLiabilities(bytesOf('{}')), 'string');
  });
});

suite('ringbook proof verify', () => {
  const home = temporaryDirectory();
  after(() => removeDirectory(home));
  const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const run = (...args: readonly string[]): { readonly status: number | null; readonly out: string } => {
    const given = ['proof', 'verify', ...args];
    const ran = spawnSync(process.execPath, [CLI, ...given], { cwd: home, env: bareEnvironment(), encoding: 'utf8' });
    return { status: ran.status, out: ran.stdout + ran.stderr };
  };

  test('LIA-06: exit code 0 with a sentence, 1 for what is false, 2 for what cannot be read, 64 for what is not given', () => {
    writeFileSync(join(home, 'mine.json'), liabilityText(usual));
    writeFileSync(join(home, 'wrong.json'), liabilityText(withChunk(({ amount }) => ({ amount: amount + 1n }))));
    writeFileSync(join(home, 'none.json'), '{}');
    writeFileSync(join(home, 'venue.pub'), `${vkeyText(venue.log.venue.key)}\n`);
    const own = ['--venue-key', 'venue.pub', '--user', USER];
    const found = run('mine.json', ...own);
    assert.equal(found.status, 0, found.out);
    assert.match(found.out, /1234\.000000000000000567 of asset 0 in sub-account 0/);
    const units = `${CHAIN}:${VAULT.address}:${VAULT.token}=2000000000`;
    assert.match(run('mine.json', ...own, '--units', units).out, /as you have read it from the chain/);
    assert.deepEqual(run('wrong.json', ...own), {
      status: 1,
      out: 'false, by check 8: chunk 0 of sub-account 0 in asset 0 does not lead to the root of its asset\n',
    });
    assert.equal(run('none.json', ...own).status, 2);
    assert.equal(run('missing.json', ...own).status, 2);
    assert.equal(run('mine.json', '--venue-key', 'venue.pub').status, 64);
    assert.equal(run('mine.json', '--user', USER).status, 64);
    assert.equal(run('mine.json', ...own, '--units', 'x').status, 64);
  });
});
