"""Signed texts: the vectors of the contract byte for byte, and faults that name their member."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import VerifyKey

from ringbook import Key, RingbookError, canonical_text, dev_key
from ringbook.contract import signed_shapes

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))
KINDS = {
    "create": ["Order"],
    "replace": ["Replace", "CompleteReplace"],
    "cancel": ["Cancel"],
    "transfer": ["Transfer"],
    "close-position": ["ClosePosition"],
    "withdrawal": ["Withdrawal"],
    "withdrawal-cancel": ["WithdrawalCancel"],
    "settlement": ["Settlement"],
}
SIGNED = [vector for vector in VECTORS["vectors"] if vector["kind"] in KINDS]


def shape_of(vector: dict[str, Any], content: dict[str, Any]) -> str:
    shapes = KINDS[vector["kind"]]
    return shapes[-1] if "base_asset" in content else shapes[0]


@pytest.mark.parametrize("vector", SIGNED, ids=[vector["name"] for vector in SIGNED])
def test_the_vectors_of_the_contract_byte_for_byte(vector: dict[str, Any]) -> None:
    content = json.loads(vector["text"])
    members = list(content.items())
    random.Random(vector["name"]).shuffle(members)
    text = canonical_text(shape_of(vector, content), dict(members)).encode("ascii")
    assert text == vector["text"].encode("ascii")
    assert len(text) == vector["byte_length"]
    key = Key(bytes.fromhex(VECTORS["seeds"][vector["user"]]))
    assert key.user_id == vector["user"]
    assert key.sign(text).hex() == vector["signature"]


def test_there_are_vectors_of_every_kind() -> None:
    assert {vector["kind"] for vector in SIGNED} == set(KINDS)
    assert len(SIGNED) >= 20


def test_a_login_signs_the_bytes_of_its_nonce() -> None:
    signature = Key(bytes([0x42] * 32)).sign(b"q7Zr-41c0")
    expected = "1bf500812448c3a427b8790a0f1faa3aee8878f880f2114b4472d56a8a50c33e"
    assert signature.hex().startswith(expected)
    assert hashlib.sha256(signature).digest_size == 32


def test_unset_members_sign_as_null_as_their_default_or_not_at_all() -> None:
    replace = {
        "order_id": "a",
        "base_asset": "1",
        "timestamp_ns": 1_770_000_000_000_000_000,
        "new_price_limit": 1,
        "new_quantity": 2,
        "book_quantity_decimals": 4,
        "book_price_decimals": 2,
    }
    text = canonical_text("CompleteReplace", replace)
    assert '"new_trigger":null' in text
    assert text.endswith('"protocol_version":1}')
    withdrawal = {"tplus_user": "0" * 64, "asset": f"{'1' * 64}@{'0' * 18}", "amount": "1", "target": "2" * 64}
    assert canonical_text("Withdrawal", withdrawal).endswith(f'"nonce":null,"target":"{"2" * 64}"}}')


def order() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(SIGNED[0]["text"])
    return content


def fault(content: dict[str, Any]) -> str | None:
    with pytest.raises(RingbookError) as caught:
        canonical_text("Order", content)
    assert caught.value.code == "INVALID_ARGUMENT"
    return caught.value.field


def test_a_fault_names_its_member_by_its_path() -> None:
    assert fault({**order(), "order_id": "with space"}) == "order_id"
    assert fault({**order(), "order_id": "sys-1"}) == "order_id"
    assert fault({**order(), "order_id": "a\n"}) == "order_id"
    assert fault({**order(), "side": "buy"}) == "side"
    assert fault({**order(), "reduce_only": 1}) == "reduce_only"
    assert fault({**order(), "book_price_decimals": True}) == "book_price_decimals"
    assert fault({**order(), "book_price_decimals": 2.0}) == "book_price_decimals"
    assert fault({**order(), "creation_timestamp_ns": 1_770_000_000}) == "creation_timestamp_ns"
    assert fault({**order(), "creation_timestamp_ns": 2**64}) == "creation_timestamp_ns"
    assert fault({**order(), "postOnly": True}) == "postOnly"
    assert fault({**order(), "target": {"account": 1, "is_spot": True, "more": 1}}) == "target.more"
    assert fault({**order(), "target": {"account": 65_536, "is_spot": True}}) == "target.account"
    details = {"Limit": {"limit_price": 0, "quantity": 1, "time_in_force": {"GTC": {"post_only": False}}}}
    assert fault({**order(), "details": details}) == "details.Limit.limit_price"
    trigger = {"parent_order_id": None, "condition": {"PriceBelow": {"price": -1}}}
    assert fault({**order(), "trigger": trigger}) == "trigger.condition.PriceBelow.price"
    missing = order()
    del missing["target"]
    assert fault(missing) == "target"


def test_any_damaged_member_is_refused_and_nothing_else_is_raised() -> None:
    """Random values in place of each member of each shape: a text, or INVALID_ARGUMENT; never another exception."""
    chance = random.Random(11)
    junk: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", "a b", '"', "é", [], [1], {}, {"GTC": 1}, {"Limit": {}}, b"x"]
    refusals = 0
    codes = set()
    for vector in SIGNED:
        content = json.loads(vector["text"])
        for _ in range(200):
            name = chance.choice(list(content))
            damaged = {**content, name: chance.choice(junk)}
            try:
                text = canonical_text(shape_of(vector, damaged), damaged)
            except RingbookError as error:
                codes.add(error.code)
                refusals += 1
            else:
                assert json.loads(text) is not None
    assert refusals > 1_000
    assert codes == {"INVALID_ARGUMENT"}


def test_every_shape_has_a_writer() -> None:
    for name in signed_shapes():
        with pytest.raises(RingbookError):
            canonical_text(name, {"no such member": 1})


def test_key_files(tmp_path: Path) -> None:
    key = Key.generate()
    path = tmp_path / "me.key"
    key.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Key.load(path).user_id == key.user_id
    with pytest.raises(FileExistsError):
        key.save(path)
    path.chmod(0o644)
    with pytest.raises(RingbookError, match="chmod 600"):
        Key.load(path)
    path.chmod(0o600)
    path.write_text("no key\n")
    with pytest.raises(RingbookError, match="64 hex digits"):
        Key.load(path)
    with pytest.raises(RingbookError, match="there is no file"):
        Key.load(tmp_path / "other.key")
    VerifyKey(bytes.fromhex(key.user_id)).verify(b"text", key.sign(b"text"))
    assert dev_key("a").user_id == "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"
    assert key.user_id in repr(key)
