/**
 * `process_*` and `nodejs_*`: the families that prom-client has by default, with its names and labels, of the whole process and of
 * the main thread. Made here, because it is 83 modules that each start would load. Left out, as before:
 *
 *   nodejs_eventloop_lag_min … p99   their timer wakes an idle main thread a hundred times a second; ringbook_event_loop_delay_seconds
 *                                    has the delay of every event loop
 *   nodejs_active_*_total            gauges with the suffix of counters, which `promtool check metrics` rejects; they are the
 *                                    sums of the families without it
 */
import { readdirSync, readFileSync } from 'node:fs';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { familyText, type MetricRow, type Sample, type Samples } from './metric-families.ts';

const COLLECTIONS = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
} as const satisfies Readonly<Record<number, string>>;
/** Upper bounds, in seconds. */
const COLLECTION_BOUNDS: readonly number[] = [0.001, 0.01, 0.1, 1, 2, 5, Number.POSITIVE_INFINITY];

/** An entry of the type `gc`. */
interface Collected extends PerformanceEntry {
  readonly detail?: { readonly kind: number };
}

interface Collections {
  /** By bucket, not cumulative. */
  readonly counts: number[];
  seconds: number;
}

/** Collections of the garbage collector on this thread, by kind. */
const collections = new Map<string, Collections>();
let observer: PerformanceObserver | null = null;

/** From now on collections of this thread are counted. Further calls have no effect. */
export function beginProcessMetrics(): void {
  if (observer !== null) return;
  observer = new PerformanceObserver((list) => list.getEntries().forEach(countCollection));
  observer.observe({ entryTypes: ['gc'] });
}

function countCollection({ detail, duration }: Collected): void {
  const kinds: Readonly<Record<number, string>> = COLLECTIONS;
  const kind = kinds[detail?.kind ?? 0] ?? 'other';
  const seconds = duration / 1_000;
  let counted = collections.get(kind);
  if (counted === undefined) {
    counted = { counts: COLLECTION_BOUNDS.map(() => 0), seconds: 0 };
    collections.set(kind, counted);
  }
  const bucket = COLLECTION_BOUNDS.findIndex((bound) => seconds <= bound);
  counted.counts[bucket] = (counted.counts[bucket] ?? 0) + 1;
  counted.seconds += seconds;
}

/** Prometheus text, read now; waits one turn of the event loop, whose length is one of the figures. */
export async function processMetrics(): Promise<string> {
  const scope: ProcessScope = {
    turnSeconds: await turnSeconds(),
    cpu: process.cpuUsage(),
    memory: process.memoryUsage(),
    status: textOf('/proc/self/status'),
    spaces: getHeapSpaceStatistics(),
  };
  return [...PROCESS_TABLE.map((row) => familyText(row, scope)), collectionFamily()].join('\n');
}

interface ProcessScope {
  /** Length of one turn of the event loop. */
  readonly turnSeconds: number;
  readonly cpu: NodeJS.CpuUsage;
  readonly memory: NodeJS.MemoryUsage;
  /** The text of /proc/self/status; empty if there is none. */
  readonly status: string;
  readonly spaces: ReturnType<typeof getHeapSpaceStatistics>;
}

type Read = (scope: ProcessScope) => Samples;

