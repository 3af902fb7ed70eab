"""Outcomes that adapters return: each proves one thing, and passes the check of answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port import answers
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    ProviderError,
    RateLimited,
    Reason,
    Rejected,
    Settled,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.banks.port.refunds import Refund, RefundStatus
from gateway.core.money import Money
from gateway.core.strict import Malformed
from provider_adapters.kit.outcomes import (
    Expected,
    NeverSendable,
    RefusedBefore,
    Shown,
    is_known,
    listed_refusal,
    outcome_of,
    read_back,
    refund_shown,
    refused_before,
    unsent,
)
from tests.world.answers import ANSWERED, KEY, VALUE, changed
from tests.world.banks.witness import NOON
from tests.world.tables import cases

LISTED: RefusedBefore = {
    (401, "INVALID_TOKEN"): Reason.CREDENTIALS_REFUSED,
    (429, "TOO_MANY"): Reason.RATE_LIMITED,
}
KNOWN = Accepted(evidence=changed(ANSWERED, reason=Reason.DUPLICATE))


def answering(status: int) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={"Retry-After": "30"}, body=b"")


@cases("pair", LISTED)
def test_a_listed_refusal_before_execution_is_not_sent(pair: tuple[int, str]):
    """With the bank's Retry-After, and accepted by the gateway."""
    status, code = pair

    said = refused_before(answering(status), code, LISTED)

    assert isinstance(said, NotSent)
    assert (said.evidence.reason, said.evidence.provider_code) == (LISTED[pair], code)
    assert said.retry_after == 30.0
    assert answers.ordered_outcome(said, KEY, VALUE) == said


@cases("pair", [(401, ""), (429, "INVALID_TOKEN"), (403, "INVALID_TOKEN")])
def test_a_status_or_a_code_alone_does_not_match_the_list(pair: tuple[int, str]):
    """A proxy also answers 401, and may have passed the call on before."""
    assert refused_before(answering(pair[0]), pair[1], LISTED) is None


@cases(
    "failure",
    [
        Unreachable("connect_failed"),
        Unavailable("timeout"),
        NotFound("not_found"),
        NotSupported("not_supported"),
        RateLimited("rate_limited", retry_after=5),
    ],
)
def test_a_failure_before_the_payout_call_is_not_sent(failure: ProviderError):
    """Bytes of a token request or look-up may have left, but none of the payout."""
    said = unsent(failure)

    assert isinstance(said, NotSent)
    assert (said.evidence.reason, said.evidence.bytes_left) == (failure.reason, False)
    assert said.retry_after == failure.retry_after
    assert answers.ordered_outcome(said, KEY, VALUE) == said


@cases("failure", [FailureCode.OTHER, FailureCode.ACCOUNT_INVALID])
def test_an_unsendable_order_is_rejected(failure: FailureCode):
    """Repeating the order cannot help, so the partner has to correct it."""
    said = unsent(NeverSendable(failure))

    assert isinstance(said, Rejected)
    assert (said.failure, said.forbidden, said.evidence.bytes_left) == (failure, False, False)
    assert answers.ordered_outcome(said, KEY, VALUE) == said


OTHERS: list[Outcome] = [
    Accepted(evidence=ANSWERED),
    Settled(evidence=ANSWERED, value=VALUE),
    Unknown(ANSWERED),
]


@cases("said", OTHERS)
async def test_only_a_duplicate_is_read_back(said: Outcome):
    async def look() -> Outcome:
        raise AssertionError

    assert not is_known(said)
    assert await read_back(said, look) is said


@cases("shown", OTHERS)
async def test_the_outcome_of_a_duplicate_is_that_read_back(shown: Outcome):
    async def look() -> Outcome:
        return shown

    assert await read_back(KNOWN, look) is shown


@cases("failure", [NotFound("not_found"), Unavailable("timeout")])
async def test_a_duplicate_that_cannot_be_read_back_is_unknown(failure: ProviderError):
    """Neither ours nor another order: not found proves nothing here either."""

    async def look() -> Outcome:
        raise failure

    said = await read_back(KNOWN, look)

    assert said == Unknown(KNOWN.evidence)
    assert answers.ordered_outcome(said, KEY, VALUE) == said


REJECTIONS = {(400, "POOR"): FailureCode.INSUFFICIENT_FUNDS, (403, "LIMIT"): FailureCode.OTHER}


def test_a_listed_refusal_is_a_rejection_or_a_duplicate():
    def said(status: int, code: str) -> Outcome | None:
        return listed_refusal(
            answering(status), code, REJECTIONS, LISTED, duplicates=[(409, "KEY")],
            forbidden=["LIMIT"],
        )  # fmt: skip

    poor, limit, known = said(400, "POOR"), said(403, "LIMIT"), said(409, "KEY")

    assert isinstance(poor, Rejected)
    assert isinstance(limit, Rejected)
    assert (poor.failure, poor.forbidden) == (FailureCode.INSUFFICIENT_FUNDS, False)
    assert (limit.forbidden, limit.evidence.provider_code) == (True, "LIMIT")
    assert isinstance(known, Accepted)
    assert is_known(known)
    assert isinstance(said(401, "INVALID_TOKEN"), NotSent)
    assert [said(400, ""), said(403, "POOR"), said(409, "POOR")] == [None] * 3


