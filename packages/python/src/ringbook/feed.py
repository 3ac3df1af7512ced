"""Many markets and channels of market data on one socket (wire-additions.md 10), and books that check themselves.

    async with client.feed() as feed:
        await feed.subscribe("bbo", ["ETH", "BTC"])
        book = await feed.book("ETH")
        async for frame in feed: ...

Each subscription begins with a snapshot. After a lost connection the feed connects again and renews all subscriptions: a
snapshot replaces what was received before. A number that was left out, or a book whose checksum differs, renews that
subscription alone.

States of a subscription: waiting -- snapshot with sequence 1 -> live -- gap, checksum, connection -> waiting.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import TracebackType
from typing import Any, Literal, TypeAlias

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .book import Level, LocalBook
from .errors import RingbookError, connection_closed, error_of, invalid_argument, invalid_response
from .market_frames import PROTOCOL, BookDecimals, read_message
from .queues import EVENTS_MAX, EventQueue
from .reading import checked, parse, read
from .replies import BboFrame, DepthFrame, KlinesFrame, PricesFrame, TickerFrame, TradesFrame
from .sockets import Reconnection, close_code

Channel = Literal["bbo", "trades", "klines", "ticker", "prices"]
FeedFrame: TypeAlias = BboFrame | TradesFrame | KlinesFrame | TickerFrame | PricesFrame
Connect: TypeAlias = Callable[[str, Sequence[str]], Awaitable[ClientConnection]]
# The id of an asset, by its symbol or its id.
Resolve: TypeAlias = Callable[[str], Awaitable[str]]
# Of a market, by its id.
DecimalsOf: TypeAlias = Callable[[str], Awaitable[BookDecimals]]
_Key: TypeAlias = "tuple[str, str, int]"

_FRAME_OF: Mapping[str, type[Any]] = {
    "bbo": BboFrame,
    "trades": TradesFrame,
    "klines": KlinesFrame,
    "ticker": TickerFrame,
    "prices": PricesFrame,
}
# The channels that FlatBuffers have beside depth; the others are text always.
_IN_BINARY = frozenset(("bbo", "trades", "ticker"))
_ITEMS_MAX = 20
_ASSETS_MAX = 100
_NEW_MAX = 200
_CHECKSUM_EVERY_MAX = 1_000
# Below what the service reads of a socket: 10 frames a second, 50 at once.
_FRAMES_PER_SECOND = 8.0
_FRAMES_BURST = 40.0
_ANSWER_S = 10.0
# Between two renewals of one subscription; twice as long after each that was refused.
_RENEW_S, _RENEW_S_MAX = 1.0, 16.0
# A bare number is a count of minutes; `m` are minutes and `M` is 30 days, the other suffixes are taken in either case.
_INTERVAL_FORM = re.compile(r"([1-9][0-9]{0,6})([SsmHhDdWwM]?)")
_DAY_S = 86_400
_UNIT_S = {"S": 1, "": 60, "m": 60, "H": 3_600, "D": _DAY_S, "W": 7 * _DAY_S, "M": 30 * _DAY_S}


class FeedBook:
    """A book that a feed keeps; reading one that is not current raises RingbookError."""

    def __init__(self, asset_id: str, close: Callable[[], Awaitable[None]]) -> None:
        self.asset_id = asset_id
        # How often a gap or a checksum made the book begin anew.
        self.resyncs = 0
        self._book = LocalBook()
        self._close = close
        self._change = asyncio.Event()
        self._parts: list[DepthFrame] = []
        self._error: RingbookError | None = None

    @property
    def is_current(self) -> bool:
        return self._book.is_current

    @property
    def sequence_number(self) -> int:
        return self._book.sequence_number

    def asks(self, count: int | None = None) -> list[Level]:
        """The best asks, ascending."""
        return self._book.asks(count)

    def bids(self, count: int | None = None) -> list[Level]:
        """The best bids, descending."""
        return self._book.bids(count)

    async def changed(self) -> None:
        """Returns after the next change that leaves the book current. Raises the error that ended its subscription."""
        while True:
            if self._error is not None:
                raise self._error
            self._change.clear()
            await self._change.wait()
            if self._error is None and self._book.is_current:
                return

    async def close(self) -> None:
        """Ends its subscription."""
        await self._close()

    def _lost(self) -> None:
        self._book.drop()
        self._parts = []

    def _ended(self, error: RingbookError) -> None:
        self._lost()
        self._error = error
        self._change.set()

    def _receive(self, value: object) -> bool:
        """Returns whether the book is sound."""
        frame = read(DepthFrame, value, "depth")
        data = frame.data
        if frame.type == "snapshot":
            self._load(frame)
        elif self._book.apply(_levels(data.asks), _levels(data.bids), data.sequence_number) == "gap":
            self.resyncs += 1
            return False
        if data.checksum is not None and self._book.is_current and data.checksum != self._book.checksum():
            self._book.drop()
            self.resyncs += 1
            return False
        self._change.set()
        return True

    def _load(self, frame: DepthFrame) -> None:
        """A large snapshot comes in parts with one number."""
        if self._parts and self._parts[0].data.sequence_number != frame.data.sequence_number:
            self._parts = []
        self._parts.append(frame)
        self._book.drop()
        if frame.data.more:
            return
        asks = [level for part in self._parts for level in _levels(part.data.asks)]
        bids = [level for part in self._parts for level in _levels(part.data.bids)]
        self._parts = []
        self._book.load(asks, bids, frame.data.sequence_number)


def _levels(rows: Sequence[tuple[Decimal | str, Decimal | str]]) -> list[tuple[Decimal, Decimal]]:
    return [(Decimal(price), Decimal(quantity)) for price, quantity in rows]


@dataclass(eq=False)
class _Entry:
    key: _Key
    item: dict[str, Any]
    book: FeedBook | None = None
    # That of the last frame; 0 while a new snapshot is awaited.
    sequence: int = 0
    renew_s: float = _RENEW_S
    renewed_at: float = field(default=-_RENEW_S_MAX)
    renewal: asyncio.Task[None] | None = None


class Feed:
    """One socket of market data; an async context manager, and an iterator over frames of its channels."""

    def __init__(
        self,
        connect: Connect,
        resolve: Resolve,
        *,
        decimals_of: DecimalsOf | None = None,
        on_reconnected: Callable[[], object] | None = None,
        queue_max: int = EVENTS_MAX,
    ) -> None:
        """Not connected yet: `async with`, or `open`. With `decimals_of` depth, bbo, trades and ticker are FlatBuffers."""
        self._connect = connect
        self._resolve = resolve
        self._decimals_of = decimals_of
        # Of the markets whose frames may be FlatBuffers.
        self._decimals: dict[str, BookDecimals] = {}
        self._on_reconnected = on_reconnected
        self._queue: EventQueue[FeedFrame] = EventQueue(queue_max)
        self._entries: dict[_Key, _Entry] = {}
        self._answers: dict[str, asyncio.Future[list[dict[str, Any]]]] = {}
        self._last_id = 0
        self._frames_left = _FRAMES_BURST
        self._refilled_at = 0.0
        self._pace = asyncio.Lock()
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> Feed:
        """Connects. Raises RingbookError where the first connection is refused."""
        await self._open()
        self._task = asyncio.get_running_loop().create_task(self._run())
        return self

    async def close(self) -> None:
        """Ends all subscriptions."""
        self._queue.end(None)
        for entry in list(self._entries.values()):
            self._remove(entry, connection_closed("the feed was closed"))
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()
        self._fail_answers(connection_closed("the feed was closed"))

    async def __aenter__(self) -> Feed:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Feed:
        return self

    async def __anext__(self) -> FeedFrame:
        return await self._queue.get()

    async def subscribe(self, channel: Channel, assets: Sequence[str], *, interval: str | None = None) -> None:
        """Subscribes to a channel of some assets; their frames come out of the iterator, snapshots first.

        Raises RingbookError with the code of the first asset that was refused; the others are subscribed.
        """
        if channel not in _FRAME_OF:
            raise invalid_argument(f"a channel is one of {', '.join(_FRAME_OF)}; `book` keeps a depth", "channel")
        entries = []
        for asset in assets:
            asset_id = await self._resolve(asset)
            if channel in _IN_BINARY:
                await self._know_decimals(asset_id)
            item: dict[str, Any] = {"name": channel, "asset_ids": [asset_id]}
            if interval is not None:
                item["interval"] = interval
            entries.append(self._add(item, None))
        await self._subscribe(entries)

    async def unsubscribe(self, channel: Channel, assets: Sequence[str], *, interval: str | None = None) -> None:
        """Ends subscriptions. Unknown ones are ignored."""
        keys = [_key(channel, await self._resolve(asset), interval) for asset in assets]
        await self._unsubscribe([self._entries[key] for key in keys if key in self._entries])

    async def book(self, asset: str, *, checksum_every: int = 10) -> FeedBook:
        """The book of a market, current until it is closed; a checksum on every n-th update, with 0 on snapshots alone.

        Raises RingbookError where it is refused.
        """
        if not 0 <= checksum_every <= _CHECKSUM_EVERY_MAX:
            raise invalid_argument(f"an integer from 0 to {_CHECKSUM_EVERY_MAX} is expected", "checksum_every")
        asset_id = await self._resolve(asset)
        await self._know_decimals(asset_id)
        item = {"name": "depth", "asset_ids": [asset_id], "numbers": "string", "checksum_every": checksum_every}
        book = FeedBook(asset_id, lambda: self._unsubscribe([entry]))
        entry = self._add(item, book)
        await self._subscribe([entry])
        while not book.is_current:
            await book.changed()
        return book

    # ---- subscriptions

    async def _know_decimals(self, asset_id: str) -> None:
        """Reads what frames of a market in FlatBuffers need. One that does not exist is refused by the service."""
        if self._decimals_of is None or asset_id in self._decimals:
            return
        try:
            self._decimals[asset_id] = await self._decimals_of(asset_id)
        except RingbookError as error:
            if error.code != "MARKET_NOT_FOUND":
                raise

    def _add(self, item: dict[str, Any], book: FeedBook | None) -> _Entry:
        if self._queue.has_ended:
            raise connection_closed("the feed was closed")
        key = _key(item["name"], item["asset_ids"][0], item.get("interval"))
        known = self._entries.get(key)
        if known is not None:
            self._remove(known, connection_closed("another subscription took its place"))
        entry = _Entry(key, item, book)
        self._entries[key] = entry
        return entry

    def _remove(self, entry: _Entry, error: RingbookError) -> None:
        if self._entries.get(entry.key) is not entry:
            return
        del self._entries[entry.key]
        if entry.renewal is not None:
            entry.renewal.cancel()
        if entry.book is not None:
            entry.book._ended(error)

    async def _subscribe(self, entries: Sequence[_Entry]) -> None:
        try:
            refusals = await self._request("subscribe", entries)
        except RingbookError as error:
            for entry in entries:
                self._remove(entry, error)
            raise
        for entry, refusal in refusals:
            self._remove(entry, refusal)
        if refusals:
            raise refusals[0][1]

    async def _unsubscribe(self, entries: Sequence[_Entry]) -> None:
        for entry in entries:
            self._remove(entry, connection_closed("the subscription was ended"))
        if self._socket is not None and entries:
            await self._request("unsubscribe", entries)

    async def _request(
        self, kind: Literal["subscribe", "unsubscribe"], entries: Sequence[_Entry]
    ) -> list[tuple[_Entry, RingbookError]]:
        """Returns the refused ones. Without a connection the next one subscribes to all that there are."""
        refused: list[tuple[_Entry, RingbookError]] = []
        for frame_entries in _frames_of(entries):
            socket = self._socket
            if socket is None:
                return refused
            await self._paced()
            self._last_id += 1
            name = f"s-{self._last_id}"
            items = _items_of(frame_entries, kind)
            answer: asyncio.Future[list[dict[str, Any]]] = asyncio.get_running_loop().create_future()
            self._answers[name] = answer
            try:
                await socket.send(json.dumps({"type": kind, "id": name, "channels": items}))
                errors = await asyncio.wait_for(answer, _ANSWER_S)
            except ConnectionClosed:
                return refused
            except asyncio.TimeoutError as error:
                raise RingbookError("CLIENT_TIMEOUT", f"no answer to {kind}", retryable=True) from error
            finally:
                self._answers.pop(name, None)
            for one in errors:
                entry = next((each for each in frame_entries if _is_about(one, each)), None)
                if entry is not None:
                    details = {"channel": one["name"], "asset_id": one["asset_id"]}
                    refused.append((entry, RingbookError(one["code"], one["message"], details=details)))
        return refused

    async def _paced(self) -> None:
        """Frames are sent no faster than the service reads them."""
        async with self._pace:
            now = time.monotonic()
            gained = (now - self._refilled_at) * _FRAMES_PER_SECOND
            self._frames_left = min(_FRAMES_BURST, self._frames_left + gained)
            self._refilled_at = now
            if self._frames_left < 1:
                await asyncio.sleep((1 - self._frames_left) / _FRAMES_PER_SECOND)
                self._frames_left = 1.0
                self._refilled_at = time.monotonic()
            self._frames_left -= 1

    def _renew(self, entry: _Entry) -> None:
        """Subscribes again: at once, and again after a while when it was renewed just before."""
        entry.sequence = 0
        if entry.book is not None:
            entry.book._lost()
        if entry.renewal is None and self._entries.get(entry.key) is entry:
            entry.renewal = asyncio.get_running_loop().create_task(self._renewed(entry))

    async def _renewed(self, entry: _Entry) -> None:
        await asyncio.sleep(max(0.0, entry.renewed_at + entry.renew_s - time.monotonic()))
        entry.renewed_at = time.monotonic()
        is_refused = True
        try:
            is_refused = bool(await self._request("subscribe", [entry]))
        except RingbookError:
            # Of a subscription that was confirmed before: it is repeated until it is confirmed again.
            pass
        finally:
            entry.renewal = None
        if is_refused and self._socket is not None:
            entry.renew_s = min(2 * entry.renew_s, _RENEW_S_MAX)
            self._renew(entry)

    # ---- the connection

    async def _open(self) -> None:
        socket = await self._connect("/ws", () if self._decimals_of is None else (PROTOCOL,))
        self._frames_left = _FRAMES_BURST
        self._refilled_at = time.monotonic()
        self._socket = socket

    async def _run(self) -> None:
        pauses = Reconnection()
        try:
            while not self._queue.has_ended:
                if self._socket is not None:
                    pauses.connected()
                    await self._receive_all(self._socket)
                    pauses.lost()
                await pauses.pause()
                try:
                    await self._open()
                except RingbookError:
                    continue
                if self._on_reconnected is not None:
                    self._on_reconnected()
                for entry in self._entries.values():
                    self._renew(entry)
        except RingbookError as error:
            self._queue.end(error)
            for entry in list(self._entries.values()):
                self._remove(entry, error)
            if self._socket is not None:
                await self._socket.close()

    async def _receive_all(self, socket: ClientConnection) -> None:
        """Until the connection ends. Raises RingbookError CONSUMER_TOO_SLOW."""
        message = "the connection of the feed ended"
        try:
            while True:
                data = await socket.recv()
                try:
                    self._receive(data)
                except RingbookError as error:
                    if error.code == "CONSUMER_TOO_SLOW":
                        raise
                    # A frame that cannot be read: a new connection begins with snapshots.
                    await socket.close()
        except ConnectionClosed as error:
            code, reason = close_code(error)
            message = f"{message} with {code} {reason}".rstrip()
        self._socket = None
        self._fail_answers(connection_closed(message))
        for entry in self._entries.values():
            entry.sequence = 0
            if entry.book is not None:
                entry.book._lost()
            if entry.renewal is not None:
                entry.renewal.cancel()
                entry.renewal = None

    def _fail_answers(self, error: RingbookError) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)
        self._answers.clear()

    def _receive(self, data: str | bytes) -> None:
        if isinstance(data, bytes) and self._decimals_of is not None:
            frames = read_message(data, self._decimals.get)
            for frame in frames:
                self._deliver(frame, len(data) // len(frames))
            return
        frame = checked(parse(data, "frame"), "frame")
        kind, name = frame.get("type"), frame.get("id")
        if kind in ("snapshot", "update"):
            self._deliver(frame, len(data))
            return
        answer = self._answers.get(name) if isinstance(name, str) else None
        if kind == "subscriptions" and answer is not None and not answer.done():
            errors = frame.get("errors")
            answer.set_result(errors if isinstance(errors, list) else [])
        refusal = error_of(frame)
        if kind == "error" and refusal is not None:
            # One without an id is about the oldest: the service did not read it.
            first = answer or next(iter(self._answers.values()), None)
            if first is not None and not first.done():
                first.set_exception(refusal)

    def _deliver(self, frame: dict[str, Any], size: int) -> None:
        width = frame.get("interval_s", 0)
        entry = self._entries.get((str(frame.get("channel")), str(frame.get("asset_id")), width))
        if entry is None:
            return
        sequence = frame.get("sequence")
        if not isinstance(sequence, int):
            raise invalid_response("frame", "it has no sequence")
        is_first = frame.get("type") == "snapshot" and sequence == 1
        # Behind a renewal, frames of the subscription before it may still arrive.
        if entry.sequence == 0 and not is_first:
            return
        if not is_first and sequence != entry.sequence + 1:
            self._renew(entry)
            return
        entry.sequence = sequence
        if is_first:
            entry.renew_s = _RENEW_S
        if entry.book is None:
            self._queue.put(read(_FRAME_OF[entry.key[0]], frame, "frame"), size)
        elif not entry.book._receive(frame):
            self._renew(entry)


def _key(channel: str, asset_id: str, interval: str | None) -> _Key:
    """As frames name a subscription."""
    match = None if interval is None else _INTERVAL_FORM.fullmatch(interval)
    if (channel == "klines") != (match is not None):
        raise invalid_argument("klines, and no other channel, have an interval like 1m, 4h or 30S", "interval")
    width = 0 if match is None else int(match[1]) * _UNIT_S[match[2] if match[2] == "m" else match[2].upper()]
    return channel, asset_id, width


def _options(entry: _Entry) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in entry.item.items() if name != "asset_ids")


def _frames_of(entries: Sequence[_Entry]) -> list[list[_Entry]]:
    """Subscriptions of one frame: at most as many items and new ones as the service takes."""
    frames: list[list[_Entry]] = []
    for entry in sorted(entries, key=lambda one: (one.key[0], one.key[2])):
        frame = frames[-1] if frames else []
        if not frames or len(frame) == _NEW_MAX or len(_items_of([*frame, entry], "subscribe")) > _ITEMS_MAX:
            frame = []
            frames.append(frame)
        frame.append(entry)
    return frames


def _items_of(entries: Sequence[_Entry], kind: str) -> list[dict[str, Any]]:
    items: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in entries:
        options = _options(entry)
        if kind == "unsubscribe":
            options = tuple(option for option in options if option[0] in ("name", "interval"))
        part = sum(1 for key in items if key[0] == options) - 1
        if part < 0 or len(items[options, part]["asset_ids"]) == _ASSETS_MAX:
            part += 1
            items[options, part] = {**dict(options), "asset_ids": []}
        items[options, part]["asset_ids"].append(entry.key[1])
    return list(items.values())


def _is_about(error: Mapping[str, Any], entry: _Entry) -> bool:
    return error.get("name") == entry.key[0] and error.get("asset_id") in (entry.key[1], entry.item["asset_ids"][0])
