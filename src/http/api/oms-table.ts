/** All of the order service's routes and streams. */

import { LIMITS, SYSTEM_STATUS, SYSTEM_TIME } from '../../codec/shapes/system-shapes.ts';
import type { RouteDoc } from './api-table.ts';
import { DOCUMENT_ROUTES } from './document-table.ts';
import { OMS_ACCOUNT_ROUTES } from './oms-account-routes-table.ts';
import { OMS_MARGIN_ROUTES } from './oms-margin-routes-table.ts';
import { OMS_OPEN_ROUTES } from './oms-open-routes-table.ts';
import { OMS_ORDER_READ_ROUTES, OMS_ORDER_ROUTES } from './oms-order-routes-table.ts';
import { OMS_REGISTRY_ROUTES } from './oms-registry-routes-table.ts';

// Service status and a user's limits.

const OMS_SYSTEM_ROUTES: readonly RouteDoc[] = [
  {
    method: 'GET',
    path: '/system/time',
    area: 'System',
    auth: 'public',
    cost: 'publicRead',
    summary: 'The clock of the service',
    description: 'Compare it with your clock before you sign: `post_sign_timestamp` may be 60 s old and 5 s ahead.',
    reply: SYSTEM_TIME,
    example: { reply: '{"now_ns":1770000000000000000}' },
  },
  {
    method: 'GET',
    path: '/system/status',
    area: 'System',
    auth: 'public',
    cost: 'publicRead',
    summary: 'The running version, and whether orders are accepted',
    reply: SYSTEM_STATUS,
    example: {
      reply:
        '{"name":"ringbook","version":"0.1.0","protocol_version":1,"takes_orders":true,"markets":{"1":"Active","2":"CancelOnly"}}',
    },
  },
  {
    method: 'GET',
    path: '/limits/{user_id}',
    area: 'System',
    auth: 'session',
    cost: 'action',
    summary: 'Your remaining budget',
    description:
      'Your budget after this request, the costs of requests, and your open streams. The budget shared by all users is not shown.',
    reply: LIMITS,
    example: {
      reply:
        '{"tier":"default","units":"198","capacity":200,"units_per_second":200,"costs":{"action":2,"cancel":1,"cancel_all":50,"bulk_item":1.5,"bulk_minimum":2,"history_page":25,"public_read":2},"streams":{"open":1,"cap":10}}',
    },
  },
];

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
