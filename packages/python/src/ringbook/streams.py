"""A private stream of events (wire.md 9) as an async iterator.

    async with client.order_events() as events:
        async for event in events: ...

The stream outlives its connection: it connects again until it is closed. With numbers (`/orders`, the user's trades, account
events) it asks for what it missed. Where events are lost for good, `on_gap` is called between the events before and after
the gap: read the state again (wire.md 9.8).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .errors import RingbookError, error_of, invalid_response
from .queues import EVENTS_MAX, EventQueue
from .reading import checked, parse
from .sockets import ENVELOPE_PROTOCOL, Reconnection, close_code

T = TypeVar("T")
Connect: TypeAlias = Callable[[str, Sequence[str]], Awaitable[ClientConnection]]


class _Gap:
    """Stands in the queue where events are missing."""


class EventStream(Generic[T]):
    """Events of one kind; an async context manager and iterator."""

    def __init__(
        self,
        connect: Connect,
        path: str,
        decode: Callable[[Any, int], Sequence[T]],
        *,
        numbered: bool,
        reconnect: bool = True,
        on_gap: Callable[[], object] | None = None,
        queue_max: int = EVENTS_MAX,
    ) -> None:
        """Not connected yet. `decode` is given the payload and the time of the envelope; `numbered`: the service numbers events."""
        self._connect = connect
        self._path = path
        self._decode = decode
        self._is_numbered = numbered
        self._reconnects = reconnect
        self._on_gap = on_gap
        self._queue: EventQueue[T | _Gap] = EventQueue(queue_max)
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None
        # The number of the last event; None before the first and where it is of no use any more.
        self._sequence: int | None = None
        # How often events were lost for good, as far as the reader has come.
        self.gaps = 0

    async def open(self) -> EventStream[T]:
        """Connects. Raises RingbookError where the first connection is refused."""
        self._socket = await self._open()
        self._task = asyncio.get_running_loop().create_task(self._run())
        return self

    async def close(self) -> None:
        self._queue.end(None)
        task = self._task
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()

    async def __aenter__(self) -> EventStream[T]:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> EventStream[T]:
        return self

    async def __anext__(self) -> T:
        if self._task is None:
            await self.open()
        while True:
            event = await self._queue.get()
            if not isinstance(event, _Gap):
                return event
            self.gaps += 1
            if self._on_gap is not None:
                self._on_gap()

    async def _open(self) -> ClientConnection:
        path = self._path
        if self._is_numbered:
            query = "sequence=true" if self._sequence is None else f"from_sequence={self._sequence + 1}"
            path = f"{path}{'&' if '?' in path else '?'}{query}"
        return await self._connect(path, [ENVELOPE_PROTOCOL])

    async def _run(self) -> None:
        pauses = Reconnection()
        try:
            while not self._queue.has_ended:
                if self._socket is not None:
                    pauses.connected()
                    await self._receive_all(self._socket)
                    pauses.lost()
                    self._socket = None
                if self._queue.has_ended:
                    return
                await pauses.pause()
                is_resumed = self._sequence is not None
                try:
                    self._socket = await self._open()
                except RingbookError:
                    continue
                if not is_resumed:
                    self._queue.put(_Gap(), 0)
        except RingbookError as error:
            self._queue.end(error)

    async def _receive_all(self, socket: ClientConnection) -> None:
        """Until the connection ends. Raises RingbookError for an end that is not to be repaired."""
        announced: RingbookError | None = None
        try:
            while True:
                announced = self._receive(await socket.recv()) or announced
        except ConnectionClosed as error:
            code, reason = close_code(error)
            if self._reconnects:
                return
            if announced is None and code in (1000, 1001):
                self._queue.end(None)
                return
            name = "RESYNC_REQUIRED" if code == 1013 else "CONNECTION_CLOSED"
            closed = RingbookError(name, f"the stream closed with {code} {reason}".rstrip(), retryable=True)
            raise announced or closed from error
        except RingbookError:
            await socket.close()
            raise

    def _receive(self, data: str | bytes) -> RingbookError | None:
        frame = checked(parse(data, "frame"), "frame")
        kind = frame.get("type")
        refusal = error_of(frame)
        if refusal is not None:
            # What was missed is no longer there: the close that follows is that of a new beginning.
            if refusal.code == "RESYNC_REQUIRED" and self._reconnects:
                self._sequence = None
                return refusal
            # The session is over: the next handshake is refused, and then there is a new one.
            if refusal.code.upper() == "UNAUTHORIZED" and self._reconnects:
                return refusal
            raise refusal
        if self._is_numbered and kind in ("event", "sequence"):
            self._count(frame.get("sequence"), is_event=kind == "event")
        if kind == "event":
            for event in self._decode(frame.get("data"), int(frame.get("timestamp_ns", 0))):
                self._queue.put(event, len(data))
        return None

    def _count(self, sequence: object, *, is_event: bool) -> None:
        if not isinstance(sequence, int):
            raise invalid_response("frame", "a numbered stream sends its number")
        if is_event and sequence != (-1 if self._sequence is None else self._sequence) + 1:
            raise invalid_response("frame", "a number was left out")
        self._sequence = sequence
