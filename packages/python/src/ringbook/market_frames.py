"""Market data in FlatBuffers (schemas/market-data.fbs, wire-additions.md 10.6), read into what the text form gives.

A message is one frame or several, each behind its length. Nothing but the standard library is needed: a frame is one table
and its structs, read at their places. Slots and channels that this version does not have are passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .errors import invalid_response
from .units import from_raw, plain

PROTOCOL = "ringbook.md.fbs.v1"

# The slots of the tables, and the flags.
_HEAD, _ASSET_ID, _BIDS, _ASKS, _WIDE_BIDS, _WIDE_ASKS, _TRADES, _TICKER = range(8)
_SNAPSHOT, _CHECKSUM, _TOKEN = 1, 2, 4
_CHANNELS = ("depth", "bbo", "trades", "ticker")
# sequence, timestamp_ns, sequence_number, checksum, asset, channel, flags
_HEAD_FORM = struct.Struct("<QqQIHBB")
_LEVEL_FORM = struct.Struct("<II")
_WIDE_LEVEL_FORM = struct.Struct("<qq")
# trade_id, price, quantity, timestamp_ns, buyer_is_maker
_TRADE_FORM = struct.Struct("<Qqqq?7x")
_PERCENT_DECIMALS = 3


@dataclass(frozen=True, slots=True)
class BookDecimals:
    """Of the raw integers of a market."""

    price: int
    quantity: int


class _Table:
    """A table at its place; an absent field is 0, or None."""

    def __init__(self, data: memoryview, at: int) -> None:
        self.data = data
        self._at = at
        (back,) = struct.unpack_from("<i", data, at)
        self._vtable = at - back
        if self._vtable < 0:
            raise ValueError("an offset leads out of the frame")
        (self._vtable_bytes,) = struct.unpack_from("<H", data, self._vtable)

    def place(self, slot: int) -> int:
        """Where a field lies; 0 for absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self._vtable_bytes:
            return 0
        (within,) = struct.unpack_from("<H", self.data, self._vtable + entry)
        return self._at + int(within) if within else 0

    def long(self, slot: int) -> int:
        at = self.place(slot)
        return int(struct.unpack_from("<q", self.data, at)[0]) if at else 0

    def flag(self, slot: int) -> bool:
        at = self.place(slot)
        return bool(at) and self.data[at] != 0

    def referred(self, slot: int) -> int:
        """Where what a field refers to begins; 0 for absent."""
        at = self.place(slot)
        return at + int(struct.unpack_from("<I", self.data, at)[0]) if at else 0

    def text(self, slot: int) -> str | None:
        at = self.referred(slot)
        return bytes(self._vector(at, 1)).decode() if at else None

    def structs(self, slot: int, form: struct.Struct) -> Iterator[tuple[Any, ...]]:
        at = self.referred(slot)
        return form.iter_unpack(self._vector(at, form.size)) if at else iter(())

    def _vector(self, at: int, size: int) -> memoryview:
        (count,) = struct.unpack_from("<I", self.data, at)
        end = at + 4 + size * int(count)
        if end > len(self.data):
            raise ValueError("a vector leads out of the frame")
        return self.data[at + 4 : end]


def read_message(data: bytes, decimals_of: Callable[[str], BookDecimals | None]) -> list[dict[str, Any]]:
    """The frames of a message as those of the text form, without those of a market whose decimals are None.

    Raises RingbookError INVALID_RESPONSE.
    """
    view = memoryview(data)
    frames: list[dict[str, Any]] = []
    at = 0
    try:
        while at < len(view):
            (length,) = struct.unpack_from("<I", view, at)
            end = at + 4 + int(length)
            if end > len(view):
                raise ValueError("a frame leads out of its message")
            frame = _read_frame(view[at + 4 : end], decimals_of)
            if frame is not None:
                frames.append(frame)
            at = end
    except (struct.error, IndexError, ValueError) as error:
        raise invalid_response("frame", f"it is no sound FlatBuffers message ({error})") from error
    return frames


