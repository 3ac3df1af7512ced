/**
 * Writes what the Python package has of the contract, so that a member that is added to a shape or to schemas/control.fbs is a
 * member of the package after `npm run generate`:
 *
 *   _contract/signed.json    the shapes of what is signed: members in their order, defaults, bounds (src/codec/shapes)
 *   _contract/control.json   the tables of `/control` in FlatBuffers (schemas/control.fbs)
 *   requests.py              the same signed objects as TypedDicts
 *   replies.py               replies and events as dataclasses, which reading.py fills by their type hints
 *
 * In the JSON Schema of a shape a Python type stands for itself: DECIMAL is Decimal, integers and WHOLE are int, a map is a
 * dict, an externally tagged union of a reply is a union of dataclasses with their tag as `TAG`.
 */
import type { TSchema } from '@sinclair/typebox';
import {
  ACTION_RESULT,
  AT_RISK,
  CLOSE_ALL_PREVIEW,
  CLOSE_POSITION,
  INVENTORY,
  MAKER_ORDER,
  MARGIN,
  NEXT_NONCES,
  NONCE,
  POSITION_PAGE,
  RENAMED,
  SESSIONS,
  SETTLEMENT,
  SETTLEMENT_APPROVAL,
  SIMULATION,
  SOLVENCY,
  TOKEN,
  TRANSFER,
  WITHDRAWAL,
  WITHDRAWAL_CANCEL,
  WITHDRAWAL_QUEUE,
} from '../src/codec/shapes/account-shapes.ts';
import { LEDGER_PAGE } from '../src/codec/shapes/ledger-shapes.ts';
import {
  BBO_FRAME,
  DEPTH,
  DEPTH_FRAME,
  KLINE_PAGE,
  KLINES_FRAME,
  OPEN_INTEREST,
  PRICES_FRAME,
  TICKER,
  TICKER_FRAME,
  TRADE_EVENT,
  TRADES_FRAME,
} from '../src/codec/shapes/market-data-shapes.ts';
import {
  BATCH_RESPONSE,
  CANCEL_ALL_AFTER_RESPONSE,
  OPERATION_RESPONSE,
  ORDER_PAGE,
  QUOTE_SET_RESPONSE,
  USER_ORDER_PAGE,
  USER_TRADE_PAGE,
} from '../src/codec/shapes/order-reply-shapes.ts';
import {
  AMEND_BODY,
  CANCEL_TERMS,
  COMPLETE_REPLACE,
  ORDER,
  QUOTE_SET_REQUEST,
  REPLACE_TERMS,
} from '../src/codec/shapes/order-shapes.ts';
import { PROTECTIONS } from '../src/codec/shapes/protection-shapes.ts';
import { MARKETS } from '../src/codec/shapes/registry-shapes.ts';
import {
  ASSET_ID,
  ASSET_ID_GIVEN,
  alternativesOf,
  DECIMAL,
  INSTANT,
  isOptional,
  NANOSECONDS,
  ORDER_ID,
  ORDER_ID_GIVEN,
  RAW,
  USER_ID,
  USER_ID_GIVEN,
  WHOLE,
} from '../src/codec/shapes/shape-kit.ts';
import { ACCOUNT_EVENT, ORDER_EVENT, QUOTE_SET_EVENT } from '../src/codec/shapes/stream-shapes.ts';
import { LEADER, LIMITS, SYSTEM_STATUS, SYSTEM_TIME } from '../src/codec/shapes/system-shapes.ts';
import { capital } from './names.ts';
import { describeTables } from './tables.ts';

const PACKAGE = 'packages/python/src/ringbook';

/** By the names in the package. An amend is not signed; its shape checks it and gives the order of its members. */
const SIGNED: Readonly<Record<string, TSchema>> = {
  Order: ORDER,
  Replace: REPLACE_TERMS,
  CompleteReplace: COMPLETE_REPLACE,
  Cancel: CANCEL_TERMS,
  Amend: AMEND_BODY,
  QuoteSet: membersOf(QUOTE_SET_REQUEST)['quotes'] as TSchema,
  Transfer: TRANSFER,
  ClosePosition: CLOSE_POSITION,
  Withdrawal: WITHDRAWAL,
  WithdrawalCancel: WITHDRAWAL_CANCEL,
  Settlement: SETTLEMENT,
  MakerOrder: MAKER_ORDER,
};

