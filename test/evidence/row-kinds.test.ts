// tier: quick
/** The description of rows (EXP-00): names that a CSV, a parquet file and a JSON reader can have, and what may be private. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ROW_KIND_NAMES, ROW_KINDS, rowMembersOf } from '../../src/evidence/row-kinds.ts';

suite('EXP-00 kinds of rows', () => {
  test('EXP-00 the kinds are those of the requirement and those of quote sets, protection and accounts', () => {
    const privates = ROW_KIND_NAMES.filter((kind) => ROW_KINDS[kind].isPrivate);
    const publics = ROW_KIND_NAMES.filter((kind) => !ROW_KINDS[kind].isPrivate);
    assert.deepEqual(privates, [
      ...['order', 'quote_set', 'fill', 'ledger', 'position', 'deposit', 'withdrawal', 'settlement'],
      ...['liquidation', 'protection', 'account'],
    ]);
    assert.deepEqual(publics, ['trade', 'prices', 'config', 'statement']);
  });

  for (const kind of ROW_KIND_NAMES) {
    test(`EXP-00 members of ${kind}`, () => {
      const members = rowMembersOf(kind);
      const names = members.map(({ name }) => name);
      assert.deepEqual(names.slice(0, 5), ['v', 'sequence', 'index', 'time_ns', 'kind']);
      assert.equal(new Set(names).size, names.length, 'no name twice');
      assert.equal(names.includes('user'), ROW_KINDS[kind].isPrivate);
      for (const { name, type, meaning, words } of members) {
        assert.match(name, /^[a-z][a-z_0-9]*$/);
        assert.match(meaning, /^[A-Z].*\.$/, name);
        assert.equal(words !== undefined, type === 'enum', name);
        if (words !== undefined) assert.equal(new Set(words).size, words.length, name);
      }
    });
  }
});
