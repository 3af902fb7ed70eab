"""
What would a call be answered, and why was one refused?

Each refusal of the order of checks is really provoked; what is said of it before and afterwards
must be what the gate answered. Source: decisions 2, steps 4 to 20.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from gateway.config.settings import FailedCredentials, Limits, Payouts, Rate, RateLimits
from gateway.core.company_scope import StopScope
from gateway.core.rights import Role
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.explanations import OFFICE, explained
from tests.world.gateway.world import (
    FREE,
    World,
    basic,
    opened,
    order,
    other_secret,
    patient,
    sandbox,
)
from tests.world.stops import lift, stop_payouts

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = "127.0.0.1"
WINDOW = "init=2026-11-01&ends=2026-11-02"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A call that is refused by one check."""

    step: int
    path: str = "/balance"
    account: str = "main"
    method: str = "GET"
    by: str = "full"
    authorization: str = "right_secret"
    changed: Mapping[str, object] = field(default_factory=dict)
    content_type: str = "application/json"

    def url(self, world: World) -> str:
        return self.path if self.path.startswith("/baas") else world.at(self.path, self.account)

    def body(self, world: World) -> bytes:
        if self.method != "POST":
            return b""
        paid = {**order(f"case-{uuid.uuid4()}", world.today()), **self.changed}
        return msgspec.json.encode(paid)


def payout(step: int, **case: Any) -> Case:
    return Case(step=step, path="/withdraw", method="POST", **case)


CASES = {
    "no such path": Case(step=4, path="/baas/v1/nothing"),
    "another path by its slash": Case(step=4, path="/balance/"),
    "no such method": Case(step=5, method="DELETE"),
    "a large body": payout(6, changed={"description": "x" * 70_000}),
    "no credential": Case(step=8, authorization="absent"),
    "another scheme": Case(step=8, authorization="other_scheme"),
    "a malformed header": Case(step=8, authorization="malformed"),
    "a wrong secret": Case(step=8, authorization="wrong_secret"),
    "a revoked credential": Case(step=8, by="revoked"),
    "no permission": Case(step=10, by="none"),
    "too little permission": payout(10, by="withdraw:read"),
    "an account id of another form": Case(step=11, path="/baas/v1/account/1/balance"),
    "a key id of another form": Case(step=11, path="/pix/keys/1"),
    "an account of another company": Case(step=12, account="other_company"),
    "no such account": Case(step=12, path=f"/baas/v1/account/{uuid.uuid4()}/balance"),
    "a sister account": Case(step=13, account="sister"),
    "an inactive account": Case(step=14, account="inactive", by="company"),
    "an unverified account": Case(step=15, account="unverified", by="company"),
    "inactive before unverified": Case(step=14, account="inactive_unverified", by="company"),
    "a missing parameter": Case(step=16, path="/transactions?ends=2026-11-02"),
    "a date of another form": Case(step=16, path="/withdraws?init=1&ends=2026-11-02"),
    "a window backwards": Case(step=16, path="/withdraws?init=2026-11-02&ends=2026-11-01"),
    "a page of another form": Case(step=16, path=f"/withdraws?{WINDOW}&page=0"),
    "a reference of another form": Case(step=16, path="/withdraw/%00"),
    "another media type": payout(17, content_type="text/plain"),
    "a missing field": payout(17, changed={"value": None}),
    "an unknown method": payout(17, changed={"method": "qrcode"}),
    "an amount of zero": payout(17, changed={"value": 0}),
    "no bank account": payout(17, changed={"method": "bank_account"}),
    "another content": payout(18, changed={"reference": "known", "value": 3}),
    "another day": payout(19, changed={"date": "2026-01-01"}),
    "no bank for a read": Case(step=20, account="no_provider", by="company"),
    "no bank for a payout": payout(20, account="no_provider", by="company"),
    "a bank that is read-only": payout(20, account="read_only", by="company"),
    "no way back": Case(step=22, path="/withdraw/known", method="DELETE"),
}
ALLOWED = {
    "a balance": Case(step=0),
    "a balance by its HEAD": Case(step=0, method="HEAD"),
    "an account id in capitals": Case(step=0, path="/pix/keys"),
    "a statement": Case(step=0, path=f"/transactions?{WINDOW}"),
    "a read at a bank that is read-only": Case(step=0, account="read_only", by="company"),
    "the same content once more": payout(0, changed={"reference": "known"}),
    "the service itself": Case(step=0, path="/baas/v1/info", authorization="absent"),
}


async def really(world: World, case: Case, body: bytes, trace: str) -> tuple[int, str]:
    """Make the call; return its status and code."""
    headers = {"X-Trace-ID": trace}
    given: Callable[[], dict[str, str]] = {
        "right_secret": lambda: {"Authorization": basic(world.pair(case.by))},
        "wrong_secret": lambda: {"Authorization": basic(other_secret(world.pair(case.by)))},
        "absent": dict,
        "malformed": lambda: {"Authorization": "Basic"},
        "other_scheme": lambda: {"Authorization": "Bearer token"},
    }[case.authorization]
    headers |= given()
    if body:
        headers["Content-Type"] = case.content_type
    said = await world.call(case.method, case.url(world), headers=headers, data=body or None)
    code = said.document["code"] if said.status >= 400 and said.body else ""
    return said.status, str(code)


