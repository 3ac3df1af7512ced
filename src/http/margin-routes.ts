/** Balances, positions, margin, solvency and simulations of a session's own user (wire.md 7.11 to 7.16). */

import { inventoryReply } from '../codec/inventory-reply.ts';
import { closePreviewReply, marginReply, position, simulationReply, solvencyReply } from '../codec/margin-replies.ts';
import { pageEnvelope } from '../codec/pages.ts';
import { decodeSimulateRequest } from '../codec/simulate-request.ts';
import { rowsBefore } from '../core/arithmetic.ts';
import { SMALL_BODY_BYTES_MAX } from '../core/limits.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { answer, noShape, type RequestParts, type RouteKit } from './oms-kit.ts';
import { marketIn, pageOf, subAccountIn, subAccountsOf } from './path-values.ts';
import { PAGE_MEMBERS, type Page, type Query, type QueryMembers } from './query.ts';

const OWN = { isChange: false, namesUser: true, cost: 'action' } as const;

export function addMarginRoutes(kit: RouteKit): void {
  addInventory(kit);
  addPositions(kit);
  addFigures(kit);
  const { services } = kit;
  kit.addSession({
    ...OWN,
    method: 'POST',
    pattern: '/account/simulate/:user_id',
    bodyBytesMax: 2 * SMALL_BODY_BYTES_MAX,
    shape: ({ body }) => decodeSimulateRequest(body),
    serve: (call, { user }, request) => answer(call, services.margin.simulate(user, request), simulationReply),
  });
}

const POSITION_MEMBERS: QueryMembers = { ...PAGE_MEMBERS, sub_account: 'repeats' };

interface PositionPage extends Page {
  readonly subAccounts: readonly number[] | null;
}

function addPositions(kit: RouteKit): void {
  const { services } = kit;
  const envelope = (page: Page, rows: readonly string[]): string =>
    pageEnvelope('positions', {
      rows: rows.slice(rowsBefore(page), rowsBefore(page) + page.limit),
      page: page.page,
      limit: page.limit,
      total: rows.length,
    });
  kit.addSession({
    ...OWN,
    method: 'GET',
    pattern: '/positions/:user_id',
    query: POSITION_MEMBERS,
    shape: ({ query }) => positionPageOf(query),
    serve: (call, { user }, page) => {
      const found = services.margin.positions(user, { assetId: null, subAccounts: page.subAccounts });
      answer(call, found, (views) => envelope(page, views.map(position)));
    },
  });
  kit.addSession({
    ...OWN,
    method: 'GET',
    pattern: '/positions/:user_id/:asset_id',
    query: POSITION_MEMBERS,
    shape: ({ query }) => positionPageOf(query),
    serve: (call, { user }, page) => {
      const market = marketIn(call.head, 1);
      const found = market.ok
        ? services.margin.positions(user, { assetId: market.value, subAccounts: page.subAccounts })
        : market;
      answer(call, found, (views) => envelope(page, views.map(position)));
    },
  });
  kit.addSession({
    ...OWN,
    method: 'GET',
    pattern: '/positions/close-all/:user_id/:sub_account',
    shape: ({ head }) => subAccountIn(head, 1),
    serve: (call, { user }, subAccount) =>
      call.reply(closePreviewReply(services.margin.closePreview(user, subAccount))),
  });
}

function positionPageOf(query: Query): Outcome<PositionPage> {
  const page = pageOf(query);
  if (!page.ok) return page;
  const subAccounts = subAccountsOf(query);
  return subAccounts.ok ? accepted({ ...page.value, subAccounts: subAccounts.value }) : subAccounts;
}

function addFigures(kit: RouteKit): void {
  const { services } = kit;
  kit.addSession({
    ...OWN,
    method: 'GET',
    pattern: '/margin/user/:user_id',
    query: { sub_account: 'repeats', include_positions: 'once' },
    shape: marginQueryOf,
    serve: (call, { user }, { subAccounts, withPositions }) => {
      call.replyDeprecated(marginReply(services.margin.figures(user, subAccounts), withPositions));
    },
  });
  kit.addSession({
    ...OWN,
    method: 'GET',
    pattern: '/solvency/user/:user_id',
    shape: noShape,
    serve: (call, { user }) => call.reply(solvencyReply(services.margin.figures(user, null))),
  });
}

interface MarginQuery {
  readonly subAccounts: readonly number[] | null;
  readonly withPositions: boolean;
}

function marginQueryOf({ query }: RequestParts): Outcome<MarginQuery> {
  const subAccounts = subAccountsOf(query);
  if (!subAccounts.ok) return subAccounts;
  const withPositions = query.flag('include_positions');
  if (!withPositions.ok) return withPositions;
  return accepted({ subAccounts: subAccounts.value, withPositions: withPositions.value });
}

function addInventory(kit: RouteKit): void {
  kit.addSession({
    method: 'GET',
    pattern: '/inventory/user/:user_id',
    query: { sub_account: 'repeats' },
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: ({ query }) => subAccountsOf(query),
    serve: (call, { user }, subAccounts) =>
      call.reply(inventoryReply(kit.services.queries.inventory(user, subAccounts))),
  });
}
