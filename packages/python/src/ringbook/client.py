"""The client: one object per user with all operations of a trader.

    async with Client("http://127.0.0.1:3032", key=Key.load("me.key")) as client:
        order = await client.limit("ETH", "Buy", price="3000.25", quantity="0.5")
        response = await client.send(order)

REST calls raise RingbookError with the service's code. Assets are named by symbol (`ETH`) or by id (`2`). Prices, quantities
and amounts are Decimals and times are integers of nanoseconds: nothing is rounded.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote, urlencode
from weakref import WeakSet

from websockets.asyncio.client import ClientConnection

from .account import Account
from .actions import (
    ROUTES,
    CoSigner,
    Side,
    SignedAction,
    SignedQuotes,
    Signer,
    Terms,
    TimeInForce,
    Trigger,
    amend_order,
    limit_order,
    market_order,
    quote_set,
    replace_order,
)
from .addresses import Addresses, LeaderAddress, is_unserved
from .control import Control, Version, batch_body, check_batch
from .errors import RingbookError, invalid_argument, invalid_response
from .feed import Feed
from .keys import Key
from .market_frames import BookDecimals
from .private import PrivateChannel, PrivateFeed
from .queues import EVENTS_MAX
from .reading import read, read_event
from .replies import (
    AccountEvent,
    BatchResponse,
    BatchResponseResult,
    CancelAllAfterResponse,
    Depth,
    Inventory,
    KlinePage,
    LedgerPage,
    Limits,
    Margin,
    Market,
    MarketPage,
    OpenInterest,
    OperationResponse,
    OrderEvent,
    OrderPage,
    OrderRecord,
    Position,
    PositionPage,
    Protection,
    Protections,
    PublicTrade,
    QuoteSetEvent,
    QuoteSetResponse,
    SystemStatus,
    SystemTime,
    Ticker,
    UserTrade,
    UserTradePage,
)
from .replies import (
    Session as SessionInfo,
)
from .sockets import open_socket
from .streams import EventStream
from .transport import Scope, Session, Transport
from .units import Number, decimal_of, plain

T = TypeVar("T")
_Opened = TypeVar("_Opened", bound="Control | Feed | PrivateFeed | EventStream[Any]")

_USER_FORM = re.compile(r"[0-9a-f]{64}")
_INDEX_FORM = re.compile(r"0|[1-9][0-9]{0,4}")
_TOKEN_FORM = re.compile(r"(?:0x)?([0-9a-f]{40}|[0-9a-f]{64})@(?:0x)?([0-9a-f]{18})")
_MARKETS_PAGE = 1_000
# An age from which markets and symbols are read again.
_MARKETS_AGE_S = 60.0


class Client:
    """All operations of one user; an async context manager that ends everything that it opened."""

    def __init__(
        self,
        oms: str | Sequence[str],
        *,
        key: Key | None = None,
        mds: str | Sequence[str] | None = None,
        account: str | None = None,
        co_signers: Sequence[CoSigner] = (),
        scope: Scope = "full",
        on_moved: Callable[[LeaderAddress], object] | None = None,
    ) -> None:
        """Nothing is sent yet.

        `oms`: the address of the order service, of a cluster those of its nodes: the leader is found. `mds`: that of market
        data, of a cluster those of its nodes and replicas; left out, market data is read from the order service. `key`: the
        key of the account; without it, or `account` with co-signers, market data alone can be read. `scope`: with `read` the
        session can change nothing. `on_moved`: another leader is used from now on.
        """
        if key is not None and account not in (None, key.user_id):
            raise invalid_argument("`key` is not the key of `account`: give one of the two", "account")
        if account is not None and _USER_FORM.fullmatch(account) is None:
            raise invalid_argument("an account is a user id of 64 hex digits", "account")
        user_id = key.user_id if key is not None else account
        if co_signers and user_id is None:
            raise invalid_argument("co-signers sign for an account: give its user id as `account`", "account")
        self._transport = Transport()
        self._oms = Addresses(oms, "leader", self._transport.probe, on_moved, "oms")
        self._mds = self._oms if mds is None else Addresses(mds, "any", self._transport.probe, None, "mds")
        self._signer = None if user_id is None else Signer(user_id, key, tuple(co_signers))
        self._session = None if self._signer is None else Session(self._transport, self._oms, self._signer, scope)
        self._account: Account | None = None
        self._markets: dict[str, Market] = {}
        self._symbols: dict[str, list[str]] = {}
        self._markets_at: float | None = None
        self._markets_read: asyncio.Future[None] | None = None
        # One that runs is held by its task.
        self._opened: WeakSet[Control | Feed | PrivateFeed | EventStream[Any]] = WeakSet()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all sockets and connections."""
        await asyncio.gather(*(one.close() for one in list(self._opened)))
        self._opened.clear()
        if self._markets_read is not None:
            self._markets_read.cancel()
            await asyncio.gather(self._markets_read, return_exceptions=True)
        await self._oms.close()
        await self._mds.close()
        await self._transport.close()

    @property
    def user_id(self) -> str:
        return self.signer.user_id

    @property
    def signer(self) -> Signer:
        """Signs actions of raw figures. Raises RingbookError INVALID_ARGUMENT without a key."""
        if self._signer is None:
            raise invalid_argument("this needs the `key` of the account, or its `account` with co-signers", "key")
        return self._signer

    # ---- session

    async def login(self) -> None:
        """Logs in now instead of with the first protected call."""
        await self._user_session().headers()

    async def logout(self) -> None:
        """Revokes every token of the user."""
        session = self._user_session()
        await session.exchange("POST", "/logout")
        session.forget()

    async def sessions(self) -> tuple[SessionInfo, ...]:
        """The sessions of the user, oldest first, this one among them; no token is among them."""
        return read(tuple[SessionInfo, ...], await self._get("/sessions"))

    async def end_session(self, session_id: str) -> None:
        """Ends one session of the user."""
        await self._user_session().exchange("DELETE", f"/sessions/{quote(session_id, safe='')}")

    # ---- the service and its markets

    async def system_time(self) -> int:
        """The clock that the service compares times with, nanoseconds."""
        return read(SystemTime, await self._public("/system/time")).now_ns

    async def system_status(self) -> SystemStatus:
        return read(SystemStatus, await self._public("/system/status"))

    async def limits(self) -> Limits:
        """Budget, prices and streams of this user."""
        return read(Limits, await self._get(f"/limits/{self.user_id}"))

    async def markets(self) -> list[Market]:
        """All markets, as they are now."""
        await self._read_markets()
        return list(self._markets.values())

    async def market(self, asset: str) -> Market:
        """A market by its symbol or id, at most a minute old. Raises RingbookError MARKET_NOT_FOUND."""
        asset_id = await self.asset_id(asset)
        if asset_id not in self._markets:
            await self._read_markets()
        market = self._markets.get(asset_id)
        if market is None:
            raise RingbookError("MARKET_NOT_FOUND", f"there is no market {asset}", details={"field": "asset"})
        return market

    async def asset_id(self, asset: str) -> str:
        """The id of an asset, by its symbol or its id. Raises RingbookError ASSET_NOT_FOUND."""
        if not isinstance(asset, str):
            raise invalid_argument(f"an asset is a text, its symbol or its id, and not {asset!r}", "asset")
        await self._know_markets()
        if _INDEX_FORM.fullmatch(asset) is not None:
            return asset
        token = _TOKEN_FORM.fullmatch(asset.lower())
        if token is not None:
            return f"{token[1].ljust(64, '0')}@{token[2]}"
        if asset not in self._symbols:
            await self._read_markets()
        ids = self._symbols.get(asset, [])
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise invalid_argument(f"{asset} is the symbol of the assets {', '.join(ids)}: give an id", "asset")
        raise RingbookError("ASSET_NOT_FOUND", f"no asset has the symbol {asset}", details={"field": "asset"})

    async def symbols(self) -> dict[str, str]:
        """The symbol of every indexed asset that has one, by its id."""
        await self._read_markets()
        return {asset_id: symbol for symbol, ids in self._symbols.items() for asset_id in ids}

    # ---- orders: signed actions, for `send` and for `/control`

    async def limit(
        self,
        asset: str,
        side: Side,
        *,
        price: Number,
        quantity: Number,
        time_in_force: TimeInForce = "GTC",
        post_only: bool = False,
        good_until_ns: int | None = None,
        terms: Terms | None = None,
    ) -> SignedAction:
        """A signed limit order. Raises RingbookError INVALID_ARGUMENT where a figure is not exact."""
        return limit_order(
            self.signer,
            await self.market(asset),
            side,
            price=price,
            quantity=quantity,
            time_in_force=time_in_force,
            post_only=post_only,
            good_until_ns=good_until_ns,
            terms=terms,
        )

    async def market_order(
        self,
        asset: str,
        side: Side,
        *,
        quantity: Number | None = None,
        amount: Number | None = None,
        max_amount: Number | None = None,
        max_quantity: Number | None = None,
        fill_or_kill: bool = False,
        terms: Terms | None = None,
    ) -> SignedAction:
        """A signed market order of a quantity of the asset, or of an amount of USD."""
        return market_order(
            self.signer,
            await self.market(asset),
            side,
            quantity=quantity,
            amount=amount,
            max_amount=max_amount,
            max_quantity=max_quantity,
            fill_or_kill=fill_or_kill,
            terms=terms,
        )

    async def replacement(
        self,
        asset: str,
        order_id: str,
        *,
        price: Number | None = None,
        quantity: Number | None = None,
        trigger: Trigger | None = None,
        complete: bool = False,
    ) -> SignedAction:
        """A signed change of an order; what is None stays. `quantity` is the new total, the filled part included."""
        return replace_order(
            self.signer,
            await self.market(asset),
            order_id,
            price=price,
            quantity=quantity,
            trigger=trigger,
            complete=complete,
        )

    async def cancellation(self, asset: str, order_id: str) -> SignedAction:
        """A signed cancel."""
        return self.signer.cancel(await self.asset_id(asset), order_id)

    async def amendment(
        self, asset: str, order_id: str, *, quantity: Number, expected_revision_ns: int | None = None
    ) -> SignedAction:
        """A lower total, not signed, for the revision of the order: the time of its last replace or amend, or None."""
        market = await self.market(asset)
        return amend_order(self.signer, market, order_id, quantity=quantity, expected_revision_ns=expected_revision_ns)

    async def send(self, action: SignedAction, *, resend: bool = False, timing: bool = False) -> OperationResponse:
        """Sends an action over REST. `Received`: the market has decided, the order rests or its fills are on their way.

        `resend`: a create that is sent again byte for byte, both times with this, gets the answer of the first.
        """
        route = ROUTES[action.kind]
        headers = {}
        if resend:
            headers["x-ringbook-resend"] = "true"
        if timing:
            headers["x-ringbook-timing"] = "true"
        reply = await self._user_session().exchange(route.method, route.path, action.body, headers)
        return read(OperationResponse, reply)

    async def send_batch(self, actions: Sequence[SignedAction]) -> tuple[BatchResponseResult, ...]:
        """1 to 50 creates, or replaces of distinct orders, in one request; the result of each, in their order."""
        is_create = check_batch(actions) == "create"
        method, path = ("POST", "/orders/batch-create") if is_create else ("PATCH", "/orders/batch-replace")
        reply = await self._user_session().exchange(method, path, batch_body(actions))
        return read(BatchResponse, reply).results

    async def quotes(
        self,
        asset: str,
        set_id: str,
        *,
        bids: Iterable[tuple[Number, Number]] = (),
        asks: Iterable[tuple[Number, Number]] = (),
        account: int = 1,
        spot: bool = True,
        max_trading_fees_rate: int | None = None,
        protection_group: str | None = None,
        good_until_ns: int | None = None,
    ) -> SignedQuotes:
        """A signed quote set: what shall rest under this name, in place of what rests; up to 50 (price, quantity) a side.

        The quantity of an entry is what shall rest, not a lifetime total. Without entries the set ends.
        """
        return quote_set(
            self.signer,
            await self.market(asset),
            set_id,
            bids=bids,
            asks=asks,
            account=account,
            spot=spot,
            max_trading_fees_rate=max_trading_fees_rate,
            protection_group=protection_group,
            good_until_ns=good_until_ns,
        )

    async def send_quotes(self, quotes: SignedQuotes, *, timing: bool = False) -> QuoteSetResponse:
        """Sends a quote set over REST. With `Rejected` what the set takes away was applied, and what it adds was not."""
        route = ROUTES[quotes.kind]
        headers = {"x-ringbook-timing": "true"} if timing else {}
        return read(
            QuoteSetResponse, await self._user_session().exchange(route.method, route.path, quotes.body, headers)
        )

    async def cancel(self, asset: str, order_id: str) -> OperationResponse:
        """Cancels an order. Raises RingbookError ORDER_NOT_FOUND or ALREADY_CANCELLED."""
        return await self.send(await self.cancellation(asset, order_id))

    async def cancel_batch(self, order_ids: Sequence[str], asset: str | None = None) -> None:
        """Dispatches a cancel of up to 50 orders, in every market or in one; unknown ids are ignored."""
        body: dict[str, Any] = {"order_ids": list(order_ids)}
        if asset is not None:
            body["asset_id"] = await self.asset_id(asset)
        await self._user_session().exchange("DELETE", "/orders/cancel-batch", json.dumps(body))

    async def cancel_all(
        self,
        asset: str | None = None,
        *,
        side: Side | None = None,
        protection_group: str | None = None,
        quote_set_id: str | None = None,
        before_ns: int | None = None,
    ) -> None:
        """Dispatches a cancel of every order that is in each scope which is given: a market, a side, a group, a set, an age."""
        market = "" if asset is None else f"/{await self.asset_id(asset)}"
        query = _query(max_ts=before_ns, side=side, protection_group=protection_group, quote_set_id=quote_set_id)
        path = f"/orders/cancel-all{market}{query}"
        await self._user_session().exchange("DELETE", path)

    async def cancel_all_after(self, timeout_ms: int) -> int | None:
        """Starts the dead-man timer again: when it ends, every order is cancelled. 0 ends the timer.

        Returns when that is, on the node's clock; None for never.
        """
        reply = await self._user_session().exchange(
            "POST", "/orders/cancel-all-after", json.dumps({"timeout_ms": timeout_ms})
        )
        return read(CancelAllAfterResponse, reply).fires_at_ns

    # ---- protection of a market maker

    async def protect(
        self,
        asset: str,
        group: str,
        *,
        window_ms: int,
        frozen_ms: int = 0,
        max_fills: int | None = None,
        max_quantity: Number | None = None,
        max_notional: Number | None = None,
        min_fill_notional: Number | None = None,
    ) -> Protection:
        """Makes a group, or changes its limits: what its orders may trade as maker within `window_ms`; one limit at least.

        When one is reached, all orders of the group are cancelled before the next fill, and the group is frozen for
        `frozen_ms`, with 0 until `reset_protection`.
        """
        limits = {"max_quantity": max_quantity, "max_notional": max_notional, "min_fill_notional": min_fill_notional}
        body = {"group": group, "window_ms": window_ms, "frozen_ms": frozen_ms, "max_fills": max_fills} | {
            name: None if limit is None else plain(decimal_of(limit, name)) for name, limit in limits.items()
        }
        path = f"/account/protection/{await self.asset_id(asset)}"
        return read(Protection, await self._user_session().exchange("PUT", path, json.dumps(body)))

    async def protections(self, asset: str) -> tuple[Protection, ...]:
        """The groups of the user in a market, and what became of them."""
        return read(Protections, await self._get(f"/account/protection/{await self.asset_id(asset)}")).groups

    async def unprotect(self, asset: str, group: str) -> None:
        """Removes a group that has no live orders and is not frozen."""
        path = f"/account/protection/{await self.asset_id(asset)}/{quote(group, safe='')}"
        await self._user_session().exchange("DELETE", path)

    async def reset_protection(self, asset: str, group: str) -> Protection:
        """Ends the freeze of a group; its window begins anew."""
        path = f"/account/protection/{await self.asset_id(asset)}/{quote(group, safe='')}/reset"
        return read(Protection, await self._user_session().exchange("POST", path))

    # ---- funds

    @property
    def account(self) -> Account:
        """Transfers, withdrawals, settlements and names of sub-accounts; balances are `inventory`."""
        if self._account is None:
            self._account = Account(self.signer, self._user_session().exchange, self.asset_id)
        return self._account

    # ---- reads of the user

    async def order(self, asset: str, order_id: str) -> OrderRecord:
        """An order as it stands. Raises RingbookError ORDER_NOT_FOUND."""
        asset_id = await self.asset_id(asset)
        return read(OrderRecord, await self._get(f"/orders/user/{self.user_id}/{asset_id}/{quote(order_id, safe='')}"))

    async def orders(
        self, *, page: int | None = None, limit: int | None = None, open_only: bool | None = None
    ) -> OrderPage:
        """A page of orders, newest first."""
        query = _query(page=page, limit=limit, open_only=open_only)
        return read(OrderPage, await self._get(f"/orders/user/{self.user_id}{query}"))

    async def open_orders(self, asset: str | None = None) -> list[OrderRecord]:
        """Every open order, of all pages, in every market or in one."""
        if asset is not None:
            path = f"/orders/user/{self.user_id}/{await self.asset_id(asset)}{_query(open_only=True, limit=1_000)}"
            return list(read(tuple[OrderRecord, ...], await self._get(path)))
        orders: list[OrderRecord] = []
        page: int | None = 0
        while page is not None:
            reply = await self.orders(page=page, limit=1_000, open_only=True)
            orders.extend(reply.orders)
            page = reply.next_page
        return orders

    async def trades(
        self, asset: str | None = None, *, page: int | None = None, limit: int | None = None
    ) -> UserTradePage:
        """A page of confirmed trades, newest first."""
        market = "" if asset is None else f"/{await self.asset_id(asset)}"
        path = f"/trades/user/{self.user_id}{market}{_query(page=page, limit=limit)}"
        return read(UserTradePage, await self._get(path))

    async def ledger(
        self,
        asset: str | None = None,
        *,
        before: int | None = None,
        limit: int | None = None,
        start_time: int | None = None,
        end_time: int | None = None,
        sub_account: int | None = None,
        kind: str | None = None,
    ) -> LedgerPage:
        """Every change of the user's balances, newest first; the next page begins at ``next_before``.

        Raises NOT_FOUND where the venue keeps no row log.
        """
        query = _query(
            before=before,
            limit=limit,
            start_time=start_time,
            end_time=end_time,
            sub_account=sub_account,
            asset=None if asset is None else await self.asset_id(asset),
            kind=kind,
        )
        return read(LedgerPage, await self._get(f"/account/ledger/{self.user_id}{query}"))

    async def positions(
        self, asset: str | None = None, *, page: int | None = None, limit: int | None = None
    ) -> PositionPage:
        """A page of margin positions."""
        if asset is not None:
            return read(PositionPage, await self._get(f"/positions/{self.user_id}/{await self.asset_id(asset)}"))
        return read(PositionPage, await self._get(f"/positions/{self.user_id}{_query(page=page, limit=limit)}"))

    async def inventory(self) -> Inventory:
        """What is owned and not locked, by sub-account and asset."""
        return read(Inventory, await self._get(f"/inventory/user/{self.user_id}"))

    async def margin(self) -> Margin:
        """The figures of the margin accounts."""
        return read(Margin, await self._get(f"/margin/user/{self.user_id}"))

    # ---- market data

    async def depth(self, asset: str) -> Depth:
        return read(Depth, await self._public(f"/marketdepth/{await self.asset_id(asset)}", market_data=True))

    async def klines(
        self,
        asset: str,
        interval: str | None = None,
        *,
        page: int | None = None,
        limit: int | None = None,
        end_ns: int | None = None,
    ) -> KlinePage:
        """Rows of an interval like `4h` or `30S`; of seconds without one. Page 0 is the newest, rows ascend inside a page."""
        query = _query(page=page, limit=limit, interval=interval, end_timestamp_ns=end_ns)
        return read(KlinePage, await self._public(f"/klines/{await self.asset_id(asset)}{query}", market_data=True))

    async def public_trades(self, asset: str, *, limit: int | None = None) -> tuple[PublicTrade, ...]:
        """Confirmed trades, newest first."""
        path = f"/trades/{await self.asset_id(asset)}{_query(limit=limit)}"
        return read(tuple[PublicTrade, ...], await self._public(path, market_data=True))

    async def ticker(self, asset: str) -> Ticker:
        return read(Ticker, await self._public(f"/ticker/{await self.asset_id(asset)}", market_data=True))

    async def tickers(self) -> tuple[Ticker, ...]:
        return read(tuple[Ticker, ...], await self._public("/tickers", market_data=True))

    async def open_interest(self, asset: str) -> OpenInterest:
        return read(OpenInterest, await self._public(f"/openinterest/{await self.asset_id(asset)}", market_data=True))

    def feed(
        self,
        *,
        binary: bool = False,
        on_reconnected: Callable[[], object] | None = None,
        queue_max: int = EVENTS_MAX,
    ) -> Feed:
        """One socket for any number of markets and channels, and for books with checksums; use it with `async with`.

        With `binary` the same frames come as FlatBuffers, in less than half the bytes.
        """
        prefix = "/market-data" if self._mds is self._oms else ""

        async def connect(path: str, protocols: Sequence[str]) -> ClientConnection:
            return await self._socket(self._mds, f"{prefix}{path}", {}, protocols)

        async def decimals_of(asset_id: str) -> BookDecimals:
            market = await self.market(asset_id)
            return BookDecimals(market.book_price_decimals, market.book_quantity_decimals)

        of = decimals_of if binary else None
        feed = Feed(connect, self.asset_id, decimals_of=of, on_reconnected=on_reconnected, queue_max=queue_max)
        return self._track(feed)

    # ---- sockets of the user

    def control(
        self,
        *,
        version: Version = "short",
        cancel_on_disconnect: bool = False,
        resend: bool = False,
        timing: bool = False,
        reconnect: bool = True,
        on_reconnected: Callable[[], object] | None = None,
        on_error: Callable[[RingbookError], object] | None = None,
        in_flight_max: int = 4_096,
    ) -> Control:
        """A connection for orders; use it with `async with`. See Control."""
        control = Control(
            self._connect,
            self.asset_id,
            version=version,
            cancel_on_disconnect=cancel_on_disconnect,
            resend=resend,
            timing=timing,
            reconnect=reconnect,
            on_reconnected=on_reconnected,
            on_error=on_error,
            in_flight_max=in_flight_max,
        )
        return self._track(control)

    def order_events(
        self,
        *,
        quote_sets: bool = False,
        reconnect: bool = True,
        on_gap: Callable[[], object] | None = None,
        queue_max: int = EVENTS_MAX,
    ) -> EventStream[OrderEvent | QuoteSetEvent]:
        """What happens to the orders of the user; with `quote_sets` one event a set instead of those of each of its entries."""
        path = "/orders?quotes=sets" if quote_sets else "/orders"

        def decode(data: Any, _: int) -> list[OrderEvent | QuoteSetEvent]:  # noqa: ANN401
            event = read_event(OrderEvent | QuoteSetEvent, data, "order event")
            return [] if event is None else [event]

        return self._stream(path, decode, numbered=True, reconnect=reconnect, on_gap=on_gap, queue_max=queue_max)

    def user_trades(
        self, *, reconnect: bool = True, on_gap: Callable[[], object] | None = None, queue_max: int = EVENTS_MAX
    ) -> EventStream[UserTrade]:
        """The user's own fills in all three statuses: Pending, Confirmed, Rollbacked."""
        path = f"/trades/user/events/{self.user_id}"
        return self._stream(
            path,
            lambda data, _: [read(UserTrade, data, "trade")],
            numbered=True,
            reconnect=reconnect,
            on_gap=on_gap,
            queue_max=queue_max,
        )

    def account_events(
        self, *, reconnect: bool = True, on_gap: Callable[[], object] | None = None, queue_max: int = EVENTS_MAX
    ) -> EventStream[AccountEvent]:
        """Deposits, withdrawals, transfers."""

        def decode(data: Any, _: int) -> list[AccountEvent]:  # noqa: ANN401
            event = read_event(AccountEvent, data, "account event")
            return [] if event is None else [event]

        path = f"/account/events/{self.user_id}"
        return self._stream(path, decode, numbered=True, reconnect=reconnect, on_gap=on_gap, queue_max=queue_max)

    def position_updates(
        self, *, reconnect: bool = True, on_gap: Callable[[], object] | None = None, queue_max: int = EVENTS_MAX
    ) -> EventStream[tuple[Position, ...]]:
        """Positions as they change; without numbers: every new connection is a gap."""
        path = f"/positions/ws/{self.user_id}"
        return self._stream(
            path,
            lambda data, _: [read(tuple[Position, ...], data, "positions")],
            numbered=False,
            reconnect=reconnect,
            on_gap=on_gap,
            queue_max=queue_max,
        )

    def private(
        self,
        channels: Sequence[PrivateChannel],
        *,
        on_reconnected: Callable[[], object] | None = None,
        on_error: Callable[[RingbookError], object] | None = None,
        queue_max: int = EVENTS_MAX,
    ) -> PrivateFeed:
        """One socket for all streams of the user, each of which begins with its state; use it with `async with`."""
        feed = PrivateFeed(
            self._connect, channels, on_reconnected=on_reconnected, on_error=on_error, queue_max=queue_max
        )
        return self._track(feed)

    # ---- inside

    def _stream(
        self,
        path: str,
        decode: Callable[[Any, int], Sequence[T]],
        *,
        numbered: bool,
        reconnect: bool,
        on_gap: Callable[[], object] | None,
        queue_max: int,
    ) -> EventStream[T]:
        return self._track(
            EventStream(
                self._connect,
                path,
                decode,
                numbered=numbered,
                reconnect=reconnect,
                on_gap=on_gap,
                queue_max=queue_max,
            )
        )

    def _track(self, opened: _Opened) -> _Opened:
        self._opened.add(opened)
        return opened

    async def _connect(self, path: str, protocols: Sequence[str]) -> ClientConnection:
        """A socket of the order service with the session's headers, at the address that serves."""
        session = self._user_session()

        async def opening(headers: Mapping[str, str]) -> ClientConnection:
            return await self._socket(self._oms, path, headers, protocols)

        return await session.open(opening)

    @staticmethod
    async def _socket(
        addresses: Addresses, path: str, headers: Mapping[str, str], protocols: Sequence[str]
    ) -> ClientConnection:
        async def attempt(base: str) -> ClientConnection:
            socket = await open_socket(base, path, headers, protocols, watch=addresses.is_cluster)
            if addresses.is_cluster:
                # A connection that is lost: another node may lead.
                task = asyncio.ensure_future(socket.wait_closed())
                task.add_done_callback(lambda _: None if socket.close_code == 1000 else addresses.lost(base))
            return socket

        return await addresses.serve(attempt, is_unserved)

    async def _know_markets(self) -> None:
        """Decimals and symbols stay, rates change now and then: older ones are used once more, and read again behind that."""
        if self._markets_at is None:
            await self._read_markets()
        elif time.monotonic() - self._markets_at > _MARKETS_AGE_S:
            self._markets_at = time.monotonic()
            if self._markets_read is None or self._markets_read.done():
                self._markets_read = asyncio.ensure_future(self._start_markets())
                self._markets_read.add_done_callback(lambda read_: read_.cancelled() or read_.exception())

    async def _read_markets(self) -> None:
        """Concurrent calls share one read."""
        reading = self._markets_read
        if reading is None or reading.done():
            reading = asyncio.ensure_future(self._start_markets())
            self._markets_read = reading
        await asyncio.shield(reading)

    async def _start_markets(self) -> None:
        markets: dict[str, Market] = {}
        symbols: dict[str, list[str]] = {}
        page: int | None = 0
        while page is not None:
            query = _query(page=page, limit=_MARKETS_PAGE, include_symbol_map=True)
            reply = read(MarketPage, await self._public(f"/markets{query}"))
            markets |= {market.asset_id: market for market in reply.markets}
            if page == 0:
                for asset_id, asset in (reply.symbol_map or {}).items():
                    symbols.setdefault(asset.symbol, []).append(asset_id)
            if reply.next_page is not None and reply.next_page <= page:
                raise invalid_response("markets", "the pages do not end")
            page = reply.next_page
        self._markets, self._symbols, self._markets_at = markets, symbols, time.monotonic()

    def _user_session(self) -> Session:
        if self._session is None:
            raise invalid_argument("this needs the `key` of the account, or its `account` with co-signers", "key")
        return self._session

    async def _get(self, path: str) -> Any:  # noqa: ANN401
        return await self._user_session().exchange("GET", path)

    async def _public(self, path: str, *, market_data: bool = False) -> Any:  # noqa: ANN401
        is_shared = self._mds is self._oms
        addresses = self._mds if market_data else self._oms
        prefix = "/market-data" if market_data and is_shared else ""
        return await self._transport.exchange(addresses, "GET", f"{prefix}{path}")


def _query(**members: object) -> str:
    """The members that are given, as a query with its `?`; empty for none."""
    given = {
        name: ("true" if value else "false") if isinstance(value, bool) else str(value)
        for name, value in members.items()
        if value is not None
    }
    return f"?{urlencode(given)}" if given else ""
