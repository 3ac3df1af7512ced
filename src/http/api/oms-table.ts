/** All of the order service's routes and streams. */
import type { RouteDoc } from './api-table.ts';
import { DOCUMENT_ROUTES } from './document-table.ts';
import { OMS_ACCOUNT_ROUTES } from './oms-account-routes-table.ts';
import { OMS_MARGIN_ROUTES } from './oms-margin-routes-table.ts';
import { OMS_OPEN_ROUTES } from './oms-open-routes-table.ts';
import { OMS_ORDER_READ_ROUTES, OMS_ORDER_ROUTES } from './oms-order-routes-table.ts';
import { OMS_REGISTRY_ROUTES } from './oms-registry-routes-table.ts';
import { OMS_SYSTEM_ROUTES } from './oms-system-routes-table.ts';

export const OMS_ROUTES: readonly RouteDoc[] = [
  ...OMS_OPEN_ROUTES,
  ...OMS_ORDER_ROUTES,
  ...OMS_ORDER_READ_ROUTES,
  ...OMS_ACCOUNT_ROUTES,
  ...OMS_MARGIN_ROUTES,
  ...OMS_REGISTRY_ROUTES,
  ...OMS_SYSTEM_ROUTES,
  ...DOCUMENT_ROUTES,
];
