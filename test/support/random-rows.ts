/** Rows of every kind with random members, as clearing's are described (row-kinds.ts), and a row log of them. */
import { toHex } from '../../src/core/hex.ts';
import { ROW_KIND_NAMES, ROW_KINDS, type rowMembersOf } from '../../src/evidence/row-kinds.ts';
import type { LoggedRow } from '../../src/evidence/row-log/logged-record.ts';
import type { RowLog } from '../../src/evidence/row-log/row-log.ts';
import { leafHash } from '../../src/evidence/tree/hashes.ts';
import { entriesRoot, rawCommitment, recordLeaf } from '../../src/evidence/tree/record-leaf.ts';
import { hashRow, userOf } from './row-log-fixture.ts';

type Kind = (typeof ROW_KIND_NAMES)[number];
export type PlainRow = Readonly<Record<string, unknown>>;

/** Numbers that follow from a seed. */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const ASSETS = ['2', '3'] as const;
const TEXTS = ['plain', 'with, comma', 'with "quotes"', 'line\nbreak', 'é€😀', '=1+1', ' a '] as const;

function drawnValue(draw: Draw, { name, type, words = [] }: ReturnType<typeof rowMembersOf>[number]): unknown {
  if (name === 'asset_id' || name === 'leg') return draw.of(ASSETS);
  switch (type) {
    case 'raw':
      return 1 + draw.below(1_000_000);
    case 'integer':
      return draw.below(10) === 0 ? Number.MAX_SAFE_INTEGER : draw.below(100);
    case 'units':
      return `${draw.below(1_000_000)}000000000000000000001`;
    case 'amount':
      return draw.of(['0', '1', '-1.5', '123456789012345678901234567890.000000000000000001', '0.1']);
    case 'time':
      return `${1_795_945_286_000_000_000n + BigInt(draw.below(1_000_000_000))}`;
    case 'flag':
      return true;
    case 'enum':
      return draw.of(words);
    case 'json':
      return { b: [draw.below(9), '1.5'], a: null };
    case 'hex':
      return 'ab'.repeat(1 + draw.below(32));
    default:
      return draw.of(TEXTS);
  }
}

/** A row without its head. @param users how many there are. */
export function randomRow(draw: Draw, users: number, kinds: readonly Kind[] = ROW_KIND_NAMES): PlannedMembers {
  const kind = draw.of(kinds);
  const { isPrivate, members } = ROW_KINDS[kind];
  const given = members.filter(({ isOptional }) => !isOptional || draw.below(2) === 0);
  const values = given.map((member) => [member.name, drawnValue(draw, member)]);
  return { kind, user: isPrivate ? draw.below(users) : null, members: Object.fromEntries(values) as PlainRow };
}

export interface PlannedMembers {
  readonly kind: Kind;
  readonly user: number | null;
  readonly members: PlainRow;
}

/** Appends a record with these rows, chained. @returns the rows as they lie in the log. */
export function appendRows(
  log: RowLog,
  sequence: number,
  timeNs: bigint,
  planned: readonly PlannedMembers[],
): PlainRow[] {
  const appended: PlainRow[] = [];
  const rows = planned.map(({ kind, user, members }, index): LoggedRow => {
    const name = userOf(user ?? 0);
    const before = user === null ? null : log.userEnd(name);
    const link = before === null ? {} : { user: name, n: before.n + 1, previous: toHex(before.hash) };
    const row = { v: 1, sequence: `${sequence}`, index, time_ns: `${timeNs}`, kind, ...link, ...members };
    const bytes = Buffer.from(JSON.stringify(row));
    const hash = hashRow(sequence, index, bytes);
    if (before !== null) log.userGrew(name, before.n + 1, hash);
    appended.push(row);
    return { bytes, hash };
  });
  const meta = {
    sequence,
    epoch: 0,
    timeNs,
    count: rows.length,
    entriesRoot: entriesRoot(rows.map(({ hash }) => hash)),
    rawCommitment: rawCommitment(new Uint8Array(32), new Uint8Array(32).fill(sequence & 0xff)),
  };
  log.append({ ...meta, leafHash: leafHash(recordLeaf(meta)), rows });
  return appended;
}
