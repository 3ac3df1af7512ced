"""Events that wait for their reader: bounded by number and by bytes. A reader that is too slow loses the stream."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

from .errors import RingbookError

T = TypeVar("T")

EVENTS_MAX = 65_536
EVENT_BYTES_MAX = 64 * 1024 * 1024


class EventQueue(Generic[T]):
    """One writer, one reader."""

    def __init__(self, events_max: int = EVENTS_MAX) -> None:
        self._events_max = events_max
        self._events: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._added = asyncio.Event()
        self._has_ended = False
        self._error: RingbookError | None = None

    def __len__(self) -> int:
        return len(self._events)

    @property
    def has_ended(self) -> bool:
        return self._has_ended

    def put(self, event: T, size: int) -> None:
        """Raises RingbookError CONSUMER_TOO_SLOW where there is no room."""
        if len(self._events) >= self._events_max or self._bytes + size > EVENT_BYTES_MAX:
            message = (
                f"{len(self._events)} events ({self._bytes} bytes) were not taken: take events as they come, hand slow work to "
                "a task of its own, then open the stream again and read the state"
            )
            raise RingbookError("CONSUMER_TOO_SLOW", message, retryable=True)
        self._events.append((event, size))
        self._bytes += size
        self._added.set()

    def end(self, error: RingbookError | None) -> None:
        """Events that wait are read first, then the error, or an ordinary end."""
        if not self._has_ended:
            self._has_ended = True
            self._error = error
            self._added.set()

    async def get(self) -> T:
        """The next event. Raises the error of the end, or StopAsyncIteration."""
        while not self._events:
            if self._error is not None:
                raise self._error
            if self._has_ended:
                raise StopAsyncIteration
            self._added.clear()
            await self._added.wait()
        event, size = self._events.popleft()
        self._bytes -= size
        return event
