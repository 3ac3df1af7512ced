"""What a real node does not do on demand: gaps, wrong checksums, silence, damage, slow readers. A scripted server does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from ringbook import Control, EventStream, Feed, Key, PrivateFeed, RingbookError, Signer, crc32c
from ringbook.queues import EventQueue
from ringbook.sockets import open_socket

Script = Callable[[ServerConnection], Awaitable[None]]
KEY = Key(bytes([0x42] * 32))
CANCEL = Signer(KEY.user_id, KEY).cancel("12", "o-1")


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[tuple[Callable[[str, Any], Awaitable[Any]], list[str]]]:
    """A server; gives what connects to it, and the paths of its connections."""
    paths: list[str] = []

    async def handle(socket: ServerConnection) -> None:
        assert socket.request is not None
        paths.append(socket.request.path)
        await script(socket)

    def select(_: ServerConnection, offered: Sequence[Any]) -> Any:  # noqa: ANN401
        return offered[0] if offered else None

    async with serve(handle, "127.0.0.1", 0, select_subprotocol=select) as server:
        port = next(iter(server.sockets)).getsockname()[1]

        async def connect(path: str, protocols: Any) -> Any:  # noqa: ANN401
            return await open_socket(f"http://127.0.0.1:{port}", path, {}, protocols)

        yield connect, paths


async def by_id(asset: str) -> str:
    return asset


def event(data: object, sequence: int | None = None) -> str:
    frame: dict[str, Any] = {"type": "event", "channel": "orders", "request_id": None, "timestamp_ns": 5, "data": data}
    return json.dumps(frame if sequence is None else {**frame, "error": None, "sequence": sequence})


def first(sequence: int) -> str:
    return json.dumps({"type": "sequence", "timestamp_ns": 5, "data": None, "error": None, "sequence": sequence})


def stream(connect: Any, **options: Any) -> EventStream[int]:  # noqa: ANN401
    return EventStream(connect, "/orders", lambda data, _: [data], numbered=True, **options)


# ---- streams


async def test_a_stream_asks_for_what_it_missed() -> None:
    async def script(socket: ServerConnection) -> None:
        assert socket.request is not None
        if "from_sequence=8" in socket.request.path:
            for number in (8, 9):
                await socket.send(event(number, number))
            await socket.wait_closed()
        await socket.send(first(6))
        await socket.send(event(7, 7))
        await socket.close(1011)

    async with scripted(script) as (connect, paths), stream(connect) as events:
        assert [await anext(events) for _ in range(3)] == [7, 8, 9]
        assert events.gaps == 0
    assert paths == ["/orders?sequence=true", "/orders?from_sequence=8"]


async def test_events_that_are_no_longer_kept_are_a_gap_in_their_place() -> None:
    gaps: list[str] = []
    opened = 0

    async def script(socket: ServerConnection) -> None:
        nonlocal opened
        opened += 1
        if opened == 2:
            error = {"code": "RESYNC_REQUIRED", "message": "gone", "retryable": True}
            await socket.send(json.dumps({"type": "error", "timestamp_ns": 1, "data": None, "error": error}))
            await socket.close(1013)
            return
        await socket.send(first(100 * opened))
        await socket.send(event(opened, 100 * opened + 1))
        if opened == 1:
            await socket.close(1011)
        await socket.wait_closed()

    async with scripted(script) as (connect, paths), stream(connect, on_gap=lambda: gaps.append("gap")) as events:
        assert await anext(events) == 1
        assert gaps == []
        assert await anext(events) == 3
        assert gaps == ["gap"]
    assert paths[1:] == ["/orders?from_sequence=102", "/orders?sequence=true"]


async def test_a_number_that_was_left_out_ends_a_stream() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.send(first(1))
        await socket.send(event(2, 2))
        await socket.send(event(4, 4))
        await socket.wait_closed()

    async with scripted(script) as (connect, _), stream(connect) as events:
        assert await anext(events) == 2
        with pytest.raises(RingbookError, match="a number was left out"):
            await anext(events)


@pytest.mark.parametrize("frame", ["no json", "[]", '{"type":"event","timestamp_ns":1,"data":1}', b"\x00\xff"])
async def test_a_frame_that_cannot_be_read_ends_a_stream(frame: str | bytes) -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.send(frame)
        await socket.wait_closed()

    async with scripted(script) as (connect, _), stream(connect) as events:
        with pytest.raises(RingbookError) as caught:
            await anext(events)
        assert caught.value.code == "INVALID_RESPONSE"


async def test_a_reader_that_is_too_slow_loses_its_stream_and_reads_what_to_do() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.send(first(0))
        for number in range(1, 200):
            await socket.send(event(number, number))
        await socket.wait_closed()

    async with scripted(script) as (connect, _), stream(connect, queue_max=50) as events:
        await asyncio.sleep(0.5)
        assert [await anext(events) for _ in range(50)] == list(range(1, 51))
        with pytest.raises(RingbookError) as caught:
            await anext(events)
        assert caught.value.code == "CONSUMER_TOO_SLOW"
        assert "open the stream again and read the state" in caught.value.message


async def test_a_stream_that_does_not_reconnect_ends_as_its_connection_did() -> None:
    async def ordinary(socket: ServerConnection) -> None:
        await socket.send(first(0))
        await socket.close(1000)

    async def lagging(socket: ServerConnection) -> None:
        await socket.send(first(0))
        await socket.close(1013, "resync_required")

    async with scripted(ordinary) as (connect, _), stream(connect, reconnect=False) as events:
        assert [one async for one in events] == []
    async with scripted(lagging) as (connect, _), stream(connect, reconnect=False) as events:
        with pytest.raises(RingbookError, match="RESYNC_REQUIRED"):
            await anext(events)


async def test_a_session_that_is_over_is_a_lost_connection() -> None:
    opened = 0

    async def script(socket: ServerConnection) -> None:
        nonlocal opened
        opened += 1
        await socket.send(first(0))
        if opened == 1:
            error = {"code": "UNAUTHORIZED", "message": "the session is over", "retryable": False}
            await socket.send(json.dumps({"type": "error", "timestamp_ns": 1, "data": None, "error": error}))
            await socket.close(1000)
        await socket.send(event(1, 1))
        await socket.wait_closed()

    async with scripted(script) as (connect, paths), stream(connect) as events:
        assert await anext(events) == 1
    assert paths == ["/orders?sequence=true", "/orders?from_sequence=1"]


async def test_a_queue_is_bounded_by_bytes_too() -> None:
    queue: EventQueue[int] = EventQueue()
    queue.put(1, 60 * 1024 * 1024)
    with pytest.raises(RingbookError, match="CONSUMER_TOO_SLOW"):
        queue.put(2, 5 * 1024 * 1024)
    queue.end(None)
    assert await queue.get() == 1
    with pytest.raises(StopAsyncIteration):
        await queue.get()


# ---- control


def answer(frame: dict[str, Any], **response: object) -> str:
    content = {"order_id": "o-1", "status": "Received", "reason": None, "processed_at_ns": 1, **response}
    data = {"CancelOrderResponse": {"response": content, "asset_id": "12"}}
    return json.dumps({"type": "response", "request_id": frame["request_id"], "timestamp_ns": 1, "data": data})


async def test_answers_find_their_requests_in_any_order() -> None:
    async def script(socket: ServerConnection) -> None:
        frames = [json.loads(await socket.recv()) for _ in range(20)]
        for frame in reversed(frames):
            await socket.send(answer(frame, processed_at_ns=int(frame["request_id"][2:])))
        await socket.wait_closed()

    async with scripted(script) as (connect, _), Control(connect, by_id) as control:
        answers = await asyncio.gather(*(control.send(CANCEL) for _ in range(20)))
        assert [one.processed_at_ns for one in answers] == list(range(1, 21))
        assert control.in_flight == 0


async def test_silence_is_an_unknown_outcome_that_says_what_to_do() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with scripted(script) as (connect, _), Control(connect, by_id) as control:
        with pytest.raises(RingbookError) as caught:
            await control.send(CANCEL, timeout=0.1)
        assert (caught.value.code, caught.value.outcome_unknown) == ("CLIENT_TIMEOUT", True)
        assert "the outcome is unknown: read the order" in caught.value.message
        assert control.in_flight == 0


async def test_a_lost_connection_fails_what_is_in_flight_and_is_replaced() -> None:
    count = 0

    async def script(socket: ServerConnection) -> None:
        nonlocal count
        count += 1
        frame = json.loads(await socket.recv())
        if count == 1:
            socket.transport.abort()
            return
        await socket.send(answer(frame))
        await socket.wait_closed()

    again = asyncio.Event()
    async with scripted(script) as (connect, _), Control(connect, by_id, on_reconnected=again.set) as control:
        with pytest.raises(RingbookError) as caught:
            await control.send(CANCEL)
        assert (caught.value.code, caught.value.outcome_unknown) == ("CONNECTION_CLOSED", True)
        with pytest.raises(RingbookError, match="nothing was sent"):
            await control.send(CANCEL)
        await control.wait_open(10)
        await asyncio.wait_for(again.wait(), 10)
        assert (await control.send(CANCEL)).status == "Received"
    with pytest.raises(RingbookError, match="nothing was sent"):
        await control.send(CANCEL)
    with pytest.raises(RingbookError, match="CONNECTION_CLOSED"):
        await control.wait_open()


async def test_a_connection_that_is_not_replaced_has_ended() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.close(1011)

    async with scripted(script) as (connect, _), Control(connect, by_id, reconnect=False) as control:
        while control.is_open:
            await asyncio.sleep(0.01)
        with pytest.raises(RingbookError, match="the connection has ended"):
            await control.wait_open()


async def test_requests_that_are_not_signed_find_their_answers() -> None:
    requests: list[dict[str, Any]] = []

    async def script(socket: ServerConnection) -> None:
        async for text in socket:
            frame = json.loads(text)
            requests.append(frame["data"])
            ((tag, _),) = frame["data"].items()
            content = {"timeout_ms": 5_000, "fires_at_ns": 7} if "After" in tag else {"status": "accepted"}
            data = {tag.replace("Request", "Response"): content}
            await socket.send(json.dumps({"type": "response", "request_id": frame["request_id"], "data": data}))

    async with scripted(script) as (connect, _), Control(connect, by_id) as control:
        await control.cancel_all("1", side="Sell", quote_set_id="mm-1")
        await control.cancel_batch(["a", "b"])
        assert await control.cancel_all_after(5_000) == 7
    assert requests == [
        {"CancelAllRequest": {"asset_id": "1", "side": "Sell", "quote_set_id": "mm-1"}},
        {"CancelBatchRequest": {"order_ids": ["a", "b"]}},
        {"CancelAllAfterRequest": {"timeout_ms": 5_000}},
    ]


async def test_what_is_in_flight_is_bounded() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with scripted(script) as (connect, _), Control(connect, by_id, in_flight_max=2) as control:
        waiting = [asyncio.ensure_future(control.send(CANCEL, timeout=1)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RingbookError) as caught:
            await control.send(CANCEL)
        assert caught.value.code == "TOO_MANY_IN_FLIGHT"
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_junk_between_answers_is_reported_and_harms_none() -> None:
    junk = [
        "x",
        "[]",
        "{}",
        '{"data":{"Newer":1},"request_id":"r-1"}',
        '{"request_id":"r-1","data":{"CancelOrderResponse":1}}',
    ]

    async def script(socket: ServerConnection) -> None:
        frame = json.loads(await socket.recv())
        for one in junk:
            await socket.send(one)
        error = {"code": "INVALID_REQUEST", "message": "of nothing", "retryable": False}
        await socket.send(json.dumps({"type": "error", "request_id": None, "error": error}))
        await socket.send(answer(frame))
        await socket.wait_closed()

    errors: list[RingbookError] = []
    async with scripted(script) as (connect, _), Control(connect, by_id, on_error=errors.append) as control:
        assert (await control.send(CANCEL)).status == "Received"
    assert [error.code for error in errors] == ["INVALID_RESPONSE"] * 3 + ["INVALID_REQUEST"]


async def test_a_cancelled_caller_leaves_nothing_behind() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.wait_closed()

    async with scripted(script) as (connect, _), Control(connect, by_id) as control:
        task = asyncio.ensure_future(control.send(CANCEL))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert control.in_flight == 0


# ---- feed


def subscribed(frame: dict[str, Any], errors: list[object] | None = None) -> str:
    return json.dumps({"type": "subscriptions", "channels": [], "errors": errors or [], "id": frame["id"]})


def depth(kind: str, sequence: int, number: int, price: str, quantity: str, checksum: int | None) -> str:
    data = {"asks": [[price, quantity]], "bids": [], "sequence_number": number, "checksum": checksum}
    frame = {"type": kind, "channel": "depth", "asset_id": "1", "sequence": sequence, "timestamp_ns": 1, "data": data}
    return json.dumps(frame)


@pytest.mark.parametrize("fault", ["checksum", "sequence", "number"])
async def test_a_book_with_a_fault_begins_anew_and_never_shows_it(fault: str) -> None:
    requests = 0

    async def script(socket: ServerConnection) -> None:
        nonlocal requests
        async for text in socket:
            requests += 1
            await socket.send(subscribed(json.loads(text)))
            good = crc32c(b"|2:1")
            await socket.send(depth("snapshot", 1, 10 * requests, "2", "1", good))
            if requests == 1:
                sequence = 3 if fault == "sequence" else 2
                number = 12 if fault == "number" else 11
                checksum = 1 if fault == "checksum" else crc32c(b"|2:1,3:1")
                await socket.send(depth("update", sequence, number, "3", "1", checksum))
                # Of the subscription before: it is passed over.
                await socket.send(depth("update", 3, 12, "4", "1", None))

    async with scripted(script) as (connect, _), Feed(connect, by_id) as feed:
        book = await feed.book("1")
        while requests < 2 or not book.is_current:
            await asyncio.wait_for(book.changed(), 10)
        assert book.sequence_number == 20
        assert book.asks() == [(Decimal(2), Decimal(1))]
        assert book.resyncs == (0 if fault == "sequence" else 1)


async def test_a_feed_renews_its_subscriptions_on_a_new_connection() -> None:
    connections = 0

    async def script(socket: ServerConnection) -> None:
        nonlocal connections
        connections += 1
        async for text in socket:
            frame = json.loads(text)
            await socket.send(subscribed(frame))
            for item in frame["channels"]:
                if item["name"] == "depth":
                    await socket.send(depth("snapshot", 1, connections, "2", str(connections), None))
            if connections == 1:
                await asyncio.sleep(0.1)
                socket.transport.abort()

    again: list[bool] = []
    async with (
        scripted(script) as (connect, _),
        Feed(connect, by_id, on_reconnected=lambda: again.append(True)) as feed,
    ):
        book = await feed.book("1")
        while book.sequence_number == 1:
            await asyncio.wait_for(book.changed(), 10)
        assert book.asks() == [(Decimal(2), Decimal(2))]
        assert again == [True]


async def test_many_subscriptions_go_in_few_frames_within_the_bounds_of_the_service() -> None:
    frames: list[dict[str, Any]] = []

    async def script(socket: ServerConnection) -> None:
        async for text in socket:
            frames.append(json.loads(text))
            await socket.send(subscribed(frames[-1]))

    async with scripted(script) as (connect, _), Feed(connect, by_id) as feed:
        await feed.subscribe("bbo", [str(index) for index in range(450)])
    assert [sum(len(item["asset_ids"]) for item in frame["channels"]) for frame in frames] == [200, 200, 50]
    assert all(len(item["asset_ids"]) <= 100 for frame in frames for item in frame["channels"])


async def test_a_refused_subscription_raises_its_code_and_the_others_stay() -> None:
    async def script(socket: ServerConnection) -> None:
        async for text in socket:
            error = {"name": "bbo", "asset_id": "9", "code": "MARKET_NOT_FOUND", "message": "no market 9"}
            await socket.send(subscribed(json.loads(text), [error]))

    async with scripted(script) as (connect, _), Feed(connect, by_id) as feed:
        with pytest.raises(RingbookError) as caught:
            await feed.subscribe("bbo", ["1", "9"])
        assert (caught.value.code, caught.value.details["asset_id"]) == ("MARKET_NOT_FOUND", "9")
        assert list(feed._entries) == [("bbo", "1", 0)]


# ---- the private socket


def private_frame(kind: str, sequence: int, data: object, channel: str = "account_events") -> str:
    return json.dumps({"type": kind, "channel": channel, "sequence": sequence, "timestamp_ns": 1, "data": data})


INVENTORY = {"is_mm": False, "accounts": {}}
CLEARED = {"PositionCleared": {"user": "u", "asset": "1", "sub_account_index": 1, "timestamp_ns": 5}}


async def test_a_private_socket_goes_on_behind_its_last_number() -> None:
    requests: list[dict[str, Any]] = []

    async def script(socket: ServerConnection) -> None:
        requests.append(json.loads(await socket.recv()))
        if len(requests) == 1:
            await socket.send(private_frame("snapshot", 4, INVENTORY))
            await socket.send(private_frame("update", 5, CLEARED))
            await socket.send(private_frame("update", 6, {"Newer": {}}))
            await socket.close(1011)
        await socket.send(private_frame("update", 7, CLEARED))
        await socket.wait_closed()

    async with scripted(script) as (connect, paths), PrivateFeed(connect, ["account_events"]) as private:
        frames = [await anext(private) for _ in range(3)]
    assert [(frame.type, frame.sequence) for frame in frames] == [("snapshot", 4), ("update", 5), ("update", 7)]
    assert [request["channels"] for request in requests] == [
        [{"name": "account_events"}],
        [{"name": "account_events", "resume": {"sequence": 6}}],
    ]
    assert paths == ["/user/ws", "/user/ws"]


async def test_a_number_that_was_left_out_begins_a_channel_anew() -> None:
    requests: list[dict[str, Any]] = []

    async def script(socket: ServerConnection) -> None:
        async for text in socket:
            requests.append(json.loads(text))
            if len(requests) == 1:
                await socket.send(private_frame("snapshot", 4, INVENTORY))
                await socket.send(private_frame("update", 6, CLEARED))
                await socket.send(private_frame("update", 7, CLEARED))
            else:
                await socket.send(private_frame("snapshot", 9, None))

    async with scripted(script) as (connect, _), PrivateFeed(connect, ["account_events"]) as private:
        frames = [await anext(private) for _ in range(2)]
    assert [(frame.type, frame.sequence) for frame in frames] == [("snapshot", 4), ("snapshot", 9)]
    # Too large for a frame.
    assert frames[1].data is None
    assert requests[1]["channels"] == [{"name": "account_events"}]


async def test_a_refused_channel_is_reported_with_its_code() -> None:
    async def script(socket: ServerConnection) -> None:
        await socket.recv()
        errors = [{"name": "at_risk", "code": "RATE_LIMITED", "message": "no units"}]
        await socket.send(json.dumps({"type": "subscriptions", "channels": [], "errors": errors, "id": None}))
        await socket.send(private_frame("snapshot", 1, INVENTORY))
        await socket.wait_closed()

    faults: list[RingbookError] = []
    async with (
        scripted(script) as (connect, _),
        PrivateFeed(connect, ["at_risk", "account_events"], on_error=faults.append) as private,
    ):
        assert (await anext(private)).channel == "account_events"
    assert [(fault.code, fault.details["channel"]) for fault in faults] == [("RATE_LIMITED", "at_risk")]
    with pytest.raises(RingbookError, match="channels are of"):
        PrivateFeed(connect, ["order"])  # type: ignore[list-item]


# ---- handshakes


async def test_a_service_that_is_not_there_is_unreachable() -> None:
    with pytest.raises(RingbookError) as caught:
        await open_socket("http://127.0.0.1:1", "/ws", {})
    assert (caught.value.code, caught.value.retryable, caught.value.outcome_unknown) == ("UNREACHABLE", True, False)


async def test_a_refused_handshake_raises_the_error_of_the_service() -> None:
    body = json.dumps({"error": {"code": "RATE_LIMITED", "message": "too many streams", "retryable": True}})

    def refuse(connection: ServerConnection, _: object) -> Any:  # noqa: ANN401
        return connection.respond(429, body)

    async def never(_: ServerConnection) -> None:
        pytest.fail("it was refused")

    async with serve(never, "127.0.0.1", 0, process_request=refuse) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(RingbookError) as caught:
            await open_socket(f"http://127.0.0.1:{port}", "/ws", {})
    assert (caught.value.code, caught.value.status, caught.value.retryable) == ("RATE_LIMITED", 429, True)