/** Where there is no /proc, some have no value. */
export const PROCESS_TABLE: readonly MetricRow<ProcessScope>[] = [
  counter('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', ({ cpu }) => cpu.user / 1e6),
  counter('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', ({ cpu }) => cpu.system / 1e6),
  counter(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    ({ cpu }) => (cpu.user + cpu.system) / 1e6,
  ),
  gauge('process_start_time_seconds', [], 'Start time of the process since unix epoch in seconds.', () =>
    Math.round(performance.timeOrigin / 1_000),
  ),
  gauge(
    'process_resident_memory_bytes',
    [],
    'Resident memory size in bytes.',
    (scope) => statusBytes(scope, 'VmRSS') ?? scope.memory.rss,
  ),
  gauge('process_virtual_memory_bytes', [], 'Virtual memory size in bytes.', (scope) => statusBytes(scope, 'VmSize')),
  gauge('process_heap_bytes', [], 'Process heap size in bytes.', (scope) => statusBytes(scope, 'VmData')),
  gauge('process_open_fds', [], 'Number of open file descriptors.', () => {
    const descriptors = namesOf('/proc/self/fd');
    // One was open to read the others.
    return descriptors === null ? null : descriptors.length - 1;
  }),
  gauge('process_max_fds', [], 'Maximum number of open file descriptors.', () => {
    const limit = /^Max open files +(\d+)/m.exec(textOf('/proc/self/limits'))?.[1];
    return limit === undefined ? null : Number(limit);
  }),
  gauge('nodejs_eventloop_lag_seconds', [], 'Lag of event loop in seconds.', (scope) => scope.turnSeconds),
  gauge(
    'nodejs_active_resources',
    ['type'],
    'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
    () => counted(process.getActiveResourcesInfo()),
  ),
  gauge(
    'nodejs_active_handles',
    ['type'],
    'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
    () => counted(activeObjects('_getActiveHandles')),
  ),
  gauge(
    'nodejs_active_requests',
    ['type'],
    'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
    () => counted(activeObjects('_getActiveRequests')),
  ),
  gauge(
    'nodejs_heap_size_total_bytes',
    [],
    'Process heap size from Node.js in bytes.',
    ({ memory }) => memory.heapTotal,
  ),
  gauge(
    'nodejs_heap_size_used_bytes',
    [],
    'Process heap size used from Node.js in bytes.',
    ({ memory }) => memory.heapUsed,
  ),
  gauge('nodejs_external_memory_bytes', [], 'Node.js external memory size in bytes.', ({ memory }) => memory.external),
  heapSpaces('total', ({ space_size }) => space_size),
  heapSpaces('used', ({ space_used_size }) => space_used_size),
  heapSpaces('available', ({ space_available_size }) => space_available_size),
  gauge('nodejs_version_info', ['version', 'major', 'minor', 'patch'], 'Node.js version info.', () => [
    [1, process.version, ...process.versions.node.split('.')],
  ]),
];

function counter(name: string, help: string, read: Read): MetricRow<ProcessScope> {
  return { name, kind: 'counter', labels: [], help, read };
}

function gauge(name: string, labels: readonly string[], help: string, read: Read): MetricRow<ProcessScope> {
  return { name, kind: 'gauge', labels, help, read };
}

function heapSpaces(figure: string, read: (space: ProcessScope['spaces'][number]) => number): MetricRow<ProcessScope> {
  return gauge(
    `nodejs_heap_space_size_${figure}_bytes`,
    ['space'],
    `Process heap space size ${figure} from Node.js in bytes.`,
    ({ spaces }) => spaces.map((space): Sample => [read(space), space.space_name.replace(/_space$/, '')]),
  );
}

function statusBytes({ status }: ProcessScope, name: string): number | null {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
}

function turnSeconds(): Promise<number> {
  const fromMs = performance.now();
  return new Promise((done) => setImmediate(() => done((performance.now() - fromMs) / 1_000)));
}

/** A histogram with bounds of its own, which no thread records in shared memory. */
function collectionFamily(): string {
  const name = 'nodejs_gc_duration_seconds';
  const help = 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.';
  let text = `# HELP ${name} ${help}\n# TYPE ${name} histogram\n`;
  for (const [kind, { counts, seconds }] of collections) {
    let total = 0;
    for (const [bucket, bound] of COLLECTION_BOUNDS.entries()) {
      total += counts[bucket] ?? 0;
      const le = Number.isFinite(bound) ? String(bound) : '+Inf';
      text += `${name}_bucket{le="${le}",kind="${kind}"} ${total}\n`;
    }
    text += `${name}_sum{kind="${kind}"} ${seconds}\n${name}_count{kind="${kind}"} ${total}\n`;
  }
  return text;
}

/** How many there are of each name. */
function counted(types: readonly string[]): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, value]): Sample => [value, type]);
}

/** Class names of what Node lists; it has no documented way to them, so another Node may have none. */
function activeObjects(list: '_getActiveHandles' | '_getActiveRequests'): readonly string[] {
  const read: unknown = Reflect.get(process, list);
  if (typeof read !== 'function') return [];
  const objects: unknown = Reflect.apply(read, process, []);
  return Array.isArray(objects) ? objects.map((each: object | null) => each?.constructor.name ?? 'unknown') : [];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function namesOf(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}
