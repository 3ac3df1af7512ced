"""One private socket for all streams of a user (wire-additions.md 18).

    async with client.private(["orders", "positions"]) as private:
        async for frame in private: ...

Each channel begins with a snapshot, the reply of its REST read, which replaces what was received before. After a lost
connection each channel goes on behind its last number; where that is no longer kept a snapshot comes. Nothing is missed
in silence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, TypeAlias

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .errors import RingbookError, error_of, invalid_argument, invalid_response
from .queues import EVENTS_MAX, EventQueue
from .reading import checked, parse, read, read_event
from .replies import (
    AccountEvent,
    AtRisk,
    Inventory,
    Margin,
    OrderEvent,
    OrderPage,
    Position,
    PositionPage,
    QuoteSetEvent,
    UserTrade,
    UserTradePage,
)
from .sockets import Reconnection

PrivateChannel = Literal["orders", "trades", "positions", "account_stats", "account_events", "at_risk"]
PrivateData: TypeAlias = (
    OrderPage
    | OrderEvent
    | QuoteSetEvent
    | UserTradePage
    | UserTrade
    | PositionPage
    | tuple[Position, ...]
    | Margin
    | Inventory
    | AccountEvent
    | AtRisk
    | None
)
Connect: TypeAlias = Callable[[str, Sequence[str]], Awaitable[ClientConnection]]

_SNAPSHOTS: Mapping[str, Any] = {
    "orders": OrderPage,
    "trades": UserTradePage,
    "positions": PositionPage,
    "account_stats": Margin,
    "account_events": Inventory,
    "at_risk": AtRisk,
}
_UPDATES: Mapping[str, Any] = {
    "trades": UserTrade,
    "positions": tuple[Position, ...],
    "account_stats": Margin,
    "at_risk": AtRisk,
}
_EVENTS: Mapping[str, Any] = {"orders": OrderEvent | QuoteSetEvent, "account_events": AccountEvent}


@dataclass(frozen=True)
class PrivateFrame:
    """What happened on a channel.

    `data` of a snapshot is the reply of the REST read: a page of orders, trades or positions, the margin figures, the
    inventory; None where it is too large for a frame: read it over REST. Of an update it is the event.
    """

    type: Literal["snapshot", "update"]
    channel: PrivateChannel
    sequence: int
    timestamp_ns: int
    data: PrivateData


class PrivateFeed:
    """A private socket; an async context manager, and an iterator over frames."""

    def __init__(
        self,
        connect: Connect,
        channels: Sequence[PrivateChannel],
        *,
        on_reconnected: Callable[[], object] | None = None,
        on_error: Callable[[RingbookError], object] | None = None,
        queue_max: int = EVENTS_MAX,
    ) -> None:
        """Not connected yet. `on_error`: a channel that was refused; it is asked for again with the next connection."""
        unknown = next((channel for channel in channels if channel not in _SNAPSHOTS), None)
        if unknown is not None or not channels:
            raise invalid_argument(f"channels are of {', '.join(_SNAPSHOTS)}", "channels")
        self._connect = connect
        self._on_reconnected = on_reconnected
        self._on_error = on_error
        self._queue: EventQueue[PrivateFrame] = EventQueue(queue_max)
        # The number of the last frame of each; None before its snapshot.
        self._channels: dict[str, int | None] = dict.fromkeys(channels)
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> PrivateFeed:
        """Connects. Raises RingbookError where the first connection is refused."""
        await self._open()
        self._task = asyncio.get_running_loop().create_task(self._run())
        return self

    async def close(self) -> None:
        self._queue.end(None)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()

    async def __aenter__(self) -> PrivateFeed:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> PrivateFeed:
        return self

    async def __anext__(self) -> PrivateFrame:
        return await self._queue.get()

    async def _open(self) -> None:
        socket = await self._connect("/user/ws", ())
        self._socket = socket
        await self._subscribe(socket, list(self._channels))

    async def _subscribe(self, socket: ClientConnection, names: Sequence[str]) -> None:
        items: list[dict[str, Any]] = [
            {"name": name} if last is None else {"name": name, "resume": {"sequence": last}}
            for name in names
            for last in [self._channels[name]]
        ]
        try:
            await socket.send(json.dumps({"type": "subscribe", "channels": items}))
        except ConnectionClosed:
            # The reader of the socket finds that too.
            return

    async def _run(self) -> None:
        pauses = Reconnection()
        try:
            while not self._queue.has_ended:
                if self._socket is not None:
                    pauses.connected()
                    await self._receive_all(self._socket)
                    pauses.lost()
                    self._socket = None
                await pauses.pause()
                try:
                    await self._open()
                except RingbookError as error:
                    self._report(error)
                    continue
                if self._on_reconnected is not None:
                    self._on_reconnected()
        except RingbookError as error:
            self._queue.end(error)
            if self._socket is not None:
                await self._socket.close()

    async def _receive_all(self, socket: ClientConnection) -> None:
        """Until the connection ends. Raises RingbookError CONSUMER_TOO_SLOW, or INVALID_RESPONSE."""
        try:
            while True:
                await self._receive(socket, await socket.recv())
        except ConnectionClosed:
            return

    async def _receive(self, socket: ClientConnection, data: str | bytes) -> None:
        frame = checked(parse(data, "frame"), "frame")
        kind, channel = frame.get("type"), frame.get("channel")
        refusal = error_of(frame)
        if refusal is not None:
            self._report(refusal)
        elif kind == "subscriptions":
            self._refused(frame.get("errors"))
        elif kind in ("snapshot", "update") and isinstance(channel, str) and channel in self._channels:
            await self._take(socket, frame, channel, len(data))

    async def _take(self, socket: ClientConnection, frame: dict[str, Any], channel: str, size: int) -> None:
        sequence, is_snapshot = frame.get("sequence"), frame["type"] == "snapshot"
        if not isinstance(sequence, int):
            raise invalid_response("frame", "it has no sequence")
        last = self._channels[channel]
        if not is_snapshot and last is None:
            # Behind a fault, before the snapshot that it asked for.
            return
        if not is_snapshot and last is not None and sequence != last + 1:
            self._channels[channel] = None
            await self._subscribe(socket, [channel])
            return
        self._channels[channel] = sequence
        content = frame.get("data")
        if is_snapshot:
            value = None if content is None else read(_SNAPSHOTS[channel], content, channel)
        elif channel in _EVENTS:
            value = read_event(_EVENTS[channel], content, channel)
            if value is None:
                return
        else:
            value = None if content is None else read(_UPDATES[channel], content, channel)
        timestamp_ns = int(frame.get("timestamp_ns", 0))
        self._queue.put(PrivateFrame(frame["type"], channel, sequence, timestamp_ns, value), size)  # type: ignore[arg-type]

    def _refused(self, errors: object) -> None:
        for one in errors if isinstance(errors, list) else []:
            if isinstance(one, dict):
                name, code = str(one.get("name")), str(one.get("code"))
                self._report(RingbookError(code, f"{name}: {one.get('message')}", details={"channel": name}))

    def _report(self, error: RingbookError) -> None:
        if self._on_error is not None:
            self._on_error(error)
