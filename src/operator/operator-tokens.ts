/**
 * Named tokens of the operator API and what each may do (LDG-03). A file holds their hashes, never the tokens:
 *
 *   {"tokens":[{"name":"desk","role":"operate","sha256":"<64 hex digits>"}]}
 *
 * `RINGBOOK_OPERATOR_TOKEN` is one more, with the name `operator` and every role.
 */
import { createHash } from 'node:crypto';

/** What a token may do; each role includes those before it: reads, changes, and whatever moves money or says where it goes. */
export const ROLES = ['read', 'operate', 'funds'] as const;
export type Role = (typeof ROLES)[number];

export interface OperatorToken {
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the token. */
  readonly hash: Buffer;
}

/** The name of `RINGBOOK_OPERATOR_TOKEN`, which no token of a file has. */
const FIRST_TOKEN_NAME = 'operator';
export const TOKENS_MAX = 64;
const NAME_FORM = /^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?$/;
const HASH_FORM = /^[0-9a-f]{64}$/;
const MEMBERS: ReadonlySet<string> = new Set(['name', 'role', 'sha256']);

/** Whether a token of this role may do what another role is for. */
export function includesRole(own: Role, needed: Role): boolean {
  return ROLES.indexOf(own) >= ROLES.indexOf(needed);
}

export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** `RINGBOOK_OPERATOR_TOKEN` as one of the tokens. */
export function firstToken(token: string): OperatorToken {
  return { name: FIRST_TOKEN_NAME, role: 'funds', hash: hashOfToken(token) };
}

/**
 * The tokens of a file.
 *
 * @returns them, or in plain words what is wrong with the file; the words repeat no hash.
 */
export function parseTokens(text: string): readonly OperatorToken[] | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'is no JSON';
  }
  if (!isObject(parsed) || Object.keys(parsed).join() !== 'tokens' || !Array.isArray(parsed['tokens']))
    return 'is no object with the one member "tokens", a list';
  const given: readonly unknown[] = parsed['tokens'];
  if (given.length === 0 || given.length > TOKENS_MAX) return `has ${given.length} tokens: give 1 to ${TOKENS_MAX}`;
  const tokens: OperatorToken[] = [];
  for (const [place, entry] of given.entries()) {
    const token = tokenOf(entry);
    if (typeof token === 'string') return `has at "tokens[${place}]" ${token}`;
    if (tokens.some(({ name }) => name === token.name)) return `has two tokens with the name "${token.name}"`;
    if (tokens.some(({ hash }) => hash.equals(token.hash))) return `gives one token two names: "${token.name}"`;
    tokens.push(token);
  }
  return tokens;
}

function tokenOf(entry: unknown): OperatorToken | string {
  if (!isObject(entry)) return 'no object';
  const unknown = Object.keys(entry).find((member) => !MEMBERS.has(member));
  if (unknown !== undefined)
    return `the unknown member "${unknown.slice(0, 32)}": there are ${[...MEMBERS].join(', ')}`;
  const { name, role, sha256 } = entry;
  if (typeof name !== 'string' || !NAME_FORM.test(name))
    return 'a "name" that is not 1 to 32 of a to z, 0 to 9, ".", "_" and "-"';
  if (name === FIRST_TOKEN_NAME) return `the name "${name}", which is that of RINGBOOK_OPERATOR_TOKEN`;
  const known = ROLES.find((word) => word === role);
  if (known === undefined) return `no "role" of ${ROLES.join(', ')}`;
  if (typeof sha256 !== 'string' || !HASH_FORM.test(sha256))
    return 'a "sha256" that is not 64 hex digits in lower case: the SHA-256 of the token';
  return { name, role: known, hash: Buffer.from(sha256, 'hex') };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
