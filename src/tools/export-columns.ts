/**
 * What a row of the row log is as cells of an export (EXP-01, EXP-03): the columns of each export follow from the kinds of rows
 * (evidence/row-kinds.ts), and so does their document.
 *
 *   raw         a price or quantity of a book: an exact decimal string, by the decimals of the market
 *   time        UTC with nanoseconds; `creation_ns` is `creation_time`, `time_ns` is `time`
 *   integer     an integer, and so is `sequence`
 *   flag        true or false
 *   json        its JSON
 *   all others  as they are in the row
 *
 * `v`, `kind` and `previous` of a row have no column: they are for who verifies a row, which is done with its bytes.
 */
import { must } from '../core/assert.ts';
import { formatRaw } from '../core/decimal.ts';
import { type ROW_KINDS, rowMembersOf } from '../evidence/row-kinds.ts';
import { isoTime } from './iso-time.ts';
import type { Cell, Cells, Column, ColumnType } from './table-writers.ts';

export type RowExportName =
  | 'orders'
  | 'fills'
  | 'trades'
  | 'ledger'
  | 'balances'
  | 'positions'
  | 'deposits'
  | 'withdrawals'
  | 'settlements'
  | 'liquidations'
  | 'config'
  | 'quote-sets'
  | 'protections'
  | 'accounts'
  | 'prices'
  | 'statements';

/** The kind of rows that an export has. `balances` are made of the last ledger rows. */
export const ROW_EXPORTS: Readonly<Record<RowExportName, keyof typeof ROW_KINDS>> = {
  orders: 'order',
  fills: 'fill',
  trades: 'trade',
  ledger: 'ledger',
  balances: 'ledger',
  positions: 'position',
  deposits: 'deposit',
  withdrawals: 'withdrawal',
  settlements: 'settlement',
  liquidations: 'liquidation',
  config: 'config',
  'quote-sets': 'quote_set',
  protections: 'protection',
  accounts: 'account',
  prices: 'prices',
  statements: 'statement',
};
export const ROW_EXPORT_NAMES: readonly RowExportName[] = Object.keys(ROW_EXPORTS) as RowExportName[];

/** A row, parsed; of tables some members are absent. */
export type ExportRow = Readonly<Record<string, unknown>>;

/** Finds the decimals of a market's raw integers. */
export interface MarketScales {
  get(assetId: string): { readonly priceDecimals: number; readonly quantityDecimals: number } | undefined;
}

type RowMember = ReturnType<typeof rowMembersOf>[number];

const WITHOUT_COLUMN: ReadonlySet<string> = new Set(['v', 'kind', 'previous']);
/** Members of a ledger row that say nothing of the balance which it leaves. */
const WITHOUT_BALANCE: ReadonlySet<string> = new Set(['index', 'n', 'entry', 'amount', 'reference']);

/** A column, and how a member of the row becomes its cell. */
interface MemberColumn {
  readonly column: Column;
  readonly member: RowMember;
}

export function columnsOf(what: RowExportName): readonly Column[] {
  return memberColumns(what).map(({ column }) => column);
}

function memberColumns(what: RowExportName): readonly MemberColumn[] {
  return rowMembersOf(ROW_EXPORTS[what]).flatMap((member) => {
    if (WITHOUT_COLUMN.has(member.name) || (what === 'balances' && WITHOUT_BALANCE.has(member.name))) return [];
    const column = { name: columnName(what, member), type: columnType(member), meaning: meaningOf(what, member) };
    return [{ member, column: member.words === undefined ? column : { ...column, words: member.words } }];
  });
}

function columnName(what: RowExportName, { name, type }: RowMember): string {
  if (what === 'balances' && name === 'balance_after') return 'balance';
  if (type !== 'time') return name;
  if (name === 'timestamp_ns') return 'timestamp';
  return name === 'time_ns' ? 'time' : name.replace(/_ns$/, '_time');
}

function columnType({ name, type }: RowMember): ColumnType {
  if (type === 'flag') return 'flag';
  return type === 'integer' || name === 'sequence' ? 'integer' : 'text';
}

function meaningOf(what: RowExportName, { name, meaning }: RowMember): string {
  if (name === 'sequence') return 'The journal record that decided it.';
  return what === 'balances' && name === 'balance_after' ? 'The balance, locks included, signed.' : meaning;
}

/** Makes cells of rows. */
export class RowCells {
  readonly columns: readonly Column[];
  readonly #members: readonly RowMember[];
  readonly #scales: MarketScales;

  constructor(what: RowExportName, scales: MarketScales) {
    const columns = memberColumns(what);
    this.columns = columns.map(({ column }) => column);
    this.#members = columns.map(({ member }) => member);
    this.#scales = scales;
  }

  /** @throws InvariantError for a raw integer of an unknown market. */
  of(row: ExportRow): Cells {
    return this.#members.map((member) => this.#cell(member, row));
  }

  #cell(member: RowMember, row: ExportRow): Cell {
    const value = row[member.name];
    if (member.type === 'flag') return value === true;
    if (value === undefined || value === null) return null;
    if (columnType(member) === 'integer') return Number(value);
    switch (member.type) {
      case 'raw':
        return this.#decimal(member.name, Number(value), String(row['asset_id']));
      case 'time':
        return isoTime(BigInt(String(value)));
      case 'json':
        return JSON.stringify(value);
      default:
        return String(value);
    }
  }

  #decimal(name: string, raw: number, market: string): string {
    const { priceDecimals, quantityDecimals } = must(
      this.#scales.get(market),
      `market ${market} is in the data directory`,
    );
    return formatRaw(raw, name === 'price' || name === 'trigger_price' ? priceDecimals : quantityDecimals);
  }
}
