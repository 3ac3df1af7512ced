/**
 * Texts that are nearly JSON: a good text is cut into its tokens, some of which are replaced, doubled, moved or lost, and
 * sometimes bytes of the result are hit blindly. Most results are close enough to get past the first check.
 *
 *   {"a":12,"b":["x"]}  ─▶  {  "a"  :  12  ,  "b"  :  [  "x"  ]  }  ─▶  mutations  ─▶  bytes
 */
import type { Dice } from './dice.ts';

const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}[\],:]/g;

/** Numbers at every edge that a reader of integers can have. */
export const NUMBERS: readonly string[] = [
  ...['0', '-0', '-1', '1', '9007199254740991', '9007199254740992', '9007199254740993', '4294967295', '4294967296'],
  ...['2147483648', '-2147483649', '9223372036854775807', '9223372036854775808', '18446744073709551615'],
  ...['18446744073709551616', `1${'0'.repeat(79)}`, `1${'0'.repeat(80)}`, '9'.repeat(400), '1e400', '1E2', '1e-2'],
  ...['1.0', '0.1', '00', '01', '+1', '.5', '5.', '1e', '0x10', 'NaN', 'Infinity', '-', '1_000', '１'],
];

/** Strings that a reader can mistake: escapes, halves of pairs, controls, look-alikes, lengths. */
export const STRINGS: readonly string[] = [
  ...['""', '" "', '"\\u0000"', '"\\u0020"', '"a\\u0000b"', '"\\ud800"', '"\\udc00"', '"\\ud83d\\ude00"', '"\\ud800x"'],
  ...[
    '"\\u"',
    '"\\u12"',
    '"\\x41"',
    '"\\/"',
    '"a/b"',
    '"\\t"',
    '"\t"',
    '"\n"',
    '"\u0001"',
    '"é"',
    '"\u2028"',
    '"\ufeff"',
  ],
  ...['"__proto__"', '"constructor"', '"toString"', '"0"', '"-1"', '"1e3"', '"0x0"', '"sys-1"', '"%00"', '"%2F"'],
  ...[`"${'a'.repeat(64)}"`, `"${'a'.repeat(65)}"`, `"${'\\u0061'.repeat(70)}"`, `"${'a'.repeat(1_025)}"`],
  ...[`"${'ab'.repeat(32)}"`, `"0x${'AB'.repeat(32)}"`, `"${'ab'.repeat(32)}@${'00'.repeat(9)}"`, '"Buy"', '"buy"'],
];

const WORDS: readonly string[] = ['true', 'false', 'null', 'nul', 'True', 'undefined', '{}', '[]', '[[]]', '{"a":1}'];

/** One mutation of tokens, in place. */
type Mutation = (dice: Dice, tokens: string[]) => void;

const at = (dice: Dice, tokens: readonly string[]): number => dice.below(Math.max(1, tokens.length));
const isString = (token: string | undefined): boolean => token?.startsWith('"') === true;

/** Where a member begins: a string in front of a colon. */
function memberAt(dice: Dice, tokens: readonly string[]): number {
  const names = tokens.flatMap((token, index) => (isString(token) && tokens[index + 1] === ':' ? [index] : []));
  return names.length === 0 ? -1 : dice.pick(names);
}

/** Behind the value that begins at `from`. */
function valueEnd(tokens: readonly string[], from: number): number {
  let depth = 0;
  for (let index = from; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth <= 0) return index + 1;
  }
  return tokens.length;
}

const replaceValue: Mutation = (dice, tokens) => {
  const name = memberAt(dice, tokens);
  if (name < 0) return;
  const value = dice.pick([dice.pick(NUMBERS), dice.pick(STRINGS), dice.pick(WORDS)]);
  tokens.splice(name + 2, valueEnd(tokens, name + 2) - name - 2, value);
};

const replaceNumber: Mutation = (dice, tokens) => {
  // Most numbers are bytes of signatures, and one of those is as good as another.
  const isMember = !dice.once(4);
  const numbers = tokens.flatMap((token, index) =>
    /^-?[0-9]/.test(token) && (!isMember || tokens[index - 1] === ':') ? [index] : [],
  );
  if (numbers.length > 0) tokens[dice.pick(numbers)] = dice.pick(NUMBERS);
};

const replaceString: Mutation = (dice, tokens) => {
  const strings = tokens.flatMap((token, index) => (isString(token) ? [index] : []));
  if (strings.length > 0) tokens[dice.pick(strings)] = dice.pick(STRINGS);
};

