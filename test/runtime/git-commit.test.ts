// tier: quick
/** The commit of a clone, read from the files that git makes: branches, packed, detached, work trees, and what is no clone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { checkedOutCommit } from '../../src/runtime/git-commit.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const HASH = /^[0-9a-f]{40}$/;
const hasGit = spawnSync('git', ['--version']).status === 0;

suite('the commit that is checked out', () => {
  const folder = temporaryDirectory();
  after(() => removeDirectory(folder));

  /** Runs git without the settings of this machine. */
  function git(root: string, ...args: readonly string[]): string {
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
    const { status, stdout, stderr } = spawnSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8', env });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  }

  test('is what git itself says: on a branch, packed, detached, in a work tree', { skip: !hasGit }, () => {
    const root = join(folder, 'clone');
    mkdirSync(root);
    git(root, 'init', '-q', '-b', 'some/branch');
    assert.equal(checkedOutCommit(root), null, 'a branch without a commit');
    const isThat = (where: string, what: string): void => {
      const head = git(where, 'rev-parse', 'HEAD');
      assert.match(head, HASH);
      assert.equal(checkedOutCommit(where), head, what);
    };
    git(root, 'commit', '-q', '--allow-empty', '-m', 'one');
    isThat(root, 'on a branch');
    git(root, 'branch', 'branch');
    git(root, 'pack-refs', '--all');
    isThat(root, 'packed');
    git(root, 'commit', '-q', '--allow-empty', '-m', 'two');
    isThat(root, 'packed, and newer beside it');
    const tree = join(folder, 'tree');
    git(root, 'worktree', 'add', '-q', '-b', 'other', tree);
    git(tree, 'commit', '-q', '--allow-empty', '-m', 'three');
    isThat(tree, 'in a work tree');
    git(root, 'pack-refs', '--all');
    isThat(tree, 'in a work tree, packed');
    git(tree, 'checkout', '-q', '--detach', 'HEAD~1');
    isThat(tree, 'detached in a work tree');
    git(root, 'checkout', '-q', '--detach');
    isThat(root, 'detached');
    assert.notEqual(checkedOutCommit(root), null);
  });

  test('is null where there is none, whatever lies there', () => {
    const made = (name: string, files: Readonly<Record<string, string>>): string => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(folder, name, path, '..'), { recursive: true });
        writeFileSync(join(folder, name, path), text);
      }
      return join(folder, name);
    };
    const hash = 'ab'.repeat(20);
    assert.equal(
      checkedOutCommit(made('good', { '.git/HEAD': 'ref: refs/heads/a\n', '.git/refs/heads/a': `${hash}\n` })),
      hash,
    );
    const none: readonly Readonly<Record<string, string>>[] = [
      { 'package.json': '{}' },
      { '.git': 'gitdir: nowhere\n' },
      { '.git': '' },
      { '.git/config': '' },
      { '.git/HEAD': 'ref: refs/heads/a\n' },
      { '.git/HEAD': 'ref: refs/heads/a\n', '.git/refs/heads/a/b': `${hash}\n` },
      { '.git/HEAD': 'ref: refs/heads/a\n', '.git/refs/heads/a': 'ref: refs/heads/a\n' },
      {
        '.git/HEAD': 'ref: refs/heads/a\n',
        '.git/packed-refs': `# pack-refs\n${hash} refs/heads/b/a\n${hash} refs/heads/aa\n`,
      },
      { '.git/HEAD': 'ref: refs/../../secret\n', secret: `${hash}\n` },
      { '.git/HEAD': hash.slice(1) },
      { '.git/HEAD': `${hash}00` },
    ];
    none.forEach((files, index) => {
      assert.equal(checkedOutCommit(made(`none-${index}`, files)), null, JSON.stringify(files));
    });
  });
});
