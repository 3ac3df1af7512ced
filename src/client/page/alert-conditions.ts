/**
 * Conditions of alerts, each in two forms made of the same names and numbers: an expression for Prometheus (config/alerts.yml), and a
 * judgement of the metrics that a page has read. The judgement has the page's window instead of the expression's, and no time
 * that an alert waits.
 */
import type { Labels, MetricWindow } from './metric-window.ts';

/** One series for which a condition holds. */
export interface Hit {
  readonly labels: Labels;
  /** What Prometheus has as `$value`. */
  readonly value: number;
}

export interface Condition {
  /** PromQL. */
  readonly expression: string;
  /**
   * @param windowMs how far back figures over time go.
   * @param nowMs since 1970.
   * @returns empty where it does not hold, and where nothing is known.
   */
  judge(metrics: MetricWindow, windowMs: number, nowMs: number): readonly Hit[];
}

type Operator = '>' | '<' | '==' | '!=';

const HOLDS: Readonly<Record<Operator, (value: number, bound: number) => boolean>> = {
  '>': (value, bound) => value > bound,
  '<': (value, bound) => value < bound,
  '==': (value, bound) => value === bound,
  '!=': (value, bound) => value !== bound,
};

function selected(metric: string, labels: Labels, range = ''): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${metric}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`}${range}`;
}

/** The series of a metric with what is computed of each; without those of which it is not known. */
function hitsOf(
  metrics: MetricWindow,
  metric: string,
  labels: Labels,
  compute: (labels: Labels, value: number) => number | null,
): readonly Hit[] {
  return metrics.samples(metric, labels).flatMap((sample) => {
    const value = compute(sample.labels, sample.value);
    return value === null ? [] : [{ labels: sample.labels, value }];
  });
}

export function compared(metric: string, operator: Operator, bound: number, labels: Labels = {}): Condition {
  return {
    expression: `${selected(metric, labels)} ${operator} ${bound}`,
    judge: (metrics) =>
      hitsOf(metrics, metric, labels, (_, value) => value).filter(({ value }) => HOLDS[operator](value, bound)),
  };
}

export function farFromZero(metric: string, bound: number): Condition {
  return {
    expression: `abs(${metric}) > ${bound}`,
    judge: (metrics) => hitsOf(metrics, metric, {}, (_, value) => value).filter(({ value }) => Math.abs(value) > bound),
  };
}

/** Two metrics with the same labels. */
export function ratio(over: string, under: string, operator: Operator, bound: number): Condition {
  return {
    expression: `${over} / ${under} ${operator} ${bound}`,
    judge: (metrics) =>
      hitsOf(metrics, over, {}, (labels, value) => {
        const divisor = metrics.value(under, labels);
        return divisor === null || divisor === 0 ? null : value / divisor;
      }).filter(({ value }) => HOLDS[operator](value, bound)),
  };
}

/** A metric, while another one with the same labels is high too. */
export function comparedWhile(metric: string, bound: number, other: string, otherBound: number): Condition {
  return {
    expression: `${metric} > ${bound} and ${other} > ${otherBound}`,
    judge: (metrics) =>
      hitsOf(metrics, metric, {}, (labels, value) => {
        const beside = metrics.value(other, labels);
        return beside !== null && beside > otherBound ? value : null;
      }).filter(({ value }) => value > bound),
  };
}

/** A metric that is below another one with the same labels. */
export function below(metric: string, other: string): Condition {
  return {
    expression: `${metric} < ${other}`,
    judge: (metrics) =>
      hitsOf(metrics, metric, {}, (labels, value) => {
        const bound = metrics.value(other, labels);
        return bound !== null && value < bound ? value : null;
      }),
  };
}

/** One metric minus another with the same labels. @param isKnown the first is below 0 while it is not known. */
export function ahead(metric: string, other: string, bound: number, isKnown = false): Condition {
  return {
    expression: `${metric} - ${other} > ${bound}${isKnown ? ` and ${metric} >= 0` : ''}`,
    judge: (metrics) =>
      hitsOf(metrics, metric, {}, (labels, value) => {
        const behind = metrics.value(other, labels);
        return behind === null || (isKnown && value < 0) ? null : value - behind;
      }).filter(({ value }) => value > bound),
  };
}

/** A counter that has grown. */
export function grew(metric: string, window: string, labels: Labels = {}): Condition {
  return {
    expression: `increase(${selected(metric, labels, `[${window}]`)}) > 0`,
    judge: (metrics, windowMs) =>
      hitsOf(metrics, metric, labels, (each) => metrics.increase(metric, each, windowMs)).filter(
        ({ value }) => value > 0,
      ),
  };
}

/** A counter that grows by more a second. */
export function faster(metric: string, bound: number, window: string, labels: Labels = {}): Condition {
  return {
    expression: `rate(${selected(metric, labels, `[${window}]`)}) > ${bound}`,
    judge: (metrics, windowMs) =>
      hitsOf(metrics, metric, labels, (each) => metrics.rate(metric, each, windowMs)).filter(
        ({ value }) => value > bound,
      ),
  };
}

