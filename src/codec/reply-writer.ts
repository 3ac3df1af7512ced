/**
 * Writers of replies, built from their shapes (shapes/shape-kit.ts): every member in the order of the shape, without white
 * space. Frames of depth, trades, klines and order events have writers of their own, which are faster.
 *
 *   shape ─▶ replyWriter: closures, built once ─▶ view ─▶ JSON
 *
 * A view has its members by their names on the wire, or else by those inside (`x-inside`, or camel case). A decimal may be given as 18-decimal units, a text of an integer as a bigint. An optional
 * member that is undefined is left out; one that may be null and is missing is a fault like any other. Decimals and words of
 * an enumeration need no escapes and are written as they are.
 */
import type { TSchema } from '@sinclair/typebox';
import { must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import { alternativesOf, DECIMAL, isOptional, nameInside, type Shape } from './shapes/shape-kit.ts';

type Write = (value: unknown) => string;

/** @throws Error when a view lacks a member, or has one of another kind. */
export function replyWriter<View>(shape: Shape): (view: View) => string {
  return writerFor(shape);
}

function writerFor(shape: TSchema): Write {
  const all = (shape['anyOf'] ?? shape['allOf']) as readonly TSchema[] | undefined;
  if (all !== undefined) {
    const [value, ...others] = all.filter(({ type }) => type !== 'null');
    if (value === undefined || others.length > 0) throw new Error('a reply is written by one shape, or is null');
    const write = writerFor(value);
    return all.length === 1 ? write : (given) => (given === null ? 'null' : write(given));
  }
  if (shape['oneOf'] !== undefined) return choiceWriter(shape['oneOf'] as readonly TSchema[]);
  switch (shape['type']) {
    case 'object':
      return shape['properties'] === undefined ? mapWriter(shape) : objectWriter(shape);
    case 'array': {
      const write = writerFor(shape['items'] as TSchema);
      return (value) => `[${(value as readonly unknown[]).map(write).join(',')}]`;
    }
    case 'string':
      return textWriter(shape);
    case 'integer':
      return (value) => (typeof value === 'number' || typeof value === 'bigint' ? String(value) : unfit(value));
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? String(value) : unfit(value));
    case 'null':
      return (value) => (value === null ? 'null' : unfit(value));
    default:
      throw new Error(`no reply has a ${String(shape['type'])}`);
  }
}

/** Decimals and words of an enumeration. */
function isBareText({ pattern, enum: words }: TSchema): boolean {
  return pattern === DECIMAL['pattern'] || words !== undefined;
}

function textWriter(shape: TSchema): Write {
  const isDecimal = shape['pattern'] === DECIMAL['pattern'];
  const isHex = shape['x-as'] === 'hex amount';
  const isBare = isBareText(shape);
  return (value) => {
    if (typeof value === 'string') return isBare ? `"${value}"` : JSON.stringify(value);
    if (typeof value !== 'bigint') return unfit(value);
    if (isDecimal) return `"${format18(value)}"`;
    return isHex ? `"0x${value.toString(16)}"` : `"${value}"`;
  };
}

function mapWriter(shape: TSchema): Write {
  const write = writerFor(shape['additionalProperties'] as TSchema);
  return (value) => {
    let text = '';
    for (const [name, member] of value as ReadonlyMap<string | number, unknown>)
      text += `${text === '' ? '' : ','}${JSON.stringify(String(name))}:${write(member)}`;
    return `{${text}}`;
  };
}

/** A view of one tag: `{ DepositLanded: … }`. */
function choiceWriter(tagged: readonly TSchema[]): Write {
  const writes = new Map(tagged.map((shape) => [Object.keys(shape['properties'] as object)[0], objectWriter(shape)]));
  return (value) => must(writes.get(Object.keys(value as object)[0]), 'a tag of the reply')(value);
}

function objectWriter(shape: TSchema): Write {
  const members = Object.entries(shape['properties'] as Readonly<Record<string, TSchema>>).map(
    ([name, member], index) => {
      const all = alternativesOf(member);
      return {
        name,
        inside: nameInside(name, member) || name,
        found: name,
        lead: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
        isOptional: isOptional(shape, name),
        isBare: all.some(isBareText),
        isNested: all.some(({ type }) => type === 'object' || type === 'array' || type === undefined),
        write: writerFor(member),
      };
    },
  );
  if (members[0]?.isOptional === true) throw new Error('the first member of a reply is always there');
  return (value) => {
    const view = value as Readonly<Record<string, unknown>>;
    let text = '';
    for (const of of members) {
      const { name, inside, lead, isOptional, isBare, isNested, write } = of;
      let member = view[of.found];
      if (member === undefined && inside !== name) {
        // A view has one of both names, and the next one most likely the same.
        of.found = of.found === name ? inside : name;
        member = view[of.found];
      }
      if (member === undefined) {
        if (!isOptional) throw new Error(`a reply without its member ${name}`);
      } else if (isNested || typeof member === 'bigint') text += lead + write(member);
      // The most members, without a call.
      else if (typeof member === 'string') text += lead + (isBare ? `"${member}"` : JSON.stringify(member));
      else text += lead + String(member);
    }
    return `${text}}`;
  };
}

function unfit(value: unknown): never {
  throw new Error(`a member of a reply is ${typeof value}`);
}
