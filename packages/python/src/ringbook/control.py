"""The `/control` socket: signed actions, and their answers by request id (wire.md 10, wire-additions.md 2).

    action -> pending -> answer: returned
                  '- no answer in time, or the connection ends: raised, the outcome is unknown

A rejection by a rule of the order, the account or the market is an answer with status `Rejected`; what is refused before
that is raised as a RingbookError with the member at fault. A lost connection is replaced until it is closed: what was in
flight fails, and `wait_open` returns when actions can be sent again.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from . import flat
from .actions import ROUTES, Kind, Side, SignedAction, SignedQuotes
from .errors import RingbookError, connection_closed, error_of, invalid_argument, invalid_response
from .reading import checked, parse, read
from .replies import (
    ActionTiming,
    CancelAllAfterResponse,
    OperationResponse,
    QuoteSetResponse,
    QuoteSetResponseRefused,
    RejectionDetail,
)
from .sockets import BINARY_PROTOCOL, ENVELOPE_PROTOCOL, Reconnection, close_code

# JSON as short requests or in envelopes, or FlatBuffers, which costs the node the least.
Version = Literal["short", "v1", "binary"]
Connect: TypeAlias = Callable[[str, Sequence[str]], Awaitable[ClientConnection]]
# The id of an asset, by its symbol or its id.
Resolve: TypeAlias = Callable[[str], Awaitable[str]]
# Requests that are not signed, by their tag and table.
Unsigned = Literal["CancelAll", "CancelBatch", "CancelAllAfter"]

_DEADLINE_S = 15.0
_IN_FLIGHT_MAX = 4_096
_BATCH_MAX = 50
_BATCH_MEMBER: dict[Kind, str] = {"create": "orders", "replace": "requests"}
_BATCH_TAG: dict[Kind, str] = {"create": "BatchCreateRequest", "replace": "BatchReplaceRequest"}
_Response: TypeAlias = OperationResponse | QuoteSetResponse
R = TypeVar("R", OperationResponse, QuoteSetResponse)
# Request id, kind, asset, order: the last three tell the items of a batch apart, and are empty for what is not signed.
_PENDING_KEY: TypeAlias = "tuple[int, Kind | Unsigned, str, str]"
_UNSIGNED: dict[str, Unsigned] = {
    "CancelAllResponse": "CancelAll",
    "CancelBatchResponse": "CancelBatch",
    "CancelAllAfterResponse": "CancelAllAfter",
}
_KIND_OF_RESPONSE: dict[str, Kind] = {f"{route.tag}Response": kind for kind, route in ROUTES.items()}
_KIND_OF_ACTION: dict[str, Kind] = {route.table: kind for kind, route in ROUTES.items()}


class Control:
    """A connection for orders; an async context manager."""

    def __init__(
        self,
        connect: Connect,
        resolve: Resolve,
        *,
        version: Version = "short",
        cancel_on_disconnect: bool = False,
        resend: bool = False,
        timing: bool = False,
        reconnect: bool = True,
        on_reconnected: Callable[[], object] | None = None,
        on_error: Callable[[RingbookError], object] | None = None,
        in_flight_max: int = _IN_FLIGHT_MAX,
    ) -> None:
        """Not connected yet: `async with`, or `open`.

        `cancel_on_disconnect`: the node cancels the orders of this connection when it ends. `resend`: a create that is sent
        again byte for byte gets the answer of the first. `timing`: answers have the time of each hop. `on_reconnected`: read
        the state of what was in flight. `on_error`: errors that belong to no request.
        """
        if version not in ("short", "v1", "binary"):
            raise invalid_argument("a version is short, v1 or binary", "version")
        if version == "binary":
            flat.ensure_available()
        wishes = {"cancel_on_disconnect": cancel_on_disconnect, "resend": resend, "timing": timing}
        query = "&".join(f"{name}=true" for name, is_wished in wishes.items() if is_wished)
        self._path = f"/control?{query}" if query else "/control"
        self._connect = connect
        self._resolve = resolve
        self._version = version
        self._reconnects = reconnect
        self._on_reconnected = on_reconnected
        self._on_error = on_error
        self._in_flight_max = in_flight_max
        self._pending: dict[_PENDING_KEY, asyncio.Future[Any]] = {}
        self._last_request = 0
        self._socket: ClientConnection | None = None
        # Set while it is open and once it has ended; cleared while a lost connection is replaced.
        self._settled = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        # Whether the service has announced that it stops: requests sent before are answered, later ones are not.
        self.is_shutting_down = False

    async def open(self) -> Control:
        """Connects. Raises RingbookError when the handshake is refused."""
        await self._open()
        self._task = asyncio.get_running_loop().create_task(self._run())
        return self

    async def close(self) -> None:
        """Ends the connection; what is in flight fails with an unknown outcome."""
        self._is_closed = True
        if self._socket is not None:
            await self._socket.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._lost(connection_closed("the connection was closed before the answer; the outcome is unknown"))

    async def __aenter__(self) -> Control:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def is_open(self) -> bool:
        """False from when the connection ends until it is replaced; nothing can be sent then."""
        return self._socket is not None

    @property
    def in_flight(self) -> int:
        """Actions that were sent and have no answer."""
        return len(self._pending)

    async def wait_open(self, timeout: float | None = None) -> None:
        """Returns when actions can be sent. Raises RingbookError CLIENT_TIMEOUT, or CONNECTION_CLOSED for a closed one."""
        try:
            await asyncio.wait_for(self._settled.wait(), timeout)
        except asyncio.TimeoutError as error:
            raise RingbookError("CLIENT_TIMEOUT", f"not connected within {timeout} s", retryable=True) from error
        if self._socket is None:
            raise connection_closed("the connection has ended")

    async def send(self, action: SignedAction, timeout: float = _DEADLINE_S) -> OperationResponse:
        """Sends one action and waits for its answer, `Received` or `Rejected`.

        Raises RingbookError: CLIENT_TIMEOUT or CONNECTION_CLOSED, the outcome is unknown unless the message says that nothing
        was sent; TOO_MANY_IN_FLIGHT, nothing was sent; or what the service refused before the rules of orders.
        """
        answer: OperationResponse = await self._send(action, timeout)
        return answer

    async def send_quotes(self, quotes: SignedQuotes, timeout: float = _DEADLINE_S) -> QuoteSetResponse:
        """Sends a quote set. Errors as of `send`. With `Rejected` what the set takes away was applied, and what it adds was not."""
        answer: QuoteSetResponse = await self._send(quotes, timeout)
        return answer

    async def _send(self, action: SignedAction, timeout: float) -> Any:  # noqa: ANN401
        request_id = self._next_request(1)
        if self._version == "binary":
            frame: str | bytes = flat.encode(request_id, action)
        else:
            frame = self._json_frame(request_id, f'{{"{ROUTES[action.kind].tag}Request":{action.body}}}')
        (answer,) = await self._exchange(_keys_of(request_id, [action]), frame, timeout)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def send_batch(
        self, actions: Sequence[SignedAction], timeout: float = _DEADLINE_S
    ) -> list[OperationResponse]:
        """1 to 50 creates, or replaces of distinct orders, as one request. Answers are in the order of the actions."""
        kind = check_batch(actions)
        request_id = self._next_request(len(actions))
        if self._version == "binary":
            frame: str | bytes = flat.encode_batch(request_id, actions)
        else:
            items = ",".join(action.body for action in actions)
            frame = self._json_frame(request_id, f'{{"{_BATCH_TAG[kind]}":{{"{_BATCH_MEMBER[kind]}":[{items}]}}}}')
        answers = await self._exchange(_keys_of(request_id, actions), frame, timeout)
        fault = next((answer for answer in answers if isinstance(answer, BaseException)), None)
        if fault is not None:
            raise fault
        return [answer for answer in answers if isinstance(answer, OperationResponse)]

    async def cancel_all(
        self,
        asset: str | None = None,
        *,
        side: Side | None = None,
        protection_group: str | None = None,
        quote_set_id: str | None = None,
        before_ns: int | None = None,
    ) -> None:
        """Dispatches a cancel of every order that is in each scope which is given; it overtakes what waits under overload."""
        fields = {
            "asset_id": None if asset is None else await self._resolve(asset),
            "side": side,
            "protection_group": protection_group,
            "quote_set_id": quote_set_id,
            "max_ts": before_ns,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        await self._call("CancelAll", given, given)

    async def cancel_batch(self, order_ids: Sequence[str], asset: str | None = None) -> None:
        """Dispatches a cancel of 1 to 50 orders, in every market or in one; unknown ids are ignored."""
        market = {} if asset is None else {"asset_id": await self._resolve(asset)}
        rows = [{"order_id": order_id} for order_id in order_ids]
        await self._call("CancelBatch", {"order_ids": list(order_ids), **market}, {"order_ids": rows, **market})

    async def cancel_all_after(self, timeout_ms: int) -> int | None:
        """Starts the dead-man timer again; 0 ends it. Returns when it cancels all, on the node's clock; None for never."""
        timer = {"timeout_ms": timeout_ms}
        answer = await self._call("CancelAllAfter", timer, timer)
        return read(CancelAllAfterResponse, {**timer, **answer}, "timer").fires_at_ns or None

    async def _call(self, name: Unsigned, body: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
        """A request that is not signed: as JSON, or the fields of its table."""
        request_id = self._next_request(1)
        if self._version == "binary":
            frame: str | bytes = flat.encode_table(request_id, name, fields)
        else:
            frame = self._json_frame(request_id, json.dumps({f"{name}Request": body}, separators=(",", ":")))
        (answer,) = await self._exchange([(request_id, name, "", "")], frame, _DEADLINE_S)
        if isinstance(answer, BaseException):
            raise answer
        return checked(answer, name)

    def _next_request(self, count: int) -> int:
        if not self.is_open:
            raise connection_closed("the connection is closed; nothing was sent")
        if len(self._pending) + count > self._in_flight_max:
            message = f"{len(self._pending)} actions await their answers; nothing was sent: await some of them first"
            raise RingbookError("TOO_MANY_IN_FLIGHT", message, retryable=True)
        self._last_request += 1
        return self._last_request

    def _json_frame(self, request_id: int, data: str) -> str:
        head = "" if self._version == "short" else '"type":"request","channel":"control",'
        return f'{{{head}"request_id":"r-{request_id}","data":{data}}}'

    async def _exchange(
        self, keys: Sequence[_PENDING_KEY], frame: str | bytes, timeout: float
    ) -> list[_Response | dict[str, Any] | BaseException]:
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in keys]
        self._pending.update(zip(keys, futures, strict=True))
        try:
            socket = self._socket
            assert socket is not None
            try:
                await asyncio.wait_for(socket.send(frame), timeout)
            except ConnectionClosed:
                # The answers fail with the connection.
                await asyncio.sleep(0)
            except asyncio.TimeoutError:
                pass
            await asyncio.wait(futures, timeout=timeout)
            return [_outcome(future, key, timeout) for future, key in zip(futures, keys, strict=True)]
        finally:
            for key, future in zip(keys, futures, strict=True):
                self._pending.pop(key, None)
                future.cancel()

    # ---- the connection

    async def _open(self) -> None:
        protocol = BINARY_PROTOCOL if self._version == "binary" else ENVELOPE_PROTOCOL
        socket = await self._connect(self._path, [protocol])
        if self._is_closed:
            await socket.close()
            raise connection_closed("the connection was closed")
        self._socket = socket
        self.is_shutting_down = False
        self._settled.set()

    async def _run(self) -> None:
        pauses = Reconnection()
        while not self._is_closed:
            if self._socket is not None:
                pauses.connected()
                await self._receive_all(self._socket)
                pauses.lost()
            if not self._reconnects or self._is_closed:
                return
            await pauses.pause()
            try:
                await self._open()
            except RingbookError as error:
                self._report(error)
                continue
            if self._on_reconnected is not None:
                self._on_reconnected()

    async def _receive_all(self, socket: ClientConnection) -> None:
        announced: RingbookError | None = None
        try:
            while True:
                announced = self._receive(await socket.recv()) or announced
        except ConnectionClosed as error:
            code, reason = close_code(error)
            message = (
                f"the connection closed with {code} {reason}".rstrip() + " before the answer; the outcome is unknown"
            )
            self._lost(announced or connection_closed(message))

    def _lost(self, error: RingbookError) -> None:
        self._socket = None
        if self._reconnects and not self._is_closed:
            self._settled.clear()
        else:
            self._settled.set()
        for future in self._pending.values():
            if not future.done():
                future.set_exception(error)
        self._pending.clear()

    def _receive(self, data: str | bytes) -> RingbookError | None:
        """Handles a frame. Returns an error of the connection, which explains the close that follows."""
        try:
            return self._receive_binary(data) if self._version == "binary" else self._receive_json(data)
        except RingbookError as error:
            self._report(error)
            return None

    def _receive_json(self, data: str | bytes) -> RingbookError | None:
        frame = checked(parse(data, "control frame"), "control frame")
        request_id = _number_of(frame.get("request_id"))
        refusal = error_of(frame)
        if refusal is not None:
            return self._refused(request_id, refusal)
        if frame.get("type") == "server_shutdown":
            self.is_shutting_down = True
        content = frame.get("data")
        if request_id is None or not isinstance(content, dict) or len(content) != 1:
            return None
        ((tag, answer),) = content.items()
        unsigned = _UNSIGNED.get(tag)
        if unsigned is not None:
            self._answered((request_id, unsigned, "", ""), checked(answer, tag))
            return None
        kind = _KIND_OF_RESPONSE.get(tag)
        if kind is not None:
            asset_id = str(checked(answer, tag).get("asset_id"))
            if kind == "quotes":
                applied = read(QuoteSetResponse, answer.get("response"), tag)
                self._answered((request_id, kind, asset_id, applied.set_id), applied)
            else:
                response = read(OperationResponse, answer.get("response"), tag)
                self._answered((request_id, kind, asset_id, response.order_id), response)
        return None

    def _receive_binary(self, data: str | bytes) -> RingbookError | None:
        if isinstance(data, str):
            raise invalid_response("control frame", "a text among binary frames")
        frame = flat.decode(data)
        table, body = frame.get("body", ("", {}))
        request_id = frame["request_id"] or None
        if table == "Answer":
            kind = _KIND_OF_ACTION.get(str(body["action"]))
            if kind is None:
                raise invalid_response("answer", f"an unknown action {body['action']}")
            response = _response_of(body)
            self._answered((request_id or 0, kind, str(body["asset_id"]), response.order_id), response)
        elif table == "QuoteSetAnswer":
            applied = _applied_of(body)
            self._answered((request_id or 0, "quotes", str(body["asset_id"]), applied.set_id), applied)
        elif table == "CancelsAnswer":
            self._answered((request_id or 0, "CancelAll", "", ""), {})
            self._answered((request_id or 0, "CancelBatch", "", ""), {})
        elif table == "CancelAllAfterAnswer":
            self._answered((request_id or 0, "CancelAllAfter", "", ""), {"fires_at_ns": body["fires_at_ns"]})
        elif table == "Failure":
            return self._refused(request_id, flat.failure(body))
        elif table == "Resync":
            message = "answers are missing, as the connection was not read fast enough: read the state of your orders"
            return self._refused(None, RingbookError("RESYNC_REQUIRED", message, retryable=True))
        elif table == "Shutdown":
            self.is_shutting_down = True
        return None

    def _answered(self, key: _PENDING_KEY, response: _Response | dict[str, Any]) -> None:
        future = self._pending.pop(key, None)
        if future is not None and not future.done():
            future.set_result(response)

    def _refused(self, request_id: int | None, refusal: RingbookError) -> RingbookError | None:
        """With the id of a request it is about that; otherwise about the connection."""
        keys = [key for key in self._pending if key[0] == request_id]
        for key in keys:
            future = self._pending.pop(key)
            if not future.done():
                future.set_exception(refusal)
        if keys:
            return None
        self._report(refusal)
        return refusal

    def _report(self, error: RingbookError) -> None:
        if self._on_error is not None:
            self._on_error(error)


