/** The service about itself: its clock, whether it takes orders, and what a user may still ask for. */

import { type LimitsView, limitsReply, statusReply, timeReply } from '../codec/system-replies.ts';
import type { UserId } from '../core/ids.ts';
import { noShape, type RouteKit } from './oms-kit.ts';

export interface SystemReads {
  readonly version: string;
  limitsOf(user: UserId): LimitsView;
}

/** @param openStreams of a user. */
export function addSystemRoutes(kit: RouteKit, openStreams: (user: UserId) => number): void {
  const { backend, door } = kit;
  kit.addPublic({
    method: 'GET',
    pattern: '/system/time',
    shape: noShape,
    serve: (call) => call.reply(timeReply(backend.nowNs())),
  });
  kit.addPublic({
    method: 'GET',
    pattern: '/system/status',
    shape: noShape,
    serve: (call) => {
      const { version } = backend.system;
      call.reply(statusReply({ version, takesOrders: !door.isClosed, markets: backend.markets() }));
    },
  });
  kit.addSession({
    method: 'GET',
    pattern: '/limits/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) => call.reply(limitsReply(backend.system.limitsOf(user), openStreams(user))),
  });
}
