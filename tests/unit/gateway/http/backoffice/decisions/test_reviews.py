"""The rows of reviews."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.payouts.payouts import PayoutState
from gateway.domain.payouts.reviews import Verdict
from gateway.http.backoffice.decisions.reviews import (
    JudgementBody,
    WithdrawalBody,
    _probed,
    judge,
    list_reviews,
    list_unresolved,
    withdraw,
)
from gateway.operations.backoffice.money.unresolved_probes import (
    ProbedAll,
    ProbedPayout,
    ProbeResult,
)
from tests.unit.gateway.http.backoffice.registers import FIRST, AdminWorld, turned_down
from tests.unit.gateway.http.backoffice.surface import STAFF, line
from tests.world.stores.samples import payout


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("reviews", ("GET", "/reviews", "review:read", 200)),
        ("unresolved", ("GET", "/unresolved", "review:read", 200)),
        ("review_judge", ("POST", "/reviews", "review:write", 200)),
        ("review_withdraw", ("POST", "/reviews/withdraw", "review:write", 200)),
        ("unresolved_probe", ("POST", "/unresolved/probe", "probe:write", 200)),
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
    withdraws = admin_world.does(withdraw)(limited, WithdrawalBody(said.account_id, "r"))
    assert await turned_down(withdraws) == "400 VALIDATION_FAILED"


def test_what_was_asked_is_told_with_what_was_not():
    def told(reference: str, state: PayoutState, result: ProbeResult) -> ProbedPayout:
        return ProbedPayout(replace(payout(reference), state=state), result)

    each = [
        told("a", PayoutState.PAID, ProbeResult.ASKED),
        told("b", PayoutState.UNKNOWN, ProbeResult.ASKED),
        told("c", PayoutState.UNKNOWN, ProbeResult.JUST_ASKED),
        told("d", PayoutState.PAID, ProbeResult.ENDED),
    ]

    shown = _probed(ProbedAll(each=each, total=60), STAFF)

    assert {name: shown[name] for name in shown if name != "data"} == {  # type: ignore[literal-required]
        "total": 60,
        "asked": 2,
        "proven": 1,
        "just_asked": 1,
        "ended": 1,
        "no_time": 56,
    }
    assert [one["reference"] for one in shown["data"]] == ["a", "b", "c", "d"]
