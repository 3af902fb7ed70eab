"""What the client does with each answer: the decision table of the partner guide."""

from __future__ import annotations

from pathlib import Path

import pytest

from pixgate_client.errors import Problem
from pixgate_client.exchange import Answer
from pixgate_client.payouts import Proof, pay, proof_of, settle
from pixgate_client.retries import Tries
from tests.clients.python.replies import (
    ACCEPTED,
    CUT,
    FAILED,
    HTML,
    ORDER,
    PAYOUT,
    REFERENCE,
    UNREACHED,
    Time,
    answer,
    paid,
    refused,
    told,
)

GUIDE = Path(__file__).parents[3] / "docs/partner-guide.md"
NOT_SENT = refused(502, "SVC.ACC.005", retry_after="1")
NOT_KNOWN = refused(502, "SVC.PIX.010", retry_after="1")
LIMITED = refused(429, "SVC.GTW.005", retry_after="3")
DRAINING = refused(503, "SVC.GTW.006", retry_after="1")
UNAUTHORIZED = refused(401, "SVC.AUT.010")
OTHER_CONTENT = refused(400, "SVC.PIX.010")
STOPPED = refused(403, "SVC.PIX.010")
ABSENT = refused(404, "SVC.PIX.011")
PROXY = Answer(502, {}, HTML)

ROWS = {
    "502 SVC.ACC.005": {Proof.NOT_SENT},
    "502 SVC.PIX.010": {Proof.UNKNOWN},
    "500 SVC.SYS.001": {Proof.UNKNOWN},
    "503, 429": {Proof.LATER},
    "403 SVC.GTW.010": {Proof.REFUSED},
    "400 SVC.PIX.010": {Proof.STORED},
    "403 SVC.PIX.010": {Proof.STORED},
}
"""Each row of the guide about an answer with a code, and what it proves."""
NO_CODE = {"200 processing", "no answer, timeout", "other 4xx"}
"""Its other rows, each with a test of its own."""


def test_every_row_of_the_guide_is_decided_as_it_says():
    rows = GUIDE.read_text("utf-8").partition("| Answer to the POST |")[2].partition("\n\n")[0]
    heads = [row.split("|")[1].replace("`", "").strip() for row in rows.splitlines()[2:]]

    assert set(heads) == set(ROWS) | NO_CODE
    for head, proofs in ROWS.items():
        statuses, _, code = head.partition(" SVC.")
        found = {
            proof_of(Problem(int(status), f"SVC.{code or 'GTW.006'}"))
            for status in statuses.split(", ")
        }
        assert (head, found) == (head, proofs)


@pytest.mark.parametrize(
    ("status", "code", "proof"),
    [
        (408, "SVC.GTW.004", Proof.LATER),
        (413, "SVC.GTW.003", Proof.REFUSED),
        (422, "SVC.ACC.005", Proof.REFUSED),
        (501, "SVC.PIX.018", Proof.REFUSED),
        (504, "SVC.NEW.001", Proof.UNKNOWN),
        (502, "", Proof.LOST),
        (401, "", Proof.LOST),
        (200, "", Proof.LOST),
    ],
)
def test_an_answer_beyond_the_table_proves_no_more_than_it_says(
    status: int, code: str, proof: Proof
):
    """An answer without a code of ours is somebody else's: it proves nothing."""
    assert proof_of(Problem(status, code)) is proof


