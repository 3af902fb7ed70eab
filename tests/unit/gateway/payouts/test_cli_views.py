"""Payouts as rows: what is shown, and what is left out."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import PixReturn
from gateway.cli.console import Terminal
from gateway.core.money import Money
from gateway.payouts.cli import LISTED, attempt_row, opinion_row, payout_row, show_dossier
from gateway.payouts.documents import PayoutDetail
from gateway.payouts.model import Failure, Opinion, PayoutState, Verdict
from tests.world.stores.samples import EVIDENCE, NOW, account, attempt, payout

OPINION = Opinion(
    account_id="a",
    reference="r",
    verdict=Verdict.PAID,
    reason="extrato",
    by="maria",
    at=NOW,
    attempt=1,
    state=PayoutState.UNKNOWN,
)


def test_a_row_has_every_listed_column():
    assert set(LISTED) <= payout_row(payout()).keys()


def test_a_failure_is_named():
    failed = replace(
        payout(), state=PayoutState.FAILED, failure=Failure(FailureCode.INSUFFICIENT_FUNDS)
    )

    row = payout_row(failed)

    assert (row["failure"], row["certainty"]) == ("INSUFFICIENT_FUNDS", "confirmed_rejected")


def test_an_attempt_is_shown_with_its_evidence():
    row = attempt_row(replace(attempt(), evidence=EVIDENCE), payout())

    assert (row["phase"], row["bytes_left"], row["http_status"]) == ("answered", True, 422)
    assert (row["reason"], row["provider_code"]) == ("listed", EVIDENCE.provider_code)


@pytest.mark.parametrize(
    ("state", "number", "shown"),
    [
        (PayoutState.UNKNOWN, 1, True),
        (PayoutState.PAID, 1, False),
        (PayoutState.UNKNOWN, 2, False),
    ],
    ids=["looked for", "final", "an earlier try"],
)
def test_the_next_query_is_shown_while_a_payout_is_open(
    state: PayoutState, number: int, shown: bool
):
    row = attempt_row(
        replace(attempt(), next_probe_at=NOW), replace(payout(), state=state, attempt=number)
    )

    assert bool(row["next_probe_at"]) is shown


def test_an_opinion_is_shown_with_author_and_reason():
    assert opinion_row(OPINION) == {
        "at": "2026-11-20T12:30:15Z",
        "by": "maria",
        "verdict": "paid",
        "withdrawn": False,
        "reason": "extrato",
    }


@pytest.mark.parametrize("as_json", [True, False])
def test_payout_details_are_one_document_or_several_tables(
    as_json: bool, capsys: pytest.CaptureFixture[str]
):
    dossier = PayoutDetail(
        account=account(),
        payout=payout(),
        attempts=[attempt()],
        similar=[payout("twin")],
        opinions=[OPINION],
        returns=[PixReturn(id="D1", value=Money(400), at=NOW)],
    )

    show_dossier(Terminal(config=Path("x"), as_json=as_json), dossier)

    said = capsys.readouterr().out
    if as_json:
        document = json.loads(said)
        assert [len(document[name]) for name in ("attempts", "similar", "opinions")] == [1, 1, 1]
        [returned] = document["returns"]
        assert (returned["id"], returned["value"]) == ("D1", "4.00")
    else:
        assert [line for line in said.splitlines() if line in {"attempts", "similar", "opinions"}]