E2E = "E18236120202611221030s0133872GZA"
SHOWN = Shown(state=Accepted, provider_key=KEY, value=VALUE, provider_id="b1", e2e_id=E2E)
EXPECTED = Expected(KEY, VALUE)


def test_an_order_s_outcome_follows_its_state():
    paid = outcome_of(
        answering(200), replace(SHOWN, state=Settled, paid=Money(1)), EXPECTED, ordered=False
    )
    taken = outcome_of(answering(200), SHOWN, EXPECTED, ordered=True)
    failed = outcome_of(
        answering(200), replace(SHOWN, state=Rejected, code="X"), EXPECTED, ordered=False
    )

    assert isinstance(taken, Accepted)
    assert (taken.provider_id, taken.e2e_id, taken.provider_key) == ("b1", E2E, KEY)
    assert isinstance(paid, Settled)
    assert (paid.value, paid.provider_id) == (Money(1), "b1")
    assert isinstance(failed, Rejected)
    assert (failed.provider_key, failed.evidence.provider_code) == (KEY, "X")


def test_an_unlisted_state_is_counted_and_never_definite():
    said = answering(200)

    ordered = outcome_of(said, replace(SHOWN, state=None), EXPECTED, ordered=True)
    found = outcome_of(said, replace(SHOWN, state=None), EXPECTED, ordered=False)

    assert (type(ordered), type(found)) == (Accepted, Unknown)
    assert ordered.evidence.reason == found.evidence.reason == Reason.UNKNOWN_STATUS
    assert said.unknown_words == 2


@cases(
    ("changes", "reason"),
    [
        ({"provider_key": ""}, Reason.KEY_MISMATCH),
        ({"provider_key": "0" * 31}, Reason.KEY_MISMATCH),
        ({"value": Money(1)}, Reason.AMOUNT_MISMATCH),
        ({"problem": Reason.DESTINATION_MISMATCH}, Reason.DESTINATION_MISMATCH),
        ({"e2e_id": "E1"}, Reason.E2E_ID_MALFORMED),
        ({"e2e_id": ""}, Reason.E2E_ID_MALFORMED),
    ],
)
@cases("state", [Accepted, Settled, Rejected, None])
def test_a_mismatched_order_is_unknown_in_every_state(
    changes: dict[str, object], reason: Reason, state: type | None
):
    shown = replace(SHOWN, state=state, **changes)  # type: ignore[arg-type]

    said = outcome_of(answering(200), shown, EXPECTED, ordered=True)

    assert isinstance(said, Unknown)
    assert said.evidence.reason == reason


def test_an_answer_without_our_key_is_accepted_when_none_is_expected():
    shown = replace(SHOWN, provider_key=None, e2e_id=None)

    assert isinstance(outcome_of(answering(200), shown, Expected(""), ordered=False), Accepted)


@cases(
    ("changes", "kind"),
    [
        ({"value": Money(0)}, ValueError),
        ({"paid": Money(0)}, ValueError),
        ({"provider_id": "x" * 129}, Malformed),
    ],
)
def test_an_order_with_unstorable_values_is_refused(
    changes: dict[str, object], kind: type[ValueError]
):
    shown = replace(SHOWN, state=Settled, **changes)  # type: ignore[arg-type]

    with pytest.raises(kind):
        outcome_of(answering(200), shown, Expected(KEY), ordered=False)


PLACE = {"bank": "341", "account": "1", "key": None}


@cases(
    ("shown", "must_show", "agrees"),
    [
        ({"bank": "341", "account": "1", "more": "x"}, True, True),
        ({"bank": "341", "account": "2"}, False, False),
        ({"bank": "341", "account": "1", "key": "k"}, False, False),
        ({"bank": "341"}, False, False),
        (None, False, True),
        (None, True, False),
        ({}, True, False),
    ],
)
def test_only_ordered_destination_fields_are_compared(
    shown: dict[str, str | None] | None, must_show: bool, agrees: bool
):
    wanted = Expected(KEY, VALUE, PLACE, must_show)

    assert wanted.misled(shown) == (None if agrees else Reason.DESTINATION_MISMATCH)


def test_without_an_expected_destination_none_is_compared():
    assert Expected(KEY).misled({"bank": "001"}) is None


@cases(
    ("status", "kind"),
    [
        (RefundStatus.PROCESSING, Accepted),
        (RefundStatus.PAID, Settled),
        (RefundStatus.FAILED, Rejected),
    ],
)
def test_a_refund_is_compared_like_a_payout(status: RefundStatus, kind: type):
    refund = Refund(
        reference="", provider_key=KEY, provider_id="b1", payment_e2e_id=E2E,
        payment_reference="", return_id="", value=VALUE, description="", status=status,
        failure=None, created_at=NOON, settled_at=NOON,
    )  # fmt: skip
    shown = refund_shown(refund)

    assert type(outcome_of(answering(200), shown, EXPECTED, ordered=True)) is kind
    other = refund_shown(refund, Reason.E2E_ID_MALFORMED)
    assert isinstance(outcome_of(answering(200), other, EXPECTED, ordered=True), Unknown)
