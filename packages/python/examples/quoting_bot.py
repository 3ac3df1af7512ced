"""Quotes both sides of a market around its oracle price, over `/control`, and takes everything back at its end.

    python quoting_bot.py http://127.0.0.1:3032 ETH --key me.key --seconds 60

Every level is one post-only order. When the price moves, all of them are replaced in one batch; one that was filled is
created anew. The node itself cancels the orders when the connection ends. Without `--key` it trades as user `a` of a dev node.
"""

from __future__ import annotations

import argparse
import asyncio
from decimal import Decimal

from ringbook import Client, Control, Key, RingbookError, SignedAction, dev_key, price_down, price_up, quantity_down
from ringbook.actions import Side
from ringbook.replies import Market, PricesFrame


class Quoter:
    """Keeps the levels of one market."""

    def __init__(self, client: Client, control: Control, market: Market, options: argparse.Namespace) -> None:
        self.client = client
        self.control = control
        self.market = market
        self.options = options
        self.size = quantity_down(market, options.size)
        # The order that rests on each level; level 0 is the best.
        self.orders: dict[tuple[Side, int], str] = {}

    def price_of(self, side: Side, level: int, mid: Decimal) -> Decimal:
        distance = Decimal(self.options.spread) * (level + 1)
        if side == "Buy":
            return price_down(self.market, mid * (1 - distance))
        return price_up(self.market, mid * (1 + distance))

    async def quote(self, mid: Decimal) -> None:
        """Moves what rests and creates what does not."""
        sides: tuple[Side, Side] = ("Buy", "Sell")
        slots = [(side, level) for side in sides for level in range(self.options.levels)]
        moves = [await self.move(slot, mid) for slot in slots if slot in self.orders]
        if moves:
            for answer in await self.control.send_batch(moves):
                if answer.status == "Rejected":
                    # Filled, or cancelled by the node: it is created below.
                    self.orders = {slot: order for slot, order in self.orders.items() if order != answer.order_id}
        missing = [slot for slot in slots if slot not in self.orders]
        creates = {slot: await self.create(slot, mid) for slot in missing}
        if creates:
            answers = await self.control.send_batch(list(creates.values()))
            for slot, answer in zip(creates, answers, strict=True):
                if answer.status == "Received":
                    self.orders[slot] = answer.order_id
                else:
                    print(f"{slot} refused: {answer.reason}")

    async def move(self, slot: tuple[Side, int], mid: Decimal) -> SignedAction:
        order_id = self.orders[slot]
        return await self.client.replacement(self.market.asset_id, order_id, price=self.price_of(*slot, mid))

    async def create(self, slot: tuple[Side, int], mid: Decimal) -> SignedAction:
        return await self.client.limit(
            self.market.asset_id, slot[0], price=self.price_of(*slot, mid), quantity=self.size, post_only=True
        )


async def print_fills(client: Client) -> None:
    async with client.user_trades() as trades:
        async for trade in trades:
            print(f"{trade.status}: {'bought' if trade.is_buyer else 'sold'} {trade.quantity} at {trade.price}")


async def run(options: argparse.Namespace) -> None:
    key = dev_key("a") if options.key is None else Key.load(options.key)
    async with Client(options.address, key=key) as client:
        market = await client.market(options.asset)
        fills = asyncio.create_task(print_fills(client))
        async with client.feed() as feed, client.control(cancel_on_disconnect=True) as control:
            quoter = Quoter(client, control, market, options)
            await feed.subscribe("prices", [options.asset])
            async for frame in feed:
                if isinstance(frame, PricesFrame) and frame.data.oracle_price is not None:
                    try:
                        await quoter.quote(frame.data.oracle_price)
                        print(f"quoting {len(quoter.orders)} levels around {frame.data.oracle_price}", flush=True)
                    except RingbookError as error:
                        # The connection is replaced; what rested over it was cancelled by the node.
                        print(f"not quoting: {error}")
                        quoter.orders.clear()
                        await control.wait_open()
        fills.cancel()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("asset")
    parser.add_argument("--key")
    parser.add_argument("--levels", type=int, default=3)
    parser.add_argument(
        "--spread", default="0.001", help="distance of a level from the one before, as a part of the price"
    )
    parser.add_argument("--size", default="0.1")
    parser.add_argument("--seconds", type=float, default=None, help="ends after so long")
    options = parser.parse_args()
    try:
        asyncio.run(asyncio.wait_for(run(options), options.seconds))
    except (KeyboardInterrupt, asyncio.TimeoutError):
        print("ended")


if __name__ == "__main__":
    main()
