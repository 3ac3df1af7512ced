/** What commands print: tables for people, JSON for programs, times. */

/** Columns as wide as their widest cell, numbers of `right` aligned to the right. */
export function textTable(rows: readonly (readonly string[])[], right: ReadonlySet<number>): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    right.has(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => `${row.map(cell).join('  ').trimEnd()}\n`).join('');
}

/** One line; nanoseconds and other long integers are texts of digits, maps are objects. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'bigint') return member.toString();
    return member instanceof Map ? Object.fromEntries(member) : member;
  })}\n`;
}

/** UTC, milliseconds. */
export function timeText(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}
