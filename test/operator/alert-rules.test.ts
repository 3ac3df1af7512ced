/** The alert rules of config/prometheus-alerts.yml: they use metrics of the node, and each has what to do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { OpsFixture } from '../support/ops-client.ts';

interface Rule {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The rules of the file; each begins with `- alert:`. */
function rules(): readonly Rule[] {
  const [, ...parts] = readFileSync('config/prometheus-alerts.yml', 'utf8').split(/^ {6}- alert: /m);
  return parts.map((part) => {
    const [name = '', ...lines] = part.split('\n');
    return { name, lines: lines.map((line) => line.trim()) };
  });
}

suite('alert rules', () => {
  let fixture: OpsFixture;
  before(async () => {
    fixture = await new OpsFixture().open();
  });
  after(() => fixture.close());

  test('each has an expression, a severity, what it means and what to do', () => {
    const all = rules();
    assert.ok(all.length >= 6);
    assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
    for (const { name, lines } of all) {
      assert.match(name, /^Ringbook[A-Z]/);
      for (const form of [
        /^expr: \S/,
        /^labels: \{ severity: (?:info|warning|critical) \}$/,
        /^summary: ".+"$/,
        /^action: ".+"$/,
      ]) {
        assert.equal(lines.filter((line) => form.test(line)).length, 1, `${name}: ${form.source}`);
      }
    }
  });

  test('every metric that they name is on the metrics page', async () => {
    const { text } = await fixture.call('GET', '/metrics');
    const families = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
    const named = rules().flatMap(({ lines }) =>
      [...lines.join(' ').matchAll(/\bringbook_[a-z_]+/g)].map(([name]) => name),
    );
    assert.ok(named.length >= 6);
    for (const name of named) assert.ok(families.has(name), name);
  });
});
