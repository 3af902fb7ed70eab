"""A client of a simulated bank's control interface; the sandbox bank's README lists the calls."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Self
from urllib.parse import quote

import aiohttp
import msgspec
from yarl import URL

from gateway.core.money import Money

_DEADLINE = aiohttp.ClientTimeout(total=10, connect=2)
_ENCODER = msgspec.json.Encoder(decimal_format="number")

Reply = Mapping[str, Any]  # a JSON document; its shape is the bank's README's


class ControlRefused(Exception):
    """
    The bank refused a control call.

    Attributes:
        status: 0 when it could not be reached.
        code: The bank's, such as ``ALREADY_EXISTS``; empty when it could not be reached.
        why: The bank's sentence, without what it was sent; empty when it could not be reached.
    """

    def __init__(self, status: int, code: str, message: str, why: str = "") -> None:
        """Carry the bank's answer."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.why = why


class BankControl:
    """
    Controls a simulated bank; open inside ``async with``.

    Every call ends within ten seconds unless another limit is given, and raises
    ``ControlRefused`` for any answer but success. Paths are given as segments, which may hold any
    characters.
    """

    def __init__(self, url: str, limit: aiohttp.ClientTimeout | None = None) -> None:
        """``url`` is that of the control interface, without ``/control``."""
        self._url = URL(url)
        self._limit = limit or _DEADLINE

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(timeout=self._limit, trust_env=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def get(self, *segments: str, query: Mapping[str, str] | None = None) -> Reply:
        """Read something."""
        return await self._call("GET", segments, query=query)

    async def post(
        self, *segments: str, body: Mapping[str, object], query: Mapping[str, str] | None = None
    ) -> Reply:
        """Make something happen; ``Money`` in the body is written exactly, in reais."""
        return await self._call("POST", segments, body=body, query=query)

    async def delete(self, *segments: str) -> Reply:
        """Delete something."""
        return await self._call("DELETE", segments)

    async def _call(
        self,
        method: str,
        segments: tuple[str, ...],
        *,
        body: Mapping[str, object] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Reply:
        path = "/".join(quote(segment, safe="") for segment in ("control", *segments))
        url = self._url.joinpath(path, encoded=True).with_query(query or {})
        data = None if body is None else _ENCODER.encode(_plain(body))
        headers = {"Content-Type": "application/json"} if data else {}
        try:
            async with self._session.request(method, url, data=data, headers=headers) as answer:
                return _read(answer.status, await answer.read())
        except (aiohttp.ClientError, TimeoutError) as problem:
            message = f"the sandbox bank's control interface does not answer at {self._url}"
            raise ControlRefused(0, "", message) from problem


def _plain(value: object) -> object:
    """Write amounts as numbers with two decimals, wherever they are."""
    if isinstance(value, Money):
        return Decimal(str(value))
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _read(status: int, raw: bytes) -> Reply:
    """Return a success's document; raise a refusal's."""
    try:
        document = msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as problem:
        raise ControlRefused(status, "", "the sandbox bank's answer is no JSON") from problem
    if status < 400:  # noqa: PLR2004 - where refusals begin in HTTP
        return document
    error = document.get("error")
    given = error if isinstance(error, dict) else {}
    code, why = str(given.get("code", "")), str(given.get("message", ""))
    raise ControlRefused(status, code, f"the sandbox bank says {status} {code}: {why}", why)
