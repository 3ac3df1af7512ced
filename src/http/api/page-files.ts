/**
 * The files of a page: HTML, styles and scripts of this package, the modules of this package that the page shares with
 * the node, and the libraries in its import map. Nothing is loaded from elsewhere: the policy of a page allows no other
 * host.
 *
 *   <base>/page/…              page/…            styles and scripts
 *   <base>/src/…               compiled modules  the modules imported by the page, transitively
 *   <base>/noble/<package>/…   @noble/ed25519, @noble/hashes
 *   <base>/lib/…               lightweight-charts.js
 *
 * A file is served only if the HTML of the page links to it or a served script imports it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert } from '../../core/assert.ts';
import { type StaticDocument, staticDocument } from '../static-document.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const IMPORT_FORM = /^(?:import|export)\s(?:[^'"`;()]*?\sfrom\s)?['"]([^'"]+)['"]/gm;
const IMPORT_MAP_FORM = /<script type="importmap">([^<]*)<\/script>/;
/** A bare specifier and its URL. */
const MAPPING_FORM = /"([^"]+)":"(\/[^"]+)"/g;
const LINK_FORM = /(?:src|href)="([^"]+)"/g;

/** The URL under which the files of the pages other than the reference are served. */
export const ASSETS = '/assets';

interface PageParts {
  /** The URL of the page. */
  readonly url: string;
  /** The URL below which its files are served: `/api-reference` or `ASSETS`. */
  readonly base: string;
  /** Its HTML, below the folder `page`. */
  readonly html: string;
  /** Attributes of `body`, for the scripts of the page. */
  readonly data?: Readonly<Record<string, string>>;
}

let root: string | null = null;

/** The folder of package.json. */
export function packageRoot(): string {
  root ??= findRoot();
  return root;
}

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    assert(folder !== dirname(folder), 'the package has a package.json');
    folder = dirname(folder);
  }
  return folder;
}

/** The page and its files by the path under which each is served. */
export function pageFiles(page: PageParts): ReadonlyMap<string, StaticDocument> {
  const { base, url, data = {} } = page;
  const html = readFileSync(join(packageRoot(), 'page', page.html), 'utf8');
  const map = IMPORT_MAP_FORM.exec(html)?.[1] ?? null;
  const libraries = new Map([...(map ?? '').matchAll(MAPPING_FORM)].map(([, name = '', at = '']) => [name, at]));
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${value}"`);
  const body = Buffer.from(html.replace('<body>', `<body${attributes.join('')}>`));
  const policy = policyOf(map);
  const files = new Map<string, Uint8Array>();
  const left = [...html.matchAll(LINK_FORM)].flatMap(([, link = '']) => (link.startsWith(`${base}/`) ? [link] : []));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (files.has(next)) continue;
    const file = readFileSync(pathOf(next.slice(base.length)));
    files.set(next, file);
    if (next.endsWith('.js')) left.push(...importsOf(next, file.toString('utf8'), libraries));
  }
  const documents = [...files].map(([path, file]) => [path, documentOf(path, file, policy)] as const);
  return new Map([...documents, [url, documentOf(page.html, body, policy)]]);
}

function documentOf(name: string, body: Uint8Array, policy: string): StaticDocument {
  return staticDocument(TYPES[extname(name)] ?? 'application/octet-stream', body, policy);
}

/**
 * Scripts, styles and sockets of this origin only; the import map is the one script that stands in the page. Text never becomes
 * markup or script: no sink of the browser takes it.
 */
function policyOf(map: string | null): string {
  const hash = map === null ? '' : ` 'sha256-${createHash('sha256').update(map).digest('base64')}'`;
  return (
    `default-src 'none'; script-src 'self'${hash}; style-src 'self'; img-src 'self'; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
  );
}

function importsOf(url: string, text: string, libraries: ReadonlyMap<string, string>): readonly string[] {
  return [...text.matchAll(IMPORT_FORM)].map(([, target = '']) => {
    if (target.startsWith('.')) return normalize(join(dirname(url), target)).replaceAll(sep, '/');
    const library = libraries.get(target);
    assert(library !== undefined, `${url} imports ${target}, which is not in the import map of the page`);
    return library;
  });
}

/** @param url below the base of a page. */
function pathOf(url: string): string {
  const [, area = '', ...rest] = url.split('/');
  const name = rest.join('/');
  if (area === 'page') return join(packageRoot(), 'page', name);
  if (area === 'src') return join(packageRoot(), 'dist/src', name);
  if (area === 'lib') return libraryPath(name);
  assert(area === 'noble', `${url} is a file of a page`);
  const [folder = '', ...file] = rest;
  const entry = fileURLToPath(import.meta.resolve(folder === 'hashes' ? '@noble/hashes/sha2.js' : '@noble/ed25519'));
  return join(dirname(entry), ...file);
}

/** The build of the library that imports nothing stands beside its entry. */
function libraryPath(name: string): string {
  assert(name === 'lightweight-charts.js', `${name} is a library of a page`);
  const entry = fileURLToPath(import.meta.resolve('lightweight-charts'));
  return join(dirname(entry), 'lightweight-charts.standalone.production.mjs');
}
