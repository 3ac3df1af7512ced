// tier: quick
/**
 * The SDK's types of replies have the members and types that they had when they were declared by hand: the compiler compares
 * them both ways, with what is optional and what is read-only, so that a difference does not build.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as account from '../../src/client/account.ts';
import type * as margin from '../../src/client/margin.ts';
import type * as orderEvents from '../../src/client/order-events.ts';
import type * as registry from '../../src/client/registry.ts';
import type * as replies from '../../src/client/replies.ts';
import type * as userReads from '../../src/client/user-reads.ts';
import type * as judge from '../judges/sdk-types.ts';

/** `true` if the two are assignable to each other, member by member. */
type Same<A, B> = [A] extends [B]
  ? [B] extends [A]
    ? keyof A extends keyof B
      ? keyof B extends keyof A
        ? true
        : never
      : never
    : never
  : never;

interface Compared {
  OperationResponse: Same<judge.OperationResponse, replies.OperationResponse>;
  RejectionDetail: Same<judge.RejectionDetail, replies.RejectionDetail>;
  ActionTiming: Same<judge.ActionTiming, replies.ActionTiming>;
  BatchResult: Same<judge.BatchResult, replies.BatchResult>;
  Market: Same<judge.Market, replies.Market>;
  OrderRecord: Same<judge.OrderRecord, replies.OrderRecord>;
  UserTrade: Same<judge.UserTrade, replies.UserTrade>;
  PublicTrade: Same<judge.PublicTrade, replies.PublicTrade>;
  DepthLevel: Same<judge.DepthLevel, replies.DepthLevel>;
  Depth: Same<judge.Depth, replies.Depth>;
  Kline: Same<judge.Kline, replies.Kline>;
  Ticker: Same<judge.Ticker, replies.Ticker>;
  OpenInterest: Same<judge.OpenInterest, replies.OpenInterest>;
  Page: Same<judge.Page<string>, replies.Page<string>>;
  KlinePage: Same<judge.KlinePage, replies.KlinePage>;
  Inventory: Same<judge.Inventory, replies.Inventory>;
  SubAccount: Same<judge.SubAccount, replies.SubAccount>;
  PublicTradeEvent: Same<judge.PublicTradeEvent, replies.PublicTradeEvent>;
  Position: Same<judge.Position, margin.Position>;
  PositionChange: Same<judge.PositionChange, margin.PositionChange>;
  MarginFigures: Same<judge.MarginFigures, margin.MarginFigures>;
  MarginWarning: Same<judge.MarginWarning, margin.MarginWarning>;
  MarginAccounts: Same<judge.MarginAccounts, margin.MarginAccounts>;
  CloseOrder: Same<judge.CloseOrder, margin.CloseOrder>;
  ClosePreview: Same<judge.ClosePreview, margin.ClosePreview>;
  Simulation: Same<judge.Simulation, margin.Simulation>;
  SideAtRisk: Same<judge.SideAtRisk, margin.SideAtRisk>;
  AtRisk: Same<judge.AtRisk, margin.AtRisk>;
  AccountEvent: Same<judge.AccountEvent, account.AccountEvent>;
  Renaming: Same<judge.Renaming, account.Renaming>;
  Withdrawal: Same<judge.Withdrawal, account.Withdrawal>;
  NextNonces: Same<judge.NextNonces, account.NextNonces>;
  SettlementApproval: Same<judge.SettlementApproval, account.SettlementApproval>;
  RegisteredSigner: Same<judge.RegisteredSigner, account.RegisteredSigner>;
  MultisigConfig: Same<judge.MultisigConfig, account.MultisigConfig>;
  RegisteredToken: Same<judge.RegisteredToken, registry.RegisteredToken>;
  AssetName: Same<judge.AssetName, registry.AssetName>;
  NettingParameter: Same<judge.NettingParameter, registry.NettingParameter>;
  MarketPage: Same<judge.MarketPage, registry.MarketPage>;
  UserOrder: Same<judge.UserOrder, userReads.UserOrder>;
  AccountTrade: Same<judge.AccountTrade, userReads.AccountTrade>;
  SubAccountName: Same<judge.SubAccountName, userReads.SubAccountName>;
  PositionBasis: Same<judge.PositionBasis, userReads.PositionBasis>;
  /** A protection group had no event. */
  OrderEvent: Same<judge.OrderEvent, Exclude<orderEvents.OrderEvent, { readonly kind: 'ProtectionTriggered' }>>;
}

const COMPARED: Readonly<Record<keyof Compared, true>> & Compared = {
  OperationResponse: true,
  RejectionDetail: true,
  ActionTiming: true,
  BatchResult: true,
  Market: true,
  OrderRecord: true,
  UserTrade: true,
  PublicTrade: true,
  DepthLevel: true,
  Depth: true,
  Kline: true,
  Ticker: true,
  OpenInterest: true,
  Page: true,
  KlinePage: true,
  Inventory: true,
  SubAccount: true,
  PublicTradeEvent: true,
  Position: true,
  PositionChange: true,
  MarginFigures: true,
  MarginWarning: true,
  MarginAccounts: true,
  CloseOrder: true,
  ClosePreview: true,
  Simulation: true,
  SideAtRisk: true,
  AtRisk: true,
  AccountEvent: true,
  Renaming: true,
  Withdrawal: true,
  NextNonces: true,
  SettlementApproval: true,
  RegisteredSigner: true,
  MultisigConfig: true,
  RegisteredToken: true,
  AssetName: true,
  NettingParameter: true,
  MarketPage: true,
  UserOrder: true,
  AccountTrade: true,
  SubAccountName: true,
  PositionBasis: true,
  OrderEvent: true,
};

test('the types of replies are those that the SDK had', () => {
  assert.equal(Object.keys(COMPARED).length, 44);
  // The comparison sees a member more, and one of another type.
  const more: [Same<{ readonly a: string }, { readonly a: string; readonly b?: string }>] extends [never]
    ? true
    : false = true;
  const other: [Same<{ readonly a: string }, { readonly a: string | null }>] extends [never] ? true : false = true;
  assert.ok(more && other);
});