async def foretold(
    desk: BackofficeClient, case: Case, body: bytes, **how: object
) -> dict[str, Any]:
    """Ask what the call would be answered."""
    fits = len(body) < 32_768
    said = await desk.ask(
        "POST",
        f"{OFFICE}/explain",
        {
            "client_id": desk.world.pair(case.by)["client_id"],
            "method": case.method,
            "path": case.url(desk.world),
            "authorization": case.authorization,
            "body": body.decode() if fits else "",
            "body_bytes": len(body),
            "content_type": case.content_type,
            "address": HERE,
        },
        **how,  # type: ignore[arg-type]
    )
    assert said.status == 200, said.body
    return dict(said.document)


def word(told: Mapping[str, Any]) -> tuple[int, str, str, str, int]:
    return told["status"], told["code"], told["reason"], told["field"], told["step"]


async def test_every_refusal_is_foretold_and_explained_as_it_was(
    backoffice_client: BackofficeClient,
):
    """Asked before the call, and after it by its trace id: one verdict, one reason, one check."""
    world = backoffice_client.world
    assert (await world.pay(order("known", world.today()))).status == 200
    made: dict[str, tuple[str, dict[str, Any], tuple[int, str]]] = {}

    for name, case in CASES.items():
        body, trace = case.body(world), f"case-{uuid.uuid4()}"
        told = await foretold(backoffice_client, case, body)
        made[name] = trace, told, await really(world, case, body, trace)

    assert {name: (told["status"], told["code"]) for name, (_, told, _) in made.items()} == {
        name: answered for name, (_, _, answered) in made.items()
    }
    assert {name: made[name][1]["step"] for name in CASES} == {
        name: case.step for name, case in CASES.items()
    }
    for name, (trace, told, _) in made.items():
        afterwards = (await explained(backoffice_client, trace))["explanation"]
        assert word(afterwards) == word(told), name
        assert afterwards["rule"] == told["rule"], name
        assert told["remedies"], name
        assert [each["number"] for each in told["checks"] if each["state"] == "refused"] == [
            CASES[name].step
        ], name


@pytest.mark.parametrize("name", ALLOWED)
async def test_what_is_allowed_is_foretold_too(backoffice_client: BackofficeClient, name: str):
    world, case = backoffice_client.world, ALLOWED[name]
    assert (await world.pay(order("known", world.today()))).status == 200
    body = case.body(world)

    told = await foretold(backoffice_client, case, body)
    status, code = await really(world, case, body, str(uuid.uuid4()))

    assert (told["refused"], told["status"], told["code"]) == (False, status, code)
    assert {each["state"] for each in told["checks"]} == {"passed"}


async def test_the_accounts_of_a_refusal_are_named(backoffice_client: BackofficeClient):
    """Both are of the credential's own company; the one that was asked for is in the log."""
    world, case, trace = backoffice_client.world, CASES["a sister account"], f"t-{uuid.uuid4()}"
    names = []
    for each in ("main", "sister"):
        said = await backoffice_client.read("", each)
        names.append(said.document)

    told = await foretold(backoffice_client, case, b"")
    await really(world, case, b"", trace)
    afterwards = (await explained(backoffice_client, trace))["explanation"]

    own, asked = (each["name"] for each in names)
    fact = f"It was issued for the account {own} alone; the call was about {asked}."
    assert fact in [each["text"] for each in told["facts"]]
    assert afterwards["facts"] == told["facts"]
    assert afterwards["remedies"] == told["remedies"]


async def test_asking_pays_nothing_and_asks_no_bank(backoffice_client: BackofficeClient):
    """A payout that nothing refuses is neither stored nor sent by asking about it."""
    world = backoffice_client.world
    case = payout(0, changed={"reference": "only asked"})
    trace = uuid.uuid4().hex

    told = await foretold(backoffice_client, case, case.body(world), headers={"X-Trace-ID": trace})

    assert told["refused"] is False
    assert await world.asked(trace) == []
    read = await world.ask("GET", world.at("/withdraw/only%20asked"))
    assert read.verdict == (404, "SVC.PIX.011")


async def test_a_stop_is_foretold(backoffice_client: BackofficeClient):
    world = backoffice_client.world
    account_id = world.demo["accounts"]["main"]["id"]
    stop = await stop_payouts(world.office, StopScope.ACCOUNT, account_id)
    case = payout(20)
    try:
        told = await foretold(backoffice_client, case, case.body(world))
        answered = await really(world, case, case.body(world), "stopped")
    finally:
        await lift(world.office, stop.id)

    assert word(told) == (*answered, "stopped", "", 20)


