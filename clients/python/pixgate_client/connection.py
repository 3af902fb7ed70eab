"""Where requests go and what each carries: from a description to one of httpx's."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx

from pixgate_client.exchange import NoAnswer, Request

VERSION: Final = "0.2.0"

Sign = Callable[[str, str, bytes], Mapping[str, str]]
"""Method, URL and body to the headers that sign them; called for each attempt."""

_OPEN_S = 10.0
"""For a connection to open, or a place in the pool: nothing is sent before."""
_WRITE_S = 30.0
_NOTHING_LEFT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""What httpx raises before the first byte of a request, and only then."""


class Connection:
    """
    A gateway and a credential.

    The secret is in no text that is made of this: httpx hides the header in its own.
    """

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str,
        *,
        allow_http: bool,
        sign: Sign | None,
    ) -> None:
        """
        Check the address; nothing is sent.

        Raises:
            ValueError: the address is none, or would carry the secret in plain text.
        """
        self.base_url = _checked(base_url, allow_http=allow_http)
        pair = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
        self._headers = httpx.Headers(
            {
                "Authorization": f"Basic {pair}",
                "Accept": "application/json",
                "User-Agent": f"pixgate-client/{VERSION}",
            }
        )
        self._sign = sign

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"

    def request(self, wanted: Request) -> httpx.Request:
        """Make a request; of one that moves money the signature too, if there is one."""
        url, headers = self.base_url + wanted.path, self._headers.copy()
        if wanted.body is not None:
            headers["Content-Type"] = "application/json"
            headers.update(self._sign(wanted.method, url, wanted.body) if self._sign else {})
        limits = httpx.Timeout(wanted.answer_s, connect=_OPEN_S, write=_WRITE_S, pool=_OPEN_S)
        return httpx.Request(
            wanted.method,
            url,
            headers=headers,
            content=wanted.body,
            extensions={"timeout": limits.as_dict()},
        )


def no_answer(problem: httpx.RequestError) -> NoAnswer:
    """Say what a failure of httpx proves."""
    return NoAnswer(problem, may_have_left=not isinstance(problem, _NOTHING_LEFT))


def _checked(base_url: str, *, allow_http: bool) -> str:
    """Return an address without the slash at its end; errors do not repeat it."""
    try:
        parts = urlsplit(base_url)
        is_plain = _is_plain(parts) and bool(httpx.URL(base_url))
    except (ValueError, httpx.InvalidURL):
        is_plain = False
    if not is_plain:
        problem = "the base URL has https, a host, and perhaps a port and a path, and nothing else"
        raise ValueError(problem)
    if parts.scheme == "http" and not (allow_http or _is_loopback(parts.hostname or "")):
        problem = "http shows the secret to everybody on the way: use https, or allow_http=True"
        raise ValueError(problem)
    return base_url.rstrip("/")


def _is_plain(parts: SplitResult) -> bool:
    """Look at a URL; reading the port raises ValueError where it is no number."""
    is_http = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    return is_http and "@" not in parts.netloc and not parts.query and not parts.fragment


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
