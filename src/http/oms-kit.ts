/**
 * Building blocks of the order service's routes: the checks of AMB-91, once, in their order.
 *
 *   request ─▶ shape 400 ─▶ session 401 ─▶ path user 401 ─▶ stopping 503 ─▶ rate 429 ─▶ serve
 *                             └────── routes with a session ──────┘
 *
 * A route declares its requirements as data; the kit rejects, charges and passes the rest to `serve`. Public routes
 * ignore credentials (AMB-89). A path with another user's id is 401 (G25).
 *
 * The routes are in …-routes.ts, sockets in oms-streams.ts.
 */
import { parseUserId, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { GatewayServices } from '../gateway/gateway.ts';
import { PUBLIC_READ_UNITS } from '../gateway/sessions/address-limits.ts';
import type { Cost } from '../gateway/sessions/costs.ts';
import type { HttpRoutes } from './http-routes.ts';
import { OTHER_USER, READ_ONLY, type Session, sessionOf } from './oms-session.ts';
import { ADMITS_ALL, type OrderAdmission } from './order-admission.ts';
import { Query } from './query.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall, HttpMethod, HttpRoute } from './uws-http.ts';

const BAD_USER = reject('INVALID_REQUEST', 'a user id is 64 hex digits', 'user_id');

/** The inputs of a shape check. */
export interface RequestParts {
  readonly head: RequestHead;
  readonly query: Query;
  /** Empty for a GET that does not read it. */
  readonly body: Uint8Array;
}

interface AnyRoute<Shape>
  extends Pick<
    HttpRoute,
    'late' | 'deadlineMs' | 'bodyBytesMax' | 'readsBody' | 'urgency' | 'refused' | 'query' | 'isListed' | 'anyOrigin'
  > {
  readonly method: HttpMethod;
  readonly pattern: string;
  /** Path, query and body as values, or INVALID_REQUEST. Depends on the request only. */
  readonly shape: (parts: RequestParts) => Outcome<Shape>;
}

export interface PublicRoute<Shape> extends AnyRoute<Shape> {
  /** Charged to the shared budget; by default a `publicRead`. */
  readonly cost?: Cost;
  /** Charged to the address; by default PUBLIC_READ_UNITS. */
  readonly addressUnits?: bigint | ((shape: Shape) => bigint);
  /** True: no budget is charged, only the address. */
  readonly isFree?: boolean;
  readonly serve: (call: HttpCall, shape: Shape) => void | Promise<void>;
}

export interface SessionRoute<Shape> extends AnyRoute<Shape> {
  /** Charged to the session's user and to the shared budget. */
  readonly cost: Cost | ((shape: Shape) => Cost);
  /** True: rejected with 503 once the service is stopping. Reads continue until the listener closes. */
  readonly isChange: boolean;
  /** Whether it is a read of market data, which has a bucket of its own rules (LIM-05). */
  readonly isMarketData?: (shape: Shape) => boolean;
  /** True: the first path parameter is a user id, and must be the session's. */
  readonly namesUser?: boolean;
  /**
   * Why a well-formed request is rejected as a whole, or null. It is charged to the session like an accepted one;
   * without a session it counts as malformed.
   */
  readonly fault?: (shape: Shape) => Reject | null;
  /** Called when a well-formed request is refused instead of served. */
  readonly refusing?: (refusal: Reject, shape: Shape) => void;
  /** Adds members of the request to errors after the shape check. */
  readonly about?: (refusal: Reject, shape: Shape) => Reject;
  readonly serve: (call: HttpCall, session: Session, shape: Shape) => void | Promise<void>;
}

export interface RouteKitParts {
  readonly routes: HttpRoutes;
  readonly services: GatewayServices;
  /** When orders are read; by default always. */
  readonly orders?: OrderAdmission;
}

export class RouteKit {
  readonly routes: HttpRoutes;
  readonly services: GatewayServices;
  readonly orders: OrderAdmission;

  constructor({ routes, services, orders = ADMITS_ALL }: RouteKitParts) {
    this.routes = routes;
    this.services = services;
    this.orders = orders;
  }

  /** A public route: shape, rate, serve. */
  addPublic<Shape>(route: PublicRoute<Shape>): void {
    const { cost = 'publicRead', addressUnits = PUBLIC_READ_UNITS, isFree = false } = route;
    const { services } = this;
    this.#add(route, (call, body) => {
      const shape = route.shape(partsOf(call, body));
      if (!shape.ok) return call.refuse(shape.reject);
      call.chargeBody();
      const refusal =
        call.payAddress(typeof addressUnits === 'function' ? addressUnits(shape.value) : addressUnits) ??
        (isFree ? null : services.limits.charge(null, cost, services.nowNs()));
      if (refusal !== null) return call.refuse(refusal);
      return route.serve(call, shape.value);
    });
  }

  /** A route with a session: shape, session, path user, stopping, rate, serve. */
  addSession<Shape>(route: SessionRoute<Shape>): void {
    this.#add(route, (call, body) => {
      const pathUser = route.namesUser === true ? userOf(call.head) : accepted(null);
      if (!pathUser.ok) return call.refuse(pathUser.reject);
      const shape = route.shape(partsOf(call, body));
      if (!shape.ok) return call.refuse(shape.reject);
      const session = this.#admit(call, route, pathUser.value, shape.value);
      const fault = route.fault?.(shape.value) ?? null;
      if (fault !== null && (session.ok || session.reject.code === 'UNAUTHORIZED')) {
        route.refusing?.(fault, shape.value);
        return call.refuse(fault);
      }
      if (session.ok) return route.serve(call, session.value, shape.value);
      route.refusing?.(session.reject, shape.value);
      call.refuse(route.about === undefined ? session.reject : route.about(session.reject, shape.value));
    });
  }

  #admit<Shape>(call: HttpCall, route: SessionRoute<Shape>, pathUser: UserId | null, shape: Shape): Outcome<Session> {
    const session = sessionOf(this.services, call.head);
    if (!session.ok) return session;
    const { user } = session.value;
    if (pathUser !== null && pathUser !== user) return rejected(OTHER_USER);
    // mutant: read-only-session
    if (route.isChange && session.value.isReadOnly) return rejected(READ_ONLY);
    const cost = typeof route.cost === 'function' ? route.cost(shape) : route.cost;
    const { entry, limits } = this.services;
    const nowNs = this.services.nowNs();
    const charged = (): Reject | null =>
      route.isMarketData?.(shape) === true ? limits.chargeRead(user, cost, nowNs) : limits.charge(user, cost, nowNs);
    const refusal = route.isChange ? entry.admit(user, cost) : charged();
    return refusal === null ? session : rejected(refusal);
  }

  #add<Shape>(route: AnyRoute<Shape>, handler: HttpRoute['handler']): void {
    const {
      method,
      pattern,
      late,
      deadlineMs,
      bodyBytesMax,
      readsBody = false,
      urgency,
      refused,
      query,
      isListed,
      anyOrigin,
    } = route;
    this.routes.add({
      method,
      pattern,
      handler,
      readsBody,
      ...(late === undefined ? {} : { late }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }),
      ...(urgency === undefined ? {} : { urgency }),
      ...(refused === undefined ? {} : { refused }),
      ...(query === undefined ? {} : { query }),
      ...(isListed === undefined ? {} : { isListed }),
      ...(anyOrigin === undefined ? {} : { anyOrigin }),
    });
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

/** A request without anything to parse. */
export function noShape(): Outcome<null> {
  return accepted(null);
}

/** Replies 200 with the value formatted by `print`, or the error. */
export function answer<T>(call: HttpCall, outcome: Outcome<T>, print: (value: T) => string): void {
  if (outcome.ok) call.reply(print(outcome.value));
  else call.refuse(outcome.reject);
}
