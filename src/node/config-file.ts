/**
 * Configuration files as objects: a profile by its name or a file by its path, with what it extends. They are read by a node
 * (config.ts), and by commands that reach it (cli/command.ts).
 *
 * Not here: which members there are (config-shape.ts), and what the environment sets over them (config.ts).
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../codec/json-tree.ts';
import { withoutByteOrderMark } from '../core/byte-order-mark.ts';
import { ConfigError } from '../core/config-error.ts';
import { nearestName } from '../core/nearest-name.ts';

export const PROFILES = ['dev', 'test', 'production'] as const;
const EXTENDS_DEPTH_MAX = 4;

/**
 * @param name of a profile, or the path of a file.
 * @returns its members, with those of what it extends.
 * @throws ConfigError
 */
export function readConfigFile(name: string): Record<string, unknown> {
  return mergeExtends(name, 0);
}

function mergeExtends(name: string, depth: number): Record<string, unknown> {
  if (depth > EXTENDS_DEPTH_MAX) throw new ConfigError(`configuration "${name}": too many extends`);
  const path = isProfileName(name) ? join(configDirectory(), `${name}.json`) : resolve(name);
  const own = parseObject(path);
  const base = own['extends'];
  if (base === undefined) return own;
  if (typeof base !== 'string')
    throw new ConfigError(
      `${path}: extends is ${JSON.stringify(base)}: give ${PROFILES.join(', ')} or the path of a file`,
    );
  const target = isProfileName(base) || isAbsolute(base) ? base : join(dirname(path), base);
  const { extends: _resolved, ...members } = own;
  return deepMerge(mergeExtends(target, depth + 1), members);
}

function isProfileName(name: string): boolean {
  return (PROFILES as readonly string[]).includes(name);
}

function parseObject(path: string): Record<string, unknown> {
  let bytes: Uint8Array;
  try {
    bytes = withoutByteOrderMark(readFileSync(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const nearest = nearestName(basename(path), PROFILES);
    const meant = nearest === null ? '' : ` Did you mean "${nearest}"?`;
    throw new ConfigError(
      `cannot read ${path} (${code ?? 'unknown'}): RINGBOOK_CONFIG is dev, test, production or the path of a JSON file.${meant}`,
    );
  }
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (!isObject(value)) throw new ConfigError(`${path} does not hold a JSON object`);
    // The same text once more, because JSON.parse takes the last of two members of one name.
    const strict = parseJson(bytes, { fractions: 'text' });
    if (!strict.ok) throw new ConfigError(`${path}: ${strict.reject.message}: ${strict.reject.field ?? 'no member'}`);
    return value;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      `${path} is not valid JSON: ${error instanceof Error ? oneLine(error.message) : String(error)}`,
    );
  }
}

/** Messages of the engine repeat the text around the fault, between quotes, with its line ends: none of a file that may hold a secret. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replace(/, (?:\.{3})?".* is not valid JSON$/, '');
}

function deepMerge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    const bothObjects = isObject(below) && isObject(value);
    merged[key] = bothObjects ? deepMerge(below, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The profiles' folder: the nearest `config` above this file, so that sources and build find the same one. */
function configDirectory(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'config', 'dev.json'))) {
    if (folder === dirname(folder)) throw new ConfigError('cannot find the config folder beside package.json');
    folder = dirname(folder);
  }
  return join(folder, 'config');
}
