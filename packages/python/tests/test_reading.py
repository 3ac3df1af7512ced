"""Replies as values: exact, and what does not fit is INVALID_RESPONSE with the path of its member."""

from __future__ import annotations

import dataclasses
import inspect
import json
import random
from decimal import Decimal
from typing import Any

import pytest

from ringbook import RingbookError, replies
from ringbook.errors import error_of
from ringbook.reading import parse, read, read_event

TRADE = {
    "asset_id": "12",
    "trade_id": 88017,
    "order_id": "demo-order-1",
    "price": "3150.25",
    "quantity": "0.5",
    "timestamp_ns": 1770000004000000001,
    "is_maker": True,
    "is_buyer": False,
    "status": "Confirmed",
    "rollback_reason": None,
}


def test_numbers_stay_exact() -> None:
    trade = read(replies.UserTrade, parse(json.dumps(TRADE), "trade"))
    assert trade.price == Decimal("3150.25")
    assert trade.timestamp_ns == 1770000004000000001
    assert trade.trading_fee is None
    assert trade.is_liquidation is False
    depth = read(
        replies.Depth, parse('{"asks":[[3150.10,2]],"bids":[[0.1000000000000000001,1e-18]],"sequence_number":1}', "d")
    )
    assert depth.asks == ((Decimal("3150.10"), Decimal(2)),)
    assert depth.bids == ((Decimal("0.1000000000000000001"), Decimal("1E-18")),)


def test_newer_members_are_skipped_and_faults_name_their_path() -> None:
    assert read(replies.UserTrade, {**TRADE, "newer": [1]}).trade_id == 88017
    cases: list[tuple[dict[str, object], str]] = [
        ({"price": "x"}, ".price"),
        ({"price": None}, ".price"),
        ({"trade_id": 1.5}, ".trade_id"),
        ({"is_maker": 1}, ".is_maker"),
        ({"status": "confirmed"}, ".status"),
    ]
    for changes, path in cases:
        with pytest.raises(RingbookError) as caught:
            read(replies.UserTrade, {**TRADE, **changes}, "trade")
        assert caught.value.code == "INVALID_RESPONSE"
        assert path in caught.value.message
    page = {"orders": [1], "total_orders": 0, "page": 0, "limit": 1, "total_pages": 0, "cursor_size": 0}
    with pytest.raises(RingbookError, match=r"\.orders\[0\]"):
        read(replies.OrderPage, {**page, "has_next_page": False, "next_page": None})


def test_tagged_events() -> None:
    event = {"Canceled": {"order_id": "a", "asset_id": "1", "user_id": "u", "timestamp_ns": 5, "reason": None}}
    canceled = read_event(replies.OrderEvent, event, "event")
    assert isinstance(canceled, replies.OrderCanceled)
    assert canceled.order_id == "a"
    assert read_event(replies.OrderEvent, {"Newer": {}}, "event") is None
    all_broken: list[object] = [{"Canceled": {}}, {}, [], None, {"Canceled": 1, "Removed": 2}]
    for broken in all_broken:
        with pytest.raises(RingbookError, match="INVALID_RESPONSE"):
            read_event(replies.OrderEvent, broken, "event")


def test_json_that_is_none_is_an_invalid_response() -> None:
    for text in ("", "{", "NaN", '{"a":Infinity}', "[" * 100_000, b"\xff", "9" * 10_000):
        with pytest.raises(RingbookError, match="INVALID_RESPONSE"):
            parse(text, "reply")


def test_every_class_is_read_and_junk_raises_nothing_else() -> None:
    chance = random.Random(3)
    codes = set()
    junk: list[Any] = [None, True, 0, -1, Decimal("0.5"), "", "1.5", "0x10", [], [1, 2], {}, {"Limit": {}}]

    def value(depth: int) -> Any:  # noqa: ANN401
        if depth == 0 or chance.random() < 0.5:
            return chance.choice(junk)
        return {name: value(depth - 1) for name in ("orders", "markets", "bid", "data", "leader", "accounts")}

    classes = [one for _, one in inspect.getmembers(replies, inspect.isclass) if dataclasses.is_dataclass(one)]
    assert len(classes) > 50
    for one in classes:
        for _ in range(30):
            names = [field.name.removesuffix("_") for field in dataclasses.fields(one)]
            try:
                read(one, {name: value(3) for name in names})
            except RingbookError as error:
                codes.add(error.code)
    assert codes == {"INVALID_RESPONSE"}


def test_the_error_envelope() -> None:
    envelope = {
        "error": {
            "code": "INVALID_ORDER",
            "message": "off the tick",
            "retryable": False,
            "details": {"field": "details"},
        }
    }
    error = error_of(envelope, 400)
    assert error is not None
    assert (error.code, error.field, error.status, error.retryable) == ("INVALID_ORDER", "details", 400, False)
    assert not error.outcome_unknown
    for other in (None, {}, {"error": 1}, {"error": {"code": 1}}, {"error": {"code": "A"}}):
        assert error_of(other) is None
