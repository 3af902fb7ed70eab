"""Reviews: two people who agree decide a payout."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace as replaced

from gateway.audit.model import AuditSearch
from gateway.audit.service import find_acts
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Phase, Settled
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.core.windows import Paging
from gateway.payouts.events import PayoutEvent
from gateway.payouts.followup import StatusQuery
from gateway.payouts.model import Failure, Opinion, PayoutState, Verdict
from gateway.reviews.model import JudgementBody, Progress, ReviewState, WithdrawalBody
from gateway.reviews.service import person
from gateway.reviews.store import unresolved
from tests.unit.refusals import refused
from tests.unit.standing_payouts import company_and_accounts, review, stand
from tests.world.acts import acts_of
from tests.world.exports import exports, signed_in
from tests.world.registers import NOON, Registers
from tests.world.stores.people import user
from tests.world.stores.samples import ACCOUNT, NOW, change, event, payout

UNKNOWN, ACCEPTED, PAID = PayoutState.UNKNOWN, PayoutState.ACCEPTED, PayoutState.PAID


async def in_review(office: Registers, state: PayoutState = UNKNOWN) -> None:
    await company_and_accounts(office.store)
    await review(office.store, await stand(office.store, payout(), state))


def staff(office: Registers, who: str) -> Staff:
    return Staff(AuditContext(who, office.clock))


async def says(
    office: Registers, who: str, verdict: str = "paid", reason: str = "extrato", **fields: Any
) -> ReviewState:
    said = {"account_id": ACCOUNT, "reference": "order-1", "reason": reason, **fields}
    judgement = JudgementBody(verdict=Verdict(verdict), **said)
    return await office.reviews.judge(staff(office, who), judgement)


async def takes_back(office: Registers, who: str) -> ReviewState:
    named = WithdrawalBody(account_id=ACCOUNT, reference="order-1")
    return await office.reviews.withdraw(staff(office, who), named)


async def standing(office: Registers) -> list[list[Opinion]]:
    found = await unresolved(office.store.database, EVERY_COMPANY, Paging(1, 25))
    return [list(each.opinions) for each in found.items]


async def colleague(office: Registers, name: str, **fields: object) -> User:
    made = user(f"u-{name}", f"{name}@example.com")
    made = replace(made, roles=frozenset({Role.APPROVER}), companies=frozenset())
    await office.store.identity.users.add(made, event())
    return await changed(office, made, **fields) if fields else made


async def changed(office: Registers, who: User, **fields: object) -> User:
    now = replace(who, **fields)
    assert await office.store.identity.users.replace(now, event(), who.updated_at)
    return now


async def row(office: Registers):  # type: ignore[no-untyped-def]
    return await office.store.payouts.find(ACCOUNT, "order-1")


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
@pytest.mark.parametrize("verdict", ["paid", "failed"])
async def test_two_matching_opinions_decide_a_payout(
    office: Registers, state: PayoutState, verdict: str
):
    await in_review(office, state)

    first = await says(office, "maria", verdict)
    between = await row(office)
    second = await says(office, "joão", verdict)

    ended = await row(office)
    assert (first.progress, second.progress) == (Progress.WAITING, Progress.DECIDED)
    assert (between.state, between.review) == (state, True)
    assert (ended.state.value, ended.review) == (verdict, False)
    assert second.payout == ended
    assert ended.settled_at == (NOON if verdict == "paid" else None)
    assert ended.failure == (None if verdict == "paid" else Failure(FailureCode.OTHER))


MOVED = Settled(
    evidence=Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="answered"),
    value=Money(1049),
    provider_id="po_1",
    e2e_id="E9999999920261120120000000000001",
    settled_at=NOON - timedelta(minutes=2),
)


async def shown_less(office: Registers) -> None:
    """Put a payout of R$ 10.50 in review, of which the bank shows that it moved R$ 10.49."""
    await company_and_accounts(office.store)
    await stand(office.store, payout(), UNKNOWN)
    heard: list[PayoutEvent] = []
    look = StatusQuery(await row(office), NOON, office.clock, heard.append)
    await review(office.store, look.contradicted(MOVED), *heard)


async def test_another_amount_is_settled_as_the_bank_moved_it(office: Registers):
    """Confirmed by two people; the bank's amount is stored beside the ordered one."""
    await shown_less(office)

    with pytest.raises(RuleViolation):
        await says(office, "maria")
    with pytest.raises(RuleViolation):
        await says(office, "maria", value=Money(1048))
    first = await says(office, "maria", value=MOVED.value)
    other = await says(office, "joão", value=Money(1050))
    second = await says(office, "ana", value=MOVED.value)

    ended = await row(office)
    assert [each.progress for each in (first, other, second)] == [
        Progress.WAITING,
        Progress.DISAGREED,
        Progress.DECIDED,
    ]
    assert (ended.value, ended.moved, ended.settled_at) == (
        Money(1050),
        MOVED.value,
        MOVED.settled_at,
    )
    assert (ended.e2e_id, ended.provider_id) == (MOVED.e2e_id, MOVED.provider_id)


