"""One HTTP exchange with a service: limits on time and size, and the error envelope as a RingbookError.

The session logs in once, sends its token with every protected call, and on 401 or 403 logs in again and sends the same
request once more.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeVar

import httpx

from .actions import Signer, signing
from .addresses import Addresses, is_lost, is_unserved
from .errors import RingbookError, error_of, invalid_response
from .reading import parse, read
from .replies import Nonce, Token

T = TypeVar("T")
Scope = Literal["full", "read"]

_DEADLINE_S = 10.0
_PROBE_S = 1.0
# A full snapshot of 10,000 levels a side is smaller.
_REPLY_BYTES_MAX = 16 * 1024 * 1024
_NONCE_FORM = re.compile(r"[A-Za-z0-9_-]{43}")
# A token counts as expired this long before its expiry.
_EXPIRY_MARGIN_NS = 60_000_000_000


class Transport:
    """HTTP with connections that are kept."""

    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=16, max_keepalive_connections=16)
        self._http = httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(None, connect=5.0))

    async def close(self) -> None:
        await self._http.aclose()

    async def exchange(
        self,
        addresses: Addresses,
        method: str,
        path: str,
        *,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401
        """The body of a reply. Raises RingbookError.

        With several addresses, what had no effect is repeated at the one that serves: a request without a connection, one
        that is answered with NOT_LEADER, and reads.
        """
        is_read = method == "GET"
        return await addresses.serve(
            lambda base: self._once(base, method, path, body, headers or {}, _DEADLINE_S),
            lambda error: is_unserved(error) or (is_read and is_lost(error)),
        )

    async def probe(self, base: str, path: str) -> Any:  # noqa: ANN401
        """A read of one address, whether it serves or not."""
        return await self._once(base, "GET", path, None, {}, _PROBE_S)

    async def _once(
        self, base: str, method: str, path: str, body: str | None, headers: Mapping[str, str], deadline_s: float
    ) -> Any:  # noqa: ANN401
        try:
            status, content = await asyncio.wait_for(
                self._round_trip(base + path, method, body, headers, base), deadline_s
            )
        except (asyncio.TimeoutError, httpx.TimeoutException) as error:
            message = f"no answer to {method} {path} within {deadline_s:g} s; its outcome is unknown"
            raise RingbookError("CLIENT_TIMEOUT", message, retryable=True) from error
        except httpx.TransportError as error:
            message = f"the connection to {base} ended before the answer ({error}); the outcome is unknown"
            raise RingbookError("CONNECTION_CLOSED", message, retryable=True) from error
        is_success = 200 <= status < 300
        if is_success:
            return parse(content, f"{method} {path}") if content else {}
        try:
            refusal = error_of(parse(content, "error"), status)
        except RingbookError:
            refusal = None
        if refusal is None:
            raise RingbookError("INVALID_RESPONSE", f"HTTP {status} without a code", status=status)
        raise refusal

    async def _round_trip(
        self, url: str, method: str, body: str | None, headers: Mapping[str, str], base: str
    ) -> tuple[int, bytes]:
        common = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        content = None if body is None else body.encode()
        try:
            request = self._http.build_request(method, url, content=content, headers={**common, **headers})
            response = await self._http.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise RingbookError("UNREACHABLE", f"{base} cannot be reached ({error})", retryable=True) from None
        try:
            received = bytearray()
            async for part in response.aiter_raw():
                received += part
                if len(received) > _REPLY_BYTES_MAX:
                    raise invalid_response(f"{method} {url}", f"it is larger than {_REPLY_BYTES_MAX} bytes")
            return response.status_code, bytes(received)
        finally:
            await response.aclose()


class Session:
    """A user's session with one service.

    Safety: the login nonce is signed as raw bytes with the key that signs orders, so a hostile server could send an order
    as a nonce. Only nonces of 43 base64url characters are ever signed: an order's text cannot be one.
    """

    def __init__(self, transport: Transport, addresses: Addresses, signer: Signer, scope: Scope) -> None:
        self._transport = transport
        self._addresses = addresses
        self._signer = signer
        self._scope = scope
        # The current login, or the one that is under way: concurrent calls share it, as a nonce is used once.
        self._login: asyncio.Future[Token] | None = None

    async def headers(self) -> dict[str, str]:
        """The two headers of every protected call, with a login first where one is needed."""
        token = await self._token()
        return {"authorization": f"Bearer {token.token}", "user-id": self._signer.user_id}

    async def open(self, opening: Callable[[Mapping[str, str]], Awaitable[T]]) -> T:
        """Calls `opening` with the headers; where they are refused, once more after a new login."""
        headers = await self.headers()
        login = self._login
        try:
            return await opening(headers)
        except RingbookError as error:
            # 403 refuses the action and not the session, but for a session that ended.
            if error.status not in (401, 403) or error.code == "READ_ONLY_SESSION":
                raise
            if self._login is login:
                self._login = None
        return await opening(await self.headers())

    async def exchange(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:  # noqa: ANN401
        """A protected call."""
        return await self.open(
            lambda credentials: self._transport.exchange(
                self._addresses, method, path, body=body, headers={**(headers or {}), **credentials}
            )
        )

    def forget(self) -> None:
        """The next call logs in: another node leads, or the token was revoked."""
        self._login = None

    async def _token(self) -> Token:
        login = self._login
        if login is not None and login.done() and not login.cancelled() and login.exception() is None:
            if time.time_ns() < login.result().expiry_ns - _EXPIRY_MARGIN_NS:
                return login.result()
            login = None
        if login is None or login.done():
            login = asyncio.ensure_future(self._start())
            # Where no caller waits for it any more, its failure is of no use.
            login.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            self._login = login
        # A caller that is cancelled does not end the login of the others.
        return await asyncio.shield(login)

    async def _start(self) -> Token:
        user_id = self._signer.user_id
        exchange = self._transport.exchange
        nonce = read(Nonce, await exchange(self._addresses, "GET", f"/nonce/{user_id}"), "nonce").value
        if _NONCE_FORM.fullmatch(nonce) is None:
            message = (
                "the service offered a login nonce that is not 43 characters of A-Z a-z 0-9 _ -; it was not signed"
            )
            raise RingbookError("UNSAFE_NONCE", message)
        # A signature for reading never opens more.
        text = nonce if self._scope == "full" else f"read:{nonce}"
        request = {"user_id": user_id, "nonce": nonce}
        if self._scope != "full":
            request["scope"] = self._scope
        signed = signing(self._signer.key, self._signer.co_signers, text.encode("ascii"))
        body = json.dumps(request | signed)
        return read(Token, await exchange(self._addresses, "POST", "/auth", body=body), "auth")
