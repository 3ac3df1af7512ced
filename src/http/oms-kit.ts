/**
 * Building blocks of the order service's routes: the checks of AMB-91, once, in their order.
 *
 *   request ─▶ shape 400 ─▶ session 401 ─▶ path user 401 ─▶ stopping 503 ─▶ rate 429 ─▶ serve
 *                             └────── routes with a session ──────┘
 *
 * A route is one object: what documents say of it, and `serve`. The functions below reject and charge by the same members
 * that documents print, and pass the rest to `serve`. Public routes ignore credentials (AMB-89). A path with another user's
 * id is 401 (G25).
 *
 * The routes are in …-routes.ts, sockets in oms-streams.ts.
 */
import { assert } from '../core/assert.ts';
import { parseUserId, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import { PUBLIC_READ_UNITS } from '../gateway/sessions/address-limits.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { ApiDocuments } from './api/api-documents.ts';
import { isRefusedToReaders, type RouteDoc, requestOf } from './api/route-doc.ts';
import type { HttpRoutes } from './http-routes.ts';
import type { ClusterPlace } from './leader-route.ts';
import { type OmsSession, OTHER_USER, READ_ONLY, sessionOf } from './oms-session.ts';
import { ADMITS_ALL, type OrderAdmission } from './order-admission.ts';
import { Query } from './query.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall, HttpRoute } from './uws-http.ts';

const BAD_USER = reject('INVALID_REQUEST', 'a user id is 64 hex digits', 'user_id');

/** What a request is read from. */
export interface RequestParts {
  readonly head: RequestHead;
  readonly query: Query;
  /** Empty for a GET that does not read it. */
  readonly body: Uint8Array;
}

/** How the requests of a route are read and served. */
interface Service<Asked> extends Pick<HttpRoute, 'late' | 'deadlineMs' | 'urgency' | 'anyOrigin'> {
  /** Path, query and body as values, or INVALID_REQUEST. Depends on the request only. */
  readonly read: (parts: RequestParts, kit: RouteKit) => Outcome<Asked>;
}

interface PublicService<Asked> extends Service<Asked> {
  readonly auth: 'public';
  /** `free`: no budget is charged, only the address. */
  readonly cost: 'publicRead' | 'free';
  /** Charged to the address; by default PUBLIC_READ_UNITS. */
  readonly addressUnits?: bigint | ((asked: Asked) => bigint);
  readonly serve: (kit: RouteKit, call: HttpCall, asked: Asked) => void | Promise<void>;
}

interface SessionService<Asked> extends Service<Asked> {
  readonly auth: 'session' | 'signed';
  readonly cost: 'action' | 'cancel' | 'cancelAll' | 'historyPage' | 'bulk' | 'quotes';
  /** What is charged to the session's user and to the shared budget; by default `cost`, which a `bulk` cannot be. */
  readonly charge?: (asked: Asked) => Cost;
  /** True: rejected with 503 once the service is stopping. By default what is signed; reads continue until the listener closes. */
  readonly isChange?: boolean;
  /** Whether it is a read of market data, which has a bucket of its own rules (LIM-05). */
  readonly isMarketData?: (asked: Asked) => boolean;
  /**
   * Why a well-formed request is rejected as a whole, or null. It is charged to the session like an accepted one;
   * without a session it counts as malformed.
   */
  readonly fault?: (asked: Asked) => Reject | null;
  /** Called when a well-formed request is refused instead of served. */
  readonly refusing?: (refusal: Reject, asked: Asked) => void;
  /** Adds members of the request to errors after the shape check. */
  readonly about?: (refusal: Reject, asked: Asked) => Reject;
  /** Of an order that would wait: whether it only takes away, and is read as a cancel is. */
  readonly overtakes?: (kit: RouteKit, call: HttpCall, body: Uint8Array) => boolean;
  /** Instead of serving an order that has waited too long. @returns false when it is to be served. */
  readonly shed?: (kit: RouteKit, call: HttpCall, body: Uint8Array) => boolean;
  readonly serve: (kit: RouteKit, call: HttpCall, session: OmsSession, asked: Asked) => void | Promise<void>;
}

/** A route of the gateway: what documents say of it, and how it is served. */
export interface GatewayRoute extends RouteDoc {
  readonly served: (
    kit: RouteKit,
  ) => Pick<HttpRoute, 'handler' | 'late' | 'deadlineMs' | 'urgency' | 'anyOrigin' | 'refused' | 'overtakes'>;
}

/** A public route: shape, rate, serve. */
export function publicRoute<Asked>(route: RouteDoc & PublicService<Asked>): GatewayRoute {
  const { cost, addressUnits = PUBLIC_READ_UNITS, read, serve } = route;
  return {
    ...route,
    served: (kit) => ({
      ...listenerParts(route),
      handler: (call, body) => {
        const { services } = kit;
        const asked = read(partsOf(call, body), kit);
        if (!asked.ok) return call.refuse(asked.reject);
        call.chargeBody();
        const refusal =
          call.payAddress(typeof addressUnits === 'function' ? addressUnits(asked.value) : addressUnits) ??
          (cost === 'free' ? null : services.limits.charge(null, cost, services.nowNs()));
        if (refusal !== null) return call.refuse(refusal);
        return serve(kit, call, asked.value);
      },
    }),
  };
}

/** A route with a session: shape, session, path user, stopping, rate, serve. A user id in its path is the session's. */
export function sessionRoute<Asked>(route: RouteDoc & SessionService<Asked>): GatewayRoute {
  const { path, read, fault, refusing, about, shed, overtakes, serve } = route;
  const namesUser = path.includes('{user_id}');
  const admit = admissionOf(route);
  return {
    ...route,
    served: (kit) => ({
      ...listenerParts(route),
      ...(shed === undefined ? {} : { refused: (call, body) => shed(kit, call, body) }),
      ...(overtakes === undefined ? {} : { overtakes: (call, body) => overtakes(kit, call, body) }),
      handler: (call, body) => {
        const pathUser = namesUser ? userOf(call.head) : accepted(null);
        if (!pathUser.ok) return call.refuse(pathUser.reject);
        const asked = read(partsOf(call, body), kit);
        if (!asked.ok) return call.refuse(asked.reject);
        const session = admit(kit, call, pathUser.value, asked.value);
        const whole = fault?.(asked.value) ?? null;
        if (whole !== null && (session.ok || session.reject.code === 'UNAUTHORIZED')) {
          refusing?.(whole, asked.value);
          return call.refuse(whole);
        }
        if (session.ok) return serve(kit, call, session.value, asked.value);
        refusing?.(session.reject, asked.value);
        call.refuse(about === undefined ? session.reject : about(session.reject, asked.value));
      },
    }),
  };
}

type Admission<Asked> = (kit: RouteKit, call: HttpCall, pathUser: UserId | null, asked: Asked) => Outcome<OmsSession>;

/** The session of a request, charged; or why it has none. */
function admissionOf<Asked>(route: RouteDoc & SessionService<Asked>): Admission<Asked> {
  const { auth, cost, charge, isChange = auth === 'signed', isMarketData } = route;
  const isRefused = isRefusedToReaders(route);
  const priceOf = (asked: Asked): Cost => {
    if (charge !== undefined) return charge(asked);
    assert(cost !== 'bulk', 'a bulk is charged by its items');
    return cost;
  };
  return ({ services }, call, pathUser, asked) => {
    const session = sessionOf(services, call.head);
    if (!session.ok) return session;
    const { user } = session.value;
    if (pathUser !== null && pathUser !== user) return rejected(OTHER_USER);
    // mutant: read-only-session
    if (isRefused && session.value.isReadOnly) return rejected(READ_ONLY);
    const price = priceOf(asked);
    const { entry, limits } = services;
    const nowNs = services.nowNs();
    const charged = (): Reject | null =>
      isMarketData?.(asked) === true ? limits.chargeRead(user, price, nowNs) : limits.charge(user, price, nowNs);
    const refusal = isChange ? entry.admit(user, price) : charged();
    return refusal === null ? session : rejected(refusal);
  };
}

type ListenerParts = Pick<HttpRoute, 'late' | 'deadlineMs' | 'urgency' | 'anyOrigin'>;

function listenerParts({ late, deadlineMs, urgency, anyOrigin }: ListenerParts): ListenerParts {
  return {
    ...(late === undefined ? {} : { late }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(urgency === undefined ? {} : { urgency }),
    ...(anyOrigin === undefined ? {} : { anyOrigin }),
  };
}

interface RouteKitParts {
  readonly routes: HttpRoutes;
  readonly services: GatewayServices;
  readonly documents: ApiDocuments;
  /** Number of a user's open streams with sessions of this scope. */
  readonly openStreams: (session: OmsSession) => number;
  readonly place: ClusterPlace;
  /** When orders are read; by default always. */
  readonly orders?: OrderAdmission;
}

export class RouteKit {
  readonly routes: HttpRoutes;
  readonly services: GatewayServices;
  readonly documents: ApiDocuments;
  readonly openStreams: (session: OmsSession) => number;
  readonly place: ClusterPlace;
  readonly orders: OrderAdmission;

  constructor({ routes, services, documents, openStreams, place, orders = ADMITS_ALL }: RouteKitParts) {
    this.place = place;
    this.routes = routes;
    this.services = services;
    this.documents = documents;
    this.openStreams = openStreams;
    this.orders = orders;
  }

  /** Registers a route among those of this listener's documents. */
  add(route: GatewayRoute): void {
    this.routes.add({ ...requestOf(route), ...route.served(this) });
  }

  /** Registers files of a page, which no document lists, as a route is. @param anyOrigin as of an HttpRoute. */
  addFiles(pattern: string, route: GatewayRoute, anyOrigin: boolean): void {
    this.routes.add({ ...requestOf(route), ...route.served(this), pattern, anyOrigin });
  }

  /** Registers a route of another listener's documents, unless this one has a route of that path. @param below in front of its path. */
  addUnlisted(route: GatewayRoute, below: string): void {
    const request = requestOf(route);
    const pattern = `${below}${request.pattern}`;
    if (!this.routes.has({ ...request, pattern })) {
      this.routes.add({ ...request, ...route.served(this), pattern, isListed: false });
    }
  }
}

function partsOf(call: HttpCall, body: Uint8Array): RequestParts {
  return { head: call.head, query: new Query(call.head.query), body };
}

/** The user of the first path parameter. */
export function userOf(head: RequestHead): Outcome<UserId> {
  const user = parseUserId(head.parameters[0] ?? '');
  return user === null ? rejected(BAD_USER) : accepted(user);
}

/** A request without anything to read. */
export function nothing(): Outcome<null> {
  return accepted(null);
}

/** Replies 200 with the value formatted by `print`, or the error. */
export function answer<T>(call: HttpCall, outcome: Outcome<T>, print: (value: T) => string): void {
  if (outcome.ok) call.reply(print(outcome.value));
  else call.refuse(outcome.reject);
}
