"""Where a worker's requests may go: the address is checked after the name is resolved, and that one is used.

Link-local and metadata addresses are refused for everybody. Addresses of this machine or a private network
are for workers of the operator's pool file only. A well-known key leaves for its vendor's hosts only.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from conductor.providers.base import Worker, WorkerError

Address = IPv4Address | IPv6Address

METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",  # most clouds; link-local, so refused anyway
            "fd00:ec2::254",  # the same over IPv6
            "100.100.100.200",  # Alibaba
            "192.0.0.192",  # Oracle
            "168.63.129.16",  # Azure's host agent
        ),
    )
)
_SHARED = ipaddress.ip_network("100.64.0.0/10")  # behind carriers' and VPNs' address translation
_odd_number = re.compile(r"(?:0x[0-9a-f]+|[0-9]+)(?:\.(?:0x[0-9a-f]+|[0-9]+))*\.?")
_ambiguous = re.compile(r"[\s\\]")
_name = re.compile(r"(?=.{1,253}\.?$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*\.?")
_CARRYING_IPV4 = tuple(
    map(ipaddress.ip_network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"))
)
"""IPv6 networks whose addresses end in an IPv4 address: compatible, translated, NAT64, local NAT64."""

KEY_HOSTS: dict[str, tuple[str, ...]] = {
    "OPENAI_API_KEY": ("openai.com", "openai.azure.com"),
    "ANTHROPIC_API_KEY": ("anthropic.com",),
    "GEMINI_API_KEY": ("googleapis.com",),
    "GOOGLE_API_KEY": ("googleapis.com",),
    "DEEPSEEK_API_KEY": ("deepseek.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "MISTRAL_API_KEY": ("mistral.ai",),
    "GROQ_API_KEY": ("groq.com",),
    "XAI_API_KEY": ("x.ai",),
    "TOGETHER_API_KEY": ("together.xyz", "together.ai"),
    "SAKANA_API_KEY": ("sakana.ai",),
}
"""Domains a well-known key belongs to. Any other variable belongs to the address it stands beside."""


class ForbiddenAddress(WorkerError):
    """The worker's address may not be asked, or not with this key. Nothing was sent."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__("bad_request", message, hint=hint)


def host_of(base_url: str) -> str:
    """Host name of an address as it is asked for: lower case, without brackets, other scripts in ASCII.

    Raises:
        ForbiddenAddress: no http(s) address, one that carries a password, a query or a fragment, or one that
            two programs could read as two hosts. The message never repeats the address: it may hold a key.
    """
    if not base_url.isprintable() or _ambiguous.search(base_url):
        raise ForbiddenAddress("base_url is no web address.", "Write https://host/path, without spaces.")
    try:
        parts = urlsplit(base_url)
        _ = parts.port
    except ValueError:
        raise ForbiddenAddress("base_url is no web address.", "Write https://host/path.") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ForbiddenAddress("base_url is no web address.", "Write https://host/path.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ForbiddenAddress(
            "base_url carries more than a host and a path.",
            "Leave out user, password, query and fragment; a key goes into api_key_env.",
        )
    host = _in_ascii(parts.hostname.lower())
    _check_number(host)
    if not is_address(host) and ("[" in parts.netloc or not _name.fullmatch(host)):
        raise ForbiddenAddress("base_url has a host that is no name.", "Write it as others know it.")
    return host


def check_host(host: str, *, from_operator: bool) -> None:
    """Decides on a host just before it is asked, when it is a number rather than a name.

    Raises:
        ForbiddenAddress: as ``check_address`` does, and for numbers that programs read differently.
    """
    _check_number(host)
    if is_address(host):
        check_address(host, host, from_operator=from_operator)


def _check_number(host: str) -> None:
    if _odd_number.fullmatch(host) and not is_address(host):
        # 127.1, 0x7f.1, 2130706433: some programs read these as addresses, so nobody gets to decide.
        raise ForbiddenAddress("base_url has an odd numeric host.", "Write it as four numbers, or as a name.")


def _in_ascii(host: str) -> str:
    """The host as it goes over the wire: dots and digits of other scripts become what they stand for."""
    if host.isascii() and "xn--" not in host:
        return host
    import idna

    try:
        encoded = idna.encode(host).decode("ascii")
        idna.decode(encoded)
    except UnicodeError:
        raise ForbiddenAddress("base_url has a host that is no name.", "Check its spelling.") from None
    return encoded


def check_address(address: str, host: str, *, from_operator: bool) -> None:
    """Decides on one resolved address.

    Raises:
        ForbiddenAddress: when it may not be asked.
    """
    ip = ipaddress.ip_address(address.split("%")[0])
    shown = host if host == str(ip) else f"{host} ({ip})"
    meant = (ip, *_inner(ip))
    if any(each in METADATA or each.is_link_local or each.is_multicast for each in meant):
        raise ForbiddenAddress(
            f"{shown} is a link-local or metadata address, which no worker may ask.",
            "Set base_url to the address of a model server.",
        )
    if not from_operator and any(map(_is_inside, meant)):
        raise ForbiddenAddress(
            f"{shown} lies on this machine or in a private network.",
            "Only workers of the operator's pool file may be there; add it to that file.",
        )


def check_literal(worker: Worker) -> str | None:
    """Checks what can be known of a worker's address without resolving it; returns its host, if it has one.

    Raises:
        ForbiddenAddress: as ``host_of``, ``check_address`` and ``check_key`` do.
    """
    if worker.base_url is None:
        return None
    host = host_of(worker.base_url)
    check_host(host, from_operator=worker.from_operator)
    check_key(worker, host)
    return host


def check_key(worker: Worker, host: str) -> None:
    """Sees to it that a well-known key goes to its vendor only (or to this machine, for the operator).

    Raises:
        ForbiddenAddress: when it would go elsewhere, or a worker from outside names a key at all.
    """
    name = worker.api_key_env
    if name is None:
        return
    if not worker.from_operator:
        raise ForbiddenAddress(
            f"Worker {worker.name} does not come from the operator's pool file, so it gets no key.",
            "Leave api_key_env out, or add the worker to the pool file.",
        )
    owners = KEY_HOSTS.get(name)
    if owners is None or is_this_machine(host):
        return
    if not any(host == owner or host.endswith("." + owner) for owner in owners):
        raise ForbiddenAddress(
            f"The key in {name} belongs to {' or '.join(owners)}, not to {host}.",
            f"Put the key for {host} into a variable of another name and write that into api_key_env.",
        )


def is_address(host: str) -> bool:
    """Whether ``host`` is a numeric address rather than a name; only one of IPv6 may have a zone."""
    address, zone, _ = host.partition("%")
    if zone and ":" not in address:
        return False
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def is_this_machine(host: str) -> bool:
    """Whether a host name or numeric address is this machine, as far as one can tell without resolving it."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return is_address(host) and ipaddress.ip_address(host.split("%")[0]).is_loopback


def _inner(ip: Address) -> Sequence[Address]:
    """IPv4 addresses that an IPv6 address is another way to write or to reach."""
    if not isinstance(ip, IPv6Address):
        return ()
    found: list[Address] = [each for each in (ip.ipv4_mapped, ip.sixtofour) if each is not None]
    if ip.teredo is not None:
        found += ip.teredo
    if any(ip in network for network in _CARRYING_IPV4):
        found.append(IPv4Address(int(ip) & 0xFFFF_FFFF))
    return found


def _is_inside(ip: Address) -> bool:
    shared = isinstance(ip, IPv4Address) and ip in _SHARED
    return ip.is_loopback or ip.is_private or ip.is_unspecified or ip.is_reserved or shared