const REPLIES: readonly TSchema[] = [
  ...[NONCE, TOKEN, SESSIONS, SYSTEM_TIME, SYSTEM_STATUS, LEADER, LIMITS],
  ...[
    MARKETS,
    OPERATION_RESPONSE,
    QUOTE_SET_RESPONSE,
    BATCH_RESPONSE,
    CANCEL_ALL_AFTER_RESPONSE,
    ACTION_RESULT,
    AT_RISK,
    PROTECTIONS,
  ],
  ...[ORDER_PAGE, USER_ORDER_PAGE, USER_TRADE_PAGE, POSITION_PAGE, CLOSE_ALL_PREVIEW, LEDGER_PAGE],
  ...[INVENTORY, MARGIN, SOLVENCY, SIMULATION, AT_RISK],
  ...[NEXT_NONCES, RENAMED, titled(WITHDRAWAL_QUEUE['items'] as TSchema, 'QueuedWithdrawal')],
  titled(SETTLEMENT_APPROVAL, 'SettlementApproval'),
  ...[DEPTH, KLINE_PAGE, TRADE_EVENT, TICKER, OPEN_INTEREST],
  ...[DEPTH_FRAME, BBO_FRAME, TRADES_FRAME, KLINES_FRAME, TICKER_FRAME, PRICES_FRAME],
  ...[ORDER_EVENT, QUOTE_SET_EVENT, ACCOUNT_EVENT],
];

/** A shape without a name of its own under this one. */
function titled(shape: TSchema, title: string): TSchema {
  return { ...shape, title };
}

// ---- shapes as data

/** Words of a shape that a writer of signed texts heeds. */
const KEPT = ['type', 'properties', 'required', 'items', 'anyOf', 'oneOf', 'enum', 'pattern', 'minimum', 'maximum'];
const KEPT_TOO = ['format', 'minLength', 'maxLength', 'minItems', 'maxItems', 'not', 'default', 'const', 'x-unset'];
const WORDS = new Set([...KEPT, ...KEPT_TOO]);

/** The shape without what documents and the node alone have. */
function plainShape(shape: TSchema): Record<string, unknown> {
  const { allOf } = shape as { readonly allOf?: readonly TSchema[] };
  if (allOf?.[0] !== undefined) return plainShape(allOf[0]);
  const words = Object.entries(shape).filter(([word]) => WORDS.has(word));
  return Object.fromEntries(words.map(([word, value]) => [word, plainWord(word, value)]));
}

function plainWord(word: string, value: unknown): unknown {
  if (word === 'items' || word === 'not') return plainShape(value as TSchema);
  if (word === 'anyOf' || word === 'oneOf') return (value as readonly TSchema[]).map(plainShape);
  if (word !== 'properties') return value;
  const members = Object.entries(value as Readonly<Record<string, TSchema>>);
  return Object.fromEntries(members.map(([name, member]) => [name, plainShape(member)]));
}

/** JSON with whole numbers of any size. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? `bigint:${one}` : one), 1);
  return `${text.replaceAll(/"bigint:(-?\d+)"/g, '$1')}\n`;
}

// ---- classes

/** Descriptions that say no more than the type. */
const USUAL: ReadonlySet<string | undefined> = new Set(
  [ASSET_ID, ASSET_ID_GIVEN, DECIMAL, INSTANT, NANOSECONDS, ORDER_ID, ORDER_ID_GIVEN, RAW, USER_ID, USER_ID_GIVEN].map(
    (shape) => shape['description'] as string | undefined,
  ),
);
/** Members with these names have a `_` behind them in Python. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'and',
  'as',
  'class',
  'from',
  'global',
  'in',
  'is',
  'not',
  'or',
  'with',
]);

/** The classes of a module, each once, before those that have it as a member. */
class Classes {
  readonly blocks: string[] = [];
  readonly names: string[] = [];
  readonly #known = new Map<string, TSchema>();
  readonly #isReply: boolean;

  constructor(isReply: boolean) {
    this.#isReply = isReply;
  }

  /** The type hint of a shape. @param name of its class, where the shape has no title. */
  hint(shape: TSchema, name: string): string {
    const alternatives = unfolded(shape);
    if (alternatives.length > 1) return this.#unionHint(alternatives, (shape['title'] as string | undefined) ?? name);
    const [one = shape] = alternatives;
    return this.#plainHint(one, (one['title'] as string | undefined) ?? name);
  }

  #unionHint(alternatives: readonly TSchema[], name: string): string {
    const hints = alternatives.map((one, index) => {
      const own = one['title'] as string | undefined;
      const tag = tagOf(one);
      if (tag !== null && this.#isReply) return this.#tagged(one, tag, name);
      const isObject = one['type'] === 'object';
      const part =
        tag !== null ? capital(tag) : isObject && countOf(alternatives, 'object') > 1 ? String(index + 1) : '';
      return this.#plainHint(one, own ?? `${name}${part}`);
    });
    return [...new Set(hints)].sort((a, b) => Number(a === 'None') - Number(b === 'None')).join(' | ');
  }