def _keys_of(request_id: int, actions: Sequence[SignedAction]) -> list[_PENDING_KEY]:
    return [(request_id, action.kind, action.asset_id, action.order_id) for action in actions]


def _outcome(
    future: asyncio.Future[Any], key: _PENDING_KEY, timeout: float
) -> _Response | dict[str, Any] | BaseException:
    if not future.done() or future.cancelled():
        what = f"{key[1]} of {key[3]}" if key[3] else key[1]
        message = f"no answer to the {what} within {timeout:g} s; the outcome is unknown: read the order"
        return RingbookError("CLIENT_TIMEOUT", message, retryable=True)
    fault = future.exception()
    if fault is not None:
        return fault
    response: _Response | dict[str, Any] = future.result()
    return response


def check_batch(actions: Sequence[SignedAction]) -> Kind:
    """The kind of a batch. Raises RingbookError INVALID_ARGUMENT."""
    if not 1 <= len(actions) <= _BATCH_MAX:
        raise invalid_argument(f"a batch has 1 to {_BATCH_MAX} actions", "actions")
    kind = actions[0].kind
    if kind not in _BATCH_TAG or any(action.kind != kind for action in actions):
        raise invalid_argument("a batch has creates alone, or replaces alone", "actions")
    if len({(action.asset_id, action.order_id) for action in actions}) != len(actions):
        raise invalid_argument("a batch names an order twice", "actions")
    return kind


