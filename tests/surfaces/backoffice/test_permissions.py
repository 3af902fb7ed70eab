"""Rights on the back office: each route with a role that has its right, and one that lacks it."""

from __future__ import annotations

import pytest

from gateway.core.rights import Right, Role, needs_step_up
from gateway.http.table import PlacedRoute
from policies.authorization.user import FreshFactor
from tests.world.backoffice import matrix
from tests.world.backoffice.client import NOBODY, BackofficeClient
from tests.world.gateway.answers import Answer
from tests.world.people import somebody

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEEDED = {
    "backoffice.accounts": "account:read",
    "backoffice.account": "account:read",
    "backoffice.balance": "balance:read",
    "backoffice.blocks": "balance:read",
    "backoffice.linked_statement": "transaction:read",
    "backoffice.statement": "transaction:read",
    "backoffice.report": "report:read",
    "backoffice.pix_keys": "pix_key:read",
    "backoffice.pix_key": "pix_key:read",
    "backoffice.pix_key_create": "pix_key:write",
    "backoffice.pix_key_cancel": "pix_key:write",
    "backoffice.pix_key_owner": "key_owner:read",
    "backoffice.charges": "qrcode:read",
    "backoffice.qrcode": "qrcode:read",
    "backoffice.qrcode_generate": "qrcode:write",
    "backoffice.qrcode_cancel": "qrcode:write",
    "backoffice.pix_transactions": "transaction:read",
    "backoffice.pix_refunds": "refund:read",
    "backoffice.pix_refund": "refund:read",
    "backoffice.pix_refund_create": "refund:write",
    "backoffice.withdraw": "payout:read",
    "backoffice.withdraw_dossier": "payout:read",
    "backoffice.withdraw_probe": "probe:write",
    "backoffice.withdraw_release": "approval:write",
    "backoffice.withdraw_refuse": "approval:write",
    "backoffice.search": "payout:read",
    "backoffice.counts": "review:read",
    "backoffice.withdraws": "payout:read",
    "backoffice.recipients": "payout:read",
    "backoffice.overview": "payout:read",
    "backoffice.readings": "balance:read",
    "backoffice.weather": "provider:read",
    "backoffice.provider_weather": "provider:read",
    "backoffice.payouts": "payout:read",
    "backoffice.payouts_export": "report:read",
    "backoffice.withdraw_bank": "payout:write",
    "backoffice.withdraw_pix": "payout:write",
    "backoffice.withdraw_cancel": "payout:write",
    "backoffice.bank_numbers": "payout:read",
    "backoffice.names": "account:read",
}
"""Of the banking operations, written down once more: a route cannot loosen itself unseen."""


async def ask(client: BackofficeClient, place: PlacedRoute, who: str) -> Answer:
    """Send a route an empty body: an accepted request is refused later."""
    path = matrix.path(place, account_id=client.world.demo["accounts"]["main"]["id"])
    body = {} if place.route.takes.body else None
    return await client.ask(place.route.method, path, body, by=who, kind=matrix.kind(place))


def is_let_in(answer: Answer) -> bool:
    return answer.status != 500 and answer.code not in {
        *("FORBIDDEN", "STEP_UP_REQUIRED", "TOKEN_INVALID")
    }


def is_right(answer: Answer, *, allowed: bool) -> bool:
    return is_let_in(answer) if allowed else answer.verdict == (403, "FORBIDDEN")


async def test_each_operation_needs_its_listed_permission():
    declared = {place.route.name: str(place.route.needs) for place in matrix.GUARDED}

    assert {name: declared[name] for name in NEEDED} == NEEDED


async def test_a_role_opens_exactly_the_routes_of_its_rights(backoffice_client: BackofficeClient):
    wrong = {}
    for place, role in matrix.outcomes():
        answer = await ask(backoffice_client, place, role.value)
        if not is_right(answer, allowed=matrix.may(role, place)):
            wrong[place.route.name, role] = answer.body

    assert wrong == {}


async def test_every_role_is_allowed_and_refused_by_some_route():
    """Otherwise a role would be proven only by the table."""
    tried = {(role, matrix.may(role, place)) for place, role in matrix.outcomes()}

    assert tried == {(role, may) for role in Role for may in (True, False)}


async def test_a_user_of_one_company_opens_the_pages_of_the_session(
    backoffice_client: BackofficeClient,
):
    """One route of each gate, and each that the limit closes; menus use the same list."""
    listed = {
        role: {str(right) for right in somebody(role, companies=frozenset({"c"})).rights}
        for role in Role
    }
    tried = [
        (place, role, matrix.listed(listed[role], place))
        for place, role in matrix.outcomes()
        if place in matrix.OF_EACH_GATE
        or matrix.listed(listed[role], place) is not matrix.may(role, place)
    ]
    people = {
        role: await backoffice_client.limited("main", role) for role in {each[1] for each in tried}
    }

    wrong = {}
    for place, role, allowed in tried:
        answer = await ask(backoffice_client, place, people[role])
        if not is_right(answer, allowed=allowed):
            wrong[place.route.name, role] = answer.body

    assert wrong == {}
    assert {True, False} == {allowed for *_, allowed in tried}


@pytest.mark.parametrize("place", matrix.OF_EACH_GATE, ids=matrix.name)
async def test_each_gate_requires_a_token(backoffice_client: BackofficeClient, place: PlacedRoute):
    """A partner's credential is refused with its own code."""
    path = matrix.path(place, account_id=backoffice_client.world.demo["accounts"]["main"]["id"])

    nobody = await backoffice_client.ask(place.route.method, path, by=NOBODY)
    partner = await backoffice_client.ask(
        place.route.method, path, by=NOBODY, headers={"Authorization": "Basic YTpi"}
    )

    assert nobody.verdict == (401, "TOKEN_INVALID")
    assert partner.verdict == (401, "INVALID_CREDENTIALS")


async def test_sensitive_rights_require_a_fresh_factor(backoffice_client: BackofficeClient):
    """Any role without a second factor may read, and change nothing sensitive."""
    await backoffice_client.plain("everybody@example.com", *Role)

    wrong = {}
    for place in matrix.GUARDED:
        assert isinstance(place.route.needs, Right)
        always = any(isinstance(each, FreshFactor) and each.always for each in place.gate.policies)
        answer = await ask(backoffice_client, place, "everybody@example.com")
        refused = answer.verdict == (403, "STEP_UP_REQUIRED")
        if refused is not (always or needs_step_up(place.route.needs)):
            wrong[place.route.name] = answer.body
        if always is not (place.route.name in {"backoffice.stop_lift", "backoffice.qrcode_cancel"}):
            wrong[place.route.name] = b"in the wrong gate"

    assert wrong == {}
