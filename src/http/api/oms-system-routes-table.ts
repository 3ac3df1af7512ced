/** Service status and a user's limits. */
import { LIMITS, SYSTEM_STATUS, SYSTEM_TIME } from '../../codec/shapes/system-shapes.ts';
import type { RouteDoc } from './api-table.ts';

export const OMS_SYSTEM_ROUTES: readonly RouteDoc[] = [
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