def batch_body(actions: Sequence[SignedAction]) -> str:
    """The body of a batch over REST."""
    return f'{{"{_BATCH_MEMBER[check_batch(actions)]}":[{",".join(action.body for action in actions)}]}}'


def _number_of(request_id: object) -> int | None:
    return int(request_id[2:]) if isinstance(request_id, str) and re.fullmatch(r"r-[0-9]{1,18}", request_id) else None


def _response_of(body: dict[str, Any]) -> OperationResponse:
    return OperationResponse(
        order_id=body["order_id"] or "", processed_at_ns=body["processed_at_ns"], **_verdict_of(body)
    )


def _applied_of(body: dict[str, Any]) -> QuoteSetResponse:
    counts = {name: body[name] for name in ("created", "changed", "kept", "cancelled", "superseded", "processed_at_ns")}
    refused = tuple(
        QuoteSetResponseRefused(side=one["side"], price=one["price"], reason=_reason_of(one["code"]))
        for one in body["refused"]
    )
    return QuoteSetResponse(
        set_id=body["set_id"] or "", revision=body["revision"] or None, refused=refused, **counts, **_verdict_of(body)
    )


def _verdict_of(body: dict[str, Any]) -> dict[str, Any]:
    """Status, reason, detail and timing of an answer."""
    timing = body["timing"]
    common = {"status": body["status"], "timing": None if timing is None else _timing_of(timing)}
    if body["status"] == "Received":
        return {**common, "reason": None}
    code = str(body["code"])
    detail = RejectionDetail(code=code, field=body["field"], message=body["message"] or "")
    return {**common, "reason": _reason_of(code), "detail": detail}


