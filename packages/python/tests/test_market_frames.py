"""Market data in FlatBuffers: frames that another writer made, and damaged ones."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import flatbuffers
import pytest

from ringbook import RingbookError
from ringbook.market_frames import BookDecimals, read_message
from ringbook.reading import read
from ringbook.replies import BboFrame, DepthFrame, TickerFrame, TradesFrame

DECIMALS = BookDecimals(2, 4)
TOKEN = "ab" * 32 + "@" + "01" * 9
NS = 1_770_000_030_000_000_000
SNAPSHOT, CHECKSUM, NAMED = 1, 2, 4


def decimals_of(asset_id: str) -> BookDecimals | None:
    return DECIMALS if asset_id in ("12", TOKEN) else None


def frame(
    channel: int,
    *,
    flags: int = 0,
    sequence: int = 7,
    number: int = 0,
    checksum: int = 0,
    asset: int = 12,
    token: str | None = None,
    ticker: bool = False,
    **vectors: Sequence[tuple[int, ...]],
) -> bytes:
    """As code that flatc generated writes it, by the slots of schemas/market-data.fbs."""
    builder = flatbuffers.Builder(256)
    slots = {"bids": 2, "asks": 3, "wide_bids": 4, "wide_asks": 5, "trades": 6}
    offsets = {slots[name]: _vector(builder, name, rows) for name, rows in vectors.items()}
    if ticker:
        offsets[7] = _ticker(builder)
    if token is not None:
        offsets[1] = builder.CreateString(token)
    builder.StartObject(8)
    for slot, offset in offsets.items():
        builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
    builder.Prep(8, 32)
    builder.PrependUint8(flags)
    builder.PrependUint8(channel)
    builder.PrependUint16(asset)
    builder.PrependUint32(checksum)
    builder.PrependUint64(number)
    builder.PrependInt64(NS)
    builder.PrependUint64(sequence)
    builder.PrependStructSlot(0, builder.Offset(), 0)
    builder.FinishSizePrefixed(builder.EndObject())
    return bytes(builder.Output())


def _vector(builder: Any, name: str, rows: Sequence[tuple[int, ...]]) -> int:  # noqa: ANN401
    wide = name.startswith("wide") or name == "trades"
    size = 40 if name == "trades" else 16 if wide else 8
    builder.StartVector(size, len(rows), 8 if wide else 4)
    for row in reversed(rows):
        if name == "trades":
            builder.Prep(8, 40)
            builder.Pad(7)
            builder.PrependBool(bool(row[4]))
            row = row[:4]
        for figure in reversed(row):
            (builder.PrependInt64 if wide else builder.PrependUint32)(figure)
    end: int = builder.EndVector()
    return end


def _ticker(builder: Any) -> int:  # noqa: ANN401
    texts = {slot: builder.CreateString(text) for slot, text in ((5, "12.5"), (11, "3149.001"), (13, "5"), (14, "0"))}
    builder.StartObject(16)
    for slot, figure in ((0, 314_900), (2, 320_000), (3, 330_050), (4, 310_000), (6, -5_100), (7, -1_593), (8, NS)):
        builder.PrependInt64Slot(slot, figure, 0)
    builder.PrependInt64Slot(15, 9, 0)
    builder.PrependBoolSlot(1, True, False)
    for slot, text in texts.items():
        builder.PrependUOffsetTRelativeSlot(slot, text, 0)
    builder.Prep(8, 16)
    builder.PrependInt64(25_000)
    builder.PrependInt64(314_850)
    builder.PrependStructSlot(9, builder.Offset(), 0)
    end: int = builder.EndObject()
    return end


def test_a_message_has_several_frames_with_exact_figures() -> None:
    depth = frame(
        0,
        flags=SNAPSHOT | CHECKSUM,
        number=9_001,
        checksum=2_548_841_431,
        bids=[(314_975, 10_000), (314_950, 22_500)],
        wide_asks=[(2**40, 25_000)],
    )
    gone = frame(0, sequence=2, number=9_002, asks=[(315_025, 0)])
    best = frame(1, number=9_002, bids=[(314_975, 10_000)])
    trades = frame(2, trades=[(5, 315_025, 2**40, NS, 1), (6, 315_000, 1, NS + 1, 0)])
    message = depth + gone + best + trades + frame(3, ticker=True)
    first, second, third, fourth, fifth = read_message(message, decimals_of)
    book = read(DepthFrame, first)
    assert (book.type, book.asset_id, book.sequence, book.timestamp_ns) == ("snapshot", "12", 7, NS)
    assert book.data.bids == ((Decimal("3149.75"), Decimal(1)), (Decimal("3149.5"), Decimal("2.25")))
    assert book.data.asks == ((Decimal("10995116277.76"), Decimal("2.5")),)
    assert (book.data.sequence_number, book.data.checksum, book.data.more) == (9_001, 2_548_841_431, False)
    update = read(DepthFrame, second)
    assert (update.type, update.sequence, update.data.checksum) == ("update", 2, None)
    assert (update.data.asks, update.data.bids) == (((Decimal("3150.25"), Decimal(0)),), ())
    bbo = read(BboFrame, third).data
    assert bbo.bid is not None
    assert (bbo.bid.price, bbo.bid.size, bbo.ask, bbo.sequence_number) == (Decimal("3149.75"), Decimal(1), None, 9_002)
    rows = read(TradesFrame, fourth).data.trades
    assert [(row.trade_id, row.buyer_is_maker, row.status) for row in rows] == [
        (5, True, "Confirmed"),
        (6, False, "Confirmed"),
    ]
    assert rows[0].quantity == Decimal("109951162.7776")
    ticker = read(TickerFrame, fifth).data
    assert (ticker.last_price, ticker.high_24h, ticker.volume) == (Decimal(3149), Decimal("3300.5"), Decimal("12.5"))
    assert (ticker.price_change, ticker.price_change_percent) == (Decimal(-51), Decimal("-1.593"))
    assert (ticker.index_price, ticker.mark_price, ticker.best_ask) == (None, Decimal("3149.001"), None)
    assert ticker.best_bid is not None
    assert ticker.open_interest is not None
    assert (ticker.best_bid.price, ticker.open_interest.long) == (Decimal("3148.5"), Decimal(5))


def test_a_token_is_named_by_its_text_and_what_is_unknown_is_passed_over() -> None:
    named = frame(1, flags=NAMED, token=TOKEN, asset=0, asks=[(1, 2)])
    message = frame(1, asset=77) + frame(9) + named
    (only,) = read_message(message, decimals_of)
    assert (only["asset_id"], only["data"]["ask"]["price"]) == (TOKEN, Decimal("0.01"))
    assert str(only["data"]["ask"]["size"]) == "0.0002"
    assert read_message(b"", decimals_of) == []


def test_damaged_messages_are_invalid_responses_and_nothing_else() -> None:
    source = random.Random(7)
    message = (
        frame(0, bids=[(1, 2), (3, 4)], wide_asks=[(5, 6)])
        + frame(2, trades=[(5, 315_025, 2, NS, 1)])
        + frame(3, ticker=True, token=TOKEN, flags=NAMED)
    )
    codes = []
    for _ in range(5_000):
        damaged = bytearray(message[: source.randrange(len(message) + 1)] if source.random() < 0.3 else message)
        for _ in range(source.randrange(4)):
            if damaged:
                damaged[source.randrange(len(damaged))] = source.choice((0, 1, 0x7F, 0xFF, source.randrange(256)))
        try:
            read_message(bytes(damaged), decimals_of)
        except RingbookError as error:
            codes.append(error.code)
    assert len(codes) > 1_000
    assert set(codes) == {"INVALID_RESPONSE"}
    with pytest.raises(RingbookError, match="INVALID_RESPONSE"):
        read_message(struct.pack("<I", 2**32 - 1), decimals_of)
