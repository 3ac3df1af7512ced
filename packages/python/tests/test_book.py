"""The local book: the checksums of the contract, and random diffs against a plain model."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from ringbook import LocalBook, RingbookError, crc32c

Rows = list[tuple[Decimal, Decimal]]


def rows(*pairs: tuple[str, str]) -> Rows:
    return [(Decimal(price), Decimal(quantity)) for price, quantity in pairs]


def test_the_checksums_of_the_contract() -> None:
    assert crc32c(b"123456789") == 3808858755
    book = LocalBook()
    book.load(rows(("3150.25", "2.5"), ("3151", "0.75")), rows(("3149.75", "1"), ("3149.5", "2.25")), 9001)
    assert book.checksum() == 2548841431
    assert book.apply(rows(("3150.25", "1.50")), [], 9002) == "applied"
    assert book.checksum() == 3332010872
    empty = LocalBook()
    empty.load([], [], 0)
    assert empty.checksum() == 1856424076


def test_a_gap_makes_it_stale_and_reading_it_raises() -> None:
    book = LocalBook()
    for read in (book.asks, book.bids, book.checksum):
        with pytest.raises(RingbookError, match="RESYNC_REQUIRED"):
            read()
    assert book.apply([], [], 1) == "gap"
    book.load(rows(("2", "1")), rows(("1", "1")), 5)
    assert book.apply(rows(("2", "9")), [], 5) == "ignored"
    assert book.asks() == rows(("2", "1"))
    assert book.apply([], [], 7) == "gap"
    assert not book.is_current
    with pytest.raises(RingbookError):
        _ = book.sequence_number


@pytest.mark.parametrize("seed", range(20))
def test_random_diffs_against_a_plain_model(seed: int) -> None:
    chance = random.Random(seed)
    model: dict[str, dict[Decimal, Decimal]] = {"asks": {}, "bids": {}}
    book = LocalBook()
    book.load([], [], 0)

    def diff(side: str, base: int) -> Rows:
        changed: Rows = []
        for _ in range(chance.randrange(4)):
            # The same price in several spellings is one level.
            price = Decimal(base + chance.randrange(60)).scaleb(-chance.choice([0, 1])).quantize(Decimal("0.10"))
            quantity = Decimal(chance.choice([0, 0, 1, 25, 300])).scaleb(-2)
            changed.append((price, quantity))
            if quantity == 0:
                model[side].pop(price, None)
            else:
                model[side][price] = quantity
        return changed

    for sequence in range(1, 400):
        assert book.apply(diff("asks", 2_000), diff("bids", 1_000), sequence) == "applied"
        asks = sorted(model["asks"].items())
        bids = sorted(model["bids"].items(), reverse=True)
        assert book.asks() == asks
        assert book.bids() == bids
        assert book.asks(3) == asks[:3]
        text = "|".join(
            ",".join(f"{_shortest(price)}:{_shortest(quantity)}" for price, quantity in side[:10])
            for side in (bids, asks)
        )
        assert book.checksum() == _plain_crc(text.encode())


def _shortest(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _plain_crc(data: bytes) -> int:
    """Bit by bit, the definition."""
    crc = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            is_odd = (crc ^ (byte >> bit)) & 1
            crc = (crc >> 1) ^ (0x82F63B78 if is_odd else 0)
    return crc ^ 0xFFFFFFFF
