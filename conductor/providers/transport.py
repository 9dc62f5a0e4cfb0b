"""The way every provider call leaves this process: aiohttp under the SDKs' own clients, addresses checked.

aiohttp instead of the SDKs' default saves about a third of the CPU of a stream, and its resolver is where an
address is checked after the name is resolved: the connection goes to the very address that was checked. No
redirect is followed, so a key never travels on to another host.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver
from yarl import URL

from conductor.base_url import check_address, check_host, is_this_machine
from conductor.providers.base import Worker, WorkerError
from conductor.providers.failures import scrubbed

CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_S = 30.0

_MEANS: tuple[tuple[type[Exception], type[httpx2.TransportError]], ...] = (
    (aiohttp.ServerTimeoutError, httpx2.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx2.ConnectError),
    (aiohttp.ClientOSError, httpx2.ConnectError),
    (aiohttp.ClientPayloadError, httpx2.ReadError),
    (aiohttp.ServerDisconnectedError, httpx2.RemoteProtocolError),
    (aiohttp.InvalidURL, httpx2.UnsupportedProtocol),
    (aiohttp.ClientResponseError, httpx2.RemoteProtocolError),
    (aiohttp.ClientError, httpx2.NetworkError),
    (TimeoutError, httpx2.ReadTimeout),
    (OSError, httpx2.ConnectError),
    (UnicodeError, httpx2.ConnectError),  # a name that cannot be looked up
)


def http_client(*, from_operator: bool) -> httpx2.AsyncClient:
    """A client for an SDK. ``from_operator``: whether it may reach this machine and private networks.

    There is no limit on connections: workers have their own. Nothing but connecting times out here; the
    runner watches for silence.
    """
    return httpx2.AsyncClient(
        transport=GuardedTransport(from_operator=from_operator),
        timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S),
        follow_redirects=False,
        trust_env=False,
        headers={"Accept-Encoding": "identity"},
    )


class GuardedTransport(httpx2.AsyncBaseTransport):
    """An httpx2 transport over one aiohttp session, which is opened on first use."""

    def __init__(self, *, from_operator: bool) -> None:
        self._from_operator = from_operator
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends one request. Raises ``ForbiddenAddress`` before anything is sent, else httpx2's errors."""
        host = request.url.host
        check_host(host, from_operator=self._from_operator)
        timeout = request.extensions.get("timeout", {})
        with _translated():
            response = await self._opened().request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=request.headers,
                data=await request.aread() or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    sock_connect=timeout.get("connect"), sock_read=timeout.get("read")
                ),
                proxy=self._proxy(request.url.scheme, host),
            )
        return httpx2.Response(
            response.status, headers=response.raw_headers, stream=_Body(response), request=request
        )

    async def aclose(self) -> None:
        """Closes every connection. The transport opens new ones when it is used again."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            connector = aiohttp.TCPConnector(
                limit=0,
                resolver=_CheckedResolver(from_operator=self._from_operator),
                keepalive_timeout=KEEPALIVE_S,
                ssl=_ssl_context(),
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session

    def _proxy(self, scheme: str, host: str) -> str | None:
        """The proxy the operator's environment names. Workers from outside never go through it."""
        if not self._from_operator or is_this_machine(host):
            return None
        proxy = urllib.request.getproxies().get(scheme)
        return None if proxy is None or urllib.request.proxy_bypass(host) else proxy


class _CheckedResolver(AbstractResolver):
    def __init__(self, *, from_operator: bool) -> None:
        self._from_operator = from_operator
        self._inner = DefaultResolver()

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)  # type: ignore[arg-type]  # 0 is AF_UNSPEC
        for each in found:
            check_address(each["host"], host, from_operator=self._from_operator)
        return found

    async def close(self) -> None:
        await self._inner.close()


class _Body(httpx2.AsyncByteStream):
    """The body as it arrives, in whatever pieces; closing it early closes the socket."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated():
            async for piece in self._response.content.iter_any():
                yield piece

    async def aclose(self) -> None:
        if self._response.content.is_eof():
            self._response.release()
        else:
            self._response.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, OSError, UnicodeError) as error:
        meaning = next(theirs for ours, theirs in _MEANS if isinstance(error, ours))
        raise meaning(str(error)) from error


@cache
def _ssl_context() -> ssl.SSLContext:
    # The same trust store as the SDKs' default clients: the system's, or SSL_CERT_FILE.
    return httpx2.create_ssl_context()


def connection_failure(worker: Worker, error: Exception, *, is_under_way: bool = False) -> WorkerError:
    """What a step is told when the network failed it. ``is_under_way``: the answer had begun.

    A refusal of ours (``ForbiddenAddress``) that the SDK wrapped comes out as it was.
    """
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and len(chain) < 12:
        chain.append(cause)
    for each in chain:
        if isinstance(each, WorkerError):
            return each
    # An answer in one piece breaks inside the SDK, which calls that a connection that never was.
    if is_under_way or any(isinstance(each, httpx2.ReadError) for each in chain):
        return WorkerError(
            "stream_truncated",
            f"The connection to worker {worker.name} broke in mid-answer.",
            hint="Run the step again.",
            retryable=True,
        )
    said = next((str(each) for each in reversed(chain) if str(each)), type(error).__name__)
    shown = scrubbed(worker, said)[:300]
    timed_out = any(isinstance(each, httpx2.TimeoutException | TimeoutError) for each in chain)
    return WorkerError(
        "timeout" if timed_out else "connection",
        f"Worker {worker.name} cannot be reached at {_shown_place(worker)}: {shown}",
        hint="Check that the server runs and that base_url in the pool file is right.",
        retryable=True,
    )


def _shown_place(worker: Worker) -> str:
    if worker.base_url is None:
        return "its vendor"
    parts = URL(worker.base_url)
    host = f"[{parts.host}]" if ":" in (parts.host or "") else parts.host
    return f"{host}:{parts.port}"