def _read_frame(data: memoryview, decimals_of: Callable[[str], BookDecimals | None]) -> dict[str, Any] | None:
    (root,) = struct.unpack_from("<I", data, 0)
    table = _Table(data, int(root))
    head = table.place(_HEAD)
    if head == 0:
        raise ValueError("a frame without a head")
    sequence, timestamp_ns, number, checksum, asset, channel, flags = _HEAD_FORM.unpack_from(data, head)
    asset_id = (table.text(_ASSET_ID) or "") if flags & _TOKEN else str(asset)
    decimals = decimals_of(asset_id)
    if decimals is None or channel >= len(_CHANNELS):
        return None
    figures = _Figures(decimals)
    name = _CHANNELS[channel]
    content: dict[str, Any]
    if name == "depth":
        asks, bids = figures.side(table, _ASKS, _WIDE_ASKS), figures.side(table, _BIDS, _WIDE_BIDS)
        due = checksum if flags & _CHECKSUM else None
        content = {"asks": asks, "bids": bids, "sequence_number": number, "more": False, "checksum": due}
    elif name == "bbo":
        best = {side: figures.side(table, *slots) for side, slots in _SIDES.items()}
        content = {side: _level(*levels[0]) if levels else None for side, levels in best.items()}
        content["sequence_number"] = number
    elif name == "trades":
        content = {"trades": [figures.trade(asset_id, row) for row in table.structs(_TRADES, _TRADE_FORM)]}
    else:
        at = table.referred(_TICKER)
        if at == 0:
            raise ValueError("a ticker without its table")
        content = _ticker(_Table(data, at), asset_id, figures)
    return {
        "type": "snapshot" if flags & _SNAPSHOT else "update",
        "channel": name,
        "asset_id": asset_id,
        "sequence": sequence,
        "timestamp_ns": timestamp_ns,
        "data": content,
    }


_SIDES = {"bid": (_BIDS, _WIDE_BIDS), "ask": (_ASKS, _WIDE_ASKS)}


class _Figures:
    """Raw integers of a market as decimals, in their shortest form."""

    def __init__(self, decimals: BookDecimals) -> None:
        self._decimals = decimals

    def price(self, raw: int) -> Decimal:
        return _decimal(raw, self._decimals.price)

    def quantity(self, raw: int) -> Decimal:
        return _decimal(raw, self._decimals.quantity)

    def side(self, table: _Table, slot: int, wide_slot: int) -> list[list[Decimal]]:
        rows = [*table.structs(slot, _LEVEL_FORM), *table.structs(wide_slot, _WIDE_LEVEL_FORM)]
        return [[self.price(price), self.quantity(quantity)] for price, quantity in rows]

    def trade(self, asset_id: str, row: tuple[Any, ...]) -> dict[str, Any]:
        trade_id, price, quantity, timestamp_ns, buyer_is_maker = row
        return {
            "asset_id": asset_id,
            "trade_id": trade_id,
            "price": self.price(price),
            "quantity": self.quantity(quantity),
            "timestamp_ns": timestamp_ns,
            "buyer_is_maker": buyer_is_maker,
            "status": "Confirmed",
        }

    def level_at(self, table: _Table, slot: int) -> dict[str, Decimal] | None:
        at = table.place(slot)
        if at == 0:
            return None
        price, quantity = _WIDE_LEVEL_FORM.unpack_from(table.data, at)
        return _level(self.price(price), self.quantity(quantity))


def _level(price: Decimal, size: Decimal) -> dict[str, Decimal]:
    return {"price": price, "size": size}


def _decimal(raw: int, decimals: int) -> Decimal:
    return Decimal(plain(from_raw(raw, decimals)))


def _ticker(table: _Table, asset_id: str, figures: _Figures) -> dict[str, Any]:
    last, has_day = table.long(0), table.flag(1)

    def of_day(slot: int) -> Decimal | None:
        return figures.price(table.long(slot)) if has_day else None

    high, low, volume = of_day(3), of_day(4), table.text(5) or "0"
    change = of_day(6) if last else None
    percent = _decimal(table.long(7), _PERCENT_DECIMALS) if has_day else None
    long, short = table.text(13), table.text(14)
    interest = {"long": long, "short": short, "timestamp_ns": table.long(15)}
    return {
        "asset_id": asset_id,
        "last_price": figures.price(last) if last else None,
        "open": of_day(2),
        "high": high,
        "low": low,
        "volume": volume,
        "price_change": change,
        "price_change_percent": percent,
        "timestamp_ns": table.long(8),
        "volume_24h": volume,
        "high_24h": high,
        "low_24h": low,
        "price_change_24h": change,
        "price_change_pct_24h": percent,
        "mark_price": table.text(11),
        "index_price": table.text(12),
        "best_bid": figures.level_at(table, 9),
        "best_ask": figures.level_at(table, 10),
        "open_interest": None if long is None or short is None else interest,
    }
