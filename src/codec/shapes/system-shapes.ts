/** Service status and a user's limits. */
import { COUNT, described, FLAG, mapOf, NANOSECONDS, named, nullable, type Shape, TEXT, words } from './shape-kit.ts';
import { Type } from './type-builder.ts';

const UNITS: Shape<number> = Type.Number({ minimum: 0, description: 'units; at most three decimals' });

export const SYSTEM_TIME: Shape = named(
  'SystemTime',
  'The clock by which orders expire and budgets refill',
  Type.Object({ now_ns: NANOSECONDS }),
);

export const SYSTEM_STATUS: Shape = named(
  'SystemStatus',
  'The running version, and whether orders are accepted',
  Type.Object({
    name: words('ringbook'),
    version: TEXT,
    protocol_version: COUNT,
    takes_orders: described(FLAG, 'false once the service is stopping'),
    markets: described(mapOf('^.+$', words('Active', 'CancelOnly', 'Halted')), 'by asset id'),
  }),
);

const LEADER_ADDRESS: Shape = described(nullable(TEXT), 'the address for clients; null: it has none');

export const LEADER: Shape = named(
  'Leader',
  'Whether this process leads, and who does',
  Type.Object({
    role: words('node', 'replica'),
    state: words(
      ...[
        'starting',
        'joining',
        'following',
        'campaigning',
        'restoring',
        'leading',
        'stalled',
        'handing-over',
        'ended',
      ],
    ),
    epoch: described(COUNT, 'number of the leadership; 0 on one machine'),
    sequence: described(COUNT, 'the last applied record of the journal'),
    leader: described(
      nullable(Type.Object({ node: TEXT, oms: LEADER_ADDRESS, mds: LEADER_ADDRESS })),
      'null on one machine, and while none is known',
    ),
  }),
);

export const LIMITS: Shape = named(
  'Limits',
  'Your remaining budget',
  Type.Object({
    tier: words('default', 'market_maker'),
    units: described(TEXT, 'what is there now; a decimal'),
    capacity: described(COUNT, 'the most that can be there'),
    units_per_second: COUNT,
    costs: Type.Object({
      action: UNITS,
      cancel: UNITS,
      cancel_all: UNITS,
      bulk_item: UNITS,
      bulk_minimum: UNITS,
      history_page: UNITS,
      public_read: UNITS,
    }),
    streams: Type.Object({ open: COUNT, cap: COUNT }),
  }),
);
