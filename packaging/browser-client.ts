/**
 * Writes the client for browsers into its package, behind its compiler: one module without any of Node's, which bundlers find as the
 * `browser` of its exports, and a page imports as it is.
 *
 *   dist/client/sdk.js, with platform-browser.js for platform.js, page-buffer.js for the global Buffer ─▶ dist/client/browser/sdk.js
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** @param folder the compiled client. @param outfile the module. */
export async function bundleForBrowsers(folder: string, outfile: string): Promise<void> {
  const ofBrowsers = resolve(folder, 'platform-browser.js');
  await build({
    entryPoints: [join(folder, 'sdk.js')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
    inject: [join(folder, 'page-buffer.js')],
    plugins: [
      {
        name: 'platform of browsers',
        setup: ({ onResolve }) => onResolve({ filter: /\/platform\.js$/ }, () => ({ path: ofBrowsers })),
      },
    ],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = '', outfile = ''] = process.argv.slice(2);
  await bundleForBrowsers(folder, outfile);
}
