/**
 * The rows of a state's batches, read back and held against it: each row is of its kind, member by member, chains have no
 * gap, private rows name no other user, and after every batch the ledger rows add up to every balance and leg there is.
 */
import assert from 'node:assert/strict';
import { allBalances } from '../../src/clearing/balances.ts';
import { OutcomeRecorder } from '../../src/clearing/outcomes.ts';
import { allPositions } from '../../src/clearing/positions.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { parseDecimal18 } from '../../src/core/decimal.ts';
import { viewsOf } from '../../src/core/views.ts';
import { type RowSink, RowWriter } from '../../src/evidence/row-bytes.ts';
import { ROW_KINDS, type RowKindName, type RowMember, rowMembersOf } from '../../src/evidence/row-kinds.ts';

const USERS_MANY = 100;
const BATCHES_PER_LOOK = 20;
const NO_BYTES = new Uint8Array();

/** A row as JSON reads it. */
export type ReadRow = Readonly<Record<string, unknown>>;

const FORMS: Readonly<Record<RowMember['type'], (value: unknown) => boolean>> = {
  raw: Number.isSafeInteger,
  integer: Number.isSafeInteger,
  units: (value) => typeof value === 'string' && /^\d+$/.test(value),
  amount: (value) => typeof value === 'string' && parseDecimal18(value) !== null && !/\.\d*0$/.test(value),
  time: (value) => typeof value === 'string' && /^\d{1,20}$/.test(value),
  id: (value) => typeof value === 'string',
  text: (value) => typeof value === 'string',
  hex: (value) => typeof value === 'string' && /^[0-9a-f]+$/.test(value),
  base64: (value) => typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value,
  flag: (value) => value === true,
  enum: (value) => typeof value === 'string',
  json: (value) => typeof value === 'object' && value !== null,
};

/** @throws AssertionError unless the row is one of its kind. */
export function checkRow(row: ReadRow): void {
  const kind = row['kind'] as RowKindName;
  assert.ok(kind in ROW_KINDS, String(kind));
  const members = rowMembersOf(kind);
  const known = members.filter(({ name }) => name in row);
  assert.deepEqual(
    Object.keys(row),
    known.map(({ name }) => name),
    `members of a row of ${kind}, in their order`,
  );
  for (const member of members) {
    const value = row[member.name];
    if (value === undefined) assert.ok(member.isOptional, `${kind} has ${member.name}`);
    else assert.ok(FORMS[member.type](value), `${kind}.${member.name} is ${member.type}: ${JSON.stringify(value)}`);
    if (member.words !== undefined && value !== undefined)
      assert.ok(member.words.includes(value as string), member.name);
  }
}

function balanceKey(user: unknown, subAccount: unknown, asset: unknown, leg: unknown = ''): string {
  return `${user}/${subAccount}/${asset}/${leg}`;
}

export class RowLedger implements RowSink {
  readonly recorder: OutcomeRecorder = new OutcomeRecorder();
  readonly #writer = new RowWriter();
  /** Rows of each user so far. */
  readonly #chains = new Map<string, number>();
  readonly #balances = new Map<string, bigint>();
  #batches = 0;
  #sequence = 0;
  #indexes = 0;
  /** Of the last batch. */
  rows: ReadRow[] = [];
  /** How many of each kind, with their events or entries. */
  readonly counts: Map<string, number> = new Map();

