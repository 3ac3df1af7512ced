"""The book of one market, rebuilt from a snapshot and diffs, exact, with the checksum of the contract (wire-additions.md 10.4).

empty --snapshot--> current --diff = last + 1--> current
                       '------diff > last + 1--> stale --snapshot--> current
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Literal, NamedTuple

from .errors import RingbookError
from .units import plain

_CHECKSUM_LEVELS = 10


class Level(NamedTuple):
    """A price with all that rests there."""

    price: Decimal
    quantity: Decimal


def _table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


_CRC_TABLE = _table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli); of b"123456789" it is 3808858755."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class _Side:
    """One side; prices ascend."""

    def __init__(self) -> None:
        self._prices: list[Decimal] = []
        self._quantities: dict[Decimal, Decimal] = {}

    def clear(self) -> None:
        self._prices.clear()
        self._quantities.clear()

    def set(self, price: Decimal, quantity: Decimal) -> None:
        """Sets the quantity of a price; 0 removes it."""
        is_known = price in self._quantities
        if quantity == 0:
            if is_known:
                del self._quantities[price]
                del self._prices[bisect_left(self._prices, price)]
            return
        if not is_known:
            self._prices.insert(bisect_left(self._prices, price), price)
        self._quantities[price] = quantity

    def levels(self, *, descending: bool) -> Iterator[Level]:
        prices = reversed(self._prices) if descending else iter(self._prices)
        return (Level(price, self._quantities[price]) for price in prices)


class LocalBook:
    """A book; reading one that is not current raises RingbookError RESYNC_REQUIRED."""

    def __init__(self) -> None:
        self._asks = _Side()
        self._bids = _Side()
        self._sequence: int | None = None

    @property
    def is_current(self) -> bool:
        """False before the first snapshot and after a gap."""
        return self._sequence is not None

    @property
    def sequence_number(self) -> int:
        return self._known()

    def drop(self) -> None:
        """It is not current until the next snapshot."""
        self._sequence = None

    def load(
        self, asks: Iterable[tuple[Decimal, Decimal]], bids: Iterable[tuple[Decimal, Decimal]], sequence_number: int
    ) -> None:
        """Begins anew from a snapshot."""
        self._asks.clear()
        self._bids.clear()
        self._merge(asks, bids)
        self._sequence = sequence_number

    def apply(
        self, asks: Iterable[tuple[Decimal, Decimal]], bids: Iterable[tuple[Decimal, Decimal]], sequence_number: int
    ) -> Literal["applied", "ignored", "gap"]:
        """A diff; quantity 0 removes a level. After a gap a new snapshot is needed."""
        if self._sequence is None:
            return "gap"
        if sequence_number <= self._sequence:
            return "ignored"
        if sequence_number != self._sequence + 1:
            self._sequence = None
            return "gap"
        self._merge(asks, bids)
        self._sequence = sequence_number
        return "applied"

    def asks(self, count: int | None = None) -> list[Level]:
        """The best asks, ascending."""
        self._known()
        return list(islice(self._asks.levels(descending=False), count))

    def bids(self, count: int | None = None) -> list[Level]:
        """The best bids, descending."""
        self._known()
        return list(islice(self._bids.levels(descending=True), count))

    def checksum(self) -> int:
        """Of the best ten levels of each side, as the service computes it."""
        sides = (
            ",".join(f"{plain(price)}:{plain(quantity)}" for price, quantity in side)
            for side in (self.bids(_CHECKSUM_LEVELS), self.asks(_CHECKSUM_LEVELS))
        )
        return crc32c("|".join(sides).encode("ascii"))

    def _merge(self, asks: Iterable[tuple[Decimal, Decimal]], bids: Iterable[tuple[Decimal, Decimal]]) -> None:
        for price, quantity in asks:
            self._asks.set(price, quantity)
        for price, quantity in bids:
            self._bids.set(price, quantity)

    def _known(self) -> int:
        if self._sequence is None:
            message = "the book is not current: wait for its next change"
            raise RingbookError("RESYNC_REQUIRED", message, retryable=True)
        return self._sequence
