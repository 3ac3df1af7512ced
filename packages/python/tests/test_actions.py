"""Actions: what is signed follows the contract, and what cannot be meant is refused before it is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nacl.signing import VerifyKey

from ringbook import Key, RingbookError, SignedAction, Signer, Terms, Trigger, canonical_text, fee_limit
from ringbook.actions import amend_order, limit_order, market_order, quote_set, replace_order
from ringbook.replies import Market

KEY = Key(bytes([0x42] * 32))


@pytest.fixture
def signer() -> Signer:
    return Signer(KEY.user_id, KEY)


def verify(action: SignedAction, shape: str, member: str) -> dict[str, Any]:
    """The signed object, whose signature is over its canonical text."""
    content: dict[str, Any] = action.request[member]
    text = canonical_text(shape, content).encode()
    VerifyKey(bytes.fromhex(KEY.user_id)).verify(text, bytes(action.request["signature"]))
    assert json.loads(action.body) == json.loads(json.dumps(action.request))
    return content


def test_limit_orders(signer: Signer, market: Market) -> None:
    action = limit_order(signer, market, "Sell", price="3150.25", quantity="2.5", post_only=True)
    order = verify(action, "Order", "order")
    tif = {"GTC": {"post_only": True}}
    assert order["details"] == {"Limit": {"limit_price": 315025, "quantity": 25000, "time_in_force": tif}}
    assert (order["base_asset"], order["target"]) == ("12", {"account": 1, "is_spot": True})
    # MON-15: what may rest signs twice the taker's rate, what takes at once the rate itself.
    assert order["max_trading_fees_rate"] == 900
    taking = limit_order(signer, market, "Buy", price="1", quantity="1", time_in_force="FOK")
    assert taking.request["order"]["details"]["Limit"]["time_in_force"] == {"IOC": {"fill_or_kill": True}}
    assert taking.request["order"]["max_trading_fees_rate"] == 450
    terms = Terms(order_id="o-1", account=3, spot=False, reduce_only=True, trigger=Trigger("below", "1000", "parent"))
    waiting = limit_order(
        signer, market, "Buy", price="1", quantity="1", time_in_force="GTD", good_until_ns=2 * 10**18, terms=terms
    )
    order = verify(waiting, "Order", "order")
    assert order["trigger"] == {"parent_order_id": "parent", "condition": {"PriceBelow": {"price": 100_000}}}
    assert order["target"] == {"account": 3, "is_spot": False}
    assert (waiting.order_id, order["reduce_only"]) == ("o-1", True)


def test_market_orders(signer: Signer, market: Market) -> None:
    order = verify(market_order(signer, market, "Buy", quantity="2.5", max_amount="100"), "Order", "order")
    size = {"BaseAsset": {"quantity": 25000, "max_sellable_amount": 1_000_000}}
    assert order["details"] == {"Market": {"quantity": size, "fill_or_kill": False}}
    order = verify(market_order(signer, market, "Buy", amount="9", fill_or_kill=True), "Order", "order")
    size_of_amount = {"QuoteAsset": {"quantity": 90_000, "max_sellable_quantity": None}}
    assert order["details"] == {"Market": {"quantity": size_of_amount, "fill_or_kill": True}}


def test_replaces_cancels_and_amends(signer: Signer, market: Market) -> None:
    partial = replace_order(signer, market, "o-1", price="3151")
    terms = verify(partial, "Replace", "request")
    assert (terms["new_price_limit"], terms["new_quantity"], partial.request["asset_id"]) == (315_100, None, "12")
    complete = replace_order(signer, market, "o-1", price="3151", quantity="1", complete=True)
    terms = verify(complete, "CompleteReplace", "request")
    assert (terms["base_asset"], "asset_id" in complete.request, complete.asset_id) == ("12", False, "12")
    verify(signer.cancel("12", "o-1"), "Cancel", "cancel")
    amend = amend_order(signer, market, "o-1", quantity="1", expected_revision_ns=None)
    assert "signature" not in amend.request
    assert amend.request["request"]["new_quantity"] == 10_000


def test_quote_sets(signer: Signer, market: Market) -> None:
    """QTE: members in the order of the contract, entries best first whatever their order was."""
    action = quote_set(
        signer, market, "mm-1", bids=[("3149.75", "1"), ("3150", "0.5")], asks=[("3151", "2"), ("3150.25", 1)]
    )
    content = verify(action, "QuoteSet", "quotes")
    assert (content["bids"], content["asks"]) == (
        [[315_000, 5_000], [314_975, 10_000]],
        [[315_025, 10_000], [315_100, 20_000]],
    )
    assert (action.order_id, action.asset_id, content["max_trading_fees_rate"]) == ("mm-1", "12", 900)
    text = canonical_text("QuoteSet", content)
    assert text.startswith(f'{{"signer":"{KEY.user_id}","set_id":"mm-1","base_asset":"12","book_price_decimals":2,')
    assert '"asks":[[315025,10000],[315100,20000]],"target":{"account":1,"is_spot":true},' in text
    assert text.endswith('"protection_group":null,"good_until_timestamp_ns":null,"protocol_version":1}')
    ending = quote_set(signer, market, "mm-1")
    assert (ending.request["quotes"]["bids"], ending.request["quotes"]["asks"]) == ([], [])
    assert ending.request["quotes"]["revision"] > content["revision"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"bids": [("1", "1"), ("1.01", "1")]}, "bids[1].price"),
        ({"asks": [("1", 0.5)]}, "asks[0].quantity"),
        ({"asks": [("1", "1"), ("1.00", "2")]}, "asks"),
        ({"bids": [("2", "1")], "asks": [("2", "1")]}, "bids"),
        ({"bids": [(level, "1") for level in range(1, 52)]}, "bids"),
        ({"set_id": "mm:1"}, "set_id"),
        ({"account": -1}, "target.account"),
    ]
    for changes, field in cases:
        with pytest.raises(RingbookError) as caught:
            quote_set(signer, market, **{"set_id": "mm-1", **changes})
        assert (caught.value.code, caught.value.field) == ("INVALID_ARGUMENT", field)


def test_signed_times_grow(signer: Signer) -> None:
    times = [signer.time_ns() for _ in range(1_000)]
    assert times == sorted(set(times))


def test_what_cannot_be_meant_is_refused_with_its_member(signer: Signer, market: Market) -> None:
    common: dict[str, Any] = {"price": "1", "quantity": "1"}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"price": "1.01"}, "price"),
        ({"quantity": "0.00001"}, "quantity"),
        ({"quantity": 0.5}, "quantity"),
        ({"time_in_force": "GTD"}, "good_until_ns"),
        ({"good_until_ns": 2 * 10**18}, "good_until_ns"),
        ({"time_in_force": "IOC", "post_only": True}, "post_only"),
        ({"time_in_force": "DAY"}, "time_in_force"),
        ({"terms": Terms(order_id="sys-1")}, "order_id"),
        ({"terms": Terms(account=-1)}, "target.account"),
    ]
    for changes, field in cases:
        with pytest.raises(RingbookError) as caught:
            limit_order(signer, market, "Buy", **{**common, **changes})
        assert (caught.value.code, caught.value.field) == ("INVALID_ARGUMENT", field)
    with pytest.raises(RingbookError, match="side"):
        limit_order(signer, market, "buy", **common)  # type: ignore[arg-type]
    for wrong in (
        {},
        {"quantity": "1", "amount": "1"},
        {"amount": "1", "max_amount": "1"},
        {"quantity": "1", "max_quantity": "1"},
    ):
        with pytest.raises(RingbookError, match="INVALID_ARGUMENT"):
            market_order(signer, market, "Buy", **wrong)  # type: ignore[arg-type]
    with pytest.raises(RingbookError, match="quantity is missing"):
        replace_order(signer, market, "o-1", price="1", complete=True)


def test_the_fee_limit_covers_the_rate_that_may_apply(market: Market) -> None:
    from dataclasses import replace

    assert fee_limit(replace(market, maker_fee_rate=2_000), lasting=True) == 2_000
    assert fee_limit(replace(market, maker_fee_rate=-10, taker_fee_rate=0), lasting=True) == 0
