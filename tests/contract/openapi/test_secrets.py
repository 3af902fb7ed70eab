"""No answer of any operation contains a secret of the store."""

from __future__ import annotations

import pytest

from tests.contract.openapi.accepted import sent, what_is_known
from tests.contract.openapi.requests_made import example
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.documents import SURFACES
from tests.world.secret_columns import OPEN, SECRET, doubtful, stored_secrets

__all__ = ["backoffice_client"]

FAILED = 500
OF_THE_PANEL = ("panel_sessions.", "chats.", "push_subscriptions.", "identity_providers.")
"""Made by pages alone, whose tests look for them."""


def test_every_possibly_secret_column_is_classified():
    """A new one gets a line in tests/world/secret_columns.py."""
    assert doubtful() == SECRET | OPEN


@pytest.mark.asyncio(loop_scope="module")
async def test_no_answer_holds_a_secret(backoffice_client: BackofficeClient):
    """Every operation is called with a sufficient right, so that every document is shown."""
    answers = {}
    for surface in SURFACES.values():
        for place in surface.places:
            known = await what_is_known(backoffice_client, place)
            answer = await sent(backoffice_client, place, example(place), known)
            answers[place.route.name] = (answer.status, answer.body.decode(errors="replace"))
    secrets = await stored_secrets(backoffice_client.world.gateway.kernel)
    shown = {
        (route, column)
        for route, (_, body) in answers.items()
        for column, values in secrets.items()
        if any(value in body for value in values)
    }

    empty = {column for column, values in secrets.items() if not values}
    assert {column for column in empty if not column.startswith(OF_THE_PANEL)} == set()
    # payouts cannot be cancelled
    failed = {route for route, (status, _) in answers.items() if status >= FAILED}
    assert failed == {"banking.payout_cancel", "backoffice.withdraw_cancel"}
    assert shown == set()