def _reason_of(code: object) -> str:
    # An entry that would cross is left out with the word of an order's end.
    return "PostOnlyWouldCross" if code == "WOULD_CROSS" else pascal_case(str(code))


def _timing_of(timing: dict[str, int]) -> ActionTiming:
    return ActionTiming(
        received_ns=timing["received_ns"],
        verified_ns=timing["verified_ns"] or None,
        sent_ns=timing["sent_ns"] or None,
        matched_ns=timing["matched_ns"] or None,
        answered_ns=timing["answered_ns"],
    )


def pascal_case(code: str) -> str:
    """`WOULD_CROSS` as `WouldCross`."""
    return "".join(part.capitalize() for part in code.split("_"))


def snake_case(reason: str) -> str:
    """`WouldCross` as `WOULD_CROSS`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", reason).upper()


def raise_for_rejection(response: R) -> R:
    """The response itself; raises the rejection of one with status `Rejected` as a RingbookError."""
    if response.status == "Received":
        return response
    about = {"order_id": response.order_id} if isinstance(response, OperationResponse) else {"set_id": response.set_id}
    detail = response.detail
    if detail is not None:
        raise RingbookError(detail.code, detail.message, details={"field": detail.field, **about})
    reason = response.reason or "Rejected"
    raise RingbookError(snake_case(reason), f"{' '.join(about.values())} was rejected: {reason}", details=about)
