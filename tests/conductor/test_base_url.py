"""Where requests may go, and which key may go along."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from conductor.base_url import ForbiddenAddress, check_address, check_literal, host_of
from conductor.providers.anthropic_messages import AnthropicMessages
from conductor.providers.base import Worker
from conductor.providers.keys import key_for
from conductor.providers.openai_chat import OpenAIChat
from tests.bad_server.replies import body
from tests.conductor.providers.wire import call, failure_of, wire

NEVER = (
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "::ffff:0:a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "::a9fe:a9fe",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "ff02::1",
)
OPERATOR_ONLY = (
    "127.0.0.1",
    "::1",
    "10.0.0.4",
    "172.16.9.1",
    "192.168.1.1",
    "0.0.0.0",
    "::",
    "fd12::1",
    "100.64.0.1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::ffff:0:7f00:1",
    "64:ff9b:1::a00:1",
    "::7f00:1",
)
PUBLIC = ("8.8.8.8", "2606:4700::1111")


@pytest.mark.parametrize("address", NEVER)
def test_link_local_and_metadata_never(address: str) -> None:
    """Behaviour row 17: link-local and metadata addresses are refused."""
    for from_operator in (True, False):
        with pytest.raises(ForbiddenAddress, match="no worker may ask"):
            check_address(address, "name.example", from_operator=from_operator)


@pytest.mark.parametrize("address", OPERATOR_ONLY)
def test_this_machine_and_private_networks_for_the_operator_only(address: str) -> None:
    check_address(address, "name.example", from_operator=True)
    with pytest.raises(ForbiddenAddress, match="private network"):
        check_address(address, "name.example", from_operator=False)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_for_everybody(address: str) -> None:
    check_address(address, "name.example", from_operator=False)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "host/v1",
        "http://",
        "http://user:pw-marker@host/v1",
        "https://host/v1?key=pw-marker",
        "https://host/v1#pw-marker",
        "http://host:port",
        "http://[::1",
        "file:///etc/passwd",
        "http://good.example\\@127.0.0.1/pw-marker",
        "http://good.example@127.0.0.1/pw-marker",
        "http://127.0.0.1 /pw-marker",
        "http://127.0.0.1\t/pw-marker",
        "http://loc\nalhost/pw-marker",
        "http://127.0.0.1%00/pw-marker",
        "http://127%2e0%2e0%2e1/pw-marker",
        "http://[v1.x]/pw-marker",
        "http://a..b/pw-marker",
        "http://./pw-marker",
        "http://-.example/pw-marker",
        "http://xn--a.example/pw-marker",
        "http://\u24dbocalhost/pw-marker",
        "http://loc\xadalhost/pw-marker",
        "http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/pw-marker",
        f"http://{'a' * 64}.example/pw-marker",
    ],
)
def test_what_is_no_plain_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ForbiddenAddress) as caught:
        host_of(url)
    assert "pw-marker" not in caught.value.message + caught.value.hint


class Network:
    """What names resolve to, and which connections are tried; none is made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.connections: list[Any] = []
        self._answers: list[tuple[str, ...]] = []
        monkeypatch.setattr(socket, "getaddrinfo", self._resolve)
        monkeypatch.setattr(socket.socket, "connect", lambda _, address: self._connect(address))

    def resolves_to(self, *answers: str | tuple[str, ...]) -> None:
        """What each look-up gives, one after another; the last one for ever."""
        self._answers = [(each,) if isinstance(each, str) else each for each in answers]

    def _resolve(self, host: str, port: Any, *_: Any, **__: Any) -> list[Any]:
        now = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port or 0)) for each in now]

    def _connect(self, address: Any) -> None:
        self.connections.append(address)
        raise ConnectionRefusedError(111, "refused")


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    return Network(monkeypatch)


def worker(**fields: Any) -> Worker:
    return Worker(**{"name": "w", "provider": "openai", "model": "m"} | fields)


