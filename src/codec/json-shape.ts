/**
 * The shape of a JSON object for the cursor: its member names in declaration order, which of them are optional, and the
 * treatment of unknown members (AMB-02: rejected inside signable objects, skipped in wrappers).
 *
 * Names are kept as bytes too, so that the usual case, members in declaration order, is matched by comparing bytes and
 * creates no string.
 */
import { assert } from '../core/assert.ts';

/** `refuse` inside signable objects, `skip` in wrappers. */
export type UnknownMembers = 'refuse' | 'skip';

export interface ObjectShape<Name extends string> {
  readonly names: readonly Name[];
  readonly nameBytes: readonly Uint8Array[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** Bit i is set when member i is required. */
  readonly required: number;
  /** Exactly one member, of any name: an externally tagged union. */
  readonly isChoice: boolean;
  readonly unknown: UnknownMembers;
}

type Bare<Spelling extends string> = Spelling extends `${infer Name}?` ? Name : Spelling;

/** @param members the names in declaration order; a trailing `?` marks an optional one. At most 31. */
export function objectShape<const Spelling extends string>(
  unknown: UnknownMembers,
  members: readonly Spelling[],
): ObjectShape<Bare<Spelling>> {
  const names = members.map((member) => member.replace('?', '') as Bare<Spelling>);
  const required = members.reduce((mask, member, index) => (member.endsWith('?') ? mask : mask | (1 << index)), 0);
  return build(names, { required, isChoice: false, unknown });
}

/** The shape of `{"<tag>":…}`: exactly one of `tags`. */
export function choiceShape<const Name extends string>(tags: readonly Name[]): ObjectShape<Name> {
  return build(tags, { required: 0, isChoice: true, unknown: 'refuse' });
}

/** A shape with these members that requires none and skips all others. */
export function lenient(shape: ObjectShape<string>): ObjectShape<string> {
  return { ...shape, required: 0, unknown: 'skip' };
}

function build<Name extends string>(
  names: readonly Name[],
  rules: Pick<ObjectShape<Name>, 'required' | 'isChoice' | 'unknown'>,
): ObjectShape<Name> {
  assert(names.length <= 31, 'a shape fits the bits of one integer');
  assert(new Set<string>(names).size === names.length, 'the names of a shape differ');
  const encoder = new TextEncoder();
  return {
    names,
    nameBytes: names.map((name) => encoder.encode(name)),
    indexOf: new Map(names.map((name, index) => [name, index])),
    ...rules,
  };
}
