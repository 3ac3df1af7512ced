/** Accounts: what they own and owe, and what they may do with it (wire.md 7.11 to 7.17, 7.20). */

import { INVENTORY } from '../../wire/shapes/account-shapes.ts';
import type { RouteDoc } from './api-table.ts';
import { SUB_ACCOUNT_QUERY } from './query-docs.ts';

export const OMS_ACCOUNT_ROUTES: readonly RouteDoc[] = [
  {
    method: 'GET',
    path: '/inventory/user/{user_id}',
    area: 'Account',
    auth: 'session',
    cost: 'action',
    summary: 'What you own',
    description:
      'By sub-account and asset, in human units. What is locked for a withdrawal or a settlement is left out; what orders hold is not.',
    query: [SUB_ACCOUNT_QUERY],
    reply: INVENTORY,
    example: {
      reply:
        '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"1200.5","1":"0.75"},"margins":{}},"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"500"},"margins":{"2":{"base":{"credits":"2.5","liabilities":"0"},"quote":{"credits":"0","liabilities":"7875.6"}}}}}}',
    },
  },
];
