// tier: quick
/**
 * Alert rules and dashboard: they use metrics that a node has, each alert has what to do and a case in which it fires, and
 * the metrics page follows the rules of `promtool check metrics`. Where promtool is installed it judges all of it too.
 */
import assert from 'node:assert/strict';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { ALERTS } from '../../src/client/page/alerts.ts';
import { MetricWindow } from '../../src/client/page/metric-window.ts';
import { type Family, parseExposition } from '../support/exposition.ts';
import { OpsFixture } from '../support/ops-client.ts';
import { promtool } from '../support/promtool.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const RULES = 'config/alerts.yml';
const CASES = 'config/alerts.test.yml';
const DASHBOARD = 'config/grafana/dashboards/ringbook.json';
const METRIC = /\b(?:ringbook|process|nodejs)_[a-z_]+/g;
const HISTOGRAM_PART = /_(?:bucket|sum|count)$/;

interface Rule {
  readonly name: string;
  readonly lines: readonly string[];
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** The rules of the file; each begins with `- alert:`. */
function rules(): readonly Rule[] {
  const [, ...parts] = readFileSync(RULES, 'utf8').split(/^ {6}- alert: /m);
  return parts.map((part) => {
    const [name = '', ...lines] = part.split('\n');
    return { name, lines: lines.map((line) => line.trim()) };
  });
}

interface Case {
  readonly name: string;
  readonly fires: boolean;
  /** Of its judgement, from its beginning. */
  readonly seconds: number;
  readonly lines: readonly { readonly series: string; readonly values: readonly number[] }[];
}

const CASE_INTERVAL_SECONDS = 15;
const CASE_SECONDS_MAX = 900;

/** The window of an expression, which the page replaces by its own. */
function windowMsOf(expression: string): number {
  const [, count = '5', unit = 'm'] = /\[(\d+)([mh])\]/.exec(expression) ?? [];
  return Number(count) * (unit === 'h' ? 3_600_000 : 60_000);
}

function cases(): readonly Case[] {
  const [, ...parts] = readFileSync(CASES, 'utf8').split(/^ {2}- name: /m);
  return parts.map((part) => {
    const [, name = '', word = ''] = /^(\w+) (fires|does not fire)$/m.exec(part) ?? assert.fail(part);
    assert.match(part, /^ {4}interval: 15s$/m);
    const lines = [...part.matchAll(/- \{ series: (["'])(.*)\1, values: "(.*)" \}/g)].map(
      ([, , series = '', values = '']) => ({
        series,
        values: values.split(' ').flatMap(expanded),
      }),
    );
    const seconds = Number(/eval_time: (\d+)m/.exec(part)?.[1]) * 60;
    assert.ok(lines.length > 0 && seconds > 0 && seconds <= CASE_SECONDS_MAX, part);
    return { name, fires: word === 'fires', seconds, lines };
  });
}

/** `a+bxn` of promtool: n + 1 values from a, b apart. */
function expanded(text: string): readonly number[] {
  const [, from, step = '0', times = '0'] = /^(-?[\d.]+)([+-][\d.]+)?(?:x(\d+))?$/.exec(text) ?? assert.fail(text);
  return Array.from({ length: Number(times) + 1 }, (_, at) => Number(from) + at * Number(step));
}

function panels(): readonly Panel[] {
  return (JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { readonly panels: readonly Panel[] }).panels;
}

function expressionsOfDashboard(): readonly string[] {
  return panels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(METRIC)].map(([name]) => name);
}

suite('alert rules and dashboard', () => {
  let fixture: OpsFixture;
  let text = '';
  let families: ReadonlyMap<string, Family> = new Map();
  before(async () => {
    fixture = await new OpsFixture().open();
    ({ text } = await fixture.call('GET', '/metrics'));
    families = parseExposition(text);
  });
  after(() => fixture.close());

  function assertOnPage(names: readonly string[]): void {
    for (const name of names) {
      const family = families.get(name) ?? families.get(name.replace(HISTOGRAM_PART, ''));
      assert.ok(family !== undefined, name);
      assert.equal(family.type === 'histogram', HISTOGRAM_PART.test(name), `${name} is a part of a histogram or none`);
    }
  }

  test('each has an expression, a severity, what it means and what to do', () => {
    const all = rules();
    assert.ok(all.length >= 30);
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

  test('the list of the operations page has the same names, severities, conditions and texts in the same order', () => {
    const listed = ALERTS.map(({ name, severity, condition, summary, action }) => ({
      name,
      expr: condition.expression,
      labels: `{ severity: ${severity} }`,
      summary: JSON.stringify(summary),
      action: JSON.stringify(action),
    }));
    const told = rules().map(({ name, lines }) => {
      const member = (key: string): string =>
        lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2) ?? assert.fail(`${name}: ${key}`);
      const [expr, labels, summary, action] = [member('expr'), member('labels'), member('summary'), member('action')];
      return { name, expr, labels, summary, action };
    });
    assert.deepEqual(listed, told);
  });

  test('the page judges the cases of promtool alike: it has what fires, and nothing of what does not', () => {
    // A node that does not answer, its last start, and other nodes of its cluster are not on its metrics page.
    const notOnPage = [
      ...['RingbookDown', 'RingbookRestarted'],
      ...['RingbookNoLeader', 'RingbookTwoLeaders', 'RingbookStandbyBehind'],
    ];
    for (const { name, fires, lines, seconds } of cases()) {
      const { condition } = ALERTS.find((alert) => alert.name === name) ?? assert.fail(name);
      const metrics = new MetricWindow(CASE_SECONDS_MAX * 1_000);
      for (let at = 0; at <= seconds; at += CASE_INTERVAL_SECONDS) {
        const index = at / CASE_INTERVAL_SECONDS;
        const page = lines.flatMap(({ series, values }) =>
          index < values.length ? [`${series} ${values[index]}`] : [],
        );
        metrics.add(page.join('\n'), at * 1_000);
      }
      const hits = condition.judge(metrics, windowMsOf(condition.expression), seconds * 1_000);
      assert.equal(hits.length > 0, fires && !notOnPage.includes(name), `${name}, ${fires}: ${JSON.stringify(lines)}`);
    }
  });

  test('the file has its earlier name too', () => {
    assert.equal(realpathSync('config/prometheus-alerts.yml'), realpathSync(RULES));
  });

  test('every metric that a rule names is on the metrics page', () => {
    const named = rules().flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith('expr: ')).flatMap((line) => namesIn(line)),
    );
    assert.ok(named.length >= 30);
    assertOnPage(named);
  });

  test('every metric that the dashboard shows is on the metrics page, and each panel has a title of its own', () => {
    const shown = panels().filter(({ type }) => type !== 'row');
    assert.ok(shown.length >= 40);
    assert.equal(new Set(shown.map(({ title }) => title)).size, shown.length);
    for (const { title, targets = [] } of shown) assert.ok(targets.length > 0, title);
    assertOnPage(expressionsOfDashboard().flatMap(namesIn));
  });

  test('each rule has a case in which it fires and one in which it does not', () => {
    const cases = readFileSync(CASES, 'utf8')
      .split(/^ {2}- name: /m)
      .slice(1)
      .map((part) => /^(\w+) (fires|does not fire)$/m.exec(part) ?? assert.fail(part));
    const wanted = rules().flatMap(({ name }) => [`${name} fires`, `${name} does not fire`]);
    assert.deepEqual(cases.map(([whole]) => whole).sort(), wanted.sort());
  });

  test('the metrics page follows the rules of promtool: suffixes, base units, names, help', () => {
    const helps = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [name, help]));
    for (const [name, { type, samples }] of families) {
      assert.match(helps.get(name) ?? '', /\S/, `${name} has a help text`);
      assert.match(name, /^[a-z][a-z0-9_]*$/, 'lower case, no colon');
      assert.equal(name.endsWith('_total'), type === 'counter', `${name}: counters alone end with _total`);
      assert.doesNotMatch(name, HISTOGRAM_PART, `${name} has no suffix of a histogram`);
      assert.doesNotMatch(name, /(?:^|_)(?:counter|gauge|histogram|summary)(?:_|$)/, `${name} does not name its type`);
      assert.doesNotMatch(
        name,
        /(?:^|_)(?:ms|us|ns|s|sec|msec|millis|milliseconds|microseconds|nanoseconds|minutes|hours|days|b|kb|mb|gb|kib|mib|gib|kilobytes|megabytes|bits|percent)(?:_|$)/,
        `${name} is in a base unit`,
      );
      for (const sample of samples.keys()) {
        assert.equal(/[{,]le="/.test(sample), sample.startsWith(`${name}_bucket{`) && type === 'histogram', sample);
        assert.doesNotMatch(sample, /[{,]quantile="/, sample);
        assert.doesNotMatch(sample, /[{,](?![a-z][a-z0-9_]*=|\})/, `labels in lower case: ${sample}`);
      }
    }
  });

  const tool = promtool();
  const skip = tool === null ? 'promtool is not installed; PROMTOOL names its program' : false;

  test('promtool finds no fault in page, rules, cases and configuration', { skip }, () => {
    const passes = (args: readonly string[], input?: string): void => {
      const answer = tool?.(args, input);
      assert.deepEqual([answer?.status, answer?.text.includes('FAILED')], [0, false], answer?.text);
    };
    passes(['check', 'metrics'], text);
    passes(['check', 'rules', RULES]);
    passes(['test', 'rules', CASES]);
    passes(['check', 'config', 'config/prometheus.yml']);
  });

  test('promtool reads every expression of the dashboard', { skip }, () => {
    const plain = (expr: string): string => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');
    const recorded = expressionsOfDashboard().map(
      (expr, at) => `      - { record: "panel:${at}", expr: ${JSON.stringify(plain(expr))} }`,
    );
    const file = join(temporaryDirectory(), 'panels.yml');
    writeFileSync(file, ['groups:', '  - name: panels', '    rules:', ...recorded, ''].join('\n'));
    const answer = tool?.(['check', 'rules', '--lint=none', file]);
    assert.equal(answer?.status, 0, answer?.text);
  });
});
