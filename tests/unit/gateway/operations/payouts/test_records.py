"""Payouts as operators read them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.bank.providers import Evidence, Phase
from gateway.domain.kernel.windows import Window
from gateway.domain.payouts.payouts import PayoutState
from gateway.domain.payouts.reviews import Opinion, Verdict
from gateway.domain.payouts.status import Certainty
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation
from gateway.operations.payouts.records import Case, PayoutRecords, payouts_of
from tests.unit.standing_payouts import company_and_accounts, review, stand
from tests.world.registers import Registers
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, attempt, change, payout

UNKNOWN, ACCEPTED, PAID = PayoutState.UNKNOWN, PayoutState.ACCEPTED, PayoutState.PAID
TODAY = Window(NOW.date(), NOW.date())
EVIDENCE = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")


@pytest.fixture
async def records(office: Registers) -> PayoutRecords:
    await company_and_accounts(office.store)
    return PayoutRecords(
        payouts=office.store.payouts,
        follow_ups=office.store.follow_ups,
        reviews=office.store.reviews,
        returns=office.store.returns,
        events=office.store.payout_events,
        similar_within=timedelta(minutes=10),
    )


async def test_a_list_is_newest_first_and_of_one_account(office: Registers, records):
    for number in range(3):
        made = NOW + timedelta(minutes=number)
        await stand(office.store, payout(f"o-{number}", created_at=made), UNKNOWN)
    await stand(office.store, payout("sister", account_id=SISTER), UNKNOWN)
    await stand(office.store, payout("old", created_at=NOW - timedelta(days=1)), UNKNOWN)

    found = await records.list(ACCOUNT.upper(), TODAY)

    assert [each.reference for each in found] == ["o-2", "o-1", "o-0"]


async def test_a_list_can_be_of_one_state(office: Registers, records):
    await stand(office.store, payout("o-1"), UNKNOWN)
    await stand(office.store, payout("o-2"), PAID)

    assert [each.reference for each in await records.list(ACCOUNT, TODAY, PAID)] == ["o-2"]
    assert await records.list(ACCOUNT, TODAY, ACCEPTED) == []


@pytest.mark.parametrize("many", [0, 1, 100, 101, 200])
async def test_every_page_of_a_list_is_read(office: Registers, records, many: int):
    for number in range(many):
        row = payout(f"o-{number}", created_at=NOW + timedelta(microseconds=number))
        assert await office.store.payouts.add(row, attempt(started_at=row.created_at)) is None

    found = await payouts_of(office.store.payouts, ACCOUNT, TODAY)

    assert len({each.reference for each in found}) == len(found) == many


async def test_one_is_shown_with_all_that_is_known(office: Registers, records):
    row = await stand(office.store, payout(), UNKNOWN, evidence=EVIDENCE)
    twin = await stand(office.store, payout("twin", created_at=NOW + timedelta(minutes=9)), PAID)
    await stand(office.store, payout("late", created_at=NOW + timedelta(minutes=11)), PAID)
    await stand(office.store, payout("other", centavos=1), PAID)

    dossier = await records.show(office.acting, ACCOUNT, "order-1")

    assert dossier.case.payout == row
    assert dossier.case.certainty is Certainty.SENT_UNKNOWN
    assert dossier.case.latest is not None
    assert dossier.case.latest.evidence == EVIDENCE
    assert dossier.similar == [twin]
    assert dossier.opinions == []


@pytest.mark.parametrize(("account_id", "reference"), [(ACCOUNT, "no"), (SISTER, "order-1")])
async def test_what_an_account_does_not_have_is_not_shown(
    office: Registers, records, account_id: str, reference: str
):
    await stand(office.store, payout(), UNKNOWN)

    with pytest.raises(RuleViolation, match="has no payout"):
        await records.show(office.acting, account_id, reference)


async def test_an_account_is_named_by_its_uuid(records):
    with pytest.raises(RuleViolation, match="UUID"):
        await records.list("main", TODAY)


async def test_what_is_unresolved_is_oldest_first_with_its_evidence(office: Registers, records):
    await stand(office.store, payout("new"), UNKNOWN, evidence=EVIDENCE)
    old = payout("old", created_at=NOW - timedelta(hours=1))
    await review(office.store, await stand(office.store, old, ACCEPTED))
    await stand(office.store, payout("fine"), ACCEPTED)

    cases = await records.unresolved()

    assert [each.payout.reference for each in cases] == ["old", "new"]
    assert cases[0].payout.review
    assert cases[0].latest is not None
    assert cases[0].latest.last_probe_at == NOW + timedelta(minutes=5)


async def test_what_others_say_of_a_payout_is_read_when_it_is_decided(office: Registers, records):
    """Two people find out independently: until then each reads only what they said themselves."""
    row = await review(office.store, await stand(office.store, payout(), UNKNOWN))
    maria = Opinion(
        account_id=ACCOUNT,
        reference="order-1",
        verdict=Verdict.PAID,
        reason="extrato",
        by="user:maria@example.com",
        at=NOW,
        attempt=row.attempt,
        state=UNKNOWN,
    )
    joao = replace(maria, by="user:joao@example.com", at=NOW + timedelta(seconds=1))
    for each in (maria, joao):
        await office.store.reviews.add(each, office.acting.event("payout.judged", "payout:1"))
    taken_back = office.acting.event("withdrawn", "payout:1")
    later = replace(taken_back, at=NOW + timedelta(seconds=2))
    assert await office.store.reviews.withdraw(joao, later)

    async def read() -> tuple[list[str], list[object]]:
        acting = AuditContext("user:Maria@example.com", office.clock)
        shown = await records.show(acting, ACCOUNT, "order-1")
        told = [dict(each.facts) for each in shown.timeline if each.kind == "judged"]
        return [each.by for each in shown.opinions], told

    before = await read()
    assert await office.store.payouts.record(change(UNKNOWN, PAID))
    after = await read()

    own = {"by": maria.by, "verdict": "paid"}
    assert before == ([maria.by], [own, {}, {"verdict": "withdrawn"}])
    others = [{"by": joao.by, "verdict": verdict} for verdict in ("paid", "withdrawn")]
    assert after == ([maria.by, joao.by], [own, *others])


def test_a_case_without_a_try_has_no_latest():
    assert Case(payout=replace(payout(), state=PAID), attempts=[]).latest is None
