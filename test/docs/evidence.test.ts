// tier: full, 5 s
/** The verification by hand of docs/evidence.md, as it stands there: it proves what is true and refuses what is not. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { noteSigner, vkeyText } from '../../src/evidence/notes.ts';
import { ORIGIN, USER, usualVenue } from '../support/evidence-venue.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const home = temporaryDirectory();
const has = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0;
const lacks = has('python3', '--version') && has('openssl', 'version') ? false : 'there is no python3 or openssl';

suite('docs/evidence.md', { skip: lacks }, () => {
  after(() => removeDirectory(home));
  const [, program = ''] = /```python\n(.*?)```/s.exec(readFileSync('docs/evidence.md', 'utf8')) ?? [];
  const script = join(home, 'by_hand.py');
  writeFileSync(script, program);

  function byHand(text: string, vkey: string): { readonly status: number | null; readonly out: string } {
    const file = join(home, 'evidence.json');
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync('python3', [script, file, vkey], { encoding: 'utf8' });
    return { status, out: stdout + stderr };
  }

  test('EVD-11: an evidence is verified by hand with python3 and openssl, and each thing that is changed is refused', () => {
    const venue = usualVenue();
    const vkey = vkeyText(venue.venue.key);
    const text = venue.evidence(USER, 'mine-1', true);
    const right = byHand(text, vkey);
    assert.equal(right.status, 0, right.out);
    assert.match(right.out, /proven under the head of 40 records of ringbook\.example\/log\/1/);
    assert.match(right.out, /"kind":"fill"/);
    const other = noteSigner(ORIGIN, new Uint8Array(32).fill(9));
    assert.notEqual(byHand(text, vkeyText(other.key)).status, 0);
    const exchanged = (form: RegExp): string =>
      text.replace(form, (found) =>
        found.replace(/[A-Y](?=[A-Za-z0-9+/]{20})/, (digit) => String.fromCharCode(digit.charCodeAt(0) + 1)),
      );
    for (const member of ['leaf', 'row', 'salt', 'text', 'signatures', 'path']) {
      const changed = exchanged(new RegExp(`"${member}":\\[?"[^"]+"`));
      assert.notEqual(changed, text, member);
      assert.notEqual(byHand(changed, vkey).status, 0, member);
    }
    assert.notEqual(byHand(text.replace('\\n40\\n', '\\n39\\n'), vkey).status, 0);
  });
});
