"""Several addresses: the leader is found, what had no effect is repeated, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from ringbook import LeaderAddress, RingbookError
from ringbook.addresses import Addresses

A, B, C = "http://a:1", "http://b:1", "http://c:1"


def reply(state: str, epoch: int, leader: str | None = None, role: str = "node") -> dict[str, Any]:
    named = None if leader is None else {"node": "x", "oms": leader, "mds": None}
    return {"role": role, "state": state, "epoch": epoch, "sequence": 1, "leader": named}


def cluster(replies: dict[str, Any], served: Any = "leader", moves: list[LeaderAddress] | None = None) -> Addresses:  # noqa: ANN401
    async def probe(base: str, path: str) -> object:
        assert path == "/system/leader"
        if base not in replies:
            raise RingbookError("UNREACHABLE", "down")
        return replies[base]

    return Addresses([A, f"{B}/"], served, probe, None if moves is None else moves.append)


async def test_what_had_no_effect_is_repeated_at_the_leader() -> None:
    moves: list[LeaderAddress] = []
    addresses = cluster({B: reply("leading", 7)}, moves=moves)
    asked: list[str] = []

    async def attempt(base: str) -> str:
        asked.append(base)
        if base == A:
            raise RingbookError("NOT_LEADER", "no", status=503)
        return base

    assert await addresses.serve(attempt) == B
    assert await addresses.serve(attempt) == B
    assert asked == [A, B, B]
    assert moves == [LeaderAddress(B, 7)]


async def test_what_may_have_happened_is_not_repeated() -> None:
    addresses = cluster({B: reply("leading", 7)})
    asked: list[str] = []

    async def attempt(base: str) -> str:
        asked.append(base)
        raise RingbookError("CONNECTION_CLOSED", "lost")

    with pytest.raises(RingbookError, match="CONNECTION_CLOSED"):
        await addresses.serve(attempt)
    assert asked == [A]
    # It looks for another address behind that.
    assert await addresses.failed(A)
    assert addresses.base == B


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        # A leader that is over may still answer: the highest epoch counts.
        ({A: reply("leading", 6), B: reply("leading", 7)}, B),
        ({A: reply("leading", 6), B: reply("following", 7, C)}, C),
        ({A: reply("following", 7), B: reply("stalled", 7)}, None),
        ({A: reply("following", 7, "ftp://c"), B: {"junk": 1}}, None),
        ({}, None),
    ],
)
async def test_the_highest_epoch_counts(replies: dict[str, Any], expected: str | None) -> None:
    addresses = cluster(replies)
    assert await addresses.failed(A) == (expected is not None)
    assert addresses.base == (expected or A)


async def test_market_data_is_read_of_replicas_too() -> None:
    addresses = cluster({A: reply("leading", 1), B: reply("following", 1, role="replica")}, served="any")
    assert await addresses.failed(A)
    assert addresses.base == B


async def test_one_address_is_never_asked() -> None:
    async def probe(base: str, path: str) -> object:
        pytest.fail(f"{base} {path}")

    addresses = Addresses(A, "leader", probe)

    async def attempt(_: str) -> str:
        raise RingbookError("UNREACHABLE", "down")

    with pytest.raises(RingbookError, match="UNREACHABLE"):
        await addresses.serve(attempt)
    for wrong in ("a:1", "ftp://a", "http://a?x=1", ""):
        with pytest.raises(RingbookError) as caught:
            Addresses(wrong, "leader", probe)
        assert caught.value.field == "oms"
    with pytest.raises(RingbookError, match="1 to 32"):
        Addresses([], "leader", probe)