async def test_a_payout_the_bank_shows_as_paid_cannot_be_judged_failed(office: Registers):
    """Otherwise the reference could be paid again, although money has moved."""
    await shown_less(office)

    with pytest.raises(RuleViolation) as refused:
        await says(office, "maria", "failed")

    assert (refused.value.reason, refused.value.field) == ("bank_shows_paid", "verdict")
    assert await standing(office) == [[]]


async def test_a_failed_verdict_may_only_confirm_the_ordered_amount(office: Registers):
    await in_review(office)

    with pytest.raises(RuleViolation):
        await says(office, "maria", "failed", value=MOVED.value)

    assert (await says(office, "maria", "failed", value=Money(1050))).opinions[0].moved is None


@pytest.mark.parametrize("again", ["maria", "Maria", " MARIA "])
async def test_spellings_of_one_name_count_as_one_person(office: Registers, again: str):
    await in_review(office)
    await says(office, "maria")

    told = await says(office, again)

    assert told.progress is Progress.WAITING
    assert len(told.opinions) == 1
    assert (await row(office)).state is UNKNOWN


async def test_a_differing_opinion_is_kept_and_reported(office: Registers):
    await in_review(office)
    await says(office, "maria", "paid")
    office.clock.passes(seconds=1)

    told = await says(office, "joão", "failed")

    given = await office.store.payouts.opinions(ACCOUNT, "order-1")
    assert (told.progress, told.given) == (Progress.DISAGREED, 2)
    assert [(each.by, each.verdict) for each in given] == [
        ("maria", Verdict.PAID),
        ("joão", Verdict.FAILED),
    ]
    assert (await row(office)).state is UNKNOWN


async def test_opinions_of_others_are_visible_once_the_payout_is_decided(office: Registers):
    """Otherwise the second opinion could follow the first one."""
    await in_review(office)

    first = await says(office, "maria", "paid")
    second = await says(office, "joão", "failed")
    [listed] = (await office.reviews.unresolved(staff(office, "ana"), Paging(1, 25))).items
    by_ana = listed.review
    decided = await says(office, "ana", "failed")

    read = [[one.by for one in each.opinions] for each in (first, second, by_ana, decided)]
    assert read == [["maria"], ["joão"], [], ["ana", "joão", "maria"]]
    assert [each.given for each in (first, second, by_ana, decided)] == [1, 2, 2, 3]
    assert by_ana.progress is Progress.DISAGREED


async def test_the_audit_log_marks_open_opinions(office: Registers):
    """Until the payout is decided other users cannot read them there either."""
    await in_review(office)
    wanted = AuditSearch(paging=Paging(1, 25), action="payout.*")
    read = []

    for who in ("maria", "joão"):
        await says(office, who)
        found = await find_acts(office.store.database, wanted, EVERY_COMPANY)
        exported = await acts_of(office.store)
        read.append([each.is_open_opinion for each in found.items])
        assert any(each.is_open_opinion for each in exported) is any(read[-1])

    assert read == [[True], [False] * 3]


