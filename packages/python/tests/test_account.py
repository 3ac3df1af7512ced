"""Funds: what is signed is the text of the vectors, a refusal is an error with its code, and the same bytes can be sent again."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ringbook import Account, Key, RingbookError, SignedFunds, Signer, canonical_text, dev_key, sign_maker_order
from ringbook.units import from_raw

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))
TOKEN, CHAIN, TARGET = "5a" * 20, "000000000000007a69", "7c" * 20
ROW = {
    "tplus_user": "00" * 32,
    "asset": f"{TOKEN.ljust(64, '0')}@{CHAIN}",
    "amount": "1",
    "target": TARGET.ljust(64, "0"),
}


class Service:
    """Answers by path, and keeps what was asked."""

    def __init__(self, **answers: Any) -> None:  # noqa: ANN401
        self.answers = {"nonces": {"withdrawal": 4, "settlements": {"3": 6}}, "queue": [], **answers}
        self.asked: list[tuple[str, str, str | None]] = []

    async def exchange(self, method: str, path: str, body: str | None = None) -> Any:  # noqa: ANN401
        self.asked.append((method, path, body))
        return next((answer for part, answer in self.answers.items() if f"/{part}" in path), {"success": True})


async def _resolve(asset: str) -> str:
    return {"USD": "0", "BTC": "1"}.get(asset, asset)


def account_of(key: Key, service: Service) -> Account:
    return Account(Signer(key.user_id, key), service.exchange, _resolve)


def units(text: str, base: int) -> Decimal:
    return from_raw(int(text, base), 18)


async def again(account: Account, kind: str, content: dict[str, Any]) -> SignedFunds:
    """The action of a vector, from the arguments of a caller."""
    if kind == "transfer":
        given = content["target_account_type"]
        return await account.transfer(
            content["transfer_asset"],
            units(content["transfer_amount"], 10),
            source=content["source_index"],
            target=content["target_index"],
            opens=next(iter(given)) if isinstance(given, dict) else given,
            nonce=content["nonce"],
        )
    if kind == "close-position":
        asset = content["asset_identifier"]
        return await account.close_position(asset, account=content["account"], nonce=content["nonce"])
    if kind == "withdrawal":
        token, chain = content["asset"].split("@")
        return await account.withdrawal(
            f"0x{token[:40].upper()}",
            chain,
            units(content["amount"], 16),
            target=content["target"],
            nonce=content["nonce"],
            request_id=content["request_id"],
        )
    if kind == "withdrawal-cancel":
        token, chain = content["asset_address"].split("@")
        return await account.withdrawal_cancel(
            token, chain, content["nonce"], requested_at_ns=content["requested_at_ns"]
        )
    return await account.settlement(
        content["chain_id"],
        account=content["sub_account_index"],
        token_in=content["asset_in"],
        amount_in=units(content["amount_in"], 16),
        token_out=content["asset_out"],
        amount_out=units(content["amount_out"], 16),
        mode=content["mode"],
        settler=content["settler"],
        nonce=content["nonce"],
        request_id=content["request_id"],
    )


SHAPES = {
    "transfer": "Transfer",
    "close-position": "ClosePosition",
    "withdrawal": "Withdrawal",
    "withdrawal-cancel": "WithdrawalCancel",
    "settlement": "Settlement",
}
# A bare name stands for an object of the contract; texts without a request id are those of before it.
CHOSEN = [
    vector
    for vector in VECTORS["vectors"]
    if vector["kind"] in SHAPES
    and vector["name"] != "V-5 object"
    and (vector["kind"] not in ("withdrawal", "settlement") or "request_id" in vector["text"])
]


@pytest.mark.parametrize("vector", CHOSEN, ids=[vector["name"] for vector in CHOSEN])
async def test_an_action_signs_the_bytes_of_its_vector(vector: dict[str, Any]) -> None:
    key = Key(bytes.fromhex(VECTORS["seeds"][vector["user"]]))
    service = Service()
    action = await again(account_of(key, service), vector["kind"], json.loads(vector["text"]))
    assert action.kind == vector["kind"]
    request = json.loads(action.body)
    assert canonical_text(SHAPES[action.kind], request["inner"]) == vector["text"]
    assert bytes(request["signature"]).hex() == vector["signature"]
    assert request["additional_signers"] == []
    assert service.asked == []


def test_every_kind_has_a_vector() -> None:
    assert {vector["kind"] for vector in CHOSEN} == set(SHAPES)


async def test_the_next_numbers_are_taken_where_none_is_given() -> None:
    service = Service()
    account = account_of(dev_key("a"), service)
    first = await account.withdrawal(TOKEN, CHAIN, "0.001", target=TARGET)
    second = await account.withdrawal(TOKEN, CHAIN, 1, target=TARGET, amount_text="decimal")
    inner = [json.loads(action.body)["inner"] for action in (first, second)]
    assert [one["amount"] for one in inner] == ["38d7ea4c68000", "1" + 18 * "0"]
    assert [one["nonce"] for one in inner] == [4, 4]
    assert inner[0]["request_id"] != inner[1]["request_id"]
    tokens = {"token_in": TOKEN, "amount_in": 1, "token_out": TARGET, "amount_out": 2}
    for number, expected in ((3, 6), (5, None)):
        settlement = await account.settlement(CHAIN, account=number, **tokens)  # type: ignore[arg-type]
        assert json.loads(settlement.body)["inner"].get("nonce") == expected
    moves = [await account.transfer("USD", "2.5", source=0, target=1) for _ in range(3)]
    nonces = [json.loads(move.body)["inner"]["nonce"] for move in moves]
    assert nonces == sorted(set(nonces))
    isolated = await account.transfer("USD", 1, source=0, target=7, isolated="BTC")
    assert json.loads(isolated.body)["inner"]["target_account_type"] == {"Isolated": {"asset": "1"}}


async def test_a_cancel_names_the_live_row_of_its_nonce_and_no_later_one() -> None:
    statuses = ("cancelled", "filled", "approved")
    rows = [
        {**ROW, "nonce": 4, "requested_at_ns": 10 + at, "status": {"type": status, "approvals": []}}
        for at, status in enumerate(statuses)
    ]
    account = account_of(dev_key("a"), Service(queue=rows))
    cancel = json.loads((await account.withdrawal_cancel(TOKEN, CHAIN, 4)).body)["inner"]
    assert cancel["requested_at_ns"] == 11
    assert "requested_at_ns" not in json.loads((await account.withdrawal_cancel(TOKEN, CHAIN, 5)).body)["inner"]
    assert [row.status.type for row in await account.withdrawals()] == list(statuses)


async def test_a_refusal_is_an_error_and_the_same_bytes_go_again() -> None:
    refusal = {"code": "INVALID_NONCE", "message": "above", "retryable": False, "field": "nonce", "last_nonce": 9}
    service = Service(transfer={"success": False, "details": refusal}, withdrawal={"success": True, "duplicate": True})
    account = account_of(dev_key("a"), service)
    transfer = await account.transfer("USD", 1, source=0, target=1)
    for _ in range(2):
        with pytest.raises(RingbookError) as caught:
            await account.send(transfer)
        assert (caught.value.code, caught.value.field, caught.value.details["last_nonce"]) == (
            "INVALID_NONCE",
            "nonce",
            9,
        )
    assert service.asked[0] == service.asked[1] == ("POST", "/account/transfer/sub-account", transfer.body)
    assert await account.send(await account.withdrawal(TOKEN, CHAIN, 1, target=TARGET)) is False
    service.answers = {"transfer": {"success": "yes"}}
    with pytest.raises(RingbookError, match="INVALID_RESPONSE"):
        await account.send(transfer)


async def test_a_settlement_returns_its_approval_and_carries_the_order_of_its_maker() -> None:
    approval = {"inner": {"nonce": 6, "signature": "ab" * 65}, "expiry": 1_770_000_100}
    service = Service(settlement={"success": True, "approval": approval})
    account = account_of(dev_key("a"), service)
    order = sign_maker_order(dev_key("b"), "cd" * 32, 9)
    action = await account.settlement(
        CHAIN,
        account=3,
        token_in=TOKEN,
        amount_in=1,
        token_out=TARGET,
        amount_out="0.5",
        expires_ns=9,
        vault=TOKEN,
        maker_order=order,
    )
    request = json.loads(action.body)
    assert request["inner"]["mm_pubkey"] == dev_key("b").user_id == order.maker
    assert request["inner"]["vault"] == TOKEN.ljust(64, "0")
    assert request["maker_order"]["inner"] == {"mm_pubkey": order.maker, "settler": "cd" * 32, "expires_at": 9}
    assert bytes(request["maker_order"]["signature"]) == order.signature
    answer = await account.settle(action)
    assert (answer.inner.nonce, answer.expiry) == (6, 1_770_000_100)
    with pytest.raises(RingbookError, match="`settle`"):
        await account.send(action)
    with pytest.raises(RingbookError, match="`send`"):
        await account.settle(await account.transfer("USD", 1, source=0, target=1))


async def test_what_cannot_be_meant_is_refused_with_its_member_and_nothing_is_sent() -> None:
    service = Service()
    account = account_of(dev_key("a"), service)
    wrong: list[tuple[Callable[[], Awaitable[SignedFunds]], str]] = [
        (lambda: account.transfer("USD", "0", source=0, target=1), "amount"),
        (lambda: account.transfer("USD", "0.0000000000000000001", source=0, target=1), "amount"),
        (lambda: account.transfer("USD", 0.1, source=0, target=1), "amount"),  # type: ignore[arg-type]
        (lambda: account.transfer("USD", 1, source=0, target=-1), "target_index"),
        (lambda: account.transfer("USD", 1, source=0, target=2, opens="Spot", isolated="BTC"), "isolated"),
        (lambda: account.withdrawal("5a", CHAIN, 1, target=TARGET, nonce=0), "token"),
        (lambda: account.withdrawal(TOKEN, "7a69", 1, target=TARGET, nonce=0), "chain_id"),
        (lambda: account.withdrawal(TOKEN, CHAIN, 1, target="me", nonce=0), "target"),
        (lambda: account.withdrawal(TOKEN, CHAIN, 1, target=TARGET, nonce=-1), "nonce"),
        (lambda: account.withdrawal(TOKEN, CHAIN, 1, target=TARGET, nonce=0, request_id="a b"), "request_id"),
    ]
    for call, field in wrong:
        with pytest.raises(RingbookError) as caught:
            await call()
        assert (field, caught.value.code, caught.value.field) == (field, "INVALID_ARGUMENT", field)
    assert service.asked == []
