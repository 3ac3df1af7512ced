/** How the generators spell names and comments. */

/** `limit_price` as `limitPrice`. */
export function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `SignedOrder` as `SIGNED_ORDER`. */
export function constant(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** A comment of documentation; none for an empty text. */
export function comment(text: string, indent = ''): string[] {
  if (text === '') return [];
  const oneLine = `${indent}/** ${text.replaceAll('\n', ' ')} */`;
  if (oneLine.length <= 120) return [oneLine];
  return [`${indent}/**`, ...text.split('\n').map((line) => `${indent} * ${line}`), `${indent} */`];
}
