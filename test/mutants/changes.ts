/**
 * Changes that a deliberate bug makes to one statement or member of the built program. They go by the structure of the
 * text (a condition, a returned value) rather than by names. A change that does not apply returns the text as it is.
 */
export type Change = (statement: string) => string;

/** In a replacement: what stood there before. */
const BEFORE = '$&';

/** The statement is missing. */
export function removed(_statement: string): string {
  return '';
}

/** The condition of the first `if` or `while` is `text`. */
export function condition(text: string): Change {
  return (statement) => {
    const head = /\b(?:if|while) \(/.exec(statement);
    if (head === null) return statement;
    const from = head.index + head[0].length;
    return replaced(statement, from, endOf(statement, from, ')'), text);
  };
}

/** The first `return` returns `text`. */
export function returns(text: string): Change {
  return between(/\breturn /, ';', text);
}

/** The right-hand side of the first assignment is `text`. */
export function assigns(text: string): Change {
  return between(/ = /, ';', text);
}

/** The condition of the first `assert(…, message)` is `text`. */
export function argumentOfAssert(text: string): Change {
  return between(/\bassert\(/, ',', text);
}

/** The only match of `pattern` is replaced, as `String.replace` does. */
export function swap(pattern: RegExp, text: string): Change {
  const all = new RegExp(pattern, `${pattern.flags}g`);
  return (statement) => ([...statement.matchAll(all)].length === 1 ? statement.replace(pattern, text) : statement);
}

function between(start: RegExp, end: string, text: string): Change {
  return (statement) => {
    const head = start.exec(statement);
    if (head === null) return statement;
    const from = head.index + head[0].length;
    return replaced(statement, from, endOf(statement, from, end), text);
  };
}

function replaced(statement: string, from: number, to: number, text: string): string {
  const before = `(${statement.slice(from, to)})`;
  return statement.slice(0, from) + text.replaceAll(BEFORE, () => before) + statement.slice(to);
}

/** @returns where `end` stands outside of any bracket, quotation or comment that begins at or after `from`. */
function endOf(statement: string, from: number, end: string): number {
  const depthAtEnd = end === ')' ? -1 : 0;
  for (const { at, depth } of plainText(statement, from)) if (statement[at] === end && depth === depthAtEnd) return at;
  return statement.length;
}

/** @returns the statement or member that begins at `from`: to the first line end at which it is complete. */
export function statementFrom(program: string, from: number): string {
  for (const { at, depth } of plainText(program, from)) {
    if (depth < 0) return program.slice(from, program.lastIndexOf('\n', at) + 1);
    if (depth > 0 || !/[;,}]/.test(program.charAt(at)) || program[at + 1] !== '\n') continue;
    if (!/^\s*else\b/.test(program.slice(at + 1, at + 200))) return program.slice(from, at + 2);
  }
  return program.slice(from);
}

/** Each place outside quotations and comments, with the number of brackets that are open behind it. */
function* plainText(program: string, from: number): Generator<{ readonly at: number; readonly depth: number }> {
  let depth = 0;
  const skipped = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/.*|\/\*[\s\S]*?\*\//y;
  for (let at = from; at < program.length; at += 1) {
    skipped.lastIndex = at;
    const length = skipped.exec(program)?.[0].length ?? 0;
    if (length > 0) {
      at += length - 1;
      continue;
    }
    const letter = program.charAt(at);
    if ('([{'.includes(letter)) depth += 1;
    else if (')]}'.includes(letter)) depth -= 1;
    yield { at, depth };
  }
}
