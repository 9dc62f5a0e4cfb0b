"""Where requests may go, and which key may go along."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from conductor.base_url import ForbiddenAddress, check_address, check_literal, host_of
from conductor.providers.base import Worker
from conductor.providers.keys import key_for
from conductor.providers.openai_chat import OpenAIChat
from tests.conductor.providers.wire import call, failure_of

NEVER = (
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
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
    ],
)
def test_what_is_no_plain_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ForbiddenAddress) as caught:
        host_of(url)
    assert "pw-marker" not in caught.value.message + caught.value.hint


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


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "0177.0.0.1", "127.1"])
async def test_odd_spellings_of_this_machine_are_no_way_around(host: str) -> None:
    provider = OpenAIChat()
    error = await failure_of(provider, call(worker(base_url=f"http://{host}:9/v1", from_operator=False)))
    await provider.close()
    assert (error.kind, "odd numeric host" in error.message) == ("bad_request", True)


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
