"""`/control` in FlatBuffers: frames hold what the request holds, and damage is an INVALID_RESPONSE and nothing else."""

from __future__ import annotations

import random
from typing import Any

import flatbuffers
import pytest

from ringbook import Key, RingbookError, SignedAction, Signer, Terms, Trigger, flat
from ringbook.actions import amend_order, limit_order, market_order, quote_set, replace_order
from ringbook.replies import Market

KEY = Key(bytes([0x42] * 32))


class Wallet:
    """A co-signer."""

    @property
    def signer(self) -> dict[str, list[int]]:
        return {"Secp256k1": [2] * 33}

    def sign(self, text: bytes) -> bytes:
        return bytes([len(text) % 256] * 64)


def actions(market: Market) -> list[SignedAction]:
    signer = Signer(KEY.user_id, KEY, (Wallet(),))
    stop = Terms(trigger=Trigger("below", "1000", "parent"), spot=False, account=7, reduce_only=True)
    return [
        limit_order(signer, market, "Sell", price="3150.25", quantity="2.5", post_only=True),
        limit_order(signer, market, "Buy", price="1", quantity="1", time_in_force="GTD", good_until_ns=2 * 10**18),
        limit_order(signer, market, "Buy", price="1", quantity="1", time_in_force="FOK", terms=stop),
        market_order(signer, market, "Buy", quantity="1", max_amount="5"),
        market_order(signer, market, "Sell", amount="9", fill_or_kill=True),
        replace_order(signer, market, "o-1", price="1"),
        replace_order(signer, market, "o-1", price="1", quantity="2", complete=True),
        replace_order(signer, market, "o-1", trigger=Trigger("above", "5")),
        signer.cancel("12", "o-1"),
        amend_order(signer, market, "o-1", quantity="1", expected_revision_ns=5 + 10**18 * 2),
        quote_set(signer, market, "mm-1", bids=[("1", "2"), ("2", "3")], asks=[("3", "1")], protection_group="g1"),
        quote_set(signer, market, "mm-1"),
    ]


def read_back(action: SignedAction) -> dict[str, Any]:
    frame = flat.decode(flat.encode(77, action))
    assert frame["request_id"] == 77
    fields: dict[str, Any] = frame["body"][1]
    return fields


def test_a_frame_holds_what_the_request_holds(market: Market) -> None:
    for action in actions(market):
        fields = read_back(action)
        request = dict(action.request)
        if action.kind != "amend":
            assert list(fields["signature"]) == request["signature"]
            assert [(one["scheme"], list(one["key"])) for one in fields["additional_signers"]] == [
                ("Secp256k1", [2] * 33)
            ]
            assert fields["post_sign_timestamp"] == request["post_sign_timestamp"]
    sell, until, stop, base, quote, partial, complete, armed, cancel, amend, quotes, end = map(
        read_back, actions(market)
    )
    limit = {"limit_price": 315025, "quantity": 25000, "time_in_force": "GTC", "post_only": True, "timestamp_ns": 0}
    assert sell["details"] == ("Limit", limit)
    assert (sell["side"], sell["signer"].hex(), sell["account"], sell["is_spot"]) == ("Sell", KEY.user_id, 1, True)
    assert until["details"][1]["timestamp_ns"] == 2 * 10**18
    assert stop["details"][1]["time_in_force"] == "FOK"
    assert stop["trigger"] == {"parent_order_id": "parent", "condition": "PriceBelow", "price": 100_000}
    assert (stop["account"], stop["is_spot"], stop["reduce_only"], stop["protocol_version"]) == (7, False, True, 1)
    assert base["details"] == ("MarketBase", {"quantity": 10_000, "max_sellable_amount": 50_000, "fill_or_kill": False})
    assert quote["details"] == ("MarketQuote", {"quantity": 90_000, "max_sellable_quantity": 0, "fill_or_kill": True})
    assert (partial["new_price_limit"], partial["new_quantity"], partial["complete"]) == (100, 0, False)
    assert (complete["asset_id"], complete["complete"], complete["new_quantity"]) == ("12", True, 20_000)
    assert (armed["new_trigger"]["condition"], armed["new_trigger_form"]) == ("PriceAbove", "Bare")
    assert (cancel["order_id"], cancel["asset_id"]) == ("o-1", "12")
    assert (amend["new_quantity"], amend["user_id"].hex()) == (10_000, KEY.user_id)
    assert quotes["bids"] == [{"price": 200, "quantity": 30_000}, {"price": 100, "quantity": 20_000}]
    assert (quotes["asks"], quotes["protection_group"]) == ([{"price": 300, "quantity": 10_000}], "g1")
    assert (end["bids"], end["asks"], end["protection_group"]) == ([], [], None)


def test_a_member_without_a_place_in_its_table_is_an_error(market: Market) -> None:
    action = actions(market)[0]
    newer = {**action.request, "order": {**action.request["order"], "newer": 1}}
    with pytest.raises(RingbookError, match="newer has no place"):
        flat.encode(1, SignedAction("create", "12", "o", newer))


def test_damaged_frames_are_invalid_responses(market: Market) -> None:
    chance = random.Random(7)
    frames = [flat.encode(index + 1, action) for index, action in enumerate(actions(market))]
    refused = 0
    for _ in range(4_000):
        frame = bytearray(chance.choice(frames))
        for _ in range(chance.randrange(1, 4)):
            frame[chance.randrange(len(frame))] = chance.choice([0, 1, 4, 127, 128, 255, chance.randrange(256)])
        if chance.random() < 0.3:
            del frame[chance.randrange(len(frame)) :]
        try:
            flat.decode(bytes(frame))
        except RingbookError as error:
            refused += int(error.code == "INVALID_RESPONSE")
    assert refused > 500
    with pytest.raises(RingbookError, match="INVALID_RESPONSE"):
        flat.decode(b"")


def test_a_failure_has_its_member_and_its_details() -> None:
    builder = flatbuffers.Builder(64)
    detail = {"name": "units_available", "value": "1.5"}
    failure = {
        "code": "RATE_LIMITED",
        "retryable": True,
        "message": "slow down",
        "field": "orders",
        "details": [detail],
    }
    builder.Finish(flat._write(builder, "Frame", {"request_id": 3, "body": ("Failure", failure)}))
    error = flat.failure(flat.decode(bytes(builder.Output()))["body"][1])
    assert (error.code, error.retryable, error.field) == ("RATE_LIMITED", True, "orders")
    assert error.details["units_available"] == "1.5"
