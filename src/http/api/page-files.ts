/**
 * The files of `/api-reference`: a page of this package, the modules of this package that it shares with the node, and
 * the Ed25519 library that it signs with. Nothing is loaded from elsewhere: the page's policy allows no other host.
 *
 *   /api-reference                          page/index.html
 *   /api-reference/page/…                   page/…            styles and scripts of the page
 *   /api-reference/src/…                    compiled modules  the modules imported by the page, transitively
 *   /api-reference/noble/<package>/…        @noble/ed25519, @noble/hashes
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert } from '../../core/assert.ts';
import { type StaticDocument, staticDocument } from '../static-document.ts';

const BASE = '/api-reference';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Compiled modules of this package: …/src. */
const COMPILED = fileURLToPath(new URL('../../', import.meta.url));
const IMPORT_FORM = /^(?:import|export)\s(?:[^'"`;()]*?\sfrom\s)?['"]([^'"]+)['"]/gm;
const IMPORT_MAP_FORM = /<script type="importmap">([^<]*)<\/script>/;

/** The folder of package.json. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    assert(folder !== dirname(folder), 'the package has a package.json');
    folder = dirname(folder);
  }
  return folder;
}

/**
 * By the path under which each is served.
 *
 * @param offersKeys true where the seeded users exist: the page then offers their published keys.
 */
export function pageFiles(offersKeys: boolean): ReadonlyMap<string, StaticDocument> {
  const page = join(packageRoot(), 'page');
  const html = readFileSync(join(page, 'index.html'), 'utf8');
  const index = Buffer.from(offersKeys ? html.replace('<body>', '<body data-keys="dev">') : html);
  const policy = policyOf(html);
  const files = new Map<string, Uint8Array>();
  const left: { readonly url: string; readonly path: string }[] = readdirSync(page)
    .filter((name) => TYPES[extname(name)] !== undefined && name !== 'index.html')
    .map((name) => ({ url: `${BASE}/page/${name}`, path: join(page, name) }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (files.has(next.url)) continue;
    const body = readFileSync(next.path);
    files.set(next.url, body);
    if (next.url.endsWith('.js')) left.push(...importsOf(next.url, body.toString('utf8')));
  }
  const documents = [...files].map(([url, body]) => [url, documentOf(url, body, policy)] as const);
  return new Map([...documents, [BASE, documentOf('/index.html', index, policy)]]);
}

function documentOf(url: string, body: Uint8Array, policy: string): StaticDocument {
  return staticDocument(TYPES[extname(url)] ?? 'application/octet-stream', body, policy);
}

/** Scripts, styles and sockets of this host only; the import map is the one script that stands in the page. */
function policyOf(index: string): string {
  const map = IMPORT_MAP_FORM.exec(index)?.[1];
  assert(map !== undefined, 'the page has its import map');
  const hash = createHash('sha256').update(map).digest('base64');
  return (
    `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; img-src 'self'; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  );
}

function importsOf(url: string, text: string): readonly { readonly url: string; readonly path: string }[] {
  return [...text.matchAll(IMPORT_FORM)].map(([, target = '']) => {
    const found = target.startsWith('.')
      ? normalize(join(dirname(url), target)).replaceAll(sep, '/')
      : nobleUrl(target);
    return { url: found, path: pathOf(found) };
  });
}

/** As the page's import map has it. */
function nobleUrl(target: string): string {
  const path = fileURLToPath(import.meta.resolve(target)).replaceAll(sep, '/');
  const at = path.lastIndexOf('/@noble/');
  assert(at >= 0, `the page imports ${target}, which is not served`);
  return `${BASE}/noble${path.slice(at + '/@noble'.length)}`;
}

/** The file behind a URL of the page. */
function pathOf(url: string): string {
  const [, , area = '', ...rest] = url.split('/');
  const name = rest.join('/');
  if (area === 'page') return join(packageRoot(), 'page', name);
  if (area === 'src') return join(COMPILED, name);
  assert(area === 'noble', `${url} is a file of the page`);
  const [folder = '', ...file] = rest;
  const entry = fileURLToPath(import.meta.resolve(folder === 'hashes' ? '@noble/hashes/sha2.js' : '@noble/ed25519'));
  return join(dirname(entry), ...file);
}
