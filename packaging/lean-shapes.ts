/**
 * Makes the shapes of the client's package lean, behind its compiler: what they say to readers of documents goes, as only the
 * node publishes documents, and each becomes an expression that a bundler drops with what does not use it.
 *
 *   export const X = named('X', 'text', …);  ─▶  export const X = /* @__PURE__ *\/ (() => named('X', '', …))();
 *
 * test/client/lean-shapes.test.ts compares every shape with that of the node.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LITERAL = String.raw`(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\`(?:[^\`\\]|\\.)*\`)`;
const OF_NAMED = new RegExp(String.raw`\bnamed\(('\w+'), ${LITERAL}, `, 'g');
const OF_MEMBER = new RegExp(String.raw`\bdescription: ${LITERAL},?`, 'g');
/** The last argument of `described`: words of a shape have no spaces. */
const OF_DESCRIBED = new RegExp(String.raw`, (${LITERAL})\)`, 'g');
/** A constant of the module whose value is a call, as the compiler prints it. */
const CONSTANT = /^((?:export )?const \w+ = )([\w.]+\([\s\S]*?\));$(?=\n\S|\n?$(?![\s\S]))/gm;

/** @param text a module of shapes, compiled. */
export function leanShapes(text: string): string {
  return text
    .replace(OF_NAMED, "named($1, '', ")
    .replace(OF_MEMBER, '')
    .replace(OF_DESCRIBED, (all, literal: string) => (literal.includes(' ') ? ", '')" : all))
    .replace(CONSTANT, '$1/* @__PURE__ */ (() => $2)();');
}

/** @param folder of compiled shapes. */
export function leanFolder(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('-shapes.js') && name !== 'shape-kit.js') continue;
    const path = join(folder, name);
    writeFileSync(path, leanShapes(readFileSync(path, 'utf8')));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) leanFolder(process.argv[2] ?? '');
