"""Requests of a thief with a valid secret at another address."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.world.gateway.routes import PAID, PARTNER
from tests.world.gateway.world import order

HOME: Final = "127.0.0.1"
"""The one address that the credential may be used from."""
FORGED: Final = ":MIIBszCCAVmgAwIBAgIUa:"

HEADERS: Final[Sequence[Sequence[tuple[str, str]]]] = (
    (),
    *(
        ((name, HOME),)
        for name in ("X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP")
    ),
    *(((name, HOME),) for name in ("X-Originating-IP", "X-Remote-Addr", "CF-Connecting-IP")),
    (("X-Forwarded-For", f"{HOME}, {HOME}"),),
    (("X-Forwarded-For", HOME), ("X-Forwarded-For", HOME)),
    (("x-forwarded-FOR", f"{HOME}:80"),),
    (("X-Forwarded-For", f"::ffff:{HOME}"),),
    (("X_Forwarded_For", HOME),),
    (("X-Forwarded-For", f"{HOME},"),),
    (("X-Forwarded-For", HOME), ("Connection", "X-Forwarded-For")),
    (("Forwarded", f"for={HOME};proto=https;by={HOME}"),),
    (("Forwarded", f'for="{HOME}:4711"'), ("Via", "1.1 proxy")),
    (("X-Forwarded-Host", HOME), ("X-Forwarded-Proto", "https")),
    (("Client-Cert", FORGED),),
    (("Client-Cert", FORGED), ("Client-Cert-Chain", FORGED)),
    (("X-SSL-Client-Verify", "SUCCESS"), ("X-Client-Cert", FORGED)),
    (("X-HTTP-Method-Override", "POST"), ("X-Original-URL", "/baas/v1/health")),
    (("Origin", f"http://{HOME}"), ("Referer", f"http://{HOME}/")),
    (("X-Trace-ID", "ours"), ("Idempotency-Key", PAID)),
)
"""Headers that some proxy, server or library takes for the caller's address or certificate."""

PROXY: Final = f"PROXY TCP4 {HOME} {HOME} 4711 80\r\n".encode()
"""The head of version 1 of the PROXY protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    Whom is called, and as whom.

    Attributes:
        authority: Host and port.
        scheme: Of absolute targets.
        account: The account to pay from.
        authorization: The header of the right secret.
        today: The date of payouts.
    """

    authority: str
    scheme: str
    account: str
    authorization: str
    today: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """
    What is sent on one connection.

    Attributes:
        requests: In order.
        pipelined: Whether all are sent before the first answer is read.
        cut: Bytes of each write; 0 writes a request at once.
        preface: Sent before the first request.
    """

    requests: Sequence[bytes]
    pipelined: bool
    cut: int
    preface: bytes = b""


def tries(place: Place, count: int, seed: int) -> Iterator[Try]:
    """Return tries with so many requests in all; the same ones for the same seed."""
    random = Random(seed)
    made = 0
    while made < count:
        several = min(random.choice((1, 1, 2, 5)), count - made)
        requests = [_request(place, random, made + number) for number in range(several)]
        preface = PROXY if random.random() < 0.02 else b""
        cut = random.choice((0, 0, 1, 7, 100))
        yield Try(requests=requests, pipelined=random.random() < 0.5, cut=cut, preface=preface)
        made += several


def _request(place: Place, random: Random, number: int) -> bytes:
    """Write a payout, new or known, or any other operation of partners."""
    which = random.random()
    if which < 0.6:
        reference = PAID if which < 0.15 else f"stolen-{number}"
        return _written(place, random, "POST", "/withdraw", order(reference, place.today))
    row = random.choice(PARTNER)
    path = row.template.partition("{account_id}")[2]
    for name in ("{key_id}", "{reference}"):
        path = path.replace(name, PAID)
    if row.route.takes.parameters:
        path += f"?init={place.today}&ends={place.today}"
    body = order(f"stolen-{number}", place.today) if row.route.takes.body is not None else None
    return _written(place, random, row.route.method, path, body)


def _written(
    place: Place, random: Random, method: str, path: str, document: Mapping[str, object] | None
) -> bytes:
    """Write a request in one of its spellings, with odd headers."""
    account = random.choice((str, str, str, str.upper))(place.account)
    path = f"/baas/v1/account/{account}{path}"
    absolute = f"{place.scheme}://{place.authority}{path}"
    odd = (f"{place.scheme}://{HOME}{path}", path.replace("/account/", "/%61ccount/"), f"/{path}")
    target = random.choice((*(path,) * 6, *(absolute,) * 2, *odd))
    host = random.choice((place.authority, place.authority, HOME, "localhost"))
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines.append(f"Authorization: {place.authorization}")
    lines += [f"{name}: {value}" for name, value in random.choice(HEADERS)]
    body = b"" if document is None else json.dumps(document).encode()
    if document is None:
        return _joined(lines, body)
    lines.append("Content-Type: application/json")
    if random.random() < 0.2:
        lines.append("Transfer-Encoding: chunked")
        return _joined(lines, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    return _joined([*lines, f"Content-Length: {len(body)}"], body)


def _joined(lines: Sequence[str], body: bytes) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode() + body
