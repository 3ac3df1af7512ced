/** The service's clock, whether it takes orders, and the limits of a user. */
import { limitsReply, statusReply, timeReply } from '../codec/system-replies.ts';
import type { UserId } from '../core/ids.ts';
import { VERSION } from '../runtime/version.ts';
import { noShape, type RouteKit } from './oms-kit.ts';

/** @param openStreams number of a user's open streams. */
export function addSystemRoutes(kit: RouteKit, openStreams: (user: UserId) => number): void {
  const { services } = kit;
  kit.addPublic({
    method: 'GET',
    pattern: '/system/time',
    shape: noShape,
    serve: (call) => call.reply(timeReply(services.nowNs())),
  });
  kit.addPublic({
    method: 'GET',
    pattern: '/system/status',
    shape: noShape,
    serve: (call) => {
      const takesOrders = !services.entry.isStopping;
      call.reply(statusReply({ version: VERSION, takesOrders, markets: services.registry.markets() }));
    },
  });
  kit.addSession({
    method: 'GET',
    pattern: '/limits/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) =>
      call.reply(limitsReply(services.limits.viewOf(user, services.nowNs()), openStreams(user))),
  });
}