/** The same of every named thread. */
export function ofThreads(metric: string, bound: number, window: string): Condition {
  const { judge } = faster(metric, bound, window);
  return {
    expression: `rate(${metric}{thread!="other"}[${window}]) > ${bound}`,
    judge: (metrics, windowMs, nowMs) =>
      judge(metrics, windowMs, nowMs).filter(({ labels }) => labels['thread'] !== 'other'),
  };
}

/** A counter whose series with one value of a label grow together by more a second. */
export function fasterBy(label: string, metric: string, bound: number, window: string): Condition {
  return {
    expression: `sum by (${label}) (rate(${metric}[${window}])) > ${bound}`,
    judge: (metrics, windowMs) =>
      metrics.labelValues(metric, label).flatMap((name) => {
        const labels = { [label]: name };
        const value = metrics.rate(metric, labels, windowMs) ?? 0;
        return value > bound ? [{ labels, value }] : [];
      }),
  };
}

/** A counter that grows by more than a share of another. */
export function moreThanShare(metric: string, share: number, other: string, labels: Labels, window: string): Condition {
  return {
    expression: `sum(rate(${metric}[${window}])) > ${share} * sum(rate(${selected(other, labels, `[${window}]`)}))`,
    judge: (metrics, windowMs) => {
      const value = metrics.rate(metric, {}, windowMs) ?? 0;
      const whole = metrics.rate(other, labels, windowMs);
      return whole !== null && value > share * whole ? [{ labels: {}, value }] : [];
    },
  };
}

/** The 99th percentile of a histogram of seconds. @param by a label whose series are judged apart. */
export function slower(
  histogram: string,
  bound: number,
  { labels = {}, by }: { labels?: Labels; by?: string } = {},
): Condition {
  const groups = by === undefined ? 'le' : `${by}, le`;
  return {
    expression: `histogram_quantile(0.99, sum by (${groups}) (rate(${selected(`${histogram}_bucket`, labels, '[5m]')}))) > ${bound}`,
    judge: (metrics, windowMs) => {
      const parts =
        by === undefined ? [{}] : metrics.labelValues(`${histogram}_bucket`, by).map((name) => ({ [by]: name }));
      return parts.flatMap((part) => {
        const [value = null] = metrics.quantiles(histogram, { ...labels, ...part }, [0.99], windowMs).values;
        return value !== null && value > bound ? [{ labels: part, value }] : [];
      });
    },
  };
}

/** A time in seconds since 1970 that is near. */
export function endsWithin(metric: string, days: number): Condition {
  const daySeconds = 86_400;
  return {
    expression: `${metric} - time() < ${days} * ${daySeconds}`,
    judge: (metrics, _, nowMs) =>
      hitsOf(metrics, metric, {}, (_, value) => value - nowMs / 1_000).filter(({ value }) => value < days * daySeconds),
  };
}

const CONFIGURED = 'ringbook_chain_providers_configured';
const AGREEING = 'ringbook_chain_providers_agreeing';

/** Whether so many of the configured providers of a chain are no majority. */
export function isMajorityLost(configured: number, agreeing: number): boolean {
  return 2 * agreeing <= configured;
}

/** Whether one provider less would be none; of up to two there is none to lose. */
export function isMajorityLast(configured: number, agreeing: number): boolean {
  return isMajorityLost(configured, agreeing - 1) && configured > 2;
}

function providers(expression: string, isSo: (configured: number, agreeing: number) => boolean): Condition {
  return {
    expression,
    judge: (metrics) =>
      metrics.samples(AGREEING).filter(({ labels, value }) => isSo(metrics.value(CONFIGURED, labels) ?? 0, value)),
  };
}

export const MAJORITY_LOST: Condition = providers(`2 * ${AGREEING} <= ${CONFIGURED}`, isMajorityLost);
export const MAJORITY_LAST: Condition = providers(
  `2 * (${AGREEING} - 1) <= ${CONFIGURED} and ${CONFIGURED} > 2`,
  isMajorityLast,
);

/** States of a node that is well and serves nobody: it follows another one. */
const FOLLOWS: ReadonlySet<string> = new Set(['joining', 'following']);

/** A node that does not serve, unless it is a standby. */
export const NOT_READY: Condition = {
  expression: `ringbook_ready == 0 unless on (instance) ringbook_cluster_state{state=~"${[...FOLLOWS].join('|')}"} == 1`,
  judge: (metrics) => {
    const states = metrics.samples('ringbook_cluster_state');
    const follows = states.some(({ labels, value }) => value === 1 && FOLLOWS.has(labels['state'] ?? ''));
    return follows ? [] : compared('ringbook_ready', '==', 0).judge(metrics, 0, 0);
  },
};

/** What only Prometheus can judge: a node that does not answer, or times before its last start. */
export function elsewhere(expression: string): Condition {
  return { expression, judge: () => [] };
}
