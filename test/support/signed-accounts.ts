/** Signed actions of an account by any hands, and what the node answers; the configuration of its signers. */
import assert from 'node:assert/strict';
import type { HttpAnswer } from './edge-client.ts';
import { type PlainClient, toldBy } from './plain-client.ts';
import type { TestNode } from './test-node.ts';
import {
  actionBody,
  addSignerText,
  type ConfigRow,
  type ConfigTerms,
  configText,
  depositConfig,
  type Hands,
  type NewSigner,
} from './wire-signers.ts';
import { closePositionText, settlementText, transferText, withdrawalCancelText, withdrawalText } from './wire-texts.ts';

const CHAIN = '000000000000007a69';
const TOKEN = `${'5a'.repeat(20).padEnd(64, '0')}@${CHAIN}`;
const OTHER_TOKEN = '6b'.repeat(20).padEnd(64, '0');
const TARGET = '7c'.repeat(20).padEnd(64, '0');
const USD_1 = '1000000000000000000';

export interface Config {
  readonly master_weight: number;
  readonly signers: readonly {
    readonly key: Readonly<Record<string, readonly number[]>>;
    readonly weight: number;
    readonly expires_at_ns: unknown;
    readonly max_signing_window_ns: unknown;
  }[];
  readonly thresholds: unknown;
  readonly config_nonce: number;
}

/** `200`, the code of clearing's refusal behind it, or status and code of the gateway's. */
export function verdictOf(answer: HttpAnswer): string {
  if (answer.status !== 200) return toldBy(answer);
  if (answer.text === '{"success":true}') return '200';
  return `200 ${/"success":false,"details":\{"code":"([A-Z_]+)"/.exec(answer.text)?.[1] ?? answer.text}`;
}

export const configOf = async (client: PlainClient): Promise<Config> =>
  (await client.read(`/multisig/config/${client.id}`)) as Config;

export const ceNonceOf = async (client: PlainClient): Promise<number> =>
  ((await client.read(`/nonce/${client.id}`)) as { ce_nonce: number }).ce_nonce;

export async function add(
  client: PlainClient,
  signer: NewSigner,
  hands: Hands = { master: client.key },
): Promise<string> {
  const text = addSignerText(client.id, signer);
  return verdictOf(await client.post('/multisig/add-signer', actionBody(text, hands)));
}

/** An action of each tier; each is refused by clearing for a reason of its own once its signers suffice. */
export function actions(
  client: PlainClient,
): readonly (readonly [tier: string, path: string, text: string, passed: string])[] {
  return [
    ['low', '/account/transfer/close-position', closePositionText(client.id, 1, '2', 1), '200 POSITION_NOT_FOUND'],
    [
      'medium',
      '/account/transfer/sub-account',
      transferText(client.id, { source: 0, target: 0, asset: '0', amount: USD_1, nonce: 1 }),
      '200 INVALID_REQUEST',
    ],
    [
      'medium',
      '/settlement/init',
      settlementText(client.id, { assetIn: OTHER_TOKEN, amountIn: 'a', assetOut: TOKEN.slice(0, 64), amountOut: 'a' }),
      '200 SETTLER_NOT_FOUND',
    ],
    [
      'high',
      '/withdrawal/init',
      withdrawalText(client.id, { asset: TOKEN, amount: 'ffffffffffffffffffffffff', target: TARGET }),
      '200 INSUFFICIENT_INVENTORY',
    ],
    ['high', '/withdrawal/cancel', withdrawalCancelText(client.id, TOKEN, 0), '200 WITHDRAWAL_NOT_FOUND'],
  ];
}

export async function act(client: PlainClient, path: string, text: string, hands: Hands): Promise<string> {
  return verdictOf(await client.post(path, actionBody(text, hands)));
}

/** One deposit on the simulated chain. @param config JSON text; null: the plain overload. */
export async function deposit(node: TestNode, user: string, config: string | null, units = 1): Promise<void> {
  const terms = `"user":"${user}","token":"${TOKEN.slice(0, 64)}","amount_base_units":"${units}000000"`;
  await node.operate('POST', `/operator/chains/${CHAIN}/deposits`, `{${terms},"config":${config}}`);
  await node.rest();
}

/** Sets an account up by a deposit of one unit, signed by its key. */
export async function configure(
  node: TestNode,
  user: PlainClient,
  terms: ConfigTerms,
  rows: readonly ConfigRow[],
): Promise<void> {
  const text = configText(terms, rows);
  await deposit(node, user.id, depositConfig(text, user.key.sign(text)));
  assert.equal((await configOf(user)).signers.length, rows.length, 'the configuration is in force');
}
