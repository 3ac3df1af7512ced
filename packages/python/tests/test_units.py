"""Exact figures: raw integers, ticks and lots, whatever the decimal context is."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext

import pytest

from ringbook import RingbookError, from_raw, lot_of, plain, price_down, price_up, quantity_down, to_raw
from ringbook.replies import Market
from ringbook.units import raw_price, raw_quantity, step_down, step_up


def test_raw_figures_are_exact() -> None:
    assert to_raw("3150.25", 2, "price") == 315025
    assert to_raw(Decimal("1E+3"), 2, "price") == 100_000
    assert to_raw(7, 0, "quantity") == 7
    assert to_raw("1200", -2, "quantity") == 12
    assert from_raw(315025, 2) == Decimal("3150.25")
    assert from_raw(12, -2) == Decimal(1200)


@pytest.mark.parametrize(
    "value", ["3150.255", "0", "-1", "1e3", "1_000", " 1", "", "NaN", 0.5, True, None, Decimal("NaN"), "9" * 30, "٣"]
)
def test_what_is_not_exact_is_refused_with_its_member(value: object) -> None:
    with pytest.raises(RingbookError) as caught:
        to_raw(value, 2, "price")  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.field) == ("INVALID_ARGUMENT", "price")


def test_ticks_and_lots(market: Market) -> None:
    assert price_down(market, "3150.29") == Decimal("3150.25")
    assert price_up(market, "3150.26") == Decimal("3150.3")
    assert price_up(market, "3150.25") == Decimal("3150.25")
    assert lot_of(market) == Decimal("0.0001")
    assert quantity_down(market, "0.00199") == Decimal("0.0019")
    assert quantity_down(market, "0.00099") == 0
    assert raw_price(market, "3150.25") == 315025
    assert raw_quantity(market, "2.5") == 25000
    with pytest.raises(RingbookError, match="multiple of the tick"):
        raw_price(market, "3150.26")


def test_steps_are_exact_in_a_context_of_one_digit() -> None:
    chance = random.Random(5)
    for _ in range(2_000):
        decimals = chance.randrange(0, 20)
        step = from_raw(chance.randrange(1, 10**4), decimals)
        value = from_raw(chance.randrange(0, 10**25), chance.randrange(0, 22))
        with localcontext() as context:
            context.prec = 1
            low, high = step_down(value, step), step_up(value, step)
        with localcontext() as context:
            context.prec = 200
            assert low <= value <= high
            assert high - low in (Decimal(0), step)
            assert low % step == 0


def test_plain_is_the_shortest_exact_form() -> None:
    for given, expected in [
        ("3150.00", "3150"),
        ("0.10", "0.1"),
        ("1E+3", "1000"),
        ("0E-8", "0"),
        ("1E-9", "0.000000001"),
    ]:
        assert plain(Decimal(given)) == expected
    digits = "1" * 60 + ".5"
    assert plain(Decimal(digits + "0")) == digits
