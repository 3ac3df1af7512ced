// tier: full, 8 s
/** `ringbook demo crash`: the named scenario of a crash, on a real node over real sockets, by one command. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../support/bare-environment.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
/** What the scenario prints, in this order. */
const PARTS: readonly RegExp[] = [
  /8 accounts are long 1 ETH each at 3000/,
  /the price falls to 1800/,
  /the backstop takes over what the book does not/,
  /no account is below its maintenance margin/,
  /trade Confirmed: sold \S+ at 1790, order sys-liq-\S+, liquidation/,
  /position of market 2 cleared/,
  /the price falls to 1600/,
  /profitable shorts are closed against the backstop/,
  /trade Confirmed: bought \S+ at \S+, order sys-adl-\S+, auto-deleverage/,
  /buyers are back at 1600/,
  /the backstop has sold everything/,
  /the difference of every asset is 0/,
];

suite('the crash of a market', () => {
  test('many accounts, a gap of 40 %, a thin book: liquidated, taken over, deleveraged, and the ledger adds up (LIQ-05, BKS-01, BKS-05, ADL-01, AMB-116)', async () => {
    const child = spawn(process.execPath, [CLI, 'demo', 'crash', '--accounts', '8'], {
      env: bareEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 4 * PATIENCE_MS,
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    let from = 0;
    for (const part of PARTS) {
      const at = stdout.slice(from).search(part);
      assert.ok(at >= 0, `${part.source} in\n${stdout}`);
      from += at;
    }
    assert.match(stdout, /long \S+ ETH at risk, liquidated at \d/, 'the stream of what is at risk');
    const [, taken, trades] = /taken over (\d+), trades of auto-deleveraging (\d+)/.exec(stdout) ?? [];
    assert.ok(Number(taken) >= 1 && Number(trades) >= 1, stdout);
  });
});