async def test_an_opinion_is_withdrawn_and_another_may_be_given(office: Registers):
    """It stays in the audit log; users withdraw only their own opinion."""
    await in_review(office)
    await says(office, "maria", "paid")
    await says(office, "joão", "failed")

    with pytest.raises(RuleViolation) as without:
        await takes_back(office, "ana")
    withdrawn = await takes_back(office, "MARIA")
    with pytest.raises(RuleViolation) as again:
        await takes_back(office, "maria")
    kept = await office.store.payouts.opinions(ACCOUNT, "order-1")
    told = await office.store.payouts.events(ACCOUNT, "order-1")
    decided = await says(office, "maria", "failed")
    with pytest.raises(RuleViolation) as over:
        await takes_back(office, "joão")

    refused = [each.value.reason for each in (without, again, over)]
    assert refused == ["no_opinion", "no_opinion", "not_in_review"]
    assert (withdrawn.progress, withdrawn.given) == (Progress.WAITING, 1)
    assert [(each.by, each.is_withdrawn) for each in kept] == [("joão", False), ("maria", True)]
    assert {"by": "maria", "verdict": "withdrawn"} in [each.facts for each in told]
    acts = [act.action for act in await office.acts() if act.actor in {"MARIA", "maria"}]
    assert acts[:2] == ["payout.judged", "payout.opinion_withdrawn"]
    assert decided.progress is Progress.DECIDED


async def test_a_third_person_ends_a_disagreement(office: Registers):
    await in_review(office)
    await says(office, "maria", "paid")
    await says(office, "joão", "failed")

    told = await says(office, "ana", "failed")

    assert told.progress is Progress.DECIDED
    assert (await row(office)).state is PayoutState.FAILED


@pytest.mark.parametrize("first", ["maria", "joão"], ids=["another's", "one's own"])
async def test_an_opinion_of_an_earlier_review_does_not_count(office: Registers, first: str):
    """The bank acknowledged the payout meanwhile, so it was judged in another state."""
    await in_review(office)
    await says(office, first, "failed")
    assert await office.store.payouts.record(change(UNKNOWN, ACCEPTED))
    await review(office.store, await row(office))

    told = await says(office, "joão", "paid" if first == "joão" else "failed")

    assert told.progress is Progress.WAITING
    assert [each.by for each in told.opinions] == ["joão"]
    assert (await row(office)).state is ACCEPTED


async def test_a_review_is_listed_with_only_its_own_opinions(office: Registers):
    """Opinions of an earlier review would otherwise seem to be about this one."""
    await in_review(office)
    await says(office, "maria", "failed")
    assert await office.store.payouts.record(change(UNKNOWN, ACCEPTED))
    await review(office.store, await row(office))
    await says(office, "joão", "paid")

    [listed] = await standing(office)

    assert [each.by for each in listed] == ["joão"]


async def test_an_opinion_cannot_be_changed(office: Registers):
    """Otherwise one person could make two agree."""
    await in_review(office)
    await says(office, "maria", "paid")
    await says(office, "joão", "failed")

    with pytest.raises(RuleViolation, match="has said paid before"):
        await says(office, "maria", "failed")

    assert (await row(office)).state is UNKNOWN


async def test_an_interrupted_decision_is_completed_by_a_repeat(office: Registers):
    """The process died between storing the second opinion and the decision."""
    await in_review(office)
    await says(office, "maria")
    opinion = (await says(office, "maria")).opinions[0]
    kept = replace(opinion, by="joão")
    await office.store.payouts.add_opinion(kept, AuditContext("joão", office.clock).event("a", "b"))

    told = await says(office, "joão")

    assert told.progress is Progress.DECIDED


