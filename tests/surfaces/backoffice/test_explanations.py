"""
Why a call was refused.

Each check of decisions 2, steps 4 to 22, refuses a call; the explanation of that call's trace
names the check and the answer.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from gateway.core.company_scope import StopScope
from gateway.core.rights import Role
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.explanations import OFFICE, explained
from tests.world.gateway.world import World, basic, order, other_secret
from tests.world.stops import lift, stop_payouts

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW = "init=2026-11-01&ends=2026-11-02"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
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


async def test_an_explanation_names_the_check_that_refused(backoffice_client: BackofficeClient):
    world = backoffice_client.world
    assert (await world.pay(order("known", world.today()))).status == 200
    expected, found = {}, {}

    for name, case in CASES.items():
        trace = f"case-{uuid.uuid4()}"
        status, code = await really(world, case, case.body(world), trace)
        expected[name] = status, code, case.step, [case.step]
        why = (await explained(backoffice_client, trace))["explanation"]
        refused = [each["number"] for each in why["checks"] if each["state"] == "refused"]
        found[name] = why["status"], why["code"], why["step"], refused
        assert why["refused"], name
        assert why["remedies"], name

    assert found == expected


async def test_a_stopped_payout_is_explained(backoffice_client: BackofficeClient):
    world = backoffice_client.world
    account_id = world.demo["accounts"]["main"]["id"]
    stop = await stop_payouts(world.office, StopScope.ACCOUNT, account_id)
    case, trace = payout(20), f"stopped-{uuid.uuid4()}"
    try:
        await really(world, case, case.body(world), trace)
    finally:
        await lift(world.office, stop.id)

    why = (await explained(backoffice_client, trace))["explanation"]

    assert (why["reason"], why["step"]) == ("stopped", 20)


async def test_the_accounts_of_a_refusal_are_named(backoffice_client: BackofficeClient):
    """Both belong to the credential's own company; the requested one is in the log."""
    world, case, trace = backoffice_client.world, CASES["a sister account"], f"t-{uuid.uuid4()}"
    names = []
    for each in ("main", "sister"):
        said = await backoffice_client.read("", each)
        names.append(said.document)

    await really(world, case, b"", trace)
    why = (await explained(backoffice_client, trace))["explanation"]

    own, asked = (each["name"] for each in names)
    fact = f"It was issued for the account {own} alone; the call was about {asked}."
    assert fact in [each["text"] for each in why["facts"]]


async def test_a_trace_of_another_company_is_not_found(backoffice_client: BackofficeClient):
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


async def test_a_trace_shows_its_acts_to_readers_of_the_audit_log(
    backoffice_client: BackofficeClient,
):
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
