"""Every error code of the catalogue, produced over a socket."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.config.listeners import Server
from gateway.config.settings import RateLimits
from gateway.core.errors import CATALOGUE, ELSEWHERE
from gateway.core.limits import CallRate
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from tests.world import raw_http
from tests.world.gateway.answers import Answer
from tests.world.gateway.sayings import means
from tests.world.gateway.world import (
    FREE,
    NOBODY,
    World,
    basic,
    opened,
    order,
    other_secret,
    pair_of,
    sandbox,
)
from tests.world.stops import stop_payouts
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

OVERLOADED = 503
CLOSES_S = 60
"""The server closes the connection behind these answers, long before."""

Said = tuple[int, str, str]
Scenario = Callable[[World, Path], Awaitable[Said]]


def of(answer: Answer | raw_http.Answer) -> Said:
    """Return what distinguishes a catalogued code from every other."""
    document = msgspec.json.decode(answer.body)
    return answer.status, document["code"], document["message"]


def asking(path: str, account: str = "main", method: str = "GET", **how: Any) -> Scenario:
    """Send a request for a path below an account; charges may be named by their role."""

    async def scenario(world: World, _folder: Path) -> Said:
        where = world.at(path.format(**world.demo["charges"], today=world.today()), account)
        return of(await world.ask(method, where, **how))

    return scenario


def showing(header: str) -> Scenario:
    return asking("/balance", by=NOBODY, headers={"Authorization": header})


def paying(account: str = "main", day: str = "", **changed: object) -> Scenario:
    async def scenario(world: World, _folder: Path) -> Said:
        document = order(f"code-{changed}", day or world.today(), **changed)
        path = world.at("/withdraw", account)
        return of(await world.ask("POST", path, by="company", document=document))

    return scenario


def failing(operation: str, fault: str, path: str) -> Scenario:
    """Ask while the bank does an operation wrong."""

    async def scenario(world: World, folder: Path) -> Said:
        async with world.failing(operation, fault):
            return await asking(path)(world, folder)

    return scenario


def telling(request: str) -> Scenario:
    async def scenario(world: World, _folder: Path) -> Said:
        told = await raw_http.exchange(world.port, request.encode(), patience_s=CLOSES_S)
        return of(told.answers[0])

    return scenario


async def unreachable(world: World, _folder: Path) -> Said:
    async with world.failing("*", "refuse"):
        return of(await world.pay(order("code-unreachable", world.today())))


async def credentials_refused(world: World, _folder: Path) -> Said:
    async with world.failing("payout", "status", status=401):
        return of(await world.pay(order("code-credentials", world.today())))


async def reference_in_use(world: World, _folder: Path) -> Said:
    await world.pay(order("code-in-use", world.today()))
    return of(await world.pay(order("code-in-use", world.today(), value=99)))


async def above_limit(world: World, _folder: Path) -> Said:
    made = await world.issue(limits=CredentialLimits(per_payout=Money(1049)))
    pair = pair_of(made)
    return of(await world.pay(order("code-limit", world.today()), pair=pair))


async def stopped(_world: World, folder: Path) -> Said:
    async with opened(sandbox(folder)) as other:
        await stop_payouts(other.office)
        return of(await other.pay(order("code-stopped", other.today())))


async def internal(world: World, _folder: Path) -> Said:
    async with world.losing("payouts"):
        return of(await world.pay(order("code-internal", world.today())))


async def auth_unavailable(world: World, _folder: Path) -> Said:
    made = await world.issue()
    unseen = pair_of(made)
    async with world.losing("credentials"):
        return of(await world.ask("GET", world.at("/balance"), pair=unseen))


async def too_many(_world: World, folder: Path) -> Said:
    scarce = RateLimits(read=CallRate(rate=0.001, burst=1), payout=FREE, company=FREE)
    async with opened(sandbox(folder, ratelimits=scarce)) as other:
        await other.ask("GET", other.at("/balance"))
        return of(await other.ask("GET", other.at("/balance")))


async def overloaded(_world: World, folder: Path) -> Said:
    answers: list[Answer] = []
    async with opened(sandbox(folder)) as other:

        async def refused() -> bool:
            # until the next sample
            other.gateway.telemetry.lag.p95_s = math.inf
            answers.append(await other.ask("GET", other.at("/balance")))
            return answers[-1].status == OVERLOADED

        await until(refused)
    return of(answers[-1])


async def draining(_world: World, folder: Path) -> Said:
    """A request on a connection that was kept while the listener closed."""
    async with opened(sandbox(folder)) as other:
        header = basic(other.pair("full"))
        request = (
            f"GET {other.at('/balance')} HTTP/1.1\r\nHost: a\r\nAuthorization: {header}\r\n\r\n"
        ).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", other.port)
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length
        await reader.readexactly(int(length[1]))
        await other.gateway.public.stop_accepting()
        writer.write(request)
        [answer] = raw_http.split(await reader.read())
        writer.close()
        return of(answer)


async def too_slow(_world: World, folder: Path) -> Said:
    """A body that is announced and does not come."""
    impatient = Server(port=0, body_deadline_s=0.2, drain_s=30)
    async with opened(sandbox(folder, server=impatient)) as other:
        head = (
            f"POST {other.at('/withdraw')} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n"
            f"Content-Type: application/json\r\nAuthorization: {basic(other.pair('full'))}\r\n\r\n"
        )
        told = await raw_http.exchange(other.port, head.encode(), patience_s=CLOSES_S)
        return of(told.answers[0])


async def invalid(world: World, _folder: Path) -> Said:
    wrong = other_secret(world.pair("full"))
    return of(await world.ask("GET", world.at("/balance"), pair=wrong))


ABSENT = "00000000-0000-4000-8000-000000000000"
WHOM = {"tax_number": "52998224725"}
SCENARIOS: dict[str, Scenario] = {
    "credentials_missing": asking("/balance", by=NOBODY),
    "credentials_malformed": showing("Basic %"),
    "basic_required": showing("Bearer abc"),
    "credentials_invalid": invalid,
    "permission_denied": asking("/balance", by="none"),
    "scope_denied": asking("/balance", "sister"),
    "field_missing": asking("/transactions"),
    "identifier_invalid": asking("/pix/keys/42"),
    "date_invalid": asking("/transactions?init=today&ends=today"),
    "window_invalid": asking("/withdraws?init=2026-02-01&ends=2026-01-01"),
    "payout_date_not_today": paying(day="2020-01-01"),
    "number_invalid": asking("/withdraws?init={today}&ends={today}&page=0"),
    "amount_not_positive": paying(value=0),
    "payload_invalid": asking("/withdraw", method="POST", data=b"{"),
    "malformed_request": telling("GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
    "account_not_found": asking("/balance", "other_company"),
    "account_inactive": asking("/balance", "inactive", by="company"),
    "account_unverified": asking("/balance", "unverified", by="company"),
    "provider_read_only": paying("read_only"),
    "provider_not_configured": paying("no_provider"),
    "provider_unreachable": unreachable,
    "provider_credentials_refused": credentials_refused,
    "provider_busy": paying(value=777.11),
    "balance_unavailable": failing("balance", "status", "/balance"),
    "statement_unavailable": failing(
        "statement", "malformed", "/transactions?init={today}&ends={today}"
    ),
    "pix_key_not_found": asking(f"/pix/keys/{ABSENT}"),
    "pix_keys_unavailable": failing("keys", "reset_before", "/pix/keys"),
    "charge_not_found": asking("/pix/qrcode/{expired}"),
    "charge_unavailable": failing("charge", "wrong_types", "/pix/qrcode/{paid}"),
    "transaction_unavailable": failing("payment", "huge", "/pix/transactions/{paid}"),
    "payout_rejected": paying(value=777.03),
    "payout_reference_in_use": reference_in_use,
    "payout_not_allowed": paying(value=777.04),
    "payouts_stopped": stopped,
    "payout_unknown": paying(value=777.05),
    "payout_not_found": asking("/withdraw/nobody-knows"),
    "payout_method_invalid": paying(method="qrcode"),
    "bank_account_incomplete": paying(method="bank_account", destination=WHOM),
    "pix_key_incomplete": paying(destination=WHOM),
    "transaction_not_found": asking("/pix/transactions/nobody-knows"),
    "cancel_not_implemented": asking("/withdraw/any", method="DELETE"),
    "credential_limit": above_limit,
    "internal": internal,
    "auth_unavailable": auth_unavailable,
    "route_unknown": asking("/nowhere"),
    "method_not_allowed": asking("/balance", method="POST"),
    "body_too_large": asking("/withdraw", method="POST", data=b" " * (64 * 1024 + 1)),
    "request_timeout": too_slow,
    "too_many_requests": too_many,
    "overloaded": overloaded,
    "draining": draining,
    "headers_too_large": telling(f"GET / HTTP/1.1\r\nHost: a\r\nX-A: {'x' * 9000}\r\n\r\n"),
}
"""How to get each code, by its name in the catalogue."""

HERE = tuple(error for error in CATALOGUE if error not in ELSEWHERE)


async def test_every_error_is_answered_as_in_the_catalogue(world: World, tmp_path: Path):
    """Status, code and message (contract part 7)."""
    wrong = {}
    for error in HERE:
        said = await SCENARIOS[error.name](world, tmp_path / error.name)
        if said[:2] != (error.status, error.code) or not means(said[2], error):
            wrong[error.name] = said

    assert wrong == {}


async def test_every_error_code_has_exactly_one_scenario():
    assert set(SCENARIOS) == {error.name for error in HERE}


async def test_the_error_code_route_lists_the_catalogue(world: World):
    """The list at ``error-codes`` has exactly the codes that partners can get."""
    answer = await world.ask("GET", "/baas/v1/error-codes", by=NOBODY)

    listed = {(row["code"], status) for row in answer.document["data"] for status in row["status"]}
    assert listed == {(error.code, error.status) for error in CATALOGUE}
    assert answer.document["meta"] == {"total": len(answer.document["data"])}