async def test_only_payouts_in_review_are_decided(office: Registers):
    await company_and_accounts(office.store)
    await stand(office.store, payout(), UNKNOWN)

    with pytest.raises(RuleViolation, match="not in review: it is unknown"):
        await says(office, "maria")

    assert await office.store.payouts.opinions(ACCOUNT, "order-1") == []


async def test_a_payout_settled_meanwhile_stays_settled(office: Registers):
    await in_review(office)
    await says(office, "maria", "failed")
    await office.store.payouts.record(change(UNKNOWN, PAID))

    with pytest.raises(RuleViolation, match="not in review: it is paid"):
        await says(office, "joão", "failed")

    assert (await row(office)).state is PAID


@pytest.mark.parametrize(
    "fields", [{"reference": "order-2"}, {"account_id": "main"}, {"reason": ""}]
)
async def test_an_unknown_payout_is_not_judged(office: Registers, fields: dict[str, str]):
    await in_review(office)

    with pytest.raises(RuleViolation):
        await says(office, "maria", **fields)


async def test_opinions_and_decision_are_on_record(office: Registers):
    """Each opinion and the decision with its author, without the partner's reference."""
    await in_review(office)
    await says(office, "maria", reason="E2E no extrato")
    office.clock.passes(seconds=1)
    await says(office, "joão", reason="o banco confirmou")

    acts = (await office.acts())[3:]
    assert [(act.actor, act.action) for act in acts] == [
        ("maria", "payout.judged"),
        ("joão", "payout.judged"),
        ("joão", "payout.decided"),
    ]
    assert acts[0].details == {"verdict": "paid", "reason": "E2E no extrato"}
    assert acts[2].details == {"verdict": "paid", "by": "maria, joão"}
    assert {act.subject for act in acts} == {f"payout:{payout().provider_key}"}


async def test_waiting_work_is_listed_until_it_is_decided(office: Registers):
    await in_review(office)
    await stand(office.store, payout("order-2"), UNKNOWN)
    maria, first = staff(office, "maria"), Paging(1, 25)
    hidden = replace(maria, scope=CompanyScope(frozenset()))

    waiting, nothing = (
        await office.reviews.page(maria, first),
        await office.reviews.page(hidden, first),
    )
    await says(office, "maria")
    await says(office, "joão")

    assert [each.reference for each in waiting.items] == ["order-1"]
    assert (nothing.items, nothing.total) == ([], 0)
    assert (await office.reviews.page(maria, first)).items == []


async def test_a_review_outside_the_scope_is_not_found(office: Registers):
    """With the same answer as for a payout that does not exist."""
    await in_review(office)
    limited = replace(staff(office, "maria"), scope=CompanyScope(frozenset({"another"})))
    said = JudgementBody(
        account_id=ACCOUNT, reference="order-1", verdict=Verdict.PAID, reason="extrato"
    )

    for act in (
        office.reviews.judge(limited, said),
        office.reviews.withdraw(limited, said),
        office.reviews.judge(staff(office, "maria"), replaced(said, reference="no")),
    ):
        with pytest.raises(RuleViolation, match="has no payout"):
            await act
    assert (await office.reviews.unresolved(limited, Paging(1, 25))).items == []


async def test_unresolved_payouts_count_as_rows_of_lists(office: Registers):
    """They name payees, and commands have no limit."""
    await in_review(office)
    reviews = replace(office.reviews, exports=exports(rows=1))
    for who in (signed_in(), staff(office, "ana"), staff(office, "ana")):
        assert len((await reviews.unresolved(who, Paging(1, 25))).items) == 1

    with refused(errors.TOO_MANY_REQUESTS):
        await reviews.unresolved(signed_in(), Paging(1, 25))


