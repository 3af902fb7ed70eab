"""The rows of reviews."""

from __future__ import annotations

import pytest

from gateway.domain.payouts.reviews import Verdict
from gateway.http.backoffice.oversight.reviews import (
    JudgementBody,
    judge,
    list_reviews,
    list_unresolved,
)
from tests.unit.gateway.http.backoffice.registers import FIRST, AdminWorld, turned_down
from tests.unit.gateway.http.backoffice.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("reviews", ("GET", "/reviews", "review:read", 200)),
        ("unresolved", ("GET", "/unresolved", "review:read", 200)),
        ("review_judge", ("POST", "/reviews", "review:write", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


async def test_what_is_not_in_review_is_not_judged(admin_world: AdminWorld):
    """One answer for a payout that is not there and for one of another company."""
    judges = admin_world.does(judge)
    said = JudgementBody(
        account_id=admin_world.foreign.id, reference="r", verdict=Verdict.PAID, reason="seen"
    )

    assert (await admin_world.does(list_reviews)(admin_world.staff(), FIRST)).items == []
    unresolved = admin_world.does(list_unresolved)
    assert (await unresolved(admin_world.staff(), FIRST)).items == []
    assert await turned_down(judges(admin_world.staff(), said)) == "400 VALIDATION_FAILED"
    limited = admin_world.staff(admin_world.ours.id)
    assert await turned_down(judges(limited, said)) == "400 VALIDATION_FAILED"
