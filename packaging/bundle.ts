/**
 * Writes `dist/bundle`: for each thread and process of a node the modules that it loads as one file (docs/decisions/0040).
 * Part of `npm run build`, behind the compiler.
 *
 *   dist/src, dist/workers ─▶ dist/bundle/src/node/main.js, dist/bundle/workers/….js, their source maps
 *                        └──▶ dist/bundle/inputs.json: what they were made of (runtime/bundle.ts compares it at each start)
 *
 * Folders are as in `dist`, so a path relative to a module leads to the same place. Packages stay packages.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLE_INPUTS, type BundleInput, contentSum, isBundleCurrent } from '../src/runtime/bundle.ts';

const DIST = fileURLToPath(new URL('../', import.meta.url));
const BUNDLE = join(DIST, 'bundle');
/** What the last build wrote, relative to `dist`. */
const OUTPUTS = join(BUNDLE, 'outputs.json');
/** Each is a thread or a process of its own. */
const ENTRIES: readonly string[] = [
  'src/node/main.js',
  ...readdirSync(join(DIST, 'workers'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => `workers/${name}`),
];

type Bundler = typeof import('esbuild');

/** A development package: without it nodes load their modules one by one. */
async function bundler(): Promise<Bundler | null> {
  try {
    return await import('esbuild');
  } catch {
    return null;
  }
}

/** The files of one entry, relative to `dist`: what it was made of, and what was written. */
interface Made {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

async function bundle({ build }: Bundler, entry: string): Promise<Made> {
  const { metafile } = await build({
    absWorkingDir: DIST,
    entryPoints: [entry],
    outdir: BUNDLE,
    outbase: DIST,
    // As deep as the modules are.
    chunkNames: 'src/node/[name]-[hash]',
    bundle: true,
    // What is imported later stays a file of its own.
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  return { inputs: Object.keys(metafile.inputs), outputs: Object.keys(metafile.outputs) };
}

function described(module: string): BundleInput {
  const bytes = readFileSync(join(DIST, module));
  return [module, bytes.length, contentSum(bytes)];
}

/** A node may be running from the build before, and may yet import of it: its files stay, those of earlier ones go. */
function removeOlderFiles(written: readonly string[]): void {
  const before = existsSync(OUTPUTS) ? (JSON.parse(readFileSync(OUTPUTS, 'utf8')) as readonly string[]) : [];
  const kept = new Set([...written, ...before]);
  for (const entry of readdirSync(BUNDLE, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && entry.name.includes('.js') && !kept.has(relative(DIST, path)) && path !== OUTPUTS)
      rmSync(path);
  }
  writeFileSync(OUTPUTS, JSON.stringify(written));
}

if (!isBundleCurrent(DIST)) {
  const tool = await bundler();
  // From here to the last line no start takes it.
  rmSync(join(DIST, BUNDLE_INPUTS), { force: true });
  if (tool === null) {
    process.stderr.write('esbuild is not installed: nodes load their modules one by one, which takes longer\n');
  } else {
    const made = await Promise.all(ENTRIES.map((entry) => bundle(tool, entry)));
    removeOlderFiles(made.flatMap(({ outputs }) => outputs));
    const inputs = [...new Set(made.flatMap((each) => each.inputs))].sort().map(described);
    writeFileSync(join(DIST, BUNDLE_INPUTS), JSON.stringify(inputs));
  }
}
