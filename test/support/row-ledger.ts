/**
 * The rows of a state's batches, read back and held against it: each row is of its kind, member by member, chains have no
 * gap, private rows name no other user, and the ledger rows add up to every balance and leg there is.
 */
import assert from 'node:assert/strict';
import { allBalances } from '../../src/clearing/balances.ts';
import { OutcomeRecorder } from '../../src/clearing/outcomes.ts';
import { allPositions } from '../../src/clearing/positions.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { parseDecimal18 } from '../../src/core/decimal.ts';
import { viewsOf } from '../../src/core/views.ts';
import { type RowSink, RowWriter } from '../../src/evidence/row-bytes.ts';
import { ROW_KIND_NAMES, type RowMember, rowMembersOf } from '../../src/evidence/row-kinds.ts';

const USERS_MANY = 100;
const BATCHES_PER_LOOK = 20;
const NO_BYTES = new Uint8Array();
const NEWLINE = 0x0a;

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

interface KnownMember extends RowMember {
  readonly place: number;
}

const KNOWN: ReadonlyMap<string, ReadonlyMap<string, KnownMember>> = new Map(
  ROW_KIND_NAMES.map((kind) => [
    kind,
    new Map(rowMembersOf(kind).map((member, place) => [member.name, { ...member, place }])),
  ]),
);

/** @throws AssertionError unless the row is one of its kind, with its members in their order. */
function checkRow(row: ReadRow): void {
  const known = KNOWN.get(row['kind'] as string) ?? assert.fail(`a row of kind ${row['kind']}`);
  let next = 0;
  const skipTo = (place: number): void => {
    for (const { name, isOptional, place: at } of known.values())
      if (at >= next && at < place) assert.ok(isOptional, `${row['kind']} has ${name}`);
    next = place + 1;
  };
  for (const [name, value] of Object.entries(row)) {
    const member = known.get(name) ?? assert.fail(`a row of ${row['kind']} has ${name}`);
    assert.ok(member.place >= next, `members of a row of ${row['kind']} are in their order`);
    if (member.place > next) skipTo(member.place);
    next = member.place + 1;
    if (!FORMS[member.type](value)) assert.fail(`${name} is ${member.type}: ${JSON.stringify(value)}`);
    if (member.words !== undefined) assert.ok(member.words.includes(value as string), name);
    // What a user signed is the user's own text, and numbers of transactions are none of users.
    if (member.type === 'json' || (member.type === 'id' && (value as string).length > 63)) checkNames(row, value);
  }
  skipTo(known.size);
}

function checkNames(row: ReadRow, value: unknown): void {
  const { user } = row;
  if (user === undefined) return;
  for (const [name] of JSON.stringify(value).matchAll(/[0-9a-f]{64}/g))
    assert.ok(name === user || !USERS.has(name), `a row of ${user} names another user`);
}

/** Every user that a row was ever of. */
const USERS = new Set<string>();

function balanceKey(user: unknown, subAccount: unknown, asset: unknown, leg: unknown = ''): string {
  return `${user}/${subAccount}/${asset}/${leg}`;
}

export class RowLedger implements RowSink {
  readonly recorder: OutcomeRecorder = new OutcomeRecorder();
  readonly #writer = new RowWriter();
  /** Rows of each user so far. */
  readonly #chains = new Map<string, number>();
  readonly #balances = new Map<string, bigint>();
  readonly #every: number;
  #state: ClearingState | null = null;
  #batches = 0;
  #sequence = 0;
  #indexes = 0;
  /** Of the last batch. */
  rows: ReadRow[] = [];
  /** Of every batch that was read. */
  readonly outcomes: Uint8Array[] = [];
  /** How many of each kind, with their events or entries. */
  readonly counts: Map<string, number> = new Map();

  /** @param every so many batches all balances are compared; those that a batch has touched are always. */
  constructor(every = 8) {
    this.#every = every;
  }

  /** Before a batch, and with what a test has changed by hand since the last one. Of many accounts not every batch is read. */
  begin(state: ClearingState): void {
    this.#batches += 1;
    if (state.users.size > USERS_MANY && this.#batches % BATCHES_PER_LOOK !== 0) {
      this.#state = null;
      return;
    }
    state.outcomes = this.recorder;
    const isTouched = state.changedBalances.length > 0 || state.changedPositions.length > 0;
    if (state === this.#state && !isTouched) return;
    this.#state = state;
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
    assert.equal(row['sequence'], String(this.#sequence));
    assert.equal(row['index'], index);
    assert.equal(row['user'] ?? null, user);
    if (user !== null) {
      const { n, previous } = this.nextOf(user);
      assert.equal(row['n'], n);
      assert.equal(row['previous'], previous);
      this.#chains.set(user, n);
      USERS.add(user);
    }
    if (row['kind'] === 'ledger') this.#book(row);
    this.rows.push(row);
    const what = row['kind'] === 'ledger' ? row['entry'] : (row['event'] ?? row['status'] ?? '');
    const name = `${row['kind']} ${what}`.trim();
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
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
    this.outcomes.push(outcomes);
    this.#sequence += 1;
    this.#indexes = 0;
    this.rows = [];
    const views = viewsOf(buffer, 0, outcomes.length);
    const { count, bytes } = this.#writer.write({ sequence: this.#sequence, timeNs }, views, 0, outcomes.length, this);
    assert.equal(count, this.rows.length);
    assert.equal(count === 0 ? count : bytes.at(-1), count === 0 ? bytes.length : NEWLINE);
    if (this.#sequence % this.#every !== 0) return outcomes;
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
