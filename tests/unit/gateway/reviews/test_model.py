"""Reviews as staff are shown them."""

from dataclasses import replace

from gateway.payouts.documents import OpinionDocument
from gateway.payouts.model import Opinion, PayoutState, Verdict
from gateway.reviews.model import (
    ProbedPayout,
    ProbeResult,
    Progress,
    ReviewState,
    Unresolved,
    UnresolvedPayout,
)
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout

MARIA = Opinion(
    account_id=ACCOUNT,
    reference="order-1",
    verdict=Verdict.PAID,
    reason="extrato",
    by="maria",
    at=NOW,
    attempt=1,
    state=PayoutState.UNKNOWN,
)


def shown(*, review: bool) -> Unresolved:
    about = replace(payout(), state=PayoutState.UNKNOWN, review=review)
    found = UnresolvedPayout(
        payout=about, account_name="Matriz", attempts=[attempt()], opinions=[MARIA]
    )
    state = ReviewState(progress=Progress.WAITING, payout=about, given=1, opinions=[])
    return Unresolved(found, state, None)


def test_only_a_payout_in_review_has_a_progress():
    assert shown(review=True).to_document(None).progress == "waiting"
    assert shown(review=False).to_document(None).progress == ""


def test_opinions_the_caller_may_not_read_are_only_counted():
    document = shown(review=True).to_document(None)

    assert (document.opinions_given, document.opinions) == (1, [])
    assert document.payee_tax_number == "***.982.247-**"


def test_an_opinion_is_shown_with_the_payout():
    state = replace(shown(review=True).review, opinions=[MARIA])

    document = state.to_document(None)

    assert document.payout.reference == "order-1"
    assert document.opinions == [OpinionDocument.of(MARIA)]


def test_a_probed_payout_is_shown_with_its_certainty():
    told = ProbedPayout.of(replace(payout(), state=PayoutState.PAID), ProbeResult.ASKED)

    assert (told.reference, told.state, told.certainty) == ("order-1", "paid", "settled")