  /** Before a batch, and with what a test has changed by hand since the last one. Of many accounts not every batch is read. */
  begin(state: ClearingState): void {
    this.#batches += 1;
    if (state.users.size > USERS_MANY && this.#batches % BATCHES_PER_LOOK !== 0) return;
    state.outcomes = this.recorder;
    this.#balances.clear();
    for (const [key, amount] of truthOf(state)) this.#balances.set(key, amount);
  }

  nextOf(user: string): { readonly n: number; readonly previous: string } {
    const n = (this.#chains.get(user) ?? 0) + 1;
    return { n, previous: n === 1 ? '0'.repeat(64) : n.toString(16).padStart(64, 'a') };
  }

  row(bytes: Uint8Array, index: number, user: string | null): void {
    assert.equal(index, this.#indexes);
    this.#indexes += 1;
    const text = Buffer.from(bytes).toString('utf8');
    const row = JSON.parse(text) as ReadRow;
    checkRow(row);
    assert.deepEqual([row['sequence'], row['index']], [String(this.#sequence), index]);
    assert.equal(row['user'] ?? null, user);
    if (user !== null) {
      const { n, previous } = this.nextOf(user);
      assert.deepEqual([row['n'], row['previous']], [n, previous]);
      this.#chains.set(user, n);
      this.#checkNames(row, user);
    }
    if (row['kind'] === 'ledger') this.#book(row);
    this.rows.push(row);
    const name = `${row['kind']} ${row['event'] ?? row['entry'] ?? row['status'] ?? ''}`.trim();
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** What a user signed is the user's own text, and numbers of transactions are none of users. */
  #checkNames(row: ReadRow, user: string): void {
    const kind = row['kind'] as RowKindName;
    const named = rowMembersOf(kind)
      .filter(({ name, type }) => name !== 'text' && ['id', 'text', 'json'].includes(type))
      .map(({ name }) => JSON.stringify(row[name] ?? ''))
      .join();
    const [found] = named.match(/[0-9a-f]{64}/g)?.filter((name) => name !== user && this.#chains.has(name)) ?? [];
    assert.equal(found, undefined, `a row of ${user} names another user`);
  }

  #book(row: ReadRow): void {
    const key = balanceKey(row['user'], row['sub_account'], row['asset'], row['leg']);
    const after = (this.#balances.get(key) ?? 0n) + (parseDecimal18(row['amount'] as string) ?? 0n);
    assert.notEqual(row['amount'], '0', 'a row of the ledger is a change');
    assert.equal(parseDecimal18(row['balance_after'] as string), after, 'amounts add up to balances');
    this.#balances.set(key, after);
  }

  /** After a batch: reads its rows, and compares the sums with the state. @returns the bytes of its outcomes. */
  check(state: ClearingState, timeNs: bigint): Uint8Array {
    if (state.outcomes === null) return NO_BYTES;
    state.outcomes = null;
    const outcomes = this.recorder.bytes.slice();
    const { buffer } = outcomes;
    this.#sequence += 1;
    this.#indexes = 0;
    this.rows = [];
    const views = viewsOf(buffer, 0, outcomes.length);
    const { count, bytes } = this.#writer.write({ sequence: this.#sequence, timeNs }, views, 0, outcomes.length, this);
    assert.equal(count, this.rows.length);
    const lines = Buffer.from(bytes).toString('utf8').split('\n');
    assert.equal(lines.length, count + 1);
    const truth = truthOf(state);
    for (const [key, amount] of truth) assert.equal(this.#balances.get(key) ?? 0n, amount, `rows of ${key}`);
    for (const [key, amount] of this.#balances) assert.equal(amount, truth.get(key) ?? 0n, `rows of ${key}`);
    return outcomes;
  }
}

/** Every balance, locks included, and every leg. */
function truthOf(state: ClearingState): ReadonlyMap<string, bigint> {
  const truth = new Map<string, bigint>();
  for (const { user, subAccount, asset, owned, locked } of allBalances(state)) {
    if (owned + locked !== 0n) truth.set(balanceKey(user, subAccount, asset), owned + locked);
  }
  for (const { user, subAccount, asset, legs } of allPositions(state)) {
    if (legs.base !== 0n) truth.set(balanceKey(user, subAccount, asset, asset), legs.base);
    if (legs.quote !== 0n) truth.set(balanceKey(user, subAccount, '0', asset), legs.quote);
  }
  return truth;
}