  /** The value of an externally tagged union. */
  #tagged(shape: TSchema, tag: string, name: string): string {
    const { title: _, ...value } = membersOf(shape)[tag] as TSchema;
    const subject = name.replace(/Event$/, '');
    return this.#object(value as TSchema, tag.startsWith(subject) ? tag : `${subject}${tag}`, tag);
  }

  #plainHint(shape: TSchema, name: string): string {
    if (shape['const'] !== undefined) return `Literal[${literal(shape['const'])}]`;
    switch (shape['type']) {
      case 'string':
        return stringHint(shape, this.#isReply);
      case 'integer':
        return 'int';
      case 'number':
        return 'Decimal';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      case 'array':
        return this.#arrayHint(shape, name);
      case 'object':
        return shape['properties'] === undefined ? this.#mapHint(shape, name) : this.#object(shape, name, null);
      default:
        return 'Any';
    }
  }

  #arrayHint(shape: TSchema, name: string): string {
    const item = this.hint(shape['items'] as TSchema, singular(name));
    if (!this.#isReply) return `Sequence[${item}]`;
    return shape['minItems'] === 2 && shape['maxItems'] === 2 ? `tuple[${item}, ${item}]` : `tuple[${item}, ...]`;
  }

  #mapHint(shape: TSchema, name: string): string {
    const values = shape['additionalProperties'] as TSchema | boolean | undefined;
    const item = typeof values === 'object' ? this.hint(values, singular(name)) : 'Any';
    return `dict[${shape['x-as'] === 'by number' ? 'int' : 'str'}, ${item}]`;
  }

  #object(shape: TSchema, name: string, tag: string | null): string {
    const known = this.#known.get(name);
    if (known !== undefined) {
      if (jsonText(plainShape(known)) !== jsonText(plainShape(shape)))
        throw new Error(`two classes are called ${name}`);
      return name;
    }
    this.#known.set(name, shape);
    const members = Object.entries(membersOf(shape)).map(([member, own]) => this.#member(shape, name, member, own));
    const lines = this.#isReply ? dataclassHead(name) : [`class ${name}(TypedDict):`];
    const description = shape['description'] as string | undefined;
    const about = description === undefined ? [] : [...docstring(description), ''];
    const mark = tag === null ? [] : [`    TAG: ClassVar[str] = ${literal(tag)}`];
    this.blocks.push([...lines, ...about, ...mark, ...members.flat()].join('\n'));
    this.names.push(name);
    return name;
  }

  #member(shape: TSchema, name: string, member: string, own: TSchema): readonly string[] {
    const hint = this.hint(own, `${name}${pascal(member)}`);
    const description = own['description'] as string | undefined;
    const isPlain = description === undefined || own['title'] !== undefined || USUAL.has(description);
    return [
      ...(isPlain ? [] : comment(description)),
      `    ${KEYWORDS.has(member) ? `${member}_` : member}: ${this.#isReply ? this.#replyHint(shape, member, own, hint) : given(shape, member, hint)}`,
    ];
  }

  #replyHint(shape: TSchema, member: string, own: TSchema, hint: string): string {
    const before = own['x-before'] as unknown;
    if (before !== undefined)
      return `${hint}${before === null && !hint.endsWith('None') ? ' | None' : ''} = ${initial(before)}`;
    if (!isOptional(shape, member)) return hint;
    return `${hint}${hint.endsWith('None') ? '' : ' | None'} = None`;
  }
}

function given(shape: TSchema, member: string, hint: string): string {
  return isOptional(shape, member) ? `NotRequired[${hint}${hint.endsWith('None') ? '' : ' | None'}]` : hint;
}

/** A shape that stands for another, with a description of its own, is that; alternatives of alternatives are its own. */
function unfolded(shape: TSchema): readonly TSchema[] {
  const { allOf } = shape as { readonly allOf?: readonly TSchema[] };
  if (allOf?.[0] !== undefined) return unfolded(allOf[0]);
  const all = (shape['anyOf'] ?? shape['oneOf']) as readonly TSchema[] | undefined;
  return all === undefined
    ? [shape]
    : all.flatMap((one) => (one['title'] === undefined ? unfolded(one) : unfoldedNamed(one)));
}

/** A union with a name is its alternatives; an object with a name is itself. */
function unfoldedNamed(shape: TSchema): readonly TSchema[] {
  return shape['anyOf'] === undefined && shape['oneOf'] === undefined ? [shape] : alternativesOf(shape);
}

function countOf(shapes: readonly TSchema[], type: string): number {
  return shapes.filter((shape) => shape['type'] === type).length;
}

function membersOf(shape: TSchema): Readonly<Record<string, TSchema>> {
  return (shape['properties'] ?? {}) as Readonly<Record<string, TSchema>>;
}

