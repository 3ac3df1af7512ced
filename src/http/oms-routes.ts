/**
 * The REST routes of the order service, by area (wire.md 3, 7).
 *
 * Not supported yet, so 404: transfers, withdrawals, settlements.
 */

import type { UserId } from '../core/ids.ts';
import { addAccountRoutes } from './account-routes.ts';
import { addActionRoutes } from './action-routes.ts';
import { type ApiDocuments, DOCUMENT_PATTERNS } from './api/api-documents.ts';
import { addMarginRoutes } from './margin-routes.ts';
import { noShape, type RouteKit } from './oms-kit.ts';
import { addOrderReadRoutes } from './order-read-routes.ts';
import { addRegistryRoutes } from './registry-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSystemRoutes } from './system-routes.ts';
import { addUnsignedCancels } from './unsigned-cancels.ts';

/** @param documents the API documents. @param openStreams number of a user's open streams. */
export function addOmsRoutes(kit: RouteKit, documents: ApiDocuments, openStreams: (user: UserId) => number): void {
  addSessionRoutes(kit);
  addRegistryRoutes(kit);
  addActionRoutes(kit);
  addUnsignedCancels(kit);
  addOrderReadRoutes(kit);
  addAccountRoutes(kit);
  addMarginRoutes(kit);
  addSystemRoutes(kit, openStreams);
  addDocuments(kit, documents);
}

function addDocuments(kit: RouteKit, documents: ApiDocuments): void {
  for (const pattern of DOCUMENT_PATTERNS) {
    kit.addPublic({ method: 'GET', pattern, shape: noShape, serve: (call) => documents.answer(call) });
  }
}
