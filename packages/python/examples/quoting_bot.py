"""Quotes both sides of a market around its oracle price with quote sets, and takes everything back at its end.

    python quoting_bot.py http://127.0.0.1:3032 ETH --key me.key --seconds 60

One set, `bot`, is all that rests: each new price is one signature for all levels, however many there are. A protection group
takes the set off the book when too much of it trades at once, and the node itself cancels it when the connection ends. Without
`--key` it trades as user `a` of a dev node.
"""

from __future__ import annotations

import argparse
import asyncio
from decimal import Decimal

from ringbook import Client, Control, Key, RingbookError, dev_key, price_down, price_up, quantity_down
from ringbook.replies import Market, PricesFrame

SET = "bot"


async def quote(client: Client, control: Control, market: Market, mid: Decimal, options: argparse.Namespace) -> None:
    """Makes the levels around `mid` what rests."""
    size = quantity_down(market, options.size)
    distances = [Decimal(options.spread) * (level + 1) for level in range(options.levels)]
    quotes = await client.quotes(
        market.asset_id,
        SET,
        bids=[(price_down(market, mid * (1 - distance)), size) for distance in distances],
        asks=[(price_up(market, mid * (1 + distance)), size) for distance in distances],
        protection_group=options.group,
    )
    answer = await control.send_quotes(quotes)
    if answer.status == "Rejected":
        print(f"not quoting more: {answer.reason}", flush=True)
    else:
        changes = (
            f"{answer.created} created, {answer.changed} changed, {answer.kept} kept, {answer.cancelled} cancelled"
        )
        print(f"quoting around {mid}: {changes}, {len(answer.refused)} would cross", flush=True)


class State:
    """What the quotes follow."""

    def __init__(self) -> None:
        self.mid: Decimal | None = None
        self.changed = asyncio.Event()


async def follow_fills(client: Client, state: State) -> None:
    """What was filled rests again with the next set."""
    async with client.user_trades() as trades:
        async for trade in trades:
            print(
                f"{trade.status}: {'bought' if trade.is_buyer else 'sold'} {trade.quantity} at {trade.price}",
                flush=True,
            )
            state.changed.set()


async def follow_price(client: Client, asset: str, state: State) -> None:
    async with client.feed() as feed:
        await feed.subscribe("prices", [asset])
        async for frame in feed:
            if isinstance(frame, PricesFrame) and frame.data.oracle_price is not None:
                state.mid = frame.data.oracle_price
                state.changed.set()


async def run(options: argparse.Namespace) -> None:
    key = dev_key("a") if options.key is None else Key.load(options.key)
    state = State()
    async with Client(options.address, key=key) as client:
        market = await client.market(options.asset)
        # After 20 fills within a second: off the book for ten.
        await client.protect(market.asset_id, options.group, window_ms=1_000, frozen_ms=10_000, max_fills=20)
        follow = asyncio.gather(follow_fills(client, state), follow_price(client, options.asset, state))
        async with client.control(cancel_on_disconnect=True) as control:
            while not follow.done():
                await state.changed.wait()
                state.changed.clear()
                if state.mid is None:
                    continue
                try:
                    await quote(client, control, market, state.mid, options)
                except RingbookError as error:
                    # The connection is replaced; what rested over it was cancelled by the node.
                    print(f"not quoting: {error}", flush=True)
                    await control.wait_open()
                    state.changed.set()
        await follow


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("asset")
    parser.add_argument("--key")
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument(
        "--spread", default="0.001", help="distance of a level from the one before, as a part of the price"
    )
    parser.add_argument("--size", default="0.1", help="what rests on each level")
    parser.add_argument("--group", default="bot", help="the protection group")
    parser.add_argument("--seconds", type=float, default=None, help="ends after so long")
    options = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(options), options.seconds))
    except (KeyboardInterrupt, asyncio.TimeoutError):
        print("ended")


if __name__ == "__main__":
    main()