/** The tag of an alternative of `choice`: its only member, which it must have. */
function tagOf(shape: TSchema): string | null {
  const names = Object.keys(membersOf(shape));
  const [tag = ''] = names;
  return names.length === 1 && /^[A-Z]/.test(tag) && !isOptional(shape, tag) ? tag : null;
}

function stringHint(shape: TSchema, isReply: boolean): string {
  const words = shape['enum'] as readonly string[] | undefined;
  if (words !== undefined && shape['x-as'] !== 'open word') return `Literal[${words.map(literal).join(', ')}]`;
  if (!isReply) return 'str';
  if (shape['pattern'] === DECIMAL['pattern']) return 'Decimal';
  return shape['pattern'] === WHOLE['pattern'] || shape['x-as'] === 'hex amount' ? 'int' : 'str';
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function initial(value: unknown): string {
  if (Array.isArray(value)) return '()';
  return value === null ? 'None' : literal(value);
}

function pascal(name: string): string {
  return name.split('_').map(capital).join('');
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/(?<=[a-z])s$/, '');
}

const LINE_MAX = 116;

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function sentence(text: string): string {
  const whole = text.replaceAll('\\', '').trim();
  return `${capital(whole)}${/[.!?]$/.test(whole) ? '' : '.'}`;
}

function comment(text: string): readonly string[] {
  return wrapped(sentence(text), LINE_MAX - 6).map((line) => `    # ${line}`);
}

function docstring(text: string): readonly string[] {
  const lines = wrapped(sentence(text), LINE_MAX - 10);
  if (lines.length === 1) return [`    """${lines[0]}"""`];
  return [`    """${lines[0]}`, ...lines.slice(1).map((line) => `    ${line}`), '    """'];
}

function dataclassHead(name: string): readonly string[] {
  return ['@dataclass(frozen=True, slots=True, kw_only=True)', `class ${name}:`];
}

const MADE = '# Generated from src/codec/shapes by `npm run generate`. Do not edit.';

/** Imports of those names that the text uses. */
function importLine(module: string, names: readonly string[], text: string): readonly string[] {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return used.length === 0 ? [] : [`from ${module} import ${used.join(', ')}`];
}

function moduleText(about: string, classes: Classes, aliases: readonly string[]): string {
  const body = [...classes.blocks, ...aliases].join('\n\n\n');
  const isTyped = body.includes('NotRequired');
  const head = [
    ...importLine('collections.abc', ['Sequence'], body),
    ...importLine('dataclasses', ['dataclass'], body),
    ...importLine('decimal', ['Decimal'], body),
    ...importLine(
      'typing',
      [...(isTyped ? ['TYPE_CHECKING'] : []), 'Any', 'ClassVar', 'Literal', 'TypedDict'],
      `TYPE_CHECKING ${body}`,
    ),
    // Python has it from 3.11 on, and hints are not looked at while the program runs.
    ...(isTyped ? ['', 'if TYPE_CHECKING:', '    from typing_extensions import NotRequired'] : []),
  ];
  const lines = [MADE, `"""${about}"""`, '', 'from __future__ import annotations', '', ...head];
  return `${lines.join('\n')}\n\n\n${body}\n`;
}

function requestsText(): string {
  const classes = new Classes(false);
  for (const [name, shape] of Object.entries(SIGNED)) classes.hint({ ...shape, title: name }, name);
  return moduleText('What is signed, by its members on the wire.', classes, []);
}

function repliesText(): string {
  const classes = new Classes(true);
  const aliases: string[] = [];
  for (const shape of REPLIES) {
    const title = (shape['title'] as string | undefined) ?? 'Reply';
    const hint = classes.hint(shape, title);
    if (shape['title'] !== undefined && hint !== title && hint.includes(' | ')) aliases.push(aliasText(title, hint));
  }
  return moduleText('Replies and events of the service, by their members on the wire.', classes, aliases);
}

function aliasText(name: string, hint: string): string {
  const parts = hint.split(' | ');
  return `${name} = (\n${parts.map((part, index) => `    ${index === 0 ? '' : '| '}${part}`).join('\n')}\n)`;
}

/** The generated files by path. @param control text of schemas/control.fbs. */
export function generatePython(control: string): ReadonlyMap<string, string> {
  const signed = Object.entries(SIGNED).map(([name, shape]) => [name, plainShape(shape)]);
  return new Map([
    [`${PACKAGE}/_contract/signed.json`, jsonText(Object.fromEntries(signed))],
    [`${PACKAGE}/_contract/control.json`, jsonText(describeTables(control))],
    [`${PACKAGE}/requests.py`, requestsText()],
    [`${PACKAGE}/replies.py`, repliesText()],
  ]);
}