async def test_unresolved_payouts_are_oldest_first_with_their_evidence(office: Registers):
    await company_and_accounts(office.store)
    lost = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
    await stand(office.store, payout("new"), UNKNOWN, evidence=lost)
    old = payout("old", created_at=NOW - timedelta(hours=1))
    await review(office.store, await stand(office.store, old, ACCEPTED))
    await stand(office.store, payout("fine"), ACCEPTED)

    found = await office.reviews.everything(staff(office, "maria"))

    assert [each.payout.reference for each in found] == ["old", "new"]
    assert found[0].payout.review
    assert found[0].attempts[-1].last_probe_at == NOW + timedelta(minutes=5)


@pytest.mark.parametrize("text", ["", " ", "a\nb"])
def test_an_opinion_requires_an_author_name(text: str):
    with pytest.raises(RuleViolation):
        person(text)


@pytest.mark.parametrize(
    "fields",
    [{"active": False}, {"roles": frozenset({Role.VIEWER})}, {"companies": frozenset({"another"})}],
    ids=["disabled", "without the right", "without the company"],
)
async def test_an_opinion_counts_only_while_its_author_has_the_right(
    office: Registers, fields: dict[str, object]
):
    """Otherwise a single person could have released a reference that the bank had paid."""
    await in_review(office)
    ana, _ = await colleague(office, "ana"), await colleague(office, "bia")

    await says(office, "user:ana@example.com", "failed")
    await changed(office, ana, **fields)
    alone = await says(office, "user:bia@example.com", "failed")
    stands = await row(office)
    decided = await says(office, "cli:maria", "failed")

    assert (alone.progress, stands.state) == (Progress.WAITING, UNKNOWN)
    assert decided.progress is Progress.DECIDED


async def test_opinions_that_agree_again_decide_at_the_next_opinion(office: Registers):
    """Even at an opinion that differs, once the second author counts again."""
    await in_review(office)
    ana, _ = await colleague(office, "ana"), await colleague(office, "bia")
    await says(office, "user:ana@example.com")
    gone = await changed(office, ana, active=False, updated_at=NOON + timedelta(minutes=1))
    alone = await says(office, "user:bia@example.com")
    await changed(office, gone, active=True, updated_at=NOON + timedelta(minutes=2))

    decided = await says(office, "cli:maria", "failed")

    assert (alone.progress, decided.progress) == (Progress.WAITING, Progress.DECIDED)
    assert (decided.payout.state, [each.by for each in decided.opinions]) == (
        PAID,
        ["user:ana@example.com", "user:bia@example.com"],
    )


async def test_an_overtaken_opinion_returns_the_decision(office: Registers):
    """Both second opinions were stored, and one of them made the decision."""
    await in_review(office)
    await says(office, "maria")
    said = JudgementBody(
        account_id=ACCOUNT, reference="order-1", verdict=Verdict.PAID, reason="extrato"
    )

    class Overtaken(type(office.store.payouts)):  # type: ignore[misc]
        async def decide(self, *step: object) -> bool:
            assert await super().decide(*step)
            return await super().decide(*step)

    told = await replace(office.reviews, payouts=Overtaken(office.store.database)).judge(
        staff(office, "joão"), said
    )

    assert (told.progress, told.payout.state, told.given) == (Progress.DECIDED, PAID, 2)


async def test_the_user_who_ordered_a_payout_may_not_review_it(office: Registers):
    await company_and_accounts(office.store)
    ana = await colleague(office, "ana")
    ordered = replace(payout(), client_id=f"user:{ana.id}")
    await review(office.store, await stand(office.store, ordered, UNKNOWN))

    with pytest.raises(RuleViolation, match="another person") as refused:
        await says(office, "user:ana@example.com", "failed")

    assert refused.value.reason == "own_payout"
    account = await office.store.accounts.find(ACCOUNT)
    assert account is not None
    people = [staff(office, f"user:{name}@example.com") for name in ("ana", "bia")]
    told = [await office.reviews.is_own(who, account, "order-1") for who in people]
    assert told == [True, False]