def test_a_name_that_resolves_to_metadata_is_refused_before_any_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Behaviour row 17: a name that resolves there is refused before any request, and no key is sent."""
    calls: list[str] = []

    def resolve(host: str, port: Any, *_: Any, **__: Any) -> list[Any]:
        calls.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", port or 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("OTHER_KEY", "marker-0123456789")

    async def ask() -> str:
        provider = OpenAIChat()
        asked = worker(base_url="https://rebind.example/v1", api_key_env="OTHER_KEY")
        error = await failure_of(provider, call(asked))
        await provider.close()
        assert error.kind == "bad_request"
        return error.message

    import asyncio

    # The network guard of the tests would fail any connection; the address is refused before one is tried.
    assert "169.254.169.254" in asyncio.run(ask())
    assert calls == ["rebind.example"]


@pytest.mark.parametrize("maker", [OpenAIChat, AnthropicMessages])
@pytest.mark.parametrize(
    "host",
    [
        *("0x7f.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.1", "0", "127.0.0.1."),
        *("127\u30021", "127\uff610\uff610\uff611", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1%25lo]"),
        *("[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[::127.0.0.1]", "0.0.0.0", "[::]"),
        *("localhost", "localhost.", "LOCALHOST", "a.localhost", "\uff4cocalhost"),
    ],
)
async def test_no_spelling_of_this_machine_is_a_way_around(
    host: str, maker: type[OpenAIChat | AnthropicMessages], network: Network
) -> None:
    network.resolves_to("127.0.0.1")
    provider = maker()
    error = await failure_of(provider, call(worker(base_url=f"http://{host}:9/v1", from_operator=False)))
    await provider.close()
    assert (error.kind, network.connections) == ("bad_request", [])


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "169\u3002254\u3002169\u3002254", "0xa9fea9fe", "2852039166"]
)
async def test_no_spelling_of_a_metadata_address_is_asked_even_for_the_operator(
    host: str, network: Network
) -> None:
    provider = OpenAIChat()
    error = await failure_of(provider, call(worker(base_url=f"http://{host}/v1")))
    await provider.close()
    assert (error.kind, network.connections) == ("bad_request", [])


async def test_a_name_that_changes_its_mind_is_connected_to_what_was_checked(network: Network) -> None:
    """The first look-up is answered harmlessly, every later one with an address inside."""
    network.resolves_to("93.184.215.14", "127.0.0.1")
    provider = OpenAIChat()
    asked = worker(base_url="http://rebind.example:9/v1", from_operator=False)
    first = await failure_of(provider, call(asked))
    assert (first.kind, network.connections) == ("connection", [("93.184.215.14", 9)])
    await provider.close()
    second = await failure_of(provider, call(asked))
    await provider.close()
    assert (second.kind, "private network" in second.message) == ("bad_request", True)
    assert network.connections == [("93.184.215.14", 9)], "the second address was never tried"


async def test_one_forbidden_address_among_many_forbids_the_name(network: Network) -> None:
    network.resolves_to(("93.184.215.14", "10.0.0.1"))
    provider = OpenAIChat()
    error = await failure_of(provider, call(worker(base_url="http://both.example/v1", from_operator=False)))
    await provider.close()
    assert (error.kind, network.connections) == ("bad_request", [])


@pytest.mark.parametrize("maker", [OpenAIChat, AnthropicMessages])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_told_and_not_followed_so_no_key_travels(
    status: int, maker: type[OpenAIChat | AnthropicMessages], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_PASS", "marker-0123456789")
    provider = maker()
    async with wire(body("", 200)) as inner:
        for target in (f"{inner.url}/v1/steal", "http://169.254.169.254/latest", "//127.0.0.1:9/x"):
            async with wire(body("", status, Location=target)) as outer:
                asked = worker(base_url=f"{outer.url}/v1", api_key_env="GATEWAY_PASS")
                error = await failure_of(provider, call(asked))
            assert (error.kind, len(outer.requests)) == ("bad_request", 1)
            assert "redirects" in error.hint and "marker" not in error.message
        assert inner.requests == []
    await provider.close()


@pytest.mark.parametrize(
    "host", ["\u03bfpenai.com", "openai.com.", "openai.c\u043em", "api-openai.com", "openai.com.evil.example"]
)
def test_a_name_that_looks_like_the_vendors_gets_no_key(host: str) -> None:
    with pytest.raises(ForbiddenAddress, match="belongs to openai"):
        check_literal(worker(base_url=f"https://{host}/v1", api_key_env="OPENAI_API_KEY"))


def test_names_that_people_use_are_taken() -> None:
    for host, asked in {
        "Model-Server_1.lan": "model-server_1.lan",
        "b\u00fccher.example": "xn--bcher-kva.example",
        "my_service": "my_service",
        "a.example.": "a.example.",
        "[::1]": "::1",
    }.items():
        assert host_of(f"http://{host}:8000/v1") == asked


def test_well_known_key_goes_to_its_vendor_only() -> None:
    check_literal(worker(base_url="https://eu.api.openai.com/v1", api_key_env="OPENAI_API_KEY"))
    check_literal(worker(base_url="http://127.0.0.1:8000/v1", api_key_env="OPENAI_API_KEY"))
    check_literal(worker(base_url="https://gateway.example/v1", api_key_env="GATEWAY_KEY"))
    for host in ("gateway.example", "openai.com.example", "notopenai.com", "192.168.1.4"):
        with pytest.raises(ForbiddenAddress, match="belongs to openai"):
            check_literal(worker(base_url=f"https://{host}/v1", api_key_env="OPENAI_API_KEY"))


def test_worker_from_outside_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "marker-0123456789")
    named = worker(base_url="https://models.example/v1", api_key_env="GATEWAY_KEY", from_operator=False)
    with pytest.raises(ForbiddenAddress, match="gets no key"):
        key_for(named)
    assert key_for(worker(from_operator=False)) is None
    assert key_for(worker()) == "marker-0123456789"