const doubleMember: Mutation = (dice, tokens) => {
  const name = memberAt(dice, tokens);
  if (name < 0) return;
  const member = tokens.slice(name, valueEnd(tokens, name + 2));
  const spelled = member[0] ?? '';
  const escaped = dice.once(3) ? spelled.replace(/^"(.)/, (_, first: string) => `"\\u00${hexOf(first)}`) : spelled;
  tokens.splice(name, 0, escaped, ...member.slice(1), ',');
};

const dropMember: Mutation = (dice, tokens) => {
  const name = memberAt(dice, tokens);
  if (name < 0) return;
  const end = valueEnd(tokens, name + 2);
  tokens.splice(name, end - name + (tokens[end] === ',' ? 1 : 0));
};

const strangeMember: Mutation = (dice, tokens) => {
  const name = memberAt(dice, tokens);
  if (name >= 0) tokens.splice(name, 0, dice.pick(STRINGS), ':', dice.pick([...NUMBERS, ...STRINGS, ...WORDS]), ',');
};

const deepen: Mutation = (dice, tokens) => {
  const name = memberAt(dice, tokens);
  const depth = dice.pick([1, 5, 15, 16, 17, 200, 5_000]);
  const [open, close] = dice.once(2) ? ['[', ']'] : ['{"a":', '}'];
  const value = `${open.repeat(depth)}${dice.once(2) ? '1' : ''}${close.repeat(dice.once(3) ? depth - 1 : depth)}`;
  if (name >= 0) tokens.splice(name + 2, valueEnd(tokens, name + 2) - name - 2, value);
};

const lengthen: Mutation = (dice, tokens) => {
  const name = memberAt(dice, tokens);
  const unit = dice.pick(['a', '\\u0061', '\\\\', '1,', '[],']);
  const text = unit.repeat(dice.pick([10, 1_000, 20_000]));
  const value = unit.endsWith(',') ? `[${text}0]` : `"${text}"`;
  if (name >= 0) tokens.splice(name + 2, valueEnd(tokens, name + 2) - name - 2, value);
};

const moveToken: Mutation = (dice, tokens) => {
  const [token] = tokens.splice(at(dice, tokens), 1);
  if (token !== undefined) tokens.splice(at(dice, tokens), 0, token);
};

const dropToken: Mutation = (dice, tokens) => {
  tokens.splice(at(dice, tokens), 1);
};

const strangeToken: Mutation = (dice, tokens) => {
  const all = [...NUMBERS, ...STRINGS, ...WORDS, '{', '}', '[', ']', ',', ':', ' ', '\t', '\u00a0', '/**/', "'a'"];
  tokens.splice(at(dice, tokens), 0, dice.pick(all));
};

const turnMembers: Mutation = (_, tokens) => {
  const name = tokens.findIndex((token, index) => isString(token) && tokens[index + 1] === ':');
  const end = valueEnd(tokens, name + 2);
  const next = tokens[end] === ',' ? end + 1 : -1;
  if (name < 0 || next < 0) return;
  const first = tokens.slice(name, end);
  const second = tokens.slice(next, valueEnd(tokens, next + 2));
  tokens.splice(name, first.length + second.length + 1, ...second, ',', ...first);
};

const MUTATIONS: readonly Mutation[] = [
  ...[replaceValue, replaceNumber, replaceNumber, replaceString, replaceString, doubleMember, dropMember],
  ...[strangeMember, deepen, lengthen, moveToken, dropToken, strangeToken, turnMembers],
];

/** @returns bytes that are nearly, or in one of eight cases exactly, `text`. */
export function mutatedJson(dice: Dice, text: string): Buffer {
  if (dice.once(8)) return Buffer.from(text);
  const tokens = text.match(TOKEN) ?? [];
  for (let left = 1 + dice.below(3); left > 0; left -= 1) dice.pick(MUTATIONS)(dice, tokens);
  const gap = dice.once(8) ? dice.pick([' ', '\n', '\t', '\r\n  ']) : '';
  const bytes = Buffer.from(tokens.join(gap));
  return dice.once(6) ? hitBytes(dice, bytes) : bytes;
}

/** Blind damage: bits turned, bytes set, lost, doubled, cut off, or something in front. */
export function hitBytes(dice: Dice, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const place = dice.below(Math.max(1, copy.length));
  switch (dice.below(6)) {
    case 0:
      copy[place] = (copy[place] ?? 0) ^ (1 << dice.below(8));
      return copy;
    case 1:
      copy[place] = dice.pick([0x00, 0x0a, 0x0d, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xed, 0xf5, 0xfe, 0xff]);
      return copy;
    case 2:
      return Buffer.concat([copy.subarray(0, place), copy.subarray(place + 1 + dice.below(8))]);
    case 3:
      return Buffer.concat([
        copy.subarray(0, place),
        copy.subarray(place, place + dice.below(40)),
        copy.subarray(place),
      ]);
    case 4:
      return copy.subarray(0, place);
    default:
      return Buffer.concat([
        dice.pick([Buffer.from('\ufeff'), Buffer.from(' '), Buffer.from([0xff]), dice.bytes(3)]),
        copy,
      ]);
  }
}

function hexOf(character: string): string {
  return (character.charCodeAt(0) & 0xff).toString(16).padStart(2, '0');
}
