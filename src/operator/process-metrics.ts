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
import { type Family, gauge, type Labels, plainCounter, plainGauge, type Sample } from './metric-families.ts';

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
  const lagSeconds = await turnSeconds();
  return [...processFamilies(), ...nodeFamilies(lagSeconds)].join('\n');
}

function turnSeconds(): Promise<number> {
  const fromMs = performance.now();
  return new Promise((done) => setImmediate(() => done((performance.now() - fromMs) / 1_000)));
}

function* processFamilies(): Generator<Family> {
  const { user, system } = process.cpuUsage();
  const seconds = (microseconds: number): number => microseconds / 1e6;
  yield plainCounter('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', seconds(user));
  yield plainCounter('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', seconds(system));
  yield plainCounter(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    seconds(user + system),
  );
  yield plainGauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    STARTED_SECONDS,
  );
  yield* memoryFamilies();
  const descriptors = namesOf('/proc/self/fd');
  // One was open to read the others.
  if (descriptors !== null)
    yield plainGauge('process_open_fds', 'Number of open file descriptors.', descriptors.length - 1);
  const limit = /^Max open files +(\d+)/m.exec(textOf('/proc/self/limits'))?.[1];
  if (limit !== undefined)
    yield plainGauge('process_max_fds', 'Maximum number of open file descriptors.', Number(limit));
}

const STARTED_SECONDS = Math.round(performance.timeOrigin / 1_000);

/** Where there is no /proc, only what Node has. */
function memoryFamilies(): readonly Family[] {
  const status = textOf('/proc/self/status');
  const bytesOf = (name: string): number | null => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
  };
  const resident = bytesOf('VmRSS') ?? process.memoryUsage.rss();
  const [virtual, heap] = [bytesOf('VmSize'), bytesOf('VmData')];
  return [
    plainGauge('process_resident_memory_bytes', 'Resident memory size in bytes.', resident),
    ...(virtual === null ? [] : [plainGauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', virtual)]),
    ...(heap === null ? [] : [plainGauge('process_heap_bytes', 'Process heap size in bytes.', heap)]),
  ];
}

function* nodeFamilies(lagSeconds: number): Generator<Family> {
  yield plainGauge('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', lagSeconds);
  yield gauge(
    'nodejs_active_resources',
    'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
    counted(process.getActiveResourcesInfo()),
  );
  yield gauge(
    'nodejs_active_handles',
    'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
    counted(activeObjects('_getActiveHandles')),
  );
  yield gauge(
    'nodejs_active_requests',
    'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
    counted(activeObjects('_getActiveRequests')),
  );
  const { heapTotal, heapUsed, external } = process.memoryUsage();
  yield plainGauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', heapTotal);
  yield plainGauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', heapUsed);
  yield plainGauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', external);
  yield* spaceFamilies();
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
  const labels = { version: process.version, major, minor, patch };
  yield gauge('nodejs_version_info', 'Node.js version info.', [{ value: 1, labels }]);
  yield collectionFamily();
}

function spaceFamilies(): readonly Family[] {
  const spaces = getHeapSpaceStatistics();
  const family = (figure: string, read: (space: (typeof spaces)[number]) => number): Family =>
    gauge(
      `nodejs_heap_space_size_${figure}_bytes`,
      `Process heap space size ${figure} from Node.js in bytes.`,
      spaces.map((space) => ({
        value: read(space),
        labels: { space: space.space_name.replace(/_space$/, '') },
      })),
    );
  return [
    family('total', ({ space_size }) => space_size),
    family('used', ({ space_used_size }) => space_used_size),
    family('available', ({ space_available_size }) => space_available_size),
  ];
}

function collectionFamily(): Family {
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
  return [...counts].map(([type, value]): Sample => {
    const labels: Labels = { type };
    return { value, labels };
  });
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
