"""A store that is away has one answer on every route of the back office and of callbacks: 503."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from gateway.http.common import STORE_FAILS
from gateway.http.route import code_of
from tests.contract.openapi.accepted import credential, sent, what_is_known
from tests.contract.openapi.requests_made import example
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.documents import SURFACES
from tests.world.gateway.answers import Answer
from tests.world.gateway.callbacks import summary

__all__ = ["backoffice_client"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

AWAY = (503, "SVC.SYS.002")
ROUTES = [place for place in SURFACES["backoffice"].places if place.route.needs is not None]
WITHOUT_STORE = {"backoffice.roles", "backoffice.providers"}
"""Routes that read nothing but the caller's session."""

RECORDS = (
    *("companies", "credentials", "payouts", "payout_attempts", "payout_stops", "payout_opinions"),
    *("audit", "audit_head", "approvals", "callbacks", "request_log", "mailbox", "failure_counts"),
)
"""Everything but what lets a caller in: users, sessions and the account in the path."""

BANK_ALONE = {
    *("balance", "statement", "report", "pix_keys", "pix_key", "qrcode"),
    *("pix_transactions", "pix_refunds", "pix_refund"),
}
"""Routes that ask the bank alone, once the account in the path is known."""


async def test_a_route_answers_503_when_its_records_are_unavailable(
    backoffice_client: BackofficeClient,
):
    """Callers and accounts are cached; the other records are unavailable."""
    known = [(place, await what_is_known(backoffice_client, place)) for place in ROUTES]
    for place, each in known:
        await credential(backoffice_client, place, each)

    async with backoffice_client.world.losing(*RECORDS):
        answers = {
            place.route.name: await sent(backoffice_client, place, example(place), each)
            for place, each in known
        }

    wrong = {name: each.body for name, each in answers.items() if not is_right(name, each)}
    assert wrong == {}


def is_right(route: str, answer: Answer) -> bool:
    """Whether a route that asks the bank alone succeeds, and every other is away if it fails."""
    if route.removeprefix("backoffice.") in BANK_ALONE or route in WITHOUT_STORE:
        return answer.status == 200
    if answer.status < 400 or answer.verdict == (501, "SVC.PIX.018"):
        return True
    return answer.verdict == AWAY and answer.headers["Retry-After"] == "2"


async def test_a_callback_that_cannot_be_stored_is_answered_503(
    backoffice_client: BackofficeClient,
):
    """So that the bank sends it again."""
    async with backoffice_client.world.losing("callbacks"):
        answer = await summary(backoffice_client, {"tipo": "x"})

    assert answer.verdict == AWAY
    assert answer.headers["Retry-After"] == "2"


async def test_every_route_maps_a_store_failure_to_store_unavailable():
    wrong = [
        place.route.name
        for place in ROUTES
        if code_of(StoreUnavailable(), place.route.fails) is not errors.STORE_UNAVAILABLE
        or not set(STORE_FAILS.items()) <= set(place.route.fails.items())
    ]

    assert wrong == []
