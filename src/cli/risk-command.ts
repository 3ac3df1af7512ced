/**
 * `ringbook risk`: what an operator looks at when prices move. Accounts at risk, those under liquidation, and what the
 * backstop holds, as tables.
 */
import { type AccountsAtRisk, type Backstop, OperatorClient } from '../client/operator.ts';
import {
  ADDRESS_OPTIONS,
  type Command,
  checkAddress,
  EXIT,
  operatorToken,
  parseOptions,
  positiveInteger,
  TOKEN_HELP,
  usageError,
} from './command.ts';
import { textTable } from './table.ts';

/** Digits after the point that a table shows: the rest is cut off. */
const SHOWN_DECIMALS = 2;
const ACCOUNTS_MAX = 1_000;

/** A decimal with at most `SHOWN_DECIMALS` digits after the point, cut off. */
function shortened(decimal: string): string {
  const point = decimal.indexOf('.');
  return point < 0 ? decimal : decimal.slice(0, point + 1 + SHOWN_DECIMALS);
}

/** @param onlyLiquidated leaves out accounts that are at risk, but not under liquidation. */
export function atRiskTable({ count, shielded, accounts }: AccountsAtRisk, onlyLiquidated: boolean): string {
  const listed = accounts.filter(({ liquidation }) => !onlyLiquidated || liquidation !== null);
  const rows = listed.map((account) => [
    `${account.userId}/${account.subAccount}`,
    shortened(account.maintenanceSurplus),
    shortened(account.maintenanceRequirement),
    account.isShielded ? 'shielded' : stateOf(account.liquidation),
    [...account.positions].map(([asset, { base, liquidationPrice: price }]) => position(asset, base, price)).join(', '),
  ]);
  const head = `accounts at risk ${count}, shielded ${shielded}, listed ${listed.length}\n`;
  if (rows.length === 0) return head;
  const titles = ['account', 'surplus', 'requirement', 'liquidation', 'positions (market: size @ liquidation price)'];
  return head + textTable([titles, ...rows], new Set([1, 2]));
}

function stateOf(liquidation: AccountsAtRisk['accounts'][number]['liquidation']): string {
  return liquidation === null ? '-' : `round ${liquidation.round}, ${liquidation.stage}`;
}

function position(asset: string, base: string, price: string | null): string {
  return `${asset}: ${shortened(base)} @ ${price === null ? '-' : shortened(price)}`;
}

export function backstopTable({ account, capital, subAccounts }: Backstop): string {
  const open = subAccounts.filter(({ state }) => state !== 'closed');
  const head = `backstop ${account}\ncapital ${shortened(capital)} USD, open ${open.length}, closed ${subAccounts.length - open.length}\n`;
  if (open.length === 0) return head;
  const titles = [
    'account',
    'state',
    'equity',
    'surplus',
    'requirement',
    'credited',
    'posted',
    'positions',
    'taken from',
  ];
  const rows = open.map((row) => [
    String(row.index),
    row.state,
    ...[row.equity, row.imSurplus, row.imRequirement, row.provisionalCollateral, row.postedCollateral].map(shortened),
    [...row.positions].map(([asset, base]) => `${asset}: ${shortened(base)}`).join(', '),
    `${row.sourceUser}/${row.sourceIndex}`,
  ]);
  return head + textTable([titles, ...rows], new Set([0, 2, 3, 4, 5, 6]));
}

const VIEWS: Readonly<Record<string, (operator: OperatorClient, limit: number) => Promise<string>>> = {
  accounts: async (operator, limit) => atRiskTable(await operator.accountsAtRisk(limit), false),
  liquidations: async (operator, limit) => atRiskTable(await operator.accountsAtRisk(limit), true),
  backstop: async (operator) => backstopTable(await operator.backstop()),
};

export const riskCommand: Command = {
  name: 'risk',
  summary: 'show accounts at risk, liquidations, the backstop',
  help: `usage: ringbook risk [accounts | liquidations | backstop] [options]

accounts (default) are the margin accounts with the smallest maintenance surplus, among them those below maintenance;
liquidations only those that the node is closing; backstop what was taken over and is being sold.

  --limit N          accounts to look at, at most ${ACCOUNTS_MAX}  (default 100)
  --ops URL          operator API           (default http://127.0.0.1:9464)
${TOKEN_HELP}

example:
  ringbook risk backstop
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      ops: ADDRESS_OPTIONS.ops,
      limit: { type: 'string', default: '100' },
    });
    const [name = 'accounts'] = positionals;
    const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
    if (view === undefined || positionals.length > 1) {
      throw usageError(`risk shows one of ${Object.keys(VIEWS).join(', ')}`);
    }
    const limit = positiveInteger(values.limit, '--limit');
    if (limit > ACCOUNTS_MAX) throw usageError(`--limit is at most ${ACCOUNTS_MAX}`);
    const token = operatorToken();
    const operator = new OperatorClient(checkAddress(values.ops, 'ops'), token);
    try {
      process.stdout.write(await view(operator, limit));
    } finally {
      operator.close();
    }
    return EXIT.done;
  },
};
