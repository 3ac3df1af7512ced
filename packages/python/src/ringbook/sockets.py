"""WebSockets of the service: a handshake that is refused raises the service's error; ends are read as codes.

`Reconnection` paces attempts: 0.1 s, doubled up to 5 s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from .addresses import WATCH_PING_S, WATCH_SILENCE_S
from .errors import RingbookError, error_of
from .reading import parse

if TYPE_CHECKING:
    from websockets.typing import Subprotocol

ENVELOPE_PROTOCOL = "svc.ws.v1"
BINARY_PROTOCOL = "ringbook.fbs.v1"

RECONNECT_S, RECONNECT_S_MAX = 0.1, 5.0
_HANDSHAKE_S = 10.0
# The service pings every 20 s, and so does the client.
_PING_S, _SILENCE_S = 20.0, 20.0
# The service limits every message to 1 MiB.
_MESSAGE_BYTES_MAX = 1_048_576
# A connection that ends sooner is followed by a longer pause.
_STABLE_S = 5.0
# Frames that are read ahead of the task that handles them.
_FRAMES_AHEAD = 64


async def open_socket(
    base: str, path: str, headers: Mapping[str, str], protocols: Sequence[str] = (), *, watch: bool = False
) -> ClientConnection:
    """A socket. With `watch` three seconds without a sign of life end it. Raises RingbookError."""
    names: list[Subprotocol] = list(protocols)  # type: ignore[arg-type]
    try:
        return await connect(
            f"ws{base.removeprefix('http')}{path}",
            additional_headers=dict(headers),
            subprotocols=names or None,
            compression=None,
            open_timeout=WATCH_SILENCE_S if watch else _HANDSHAKE_S,
            ping_interval=WATCH_PING_S if watch else _PING_S,
            ping_timeout=WATCH_SILENCE_S if watch else _SILENCE_S,
            close_timeout=1.0,
            max_size=_MESSAGE_BYTES_MAX,
            max_queue=_FRAMES_AHEAD,
        )
    except InvalidStatus as error:
        raise _refusal(error) from error
    except InvalidHandshake as error:
        raise RingbookError("INVALID_RESPONSE", f"the handshake at {base}{path} failed: {error}") from error
    except (OSError, asyncio.TimeoutError) as error:
        raise RingbookError("UNREACHABLE", f"{base} cannot be reached ({error})", retryable=True) from error
    except ConnectionClosed as error:
        raise RingbookError("UNREACHABLE", f"{base} ended the handshake ({error})", retryable=True) from error


def _refusal(error: InvalidStatus) -> RingbookError:
    status = error.response.status_code
    try:
        refusal = error_of(parse(bytes(error.response.body or b""), "handshake"), status)
    except RingbookError:
        refusal = None
    return refusal or RingbookError("INVALID_RESPONSE", f"the handshake was answered with {status}", status=status)


def close_code(error: ConnectionClosed) -> tuple[int, str]:
    """The code and the reason of the service; 1006 where the connection was lost without one."""
    return (1006, "") if error.rcvd is None else (error.rcvd.code, error.rcvd.reason)


class Reconnection:
    """The pauses between attempts to connect; those after connections that ended soon grow too."""

    def __init__(self) -> None:
        self._pause = RECONNECT_S
        self._connected_at = 0.0

    def connected(self) -> None:
        self._connected_at = time.monotonic()

    def lost(self) -> None:
        if time.monotonic() - self._connected_at > _STABLE_S:
            self._pause = RECONNECT_S

    async def pause(self) -> None:
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, RECONNECT_S_MAX)
