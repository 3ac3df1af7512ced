"""Where a service is: one address, or several of a cluster.

    several addresses -> GET /system/leader of all -> the one that leads with the highest epoch, or, where none that answers
                                                      leads, the address that the answer with the highest epoch names

The address in use is kept until it fails: a connection that is refused or lost, `NOT_LEADER`, or three seconds without
any sign of life. Then all are asked again. With one address nothing is ever asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from .errors import RingbookError, invalid_argument
from .reading import read
from .replies import Leader

T = TypeVar("T")
Probe = Callable[[str, str], Awaitable[Any]]

_SEARCH_S = 15.0
_PAUSE_S, _PAUSE_S_MAX = 0.1, 0.5
_ADDRESSES_MAX = 32
# Between two pings of a socket, and how long it may be silent, where there are several addresses.
WATCH_PING_S, WATCH_SILENCE_S = 1.0, 3.0


@dataclass(frozen=True)
class LeaderAddress:
    """Which address a client uses now."""

    base: str
    # 0 where no answer named one.
    epoch: int


def base_address(text: str, field: str) -> str:
    """`http://host:port` or `https://…` without a slash at its end. Raises RingbookError INVALID_ARGUMENT."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise invalid_argument(f"{text!r} is no address like http://127.0.0.1:3032", field)
    return text.rstrip("/")


def is_unserved(error: RingbookError) -> bool:
    """Refused before anything happened: no connection was made, or the node does not lead."""
    return error.code in ("UNREACHABLE", "NOT_LEADER")


def is_lost(error: RingbookError) -> bool:
    """No answer of a node that leads: what was asked may have happened."""
    return is_unserved(error) or error.code in ("CONNECTION_CLOSED", "CLIENT_TIMEOUT")


class Addresses:
    """The addresses of one service, and the one in use."""

    def __init__(
        self,
        addresses: str | Sequence[str],
        served: Literal["leader", "any"],
        probe: Probe,
        on_moved: Callable[[LeaderAddress], object] | None = None,
        field: str = "oms",
    ) -> None:
        given = [addresses] if isinstance(addresses, str) else list(addresses)
        if not 1 <= len(given) <= _ADDRESSES_MAX:
            raise invalid_argument(f"1 to {_ADDRESSES_MAX} addresses are expected", field)
        self._all = [base_address(one, field) for one in given]
        self._served = served
        self._probe = probe
        self._on_moved = on_moved
        self._search: asyncio.Task[bool] | None = None
        self._epoch = 0
        self.base = self._all[0]

    @property
    def is_cluster(self) -> bool:
        return len(self._all) > 1

    async def serve(
        self, attempt: Callable[[str], Awaitable[T]], may_repeat: Callable[[RingbookError], bool] = is_unserved
    ) -> T:
        """Calls `attempt` with the address in use, and with the one that is found where that does not serve.

        Only what had no effect is repeated. Raises RingbookError: the last refusal, when no address served within 15 s.
        """
        until = time.monotonic() + _SEARCH_S
        pause = _PAUSE_S
        while True:
            base = self.base
            try:
                return await attempt(base)
            except RingbookError as error:
                if not self.is_cluster:
                    raise
                if not may_repeat(error) or time.monotonic() > until:
                    if is_lost(error):
                        self.lost(base)
                    raise
            is_found = await self.failed(base)
            if not is_found or self.base == base:
                await asyncio.sleep(pause)
            pause = min(2 * pause, _PAUSE_S_MAX)

    def lost(self, base: str) -> None:
        """As `failed`, without waiting."""
        if self.is_cluster and self.base == base and self._search is None:
            self._begin_search()

    async def failed(self, base: str) -> bool:
        """Looks for another address, unless the one in use is another already. Returns whether one serves."""
        if not self.is_cluster:
            return False
        if self.base != base and self._search is None:
            return True
        return await asyncio.shield(self._search or self._begin_search())

    async def close(self) -> None:
        if self._search is not None:
            self._search.cancel()
            await asyncio.gather(self._search, return_exceptions=True)

    def _begin_search(self) -> asyncio.Task[bool]:
        task = asyncio.get_running_loop().create_task(self._find())
        self._search = task

        def ended(_: object) -> None:
            self._search = None

        task.add_done_callback(ended)
        return task

    async def _find(self) -> bool:
        known = self._all if self.base in self._all else [*self._all, self.base]
        answers = await asyncio.gather(*(self._ask(base) for base in known))
        all_answers = [answer for answer in answers if answer is not None]
        found = _leader_of(all_answers) if self._served == "leader" else _serving_of(all_answers, self.base)
        if found is None:
            return False
        has_moved = found != LeaderAddress(self.base, self._epoch)
        self.base, self._epoch = found.base, found.epoch
        if has_moved and self._on_moved is not None:
            self._on_moved(found)
        return True

    async def _ask(self, base: str) -> tuple[str, Leader] | None:
        try:
            return base, read(Leader, await self._probe(base, "/system/leader"), "leader")
        except RingbookError:
            return None


def _leader_of(answers: Sequence[tuple[str, Leader]]) -> LeaderAddress | None:
    """A leader that is over may still answer: the highest epoch counts."""
    if not answers:
        return None
    _, best = max(answers, key=lambda answer: answer[1].epoch)
    leading = [answer for answer in answers if answer[1].state == "leading" and answer[1].epoch >= best.epoch]
    if leading:
        return LeaderAddress(leading[0][0], leading[0][1].epoch)
    named = None if best.leader is None else best.leader.oms
    if named is None or urlsplit(named).scheme not in ("http", "https"):
        return None
    return LeaderAddress(named.rstrip("/"), best.epoch)


def _serving_of(answers: Sequence[tuple[str, Leader]], current: str) -> LeaderAddress | None:
    """The next one beside the one in use that serves market data."""
    serving = [answer for answer in answers if answer[1].state == "leading" or answer[1].role == "replica"]
    others = [answer for answer in serving if answer[0] != current]
    chosen = others or serving
    return LeaderAddress(chosen[0][0], chosen[0][1].epoch) if chosen else None
