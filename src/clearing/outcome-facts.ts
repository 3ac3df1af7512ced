/**
 * Cold outcomes, as the members that their rows have (src/evidence/row-kinds.ts): what an input that is no order or fill has
 * caused beside changes of balances. Names and order are those of the row; a member of type json is its text.
 *
 * Not here: deposits (funds/deposits.ts), trips of protection groups (protections.ts).
 */
import { multisigConfig } from '../codec/multisig.ts';
import { must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import type { Effect, LiquidationChanged, RegistryChanged } from './effects.ts';
import type { OperatorCall } from './inputs.ts';
import type { OutcomeRecorder } from './outcomes.ts';
import { assetView } from './registry/registry-assets.ts';
import { publicConfig } from './registry/registry-config.ts';
import { marketView } from './registry/registry-markets.ts';
import type { ProtectionRow, SettlementRow, SignerConfigRow, SubAccountRow, WithdrawalRow } from './rows.ts';
import type { ClearingState } from './state.ts';

type Fact = Readonly<Record<string, unknown>>;

/** Records what is in the effects of an input from a place on. */
export function recordFacts(
  { markets }: Pick<ClearingState, 'markets'>,
  outcomes: OutcomeRecorder,
  effects: readonly Effect[],
  from: number,
): void {
  for (let place = from; place < effects.length; place += 1) {
    const fact = factOf(markets, effects[place] as Effect);
    if (fact !== null) outcomes.fact(fact);
  }
}

/** Trips of protection groups are recorded where they are applied: they have no effect. */
function factOf(markets: ClearingState['markets'], effect: Effect): Fact | null {
  switch (effect.kind) {
    case 'withdrawalChanged':
      return effect.row.status === 'gone' ? null : withdrawalFact(effect.row);
    case 'settlementChanged':
      return settlementFact(effect.row);
    case 'liquidationChanged':
      return liquidationFact(effect);
    case 'protectionChanged':
      return protectionFact({ markets }, effect.row.isGone ? 'removed' : 'set', effect.row);
    case 'signersChanged':
      return signersFact(effect.row, effect.configNonce);
    case 'subAccountChanged':
      return subAccountFact(effect.row);
    case 'priceAccepted': {
      const { asset, price, publishNs, source } = effect.row;
      return { kind: 'prices', asset, price, publish_ns: publishNs, source };
    }
    case 'registryChanged':
      return configFact(effect);
    default:
      return null;
  }
}

function withdrawalFact(row: WithdrawalRow): Fact {
  const { user, status, sequence, place, chainId, token, asset, amount, fee, payout, target, nonce } = row;
  return {
    kind: 'withdrawal',
    user,
    event: status,
    withdrawal: sequence,
    place,
    chain_id: chainId,
    token,
    asset,
    amount,
    fee,
    payout,
    target,
    nonce,
    requested_ns: row.requestedNs,
    due_ns: row.dueNs,
    ...(row.validUntil === 0 ? {} : { valid_until: row.validUntil }),
    ...(row.signatures.length === 0 ? {} : { approvals: JSON.stringify(row.signatures) }),
  };
}

function settlementFact(row: SettlementRow): Fact {
  return {
    kind: 'settlement',
    user: row.user,
    event: row.status,
    sub_account: row.subAccount,
    place: row.place,
    chain_id: row.chainId,
    mode: row.mode,
    token_out: row.tokenOut,
    base_units_out: row.baseUnitsOut,
    token_in: row.tokenIn,
    base_units_in: row.baseUnitsIn,
    asset_out: row.assetOut,
    amount_out: row.amountOut,
    asset_in: row.assetIn,
    amount_in: row.amountIn,
    nonce: row.nonce,
    requested_ns: row.requestedNs,
    valid_until: row.validUntil,
    ...(row.signature === '' ? {} : { approval: row.signature }),
  };
}

function liquidationFact({ user, subAccount, stage, takenOver }: LiquidationChanged): Fact {
  const head = { kind: 'liquidation', user, event: stage, sub_account: subAccount };
  if (takenOver === undefined) return head;
  const { shortfall, taken } = takenOver;
  const positions = taken.map(({ asset, quantity }) => [asset, format18(quantity)]);
  return { ...head, is_taken_over: true, shortfall, taken: JSON.stringify(positions) };
}

/** What happened to a protection group. */
export function protectionFact(
  { markets }: Pick<ClearingState, 'markets'>,
  event: 'set' | 'removed' | 'tripped' | 'ended',
  row: ProtectionRow,
): Fact {
  const { user, marketIndex, slot, group, trip, frozenUntilNs } = row;
  const { assetId } = must(markets[marketIndex], 'a group is of a market').definition;
  const head = { kind: 'protection', user, event, asset_id: assetId, protection_slot: slot, group };
  if (event === 'tripped')
    return { ...head, trip, ...(frozenUntilNs === 0n ? {} : { frozen_until_ns: frozenUntilNs }) };
  return event === 'ended' ? { ...head, trip } : { ...head, limits: JSON.stringify(limitsOf(row)) };
}

function limitsOf(row: ProtectionRow): Fact {
  const { windowMs, frozenMs, maxFills, maxQuantity, maxNotional, minFillNotional } = row;
  return {
    window_ms: windowMs,
    frozen_ms: frozenMs,
    max_fills: maxFills,
    max_quantity: maxQuantity === null ? null : format18(maxQuantity),
    max_notional: maxNotional === null ? null : format18(maxNotional),
    min_fill_notional: format18(minFillNotional),
  };
}

function signersFact(row: SignerConfigRow, configNonce: number): Fact {
  const { user } = row;
  const signers = multisigConfig({ ...row, configNonce });
  return { kind: 'account', user, event: 'signers', config_nonce: configNonce, signers };
}

function subAccountFact({ user, subAccount, kind, name, asset }: SubAccountRow): Fact {
  const of = { sub_account: subAccount, account_type: kind, name };
  return { kind: 'account', user, event: 'sub_account', ...of, ...(asset === null ? {} : { asset }) };
}

/** A call of an operator: by whom, and what it changed (LDG-03). */
export function operatorFact({ by, method, path, changes }: OperatorCall): Fact {
  const members = changes.map(
    ({ member, before, after }) =>
      `{"member":${JSON.stringify(member)},"before":${before ?? 'null'},"after":${after ?? 'null'}}`,
  );
  const value = `{"by":${JSON.stringify(by)},"changes":[${members.join(',')}]}`;
  return { kind: 'config', table: 'operator_call', key: `${method} ${path}`, value };
}

function configFact({ change }: RegistryChanged): Fact {
  if (change.table === 'config') {
    const { kind: table, key } = change.row;
    const value = publicConfig(change.row);
    return { kind: 'config', table, key, ...(value === null ? {} : { value }) };
  }
  if (change.table === 'market') {
    const { definition } = change.row;
    return { kind: 'config', table: 'market', key: definition.assetId, value: JSON.stringify(marketView(definition)) };
  }
  const { assetId, riskJson } = change.row;
  const value = `{"asset":${JSON.stringify(assetView(change.row))},"risk":${riskJson ?? 'null'}}`;
  return { kind: 'config', table: 'asset', key: assetId, value };
}