async def test_a_foreign_credential_is_as_good_as_none(backoffice_client: BackofficeClient):
    """Whoever sees one company alone learns nothing about another's credential."""
    who = await backoffice_client.limited("other", Role.OPERATOR)
    foreign = await foretold(backoffice_client, Case(step=8), b"", by=who)
    world = backoffice_client.world
    told = await backoffice_client.ask(
        "POST",
        f"{OFFICE}/explain",
        {"client_id": "cli_" + "a" * 20, "method": "GET", "path": Case(step=8).url(world)},
        by=who,
    )

    assert word(foreign) == (401, "SVC.AUT.010", "invalid", "", 8)
    assert told.document == foreign


async def test_a_trace_of_another_company_is_as_good_as_none(backoffice_client: BackofficeClient):
    world, trace = backoffice_client.world, f"trace-{uuid.uuid4()}"
    case = payout(0, changed={"reference": trace})
    await really(world, case, case.body(world), trace)
    mine = await explained(backoffice_client, trace)
    who = await backoffice_client.limited("other", Role.OPERATOR)
    ours = await backoffice_client.limited("main", Role.OPERATOR)

    whole = (await backoffice_client.ask("GET", f"{OFFICE}/traces/{trace}", by=ours)).document
    theirs = [
        await backoffice_client.ask("GET", f"{OFFICE}/traces/{trace}{more}", by=who)
        for more in ("", "/explanation")
    ]
    absent = await backoffice_client.ask("GET", f"{OFFICE}/traces/{uuid.uuid4()}", by=who)

    assert mine["request"]["route"] == "banking.payout_create"
    assert [each["reference"] for each in whole["attempts"]] == [trace]
    assert len(whole["requests"]) == 1
    assert "audit" not in whole
    assert whole["explained"] == mine
    assert {each.verdict for each in (*theirs, absent)} == {(404, "NOT_FOUND")}
    assert theirs[0].without_trace == absent.without_trace


async def test_a_trace_has_its_acts_for_who_may_read_them(backoffice_client: BackofficeClient):
    trace = f"trace-{uuid.uuid4()}"
    said = await backoffice_client.ask(
        "POST",
        f"{OFFICE}/companies",
        {"name": "Traced"},
        by="admin",
        headers={"X-Trace-ID": trace},
    )

    whole = await backoffice_client.ask("GET", f"{OFFICE}/traces/{trace}", by="admin")

    assert said.status == 201
    assert [each["action"] for each in whole.document["audit"]] == ["company.created"]


SCARCE = Rate(rate=0.001, burst=2)


@pytest.mark.parametrize("name", ["read", "company", "payout"])
async def test_a_quota_is_foretold_and_not_used_up_by_asking(tmp_path: Path, name: str):
    limits = RateLimits(**{**dict.fromkeys(RateLimits.__struct_fields__, FREE), name: SCARCE})
    case = payout(9) if name == "payout" else Case(step=9)
    async with opened(patient(sandbox(tmp_path, ratelimits=limits))) as world:
        desk = BackofficeClient(world)
        seen = []
        for _ in range(4):
            body = case.body(world)
            told = [await foretold(desk, case, body) for _ in range(3)][-1]
            answered = await really(world, case, body, "t")
            seen.append(((told["status"], told["code"]), answered, told["step"]))

    assert [answered for _, answered, _ in seen] == [
        *[(200, "")] * 2,
        *[(429, "SVC.GTW.005")] * 2,
    ]
    assert [told for told, _, _ in seen] == [answered for _, answered, _ in seen]
    assert [step for _, _, step in seen] == [0, 0, 9, 9]


async def test_throttled_and_blocked_addresses_are_foretold(tmp_path: Path):
    """The answer turns with the very refusal that is one too many; asking counts for none."""
    failed = FailedCredentials(per_address=2, per_address_and_client=2, hard_per_address=4)
    wrong, right = Case(step=8, authorization="wrong_secret"), Case(step=0)
    settings = patient(sandbox(tmp_path, limits=Limits(loop_lag_s=30, failed_credentials=failed)))
    async with opened(settings) as world:
        desk = BackofficeClient(world)
        seen = []
        for _ in range(6):
            for case in (wrong, right):
                told = [await foretold(desk, case, b"") for _ in range(2)][-1]
                answered = await really(world, case, b"", "t")
                seen.append((told["status"], answered[0], told["reason"]))

    assert [told for told, _, _ in seen] == [answered for _, answered, _ in seen]
    assert [reason for _, _, reason in seen] == [
        *("invalid", "", "invalid", "", "throttled", "", "throttled", ""),
        *("throttled", "address_blocked", "address_blocked", "address_blocked"),
    ]


async def test_one_like_another_and_one_above_a_limit_are_foretold(tmp_path: Path):
    async with opened(patient(sandbox(tmp_path, payouts=Payouts(similar="refuse")))) as world:
        desk = BackofficeClient(world)
        await world.pay(order("first", world.today()))
        case = payout(20)
        told = await foretold(desk, case, case.body(world))
        answered = await really(world, case, case.body(world), "t")
        counted = await metrics(world)

    assert word(told) == (*answered, "similar", "", 20)
    assert 'pixgate_payout_similar_total{provider="sandbox"} 1.0' in counted


async def metrics(world: World) -> list[str]:
    url = f"http://127.0.0.1:{world.gateway.operations.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as said:
        return (await said.text()).splitlines()
