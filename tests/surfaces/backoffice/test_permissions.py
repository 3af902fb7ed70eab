"""Who may do what on the back office: on every row a role that may, and one that may not."""

from __future__ import annotations

import pytest

from gateway.domain.identity.rights import Right, Role, needs_step_up
from gateway.http.table import RoutedRow
from policies.authorization.user import FreshFactor
from tests.world.backoffice import matrix
from tests.world.backoffice.client import NOBODY, BackofficeClient
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
    "backoffice.pix_key_owner": "pix_key:read",
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
    "backoffice.search": "payout:read",
    "backoffice.counts": "review:read",
    "backoffice.withdraws": "payout:read",
    "backoffice.overview": "payout:read",
    "backoffice.readings": "balance:read",
    "backoffice.weather": "provider:read",
    "backoffice.provider_weather": "provider:read",
    "backoffice.payouts": "payout:read",
    "backoffice.payouts_export": "payout:read",
    "backoffice.withdraw_bank": "payout:write",
    "backoffice.withdraw_pix": "payout:write",
    "backoffice.withdraw_cancel": "payout:write",
    "backoffice.bank_numbers": "payout:read",
    "backoffice.names": "account:read",
}
"""Of the banking operations, written down once more: a row cannot loosen itself unseen."""


EACH_OUTCOME = pytest.mark.parametrize(
    ("place", "role"),
    matrix.outcomes(),
    ids=lambda each: each.value if isinstance(each, Role) else matrix.name(each),
)


def main(backoffice_client: BackofficeClient) -> str:
    return backoffice_client.world.demo["accounts"]["main"]["id"]


async def test_the_operations_need_what_is_written_here():
    declared = {place.row.name: str(place.row.needs) for place in matrix.GUARDED}

    assert {name: declared[name] for name in NEEDED} == NEEDED


@EACH_OUTCOME
async def test_a_role_opens_exactly_its_rows(
    backoffice_client: BackofficeClient, place: RoutedRow, role: Role
):
    """Asked for what is not there, with an empty body: what is let in is refused later."""
    path = matrix.path(place, account_id=main(backoffice_client))
    body = {} if place.row.takes.body else None

    answer = await backoffice_client.ask(
        place.row.method, path, body, by=role.value, kind=matrix.kind(place)
    )

    if matrix.may(role, place):
        assert answer.code not in {"FORBIDDEN", "STEP_UP_REQUIRED", "TOKEN_INVALID"}, answer.body
        assert answer.status != 500, answer.body
    else:
        assert answer.verdict == (403, "FORBIDDEN")


@EACH_OUTCOME
async def test_what_is_listed_for_who_is_limited_works(
    backoffice_client: BackofficeClient, place: RoutedRow, role: Role
):
    """
    As above for people who see one company: what their session lists, and nothing else.

    A page builds its menu from that list.
    """
    who = await limited(backoffice_client, role)
    path = matrix.path(place, account_id=main(backoffice_client))
    body = {} if place.row.takes.body else None
    permissions = {str(right) for right in somebody(role, companies=frozenset({"c"})).rights}

    answer = await backoffice_client.ask(
        place.row.method, path, body, by=who, kind=matrix.kind(place)
    )

    if matrix.listed(permissions, place):
        assert answer.code not in {"FORBIDDEN", "STEP_UP_REQUIRED", "TOKEN_INVALID"}, answer.body
        assert answer.status != 500, answer.body
    else:
        assert answer.verdict == (403, "FORBIDDEN")


@pytest.mark.parametrize("place", matrix.GUARDED, ids=matrix.name)
async def test_nobody_comes_in_without_a_token(
    backoffice_client: BackofficeClient, place: RoutedRow
):
    """Nor with a partner's credential, which is answered by its own code."""
    path = matrix.path(place, account_id=main(backoffice_client))

    nobody = await backoffice_client.ask(place.row.method, path, by=NOBODY)
    partner = await backoffice_client.ask(
        place.row.method, path, by=NOBODY, headers={"Authorization": "Basic YTpi"}
    )

    assert nobody.verdict == (401, "TOKEN_INVALID")
    assert partner.verdict == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("place", matrix.GUARDED, ids=matrix.name)
async def test_a_right_of_weight_asks_for_a_fresh_factor(
    backoffice_client: BackofficeClient, place: RoutedRow
):
    """Somebody of every role who has no second factor reads, and does nothing of weight."""
    who = await everybody(backoffice_client)
    path = matrix.path(place, account_id=main(backoffice_client))
    body = {} if place.row.takes.body else None

    answer = await backoffice_client.ask(
        place.row.method, path, body, by=who, kind=matrix.kind(place)
    )

    assert isinstance(place.row.needs, Right)
    asks = any(isinstance(each, FreshFactor) and each.always for each in place.gate.policies)
    weighty = asks or needs_step_up(place.row.needs)
    assert asks is (place.row.name == "backoffice.stop_lift")
    assert (answer.verdict == (403, "STEP_UP_REQUIRED")) is weighty, answer.body


LIMITED: dict[Role, str] = {}
"""Who stands for a role, limited to the main company; made once."""


async def limited(backoffice_client: BackofficeClient, role: Role) -> str:
    """Sign somebody in who sees the main company alone; once for each role."""
    if LIMITED.get(role) not in backoffice_client.tokens:
        LIMITED[role] = await backoffice_client.limited("main", role)
    return LIMITED[role]


async def everybody(backoffice_client: BackofficeClient) -> str:
    """Sign somebody in who has every role and no second factor; once."""
    who = "everybody@example.com"
    if who not in backoffice_client.tokens:
        await backoffice_client.plain(who, *Role)
    return who


async def test_every_role_is_let_in_and_refused_somewhere():
    """A role that no row tries would be proven by the table alone."""
    tried = {(role, matrix.may(role, place)) for place, role in matrix.outcomes()}

    assert tried == {(role, may) for role in Role for may in (True, False)}
