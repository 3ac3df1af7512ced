/**
 * `ringbook withdraw`: requests a withdrawal from account 0, lists the user's withdrawals, cancels one, and on the
 * simulated chain of a dev node pays one out.
 */
import type { Withdrawal } from '../client/account.ts';
import { RingbookClient } from '../client/client.ts';
import { OperatorClient } from '../client/operator.ts';
import type { UnsignedAction } from '../client/signed-actions.ts';
import { format18, parseDecimal18 } from '../core/decimal.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddress,
  checkAddresses,
  EXIT,
  operatorToken,
  parseOptions,
  usageError,
} from './command.ts';
import { SIGNER_HELP, SIGNER_OPTIONS, signersOf, writeRequest } from './signer-options.ts';
import { textTable } from './table.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  request: { type: 'string' },
  to: { type: 'string' },
  nonce: { type: 'string' },
  cancel: { type: 'string' },
  execute: { type: 'string' },
  'amount-text': { type: 'string', default: 'hex' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

interface ChainToken {
  readonly token: string;
  readonly chainId: string;
}

/** `<token>@<chain id>`, or an asset that has one token. @throws CliError 64. */
async function tokenOf(client: RingbookClient, text = ''): Promise<ChainToken> {
  if (/^[0-9]{1,5}$/.test(text)) return tokenOf(client, await onlyToken(client, text));
  const [token = '', chainId = ''] = text.toLowerCase().replaceAll('0x', '').split('@');
  const isToken = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(token) && /^[0-9a-f]{18}$/.test(chainId);
  if (!isToken) throw usageError(`a token is an asset or <address>@<chain id>, not "${text}"`);
  return { token: token.padEnd(64, '0'), chainId };
}

async function onlyToken(client: RingbookClient, assetId: string): Promise<string> {
  const tokens = (await client.registry.tokens()).filter((token) => token.assetId === assetId);
  const [only] = tokens;
  if (only !== undefined && tokens.length === 1) return only.address;
  const listed = tokens.map(({ address }) => `\n  ${address}`).join('');
  throw usageError(
    tokens.length === 0 ? `asset ${assetId} has no token` : `asset ${assetId} has several tokens:${listed}`,
  );
}

function nonceOf(text: string, name: string): number {
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(text))
    throw usageError(`${name} takes the nonce of a withdrawal, not "${text}"`);
  return Number(text);
}

/** Without the zeros behind an address of 20 bytes. */
function shortAddress(text: string): string {
  return text.replace(/^([0-9a-f]{40})0{24}/, '$1');
}

/** The queue as a table, the oldest request first. */
export function withdrawalTable(rows: readonly Withdrawal[], form: 'hex' | 'decimal'): string {
  if (rows.length === 0) return 'no withdrawals\n';
  const lines = rows.map(({ nonce, status, amount, asset, target, approvals }) => [
    String(nonce),
    status,
    format18(BigInt(form === 'hex' ? `0x${amount}` : amount)),
    shortAddress(asset),
    shortAddress(target),
    approvals.length === 0 ? '-' : `${approvals.length} signed, until ${approvals[0]?.expiry}`,
  ]);
  return textTable([['nonce', 'state', 'amount', 'token', 'target', 'approvals'], ...lines], new Set([0, 2]));
}

/** How amounts are written. @throws CliError 64. */
export function withdrawalForm(values: { readonly 'amount-text': string }): 'hex' | 'decimal' {
  const form = values['amount-text'];
  if (form !== 'hex' && form !== 'decimal') throw usageError('--amount-text takes hex or decimal');
  return form;
}

/** The withdrawal, or the cancel of one, that the arguments name. */
async function actionOf(
  client: RingbookClient,
  positionals: readonly string[],
  values: Values,
): Promise<UnsignedAction> {
  if (values.cancel !== undefined) {
    const token = await tokenOf(client, positionals[0]);
    return client.account.unsignedWithdrawalCancel({ ...token, nonce: nonceOf(values.cancel, '--cancel') });
  }
  const [amount = '', token] = positionals;
  const amount18 = parseDecimal18(amount);
  if (amount18 === null || amount18 <= 0n) throw usageError(`an amount is a number above zero, not "${amount}"`);
  if (values.to === undefined) throw usageError('--to is missing: the address that is paid');
  const named = await tokenOf(client, token);
  const nonce = values.nonce === undefined ? {} : { nonce: nonceOf(values.nonce, '--nonce') };
  return client.account.unsignedWithdrawal({
    ...named,
    ...nonce,
    amount18,
    target: values.to,
    amountText: withdrawalForm(values),
  });
}

/** Pays out an approved withdrawal on the simulated chain, as the user's own transaction would. */
async function execute(client: RingbookClient, positionals: readonly string[], values: Values): Promise<string> {
  const { chainId } = await tokenOf(client, positionals[0]);
  const nonce = nonceOf(values.execute ?? '', '--execute');
  const token = operatorToken();
  const operator = new OperatorClient(checkAddress(values.ops, 'ops'), token);
  try {
    const path = `/operator/chains/${chainId}/withdrawals/execute`;
    const mined = await operator.call('POST', path, { user: client.userId, nonce });
    return `${String(mined.get('status'))}${mined.get('revert') === null ? '' : `: ${String(mined.get('revert'))}`}\n`;
  } finally {
    operator.close();
  }
}

export const withdrawCommand: Command = {
  name: 'withdraw',
  summary: 'withdraw to a chain, list and cancel withdrawals',
  help: `usage: ringbook withdraw [AMOUNT TOKEN --to ADDRESS | TOKEN --cancel NONCE | TOKEN --execute NONCE] [options]

Without arguments: your withdrawals that live or ended within a day. TOKEN is <address>@<chain id>, or an asset
that has one token; AMOUNT is a decimal of the asset. A withdrawal waits for its delay, is filled, and is approved at the next checkpoint of the chain; then the vault takes it.

  --to ADDRESS       who is paid: 40 or 64 hex digits
  --nonce NONCE      of the withdrawal  (default: the next one, as the node says)
  --cancel NONCE     cancels a withdrawal that is queued or filled
  --execute NONCE    pays out an approved one, on the simulated chain of a dev node
  --amount-text hex  how the node writes amounts: decimal where its setting amount_text is  (default hex)
  --request FILE     writes a file for "ringbook cosign" in place of sending: others sign too
${SIGNER_HELP}
${ADDRESS_HELP}

example:
  ringbook withdraw 25 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a@000000000000007a69 --to 7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c --as a
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const signers = signersOf(values);
    const form = withdrawalForm(values);
    const isAction = positionals.length > 0 || values.cancel !== undefined;
    if (values.request !== undefined && (!isAction || values.execute !== undefined)) {
      throw usageError(
        '--request goes with a withdrawal or --cancel: ringbook withdraw 25 TOKEN --to ADDRESS --request pay.json',
      );
    }
    if (positionals.length > 2) throw usageError('withdraw takes an amount and a token');
    const client = new RingbookClient({
      oms: checkAddresses(values.oms, 'oms'),
      mds: checkAddresses(values.mds, 'mds'),
      ...signers,
    });
    try {
      if (values.execute !== undefined) process.stdout.write(await execute(client, positionals, values));
      else {
        if (isAction) {
          const action = await actionOf(client, positionals, values);
          if (values.request !== undefined) {
            writeRequest(values.request, action, { ...signers, amountText: form });
            return EXIT.done;
          }
          await client.account.submit(action);
        }
        process.stdout.write(withdrawalTable(await client.account.withdrawals(), form));
      }
    } finally {
      client.close();
    }
    return EXIT.done;
  },
};
