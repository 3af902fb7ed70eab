"""Payouts as operators read them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port.providers import Evidence, Phase
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.errors import PAYOUT_NOT_FOUND
from gateway.core.windows import Window
from gateway.payouts.model import Opinion, PayoutState, Verdict
from gateway.payouts.staff import PayoutRecords, payouts_of
from tests.unit.refusals import refused
from tests.unit.standing_payouts import company_and_accounts, review, stand
from tests.world.registers import Registers
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account, attempt, change, payout

UNKNOWN, ACCEPTED, PAID = PayoutState.UNKNOWN, PayoutState.ACCEPTED, PayoutState.PAID
TODAY = Window(NOW.date(), NOW.date())
EVIDENCE = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")


@pytest.fixture
async def records(office: Registers) -> PayoutRecords:
    await company_and_accounts(office.store)
    return office.payouts


def staff(office: Registers, name: str = "cli:test") -> Staff:
    return Staff(AuditContext(name, office.clock))


@pytest.mark.parametrize("many", [0, 1, 100, 101, 200])
async def test_every_payout_of_the_account_is_read_across_pages(
    office: Registers, records, many: int
):
    for number in range(many):
        row = payout(f"o-{number}", created_at=NOW + timedelta(microseconds=number))
        assert await office.store.payouts.add(row, attempt(started_at=row.created_at)) is None

    found = await payouts_of(office.store.payouts, ACCOUNT, TODAY)

    assert len({each.reference for each in found}) == len(found) == many


async def test_a_payout_is_shown_with_attempts_similar_payouts_and_opinions(
    office: Registers, records
):
    row = await stand(office.store, payout(), UNKNOWN, evidence=EVIDENCE)
    twin = await stand(office.store, payout("twin", created_at=NOW + timedelta(minutes=9)), PAID)
    await stand(office.store, payout("late", created_at=NOW + timedelta(minutes=11)), PAID)
    await stand(office.store, payout("other", centavos=1), PAID)

    dossier = await records.detail(staff(office), account(), "order-1")

    assert dossier.payout == row
    assert [each.evidence for each in dossier.attempts] == [EVIDENCE]
    assert dossier.similar == [twin]
    assert dossier.opinions == []


@pytest.mark.parametrize(("account_id", "reference"), [(ACCOUNT, "no"), (SISTER, "order-1")])
async def test_a_payout_of_another_account_is_not_found(
    office: Registers, records: PayoutRecords, account_id: str, reference: str
):
    await stand(office.store, payout(), UNKNOWN)

    with pytest.raises(RuleViolation, match="has no payout"):
        await records.find(staff(office), replace(account(), id=account_id), reference)
    with refused(PAYOUT_NOT_FOUND):
        await records.detail(staff(office), replace(account(), id=account_id), reference)


async def test_opinions_of_others_are_shown_when_a_payout_is_decided(office: Registers, records):
    """So that two people judge independently: until then each sees only their own opinion."""
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
        await office.store.payouts.add_opinion(
            each, office.acting.event("payout.judged", "payout:1")
        )
    taken_back = office.acting.event("withdrawn", "payout:1")
    later = replace(taken_back, at=NOW + timedelta(seconds=2))
    assert await office.store.payouts.withdraw_opinion(joao, later)

    async def read() -> tuple[list[str], list[object]]:
        who = staff(office, "user:Maria@example.com")
        shown = await records.detail(who, account(), "order-1")
        told = [dict(each.facts) for each in shown.timeline if each.kind == "judged"]
        return [each.by for each in shown.opinions], told

    before = await read()
    assert await office.store.payouts.record(change(UNKNOWN, PAID))
    after = await read()

    own = {"by": maria.by, "verdict": "paid"}
    assert before == ([maria.by], [own, {}, {"verdict": "withdrawn"}])
    others = [{"by": joao.by, "verdict": verdict} for verdict in ("paid", "withdrawn")]
    assert after == ([maria.by, joao.by], [own, *others])
