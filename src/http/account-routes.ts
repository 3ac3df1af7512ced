/** A user's own balances (wire.md 7.11). */
import { inventoryReply } from '../codec/inventory-reply.ts';
import type { RouteKit } from './oms-kit.ts';
import { subAccountsOf } from './path-values.ts';

export function addAccountRoutes(kit: RouteKit): void {
  kit.addSession({
    method: 'GET',
    pattern: '/inventory/user/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: ({ query }) => subAccountsOf(query),
    serve: (call, { user }, subAccounts) =>
      call.reply(inventoryReply(kit.services.queries.inventory(user, subAccounts))),
  });
}
