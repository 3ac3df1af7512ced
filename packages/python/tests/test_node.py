"""Against a real node: every call once, all forms of `/control`, streams and books over a kill."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from contextlib import AsyncExitStack
from decimal import Decimal
from pathlib import Path

import pytest

from conftest import Node
from ringbook import Client, Key, PrivateFrame, RingbookError, Terms, Trigger, dev_key, raise_for_rejection
from ringbook.control import Version
from ringbook.feed import Channel, Feed, FeedFrame
from ringbook.private import PrivateChannel
from ringbook.replies import (
    BboFrame,
    Inventory,
    KlinesFrame,
    Margin,
    OrderCanceled,
    OrderCreated,
    OrderPage,
    OrderProtectionTriggered,
    OrderRemoved,
    PricesFrame,
    QuoteSetApplied,
    QuoteSetEnded,
    QuoteSetResponse,
    TradesFrame,
    UserTrade,
)

PACKAGE = Path(__file__).parent.parent
PATIENCE_S = 60.0
VERSIONS: tuple[Version, ...] = ("short", "v1", "binary")


async def test_reads_of_the_service(node: Node) -> None:
    async with Client(node.oms, mds=node.mds) as client:
        assert (await client.symbols())["2"] == "ETH"
        assert (await client.market("ETH")) == (await client.market("2"))
        assert {market.asset_id for market in await client.markets()} == {"1", "2", "3"}
        assert (await client.system_status()).takes_orders
        assert await client.system_time() > 1_770_000_000 * 10**9
        assert (await client.depth("BTC")).sequence_number >= 0
        assert {ticker.asset_id for ticker in await client.tickers()} == {"1", "2", "3"}
        assert (await client.ticker("BTC")).index_price is not None
        assert await client.public_trades("BTC") == ()
        assert (await client.klines("BTC", "1m")).items == ()
        assert (await client.open_interest("BTC")).long is None
        for call in (client.market("NOPE"), client.asset_id("NOPE")):
            with pytest.raises(RingbookError, match="ASSET_NOT_FOUND"):
                await call
        with pytest.raises(RingbookError, match="MARKET_NOT_FOUND"):
            await client.market("99")
        with pytest.raises(RingbookError, match="needs the `key`"):
            await client.inventory()


async def test_an_order_over_rest(node: Node) -> None:
    async with Client(node.oms, key=dev_key("a")) as client:
        order = await client.limit("BTC", "Sell", price="90000", quantity="0.5", post_only=True)
        response = await client.send(order, resend=True, timing=True)
        assert (response.order_id, response.status) == (order.order_id, "Received")
        assert response.timing is not None
        # The same bytes again are the answer of the first, and no second order.
        assert (await client.send(order, resend=True)).status == "Received"
        with pytest.raises(RingbookError) as caught:
            await client.send(order)
        assert (caught.value.code, caught.value.status) == ("DUPLICATE_ORDER", 409)
        assert (await client.send(await client.replacement("BTC", order.order_id, price="90001"))).status == "Received"
        complete = await client.replacement("BTC", order.order_id, price="90002", quantity="0.4", complete=True)
        await client.send(complete)
        revision = complete.request["request"]["timestamp_ns"]
        amend = await client.amendment("BTC", order.order_id, quantity="0.3", expected_revision_ns=revision)
        await client.send(amend)
        record = await client.order("BTC", order.order_id)
        assert (record.limit_price, record.quantity, record.status) == (Decimal(90002), Decimal("0.3"), "Open")
        assert record in await client.open_orders()
        assert record in await client.open_orders("BTC")
        assert record in (await client.orders(limit=10)).orders
        await client.cancel("BTC", order.order_id)
        with pytest.raises(RingbookError) as caught:
            await client.cancel("BTC", order.order_id)
        assert (caught.value.code, caught.value.retryable) == ("ALREADY_CANCELLED", False)


async def test_batches_and_mass_cancels(node: Node) -> None:
    async with Client(node.oms, key=dev_key("a")) as client:
        orders = [await client.limit("BTC", "Buy", price=f"{30_000 + level}", quantity="0.1") for level in range(3)]
        assert [result.status for result in await client.send_batch(orders)] == ["Received"] * 3
        moves = [await client.replacement("BTC", order.order_id, price="29000") for order in orders]
        assert [result.status for result in await client.send_batch(moves)] == ["Received"] * 3
        await client.cancel_batch([orders[0].order_id], "BTC")
        await client.cancel_all("BTC", before_ns=await client.system_time() + 10**9)
        while await client.open_orders("BTC"):
            await asyncio.sleep(0.05)
        assert await client.cancel_all_after(60_000) is not None
        assert await client.cancel_all_after(0) is None
        with pytest.raises(RingbookError, match="names an order twice"):
            await client.send_batch([orders[0], orders[0]])
        with pytest.raises(RingbookError, match="creates alone"):
            await client.send_batch([orders[0], moves[0]])


async def test_reads_of_the_user(node: Node) -> None:
    async with Client(node.oms, key=dev_key("a")) as client:
        assert (await client.inventory()).accounts[0].spot["0"] > 0
        assert (await client.margin()).accounts[1].is_solvent
        assert (await client.limits()).capacity > 0
        assert (await client.positions()).positions == ()
        assert (await client.positions("BTC")).positions == ()
        assert (await client.trades("BTC", limit=1)).page == 0
        with pytest.raises(RingbookError) as without_row_log:
            await client.ledger("ETH", limit=1, kind="trade")
        assert without_row_log.value.code == "NOT_FOUND"
        await client.logout()
        # It logs in again by itself.
        assert (await client.trades()).limit == 100


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_action_over_control(node: Node, version: Version) -> None:
    async with (
        Client(node.oms, key=dev_key("a")) as client,
        client.control(version=version, timing=True) as control,
    ):
        order = await client.limit("BTC", "Sell", price="91000", quantity="0.5")
        response = raise_for_rejection(await control.send(order))
        assert response.timing is not None
        assert response.timing.answered_ns >= response.timing.received_ns
        raise_for_rejection(await control.send(await client.replacement("BTC", order.order_id, price="91001")))
        complete = await client.replacement("BTC", order.order_id, price="91002", quantity="0.4", complete=True)
        raise_for_rejection(await control.send(complete))
        revision = complete.request["request"]["timestamp_ns"]
        amend = await client.amendment("BTC", order.order_id, quantity="0.3", expected_revision_ns=revision)
        raise_for_rejection(await control.send(amend))
        assert (await client.order("BTC", order.order_id)).quantity == Decimal("0.3")
        raise_for_rejection(await control.send(await client.cancellation("BTC", order.order_id)))
        again = await control.send(await client.cancellation("BTC", order.order_id))
        assert (again.status, again.reason) == ("Rejected", "AlreadyCancelled")
        with pytest.raises(RingbookError) as caught:
            raise_for_rejection(again)
        assert caught.value.code == "ALREADY_CANCELLED"

        dormant = await client.limit(
            "BTC", "Sell", price="40000", quantity="0.1", terms=Terms(trigger=Trigger("below", "41000"), spot=False)
        )
        raise_for_rejection(await control.send(dormant))
        rearm = await client.replacement("BTC", dormant.order_id, trigger=Trigger("below", "40500"))
        raise_for_rejection(await control.send(rearm))
        assert (await client.order("BTC", dormant.order_id)).trigger_below_price == Decimal(40500)
        market = await client.market_order("BTC", "Buy", amount="100", max_quantity="0.1", fill_or_kill=True)
        assert (await control.send(market)).status in ("Received", "Rejected")
        lasting = await client.limit(
            "BTC",
            "Buy",
            price="20000",
            quantity="0.1",
            time_in_force="GTD",
            good_until_ns=await client.system_time() + 3_600 * 10**9,
        )
        pair = [lasting, await client.limit("BTC", "Buy", price="20001", quantity="0.1")]
        assert [answer.status for answer in await control.send_batch(pair)] == ["Received"] * 2
        moves = [await client.replacement("BTC", one.order_id, price="19999") for one in pair]
        assert [answer.status for answer in await control.send_batch(moves)] == ["Received"] * 2
        cancels = [await client.cancellation("BTC", one.order_id) for one in [*pair, dormant]]
        answers = await asyncio.gather(*(control.send(cancel) for cancel in cancels))
        assert [answer.status for answer in answers] == ["Received"] * 3
        assert control.in_flight == 0


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_signature_over_another_text_is_rejected_with_its_member(node: Node, version: Version) -> None:
    async with Client(node.oms, key=dev_key("a")) as client, client.control(version=version) as control:
        order = await client.limit("BTC", "Sell", price="92000", quantity="0.5")
        first, *rest = order.request["signature"]
        wrong = {**order.request, "signature": [first ^ 1, *rest]}
        answer = await control.send(type(order)("create", order.asset_id, order.order_id, wrong))
        assert (answer.status, answer.reason) == ("Rejected", "InvalidSignature")
        assert answer.detail is not None
        assert answer.detail.field == "signature"


async def test_a_short_request_that_cannot_be_read_is_raised_with_its_member(node: Node) -> None:
    async with Client(node.oms, key=dev_key("a")) as client, client.control() as control:
        cancel = await client.cancellation("BTC", "o-1")
        broken = {**cancel.request, "cancel": {**cancel.request["cancel"], "asset_id": "no asset"}}
        with pytest.raises(RingbookError) as caught:
            await control.send(type(cancel)("cancel", "BTC", "o-1", broken))
        assert caught.value.code == "INVALID_REQUEST"
        assert caught.value.field == "CancelOrderRequest.cancel.asset_id"


async def test_fills_events_and_books(node: Node) -> None:
    async with (
        Client(node.oms, key=dev_key("a")) as seller,
        Client(node.oms, key=dev_key("b")) as buyer,
        seller.order_events() as events,
        buyer.user_trades() as trades,
        buyer.feed() as feed,
    ):
        for channel in ("bbo", "trades", "ticker", "prices"):
            await feed.subscribe(channel, ["ETH", "1"])
        await feed.subscribe("klines", ["ETH"], interval="1m")
        book = await feed.book("ETH", checksum_every=1)
        sell = await seller.limit("ETH", "Sell", price="2900", quantity="0.5")
        await seller.send(sell)
        while not book.asks():
            await book.changed()
        assert book.asks(1) == [(Decimal(2900), Decimal("0.5"))]
        await buyer.send(await buyer.limit("ETH", "Buy", price="2900", quantity="0.5", time_in_force="IOC"))
        statuses = []
        async for trade in trades:
            statuses.append(trade.status)
            assert (trade.price, trade.quantity, trade.is_maker) == (Decimal(2900), Decimal("0.5"), False)
            if trade.status == "Confirmed":
                break
        assert statuses == ["Pending", "Confirmed"]
        kinds = []
        async for event in events:
            kinds.append(type(event))
            if isinstance(event, OrderRemoved):
                assert (event.order_id, event.reason, event.filled_quantity) == (sell.order_id, "Filled", 5_000)
                break
        assert kinds == [OrderCreated, OrderRemoved]
        while book.asks():
            await book.changed()
        seen = set()
        async for frame in feed:
            seen.add(type(frame))
            if isinstance(frame, TradesFrame) and frame.type == "update":
                assert frame.data.trades[0].price == Decimal(2900)
                break
        assert {BboFrame, PricesFrame, KlinesFrame} <= seen
        await feed.unsubscribe("bbo", ["ETH"])
        with pytest.raises(RingbookError, match="MARKET_NOT_FOUND"):
            await feed.subscribe("bbo", ["77"])
        with pytest.raises(RingbookError, match="interval"):
            await feed.subscribe("klines", ["ETH"], interval="7 minutes")
        assert book.resyncs == 0
        await book.close()
        with pytest.raises(RingbookError):
            book.asks()


async def test_books_and_frames_in_binary_are_those_of_the_text(node: Node) -> None:
    """BMD-01, at the client: two feeds of one node beside each other."""
    async with AsyncExitStack() as stack:
        seller = await stack.enter_async_context(Client(node.oms, key=dev_key("a")))
        buyer = await stack.enter_async_context(Client(node.oms, key=dev_key("b")))
        feeds = [await stack.enter_async_context(buyer.feed(binary=binary)) for binary in (False, True)]
        for feed in feeds:
            for channel in _CHANNELS_OF_BOTH:
                await feed.subscribe(channel, ["BTC"])
        books = [await feed.book("BTC", checksum_every=1) for feed in feeds]
        for level in range(5):
            sells = [await seller.limit("BTC", "Sell", price=f"{91_000 + level + n}", quantity="0.25") for n in (0, 9)]
            await seller.send_batch(sells)
            await buyer.send(await buyer.limit("BTC", "Buy", price="92000", quantity="0.1", time_in_force="IOC"))
        await seller.cancel_all("BTC")
        await asyncio.sleep(0.5)
        await seller.send(await seller.limit("BTC", "Sell", price="91234.5", quantity="0.125", post_only=True))
        text, binary = [await asyncio.wait_for(_until_update_of(feed, "91234.5"), PATIENCE_S) for feed in feeds]
        for channel in ("bbo", "trades"):
            frames = [[frame.data for frame in one if frame.channel == channel] for one in (text, binary)]
            assert frames[0]
            assert frames[0] == frames[1]
        while books[0].sequence_number != books[1].sequence_number:
            await asyncio.sleep(0.05)
        assert (books[0].asks(), books[0].bids()) == (books[1].asks(), books[1].bids())
        assert books[1].asks(1) == [(Decimal("91234.5"), Decimal("0.125"))]
        assert [book.resyncs for book in books] == [0, 0]
        with pytest.raises(RingbookError, match="MARKET_NOT_FOUND"):
            await feeds[1].subscribe("bbo", ["77"])
        await seller.cancel_all("BTC")


_CHANNELS_OF_BOTH: tuple[Channel, ...] = ("bbo", "trades", "ticker", "prices")


async def _until_update_of(feed: Feed, best_ask: str) -> list[FeedFrame]:
    """All frames up to the one with this best ask."""
    frames = []
    async for frame in feed:
        frames.append(frame)
        if isinstance(frame, BboFrame) and frame.data.ask is not None and frame.data.ask.price == Decimal(best_ask):
            break
    return frames


async def test_funds(node: Node) -> None:
    """Transfers, a withdrawal that is taken back, a settlement that is refused, and the same bytes sent again."""
    async with Client(node.oms, key=dev_key("b")) as client:
        account = client.account
        before = await client.inventory()
        move = await account.transfer("USD", "12.5", source=0, target=5, opens="Spot")
        assert await account.send(move) is True
        with pytest.raises(RingbookError) as caught:
            await account.send(move)
        assert (caught.value.code, caught.value.field) == ("INVALID_NONCE", "nonce")
        after = await client.inventory()
        assert after.accounts[5].spot["0"] == Decimal("12.5")
        assert after.accounts[0].spot["0"] == before.accounts[0].spot["0"] - Decimal("12.5")
        named = await account.rename(5, "Python")
        assert (named.account_index, named.new_name) == (5, "Python")
        await account.send(await account.transfer("USD", "12.5", source=5, target=0))

        token, chain = "5a" * 20, "000000000000007a69"
        nonce = (await account.next_nonces(chain)).withdrawal
        withdrawal = await account.withdrawal(token, chain, "25", target="7c" * 20)
        assert await account.send(withdrawal) is True
        # It happens once, and its row is live.
        assert await account.send(withdrawal) is False
        assert (await account.next_nonces(chain)).withdrawal == nonce + 1
        (row,) = [one for one in await account.withdrawals() if one.nonce == nonce]
        assert (int(row.amount, 16), row.status.type) == (25 * 10**18, "queued")
        assert await account.send(await account.withdrawal_cancel(token, chain, nonce)) is True
        (row,) = [one for one in await account.withdrawals() if one.nonce == nonce]
        assert row.status.type == "cancelled"
        assert (await client.inventory()).accounts[0].spot["0"] == before.accounts[0].spot["0"]

        settlement = await account.settlement(
            chain, account=1, token_in="6b" * 20, amount_in=1, token_out=token, amount_out=2, settler="cd" * 32
        )
        with pytest.raises(RingbookError, match="SETTLER_NOT_FOUND"):
            await account.settle(settlement)
        assert await account.settlement_signatures() == ()
        position = await account.close_position("BTC", account=1)
        with pytest.raises(RingbookError) as caught:
            await account.send(position)
        assert caught.value.code != "INVALID_SIGNATURE"


async def test_orders_of_a_connection_are_cancelled_when_it_ends(node: Node) -> None:
    async with Client(node.oms, key=dev_key("b")) as client, client.order_events() as events:
        async with client.control(cancel_on_disconnect=True) as control:
            order = await client.limit("BTC", "Buy", price="25000", quantity="0.1")
            raise_for_rejection(await control.send(order))
        async for event in events:
            if isinstance(event, OrderCanceled):
                assert event.order_id == order.order_id
                break


async def test_a_kill_of_the_node_is_outlived(mortal_node: Node) -> None:
    """`/control`, a stream and a book over kill -9: what was in flight fails, the state is read again, no level is old."""
    async with Client(mortal_node.oms, key=dev_key("a")) as client, Client(mortal_node.oms, key=dev_key("b")) as other:
        reconnected = asyncio.Event()
        gaps: list[bool] = []
        feed = await client.feed().open()
        control = await client.control(on_reconnected=reconnected.set).open()
        events = await client.order_events(on_gap=lambda: gaps.append(True)).open()
        book = await feed.book("ETH", checksum_every=1)
        order = await client.limit("ETH", "Sell", price="3100", quantity="0.5")
        raise_for_rejection(await control.send(order))
        while not book.asks():
            await book.changed()
        assert isinstance(await anext(events), OrderCreated)
        mortal_node.kill()
        action = await client.cancellation("ETH", order.order_id)
        with pytest.raises(RingbookError) as caught:
            await control.send(action)
        assert caught.value.code == "CONNECTION_CLOSED"
        while book.is_current:
            await asyncio.sleep(0.01)
        with pytest.raises(RingbookError, match="RESYNC_REQUIRED"):
            book.asks()
        with pytest.raises(RingbookError, match="UNREACHABLE"):
            await client.inventory()
        mortal_node.start()
        await asyncio.wait_for(reconnected.wait(), PATIENCE_S)
        await control.wait_open(PATIENCE_S)
        while not book.is_current or not book.asks():
            await asyncio.wait_for(book.changed(), PATIENCE_S)
        # What was answered `Received` was durable, or is gone; the order rests, and the stream begins with a gap.
        assert book.asks() == [(Decimal(3100), Decimal("0.5"))]
        raise_for_rejection(await control.send(await client.cancellation("ETH", order.order_id)))
        # The stream connects again at a time of its own: what happens before is in the gap.
        following = asyncio.ensure_future(anext(events))
        for _ in range(100):
            later = await client.limit("ETH", "Sell", price="3200", quantity="0.5")
            raise_for_rejection(await control.send(later))
            done, _ = await asyncio.wait([following], timeout=0.5)
            if done:
                break
        assert isinstance(following.result(), OrderCanceled | OrderCreated)
        assert events.gaps >= 1
        assert len(gaps) == events.gaps
        await other.login()


def test_the_quoting_bot_quotes_and_takes_back(node: Node) -> None:
    """As a process of its own: a stranger trades with it, and nothing of it rests at its end."""
    source = (PACKAGE / "examples" / "quoting_bot.py").read_text("utf-8")
    assert len(source.splitlines()) <= 120
    command = [sys.executable, str(PACKAGE / "examples" / "quoting_bot.py"), node.oms, "ETH", "--seconds", "8"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as bot:
        assert bot.stdout is not None
        first = bot.stdout.readline()
        assert re.search("quoting around 3000: 6 created", first), first + bot.stdout.read()

        async def trade() -> None:
            async with Client(node.oms, key=dev_key("b")) as client:
                depth = await client.depth("ETH")
                assert (len(depth.asks), len(depth.bids)) == (3, 3)
                await client.send(await client.market_order("ETH", "Buy", quantity="0.15"))
                # What was filled rests again.
                for _ in range(100):
                    depth = await client.depth("ETH")
                    if [quantity for _, quantity in depth.asks] == [Decimal("0.1")] * 3:
                        return
                    await asyncio.sleep(0.05)
                pytest.fail(f"what was filled does not rest again: {depth}")

        asyncio.run(trade())
        rest = bot.stdout.read()
    assert bot.returncode == 0, rest
    assert "Confirmed: sold 0.1 at" in rest
    assert "Confirmed: sold 0.05 at" in rest
    assert "Traceback" not in rest

    async def none_rests() -> None:
        async with Client(node.oms, key=dev_key("a")) as client:
            for _ in range(100):
                if not await client.open_orders("ETH"):
                    return
                await asyncio.sleep(0.05)
            pytest.fail("orders of the bot rest")

    asyncio.run(none_rests())


def blocks(language: str) -> list[str]:
    readme = (PACKAGE / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_the_programs_of_the_readme(node: Node, number: int, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(blocks("python")[number].replace("http://127.0.0.1:3032", node.oms), "utf-8")
    ran = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""


def test_the_readme_ends_in_a_fill(node: Node, tmp_path: Path) -> None:
    """The first program prints a confirmed fill."""
    program = tmp_path / "program.py"
    program.write_text(blocks("python")[0].replace("http://127.0.0.1:3032", node.oms), "utf-8")
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert re.search(r"^Confirmed 0\.5 2900 ", ran.stdout, re.MULTILINE)


async def test_a_stranger_is_refused(node: Node) -> None:
    async with Client(node.oms, key=Key.generate()) as client:
        assert (await client.inventory()).accounts[0].spot == {"0": Decimal(0)}
        order = await client.limit("ETH", "Buy", price="2000", quantity="0.5")
        with pytest.raises(RingbookError) as caught:
            await client.send(order)
        assert caught.value.code in ("INSUFFICIENT_MARGIN", "INSUFFICIENT_INVENTORY")


async def test_a_session_that_reads_changes_nothing(node: Node) -> None:
    """RDO-01, RDO-02."""
    async with Client(node.oms, key=dev_key("a"), scope="read") as reader, Client(node.oms, key=dev_key("a")) as client:
        assert (await reader.inventory()).accounts[0].spot["0"] > 0
        order = await reader.limit("ETH", "Buy", price="2000", quantity="0.5")
        with pytest.raises(RingbookError) as caught:
            await reader.send(order)
        assert (caught.value.code, caught.value.status) == ("READ_ONLY_SESSION", 403)
        with pytest.raises(RingbookError, match="READ_ONLY_SESSION"):
            await reader.control().open()
        async with reader.order_events() as events:
            assert (await client.send(order)).status == "Received"
            assert isinstance(await anext(events), OrderCreated)
        await client.cancel("ETH", order.order_id)
        sessions = await client.sessions()
        reading = [session for session in sessions if session.scope == "read"]
        assert len(reading) == 1
        await client.end_session(reading[0].id)
        assert [session for session in await client.sessions() if session.scope == "read"] == []
        # It logs in again by itself.
        assert (await reader.orders(limit=1)).limit == 1


@pytest.mark.parametrize("version", VERSIONS)
async def test_unsigned_requests_over_control(node: Node, version: Version) -> None:
    """UNS-01."""
    async with (
        Client(node.oms, key=dev_key("b")) as client,
        client.control(version=version) as control,
        client.order_events() as events,
    ):
        levels = [("Buy", "2000"), ("Buy", "2001"), ("Sell", "4000"), ("Sell", "4001")]
        orders = [await client.limit("ETH", side, price=price, quantity="0.1") for side, price in levels]  # type: ignore[arg-type]
        for answer in await control.send_batch(orders):
            raise_for_rejection(answer)
        await control.cancel_all("ETH", side="Buy")
        await control.cancel_batch([orders[2].order_id], "ETH")
        await control.cancel_batch([orders[3].order_id, "unknown"])
        ended = set()
        async for event in events:
            if isinstance(event, OrderCanceled):
                ended.add(event.order_id)
                if len(ended) == len(orders):
                    break
        assert ended == {order.order_id for order in orders}
        fires_at = await control.cancel_all_after(60_000)
        assert fires_at is not None
        assert fires_at > await client.system_time()
        assert await control.cancel_all_after(0) is None
        with pytest.raises(RingbookError) as caught:
            await control.cancel_all_after(5)
        assert caught.value.code == "INVALID_REQUEST"
        assert caught.value.field is not None
        assert caught.value.field.endswith("timeout_ms")
        await control.cancel_all()


async def test_protection_takes_a_group_off_the_book(node: Node) -> None:
    """MMP-01 to MMP-04."""
    async with Client(node.oms, key=dev_key("a")) as maker, Client(node.oms, key=dev_key("b")) as taker:
        group = await maker.protect(
            "ISO", "g1", window_ms=60_000, max_fills=1, max_quantity="1000", min_fill_notional=0
        )
        assert (group.group, group.max_fills, group.is_frozen) == ("g1", 1, False)
        # Account 0 alone may hold it.
        terms = Terms(protection_group="g1", account=0)
        async with maker.order_events() as events, maker.control(version="binary") as control:
            market = await maker.market("ISO")
            price = market.tick_size * 5_000
            asks = [
                await maker.limit("ISO", "Sell", price=price + market.tick_size * level, quantity=5, terms=terms)
                for level in range(3)
            ]
            for answer in await control.send_batch(asks):
                raise_for_rejection(answer)
            assert [one.live_orders for one in await maker.protections("ISO")] == [3]
            await taker.send(await taker.limit("ISO", "Buy", price=price, quantity=5, terms=Terms(account=0)))
            reasons: dict[str, str | None] = {}
            triggered = None
            while len(reasons) < 2 or triggered is None:
                event = await anext(events)
                if isinstance(event, OrderProtectionTriggered):
                    triggered = event
                if isinstance(event, OrderCanceled):
                    reasons[event.order_id] = event.reason
            assert (triggered.group, triggered.limit, triggered.frozen_until_ns) == ("g1", "max_fills", None)
            assert reasons == {ask.order_id: "MarketMakerProtection" for ask in asks[1:]}
            again = await maker.limit("ISO", "Sell", price=price, quantity=5, terms=terms)
            with pytest.raises(RingbookError) as caught:
                await maker.send(again)
            assert (caught.value.code, caught.value.status) == ("MMP_FROZEN", 409)
            assert not (await maker.reset_protection("ISO", "g1")).is_frozen
            await maker.unprotect("ISO", "g1")
            assert await maker.protections("ISO") == ()
            with pytest.raises(RingbookError) as caught:
                await maker.protect("ISO", "g1", window_ms=1, max_fills=1)
            assert (caught.value.code, caught.value.field) == ("INVALID_REQUEST", "window_ms")


async def test_the_private_socket(node: Node) -> None:
    """PRV-01: every channel begins with its state, and goes on with what happens."""
    channels: list[PrivateChannel] = ["orders", "trades", "positions", "account_stats", "account_events", "at_risk"]
    faults: list[RingbookError] = []
    async with (
        Client(node.oms, key=dev_key("a")) as client,
        Client(node.oms, key=dev_key("b")) as other,
        client.private(channels, on_error=faults.append) as private,
    ):
        snapshots: dict[str, PrivateFrame] = {}
        async for frame in private:
            if frame.type == "snapshot":
                snapshots[frame.channel] = frame
                if len(snapshots) == len(channels):
                    break
        assert isinstance(snapshots["orders"].data, OrderPage)
        assert isinstance(snapshots["account_stats"].data, Margin)
        assert isinstance(snapshots["account_events"].data, Inventory)
        await client.send(await client.limit("ETH", "Sell", price="2950", quantity="0.1"))
        await other.send(await other.limit("ETH", "Buy", price="2950", quantity="0.1"))
        seen = set()
        async for frame in private:
            if isinstance(frame.data, OrderCreated):
                seen.add("created")
            if isinstance(frame.data, UserTrade) and frame.data.status == "Confirmed":
                seen.add("confirmed")
            if isinstance(frame.data, OrderRemoved):
                seen.add("removed")
            if seen == {"created", "confirmed", "removed"}:
                break
        assert faults == []


def guide() -> list[str]:
    """The programs of the page for makers; of an installed package there is no page."""
    page = PACKAGE.parent.parent / "docs" / "makers.md"
    return (
        re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        if page.exists()
        else []
    )


@pytest.mark.parametrize("number", range(len(guide())))
def test_the_programs_for_makers(node: Node, number: int, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(guide()[number].replace("http://127.0.0.1:3032", node.oms), "utf-8")
    ran = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""


@pytest.mark.parametrize("version", [None, *VERSIONS])
async def test_quote_sets(node: Node, version: Version | None) -> None:
    """QTE-01 to QTE-06, over REST and every form of `/control`."""
    async with (
        Client(node.oms, key=dev_key("a")) as maker,
        Client(node.oms, key=dev_key("b")) as taker,
        maker.order_events(quote_sets=True) as events,
        AsyncExitStack() as stack,
    ):
        control = None if version is None else await stack.enter_async_context(maker.control(version=version))

        async def quote(bids: list[tuple[str, str]], asks: list[tuple[str, str]]) -> QuoteSetResponse:
            quotes = await maker.quotes("ETH", "mm-1", bids=bids, asks=asks)
            return await (maker.send_quotes(quotes) if control is None else control.send_quotes(quotes))

        answer = raise_for_rejection(await quote([("2800", "1"), ("2799", "1")], [("2801", "1"), ("2802", "1")]))
        assert (answer.created, answer.changed, answer.kept, answer.cancelled, answer.refused) == (4, 0, 0, 0, ())
        answer = raise_for_rejection(await quote([("2800", "2"), ("2798", "1")], [("2801", "1"), ("2802", "1")]))
        assert (answer.created, answer.changed, answer.kept, answer.cancelled) == (1, 1, 2, 1)
        entries = {order.limit_price: order.order_id for order in await maker.open_orders("ETH")}
        assert set(entries) == {Decimal(2800), Decimal(2798), Decimal(2801), Decimal(2802)}
        assert all(order_id.startswith("mm-1:") for order_id in entries.values())
        await taker.send(await taker.limit("ETH", "Buy", price="2801", quantity="0.4", time_in_force="IOC"))
        # The quantity is what shall rest: one again.
        answer = raise_for_rejection(await quote([("2800", "2")], [("2801", "1")]))
        assert (answer.changed, answer.cancelled) == (1, 2)
        other = await taker.limit("ETH", "Sell", price="2800.5", quantity="1", post_only=True)
        assert (await taker.send(other)).status == "Received"
        answer = raise_for_rejection(await quote([("2800", "2"), ("2800.5", "1")], [("2801", "1")]))
        assert [(one.side, one.price, one.reason) for one in answer.refused] == [("Buy", 280_050, "PostOnlyWouldCross")]
        await taker.cancel("ETH", other.order_id)
        # What it adds is refused as a whole; what it takes away is applied.
        refused = await quote([("2800", "2"), ("2700", "1000000")], [])
        assert (refused.status, refused.reason) == ("Rejected", "InsufficientInventory")
        assert [order.limit_price for order in await maker.open_orders("ETH")] == [Decimal(2800)]
        with pytest.raises(RingbookError, match="QUOTE_ENTRY"):
            await maker.send(await maker.replacement("ETH", entries[Decimal(2800)], price="2790"))
        raise_for_rejection(await quote([], []))
        assert await maker.open_orders("ETH") == []
        applied = []
        async for event in events:
            if isinstance(event, QuoteSetApplied):
                applied.append((event.created, event.changed, event.cancelled))
            if isinstance(event, QuoteSetEnded):
                break
        assert applied[0] == (4, 0, 0)
        assert applied[1] == (1, 1, 1)