@pytest.mark.parametrize(
    ("replies", "first", "kind"),
    [
        ([ACCEPTED], False, "Payout"),
        ([UNREACHED, NOT_KNOWN, CUT, PROXY, DRAINING, ACCEPTED], False, "Payout"),
        # certainly not sent: the gateway's word, or the caller's and no byte
        ([NOT_SENT], False, "NotSent"),
        ([NOT_KNOWN, NOT_SENT], False, "NotSent"),
        ([NOT_SENT, UNREACHED], False, "NotSent"),
        ([UNREACHED], True, "NotSent"),
        ([DRAINING], True, "NotSent"),
        # not known: somebody may have paid
        ([UNREACHED], False, "Unknown"),
        ([DRAINING], False, "Unknown"),
        ([NOT_KNOWN], True, "Unknown"),
        ([NOT_KNOWN, UNREACHED], True, "Unknown"),
        ([NOT_KNOWN, UNAUTHORIZED], True, "Unknown"),
        ([refused(500, "SVC.SYS.001")], True, "Unknown"),
        ([CUT], True, "Unknown"),
        ([PROXY], True, "Unknown"),
        ([Answer(200, {}, HTML)], True, "Unknown"),
        ([answer(200, {**PAYOUT, "reference": "order-1043"})], True, "Unknown"),
        # a copy of the lost request may arrive behind the answer
        ([CUT, NOT_SENT], True, "Unknown"),
        ([CUT, UNREACHED], True, "Unknown"),
        ([CUT, UNAUTHORIZED], True, "Unknown"),
        ([CUT, LIMITED], True, "Unknown"),
        ([CUT, STOPPED, ABSENT], True, "Unknown"),
        # refused, and not repeated
        ([UNAUTHORIZED], False, "Refused"),
        ([refused(403, "SVC.GTW.010")], False, "Refused"),
        ([refused(400, "SVC.VAL.008")], False, "Refused"),
        ([LIMITED], False, "RateLimited"),
        # the stored payout says why
        ([OTHER_CONTENT, answer(200, FAILED)], False, "Payout"),
        ([CUT, OTHER_CONTENT, answer(200, FAILED)], False, "Payout"),
        ([OTHER_CONTENT, ACCEPTED], False, "Refused"),
        ([CUT, OTHER_CONTENT, ACCEPTED], False, "Refused"),
        ([OTHER_CONTENT, PROXY], False, "Unknown"),
        ([STOPPED, answer(200, FAILED)], False, "Payout"),
        ([STOPPED, ABSENT], False, "Refused"),
        ([STOPPED, ACCEPTED], False, "Refused"),
    ],
)
def test_a_sequence_of_replies_ends_as_what_is_proven(replies: list, first: bool, kind: str):
    assert paid(*replies, first=first).kind == kind


def test_a_lost_request_is_remembered_for_later_calls():
    """Its copy may arrive behind their answers; not once the payout is accepted."""
    lost: set[str] = set()

    kinds = [paid(each, lost=lost).kind for each in (NOT_SENT, CUT, NOT_SENT, ACCEPTED, NOT_SENT)]

    assert kinds == ["NotSent", "Unknown", "Unknown", "Payout", "NotSent"]


def test_a_call_that_is_broken_off_counts_as_lost():
    """A task that is cancelled while its request is under way."""
    lost: set[str] = set()
    time = Time()
    flow = pay("/withdraw", ORDER, Tries(time.clock, 10), first=True, lost=lost)
    next(flow)
    flow.close()

    assert paid(NOT_SENT, lost=lost).kind == "Unknown"


def test_a_repetition_has_identical_bytes():
    done = paid(UNREACHED, CUT, NOT_KNOWN, ACCEPTED)

    assert len(done.requests) == 4
    assert {(each.method, each.path, each.body) for each in done.requests} == {
        ("POST", "/withdraw", done.requests[0].body)
    }


def test_pauses_double_and_are_never_shorter_than_retry_after():
    limited = refused(429, "SVC.GTW.005", retry_after="7")

    done = paid(UNREACHED, UNREACHED, limited, UNREACHED, ACCEPTED, deadline_s=60)

    assert [each.delay_s for each in done.requests] == [0, 1, 2, 7, 8]


def test_a_date_in_retry_after_is_a_pause_too():
    """As proxies write it."""
    away = Answer(503, {"retry-after": "Fri, 20 Nov 2026 12:00:09 GMT"}, HTML)

    assert [each.delay_s for each in paid(away, ACCEPTED).requests] == [0, 9]


def test_no_attempt_begins_after_the_deadline():
    done = paid(NOT_KNOWN, deadline_s=10)

    assert sum(each.delay_s for each in done.requests) == 7
    assert done.kind == "Unknown"


def test_an_error_has_what_is_needed_to_go_on():
    error = paid(LIMITED, deadline_s=2).error

    assert (error.reference, error.status, error.code) == (REFERENCE, 429, "SVC.GTW.005")
    assert (error.trace_id, error.retry_after_s) == ("t-1", 3)
    assert REFERENCE in str(error)


def test_the_cause_of_a_lost_answer_is_kept():
    error = paid(CUT).error

    assert error.__cause__ is CUT.cause


def test_waiting_ends_with_a_final_payout_or_unknown():
    paid_payout = answer(200, {**PAYOUT, "status": "paid"})
    cases = [
        ([ACCEPTED, PROXY, paid_payout], "Payout"),
        ([ACCEPTED], "Unknown"),
        ([ACCEPTED, PROXY], "Unknown"),
        ([ABSENT], "NotFound"),
    ]

    found = []
    for replies, _ in cases:
        time = Time()
        flow = settle("/withdraw", REFERENCE, Tries(time.clock, 10))
        found.append((replies, told(flow, replies, time).kind))

    assert found == cases
