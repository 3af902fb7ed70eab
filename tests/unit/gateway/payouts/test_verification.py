"""Verification: each way in which a bank and the store may differ is found, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from gateway.banks.port.capabilities import EntryField
from gateway.banks.port.providers import Page, Unavailable
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.audit_context import RuleViolation
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.payouts.matching import Execution
from gateway.payouts.model import PayoutState
from gateway.payouts.verification import Kind, Report, Verification
from tests.unit.standing_payouts import company_and_accounts, stand
from tests.world.archive import write
from tests.world.movements import movement
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.registers import Registers
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account, payout

SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID = PayoutState.ACCEPTED, PayoutState.PAID
REJECTED, FAILED = PayoutState.REJECTED, PayoutState.FAILED

TODAY = Window(NOW.date(), NOW.date())
KEY = payout().provider_key
E2E = "E99999999202611221230abcDEF12345"


@dataclass
class Comparison:
    """A store and a bank to compare."""

    office: Registers
    bank: ScriptedBank = field(default_factory=ScriptedBank)
    executed: list[Execution] | None = None
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.banks = OneBank(self.bank)
        self.says()

    def says(self, *entries: Entry) -> None:
        """Let the statement have these movements."""
        self.bank.reads["statement"] = {None: Page(items=entries, next_cursor=None)}

    async def run(self, window: Window = TODAY, ids: Sequence[str] = (ACCOUNT,)) -> Report:
        async def books() -> list[Execution]:
            return self.executed or []

        verification = Verification(
            payouts=self.office.store.payouts,
            follow_ups=self.office.store.follow_ups,
            banks=self.banks,
            now=lambda: self.now,
            books=None if self.executed is None else books,
        )
        return await verification.verify([account(each) for each in ids], window)


@pytest.fixture
async def comparison(office: Registers) -> Comparison:
    await company_and_accounts(office.store)
    return Comparison(office)


def kinds(report: Report) -> list[str]:
    return sorted(each.kind.value for each in report.differences)


def executed(key: str = KEY, centavos: int = 1050) -> Execution:
    return Execution(key=key, e2e_id="E7", value=Money(centavos), at=NOW)


@pytest.mark.parametrize("state", PayoutState)
async def test_an_execution_of_a_payout_with_a_denying_state_is_a_difference(
    comparison, state: PayoutState
):
    """Invariant I4: failed, rejected, not sent or held means zero executions."""
    await stand(comparison.office.store, payout(), state, settled_at=NOW)
    comparison.says(movement(provider_key=KEY))

    report = await comparison.run()

    denied = state in {PayoutState.HELD, NOT_SENT, REJECTED, FAILED}
    assert kinds(report) == (["executed_though_denied"] if denied else [])
    assert (report.accounts, report.rows, report.executions) == (1, 1, 1)


@pytest.mark.parametrize("state", PayoutState)
async def test_a_paid_payout_without_an_execution_is_a_difference(comparison, state: PayoutState):
    await stand(comparison.office.store, payout(), state, settled_at=NOW)

    report = await comparison.run()

    assert kinds(report) == (["paid_without_execution"] if state is PAID else [])


@pytest.mark.parametrize(
    ("fields", "e2e_id", "is_named"),
    [
        ({EntryField.OUR_KEY}, "", True),
        ({EntryField.E2E_ID}, E2E, True),
        ({EntryField.E2E_ID}, "", False),
        ({EntryField.KIND, EntryField.PARTY}, E2E, False),
        (set(), E2E, False),
    ],
)
async def test_a_payout_that_the_statement_cannot_name_is_counted_as_not_compared(
    comparison, fields: set[EntryField], e2e_id: str, is_named: bool
):
    """So that it does not pass for compared."""
    capabilities = comparison.bank.capabilities
    comparison.bank.capabilities = replace(capabilities, entry_fields=frozenset(fields))
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW, e2e_id=e2e_id)

    report = await comparison.run()

    assert kinds(report) == (["paid_without_execution"] if is_named else [])
    assert report.unnamed == (0 if is_named else 1)


async def test_a_movement_is_matched_within_its_own_account(comparison):
    """A key is unique within an account."""
    sister = replace(payout(account_id=SISTER), provider_key=KEY)
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW)
    await stand(comparison.office.store, sister, FAILED, settled_at=NOW)
    comparison.says(movement(provider_key=KEY))

    assert kinds(await comparison.run()) == []
    assert kinds(await comparison.run(ids=(SISTER,))) == ["executed_though_denied"]


async def test_a_bank_execution_without_a_payout_is_a_difference(comparison):
    """Invariant I2: such as a payout lost by a restore."""
    comparison.says(movement(provider_key="0" * 32))

    [found] = (await comparison.run()).differences

    assert (found.kind, found.key, found.reference) == (Kind.NO_ROW, "0" * 32, "")
    assert "10.50" in found.details


async def test_another_amount_is_a_difference(comparison):
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW)
    comparison.says(movement(provider_key=KEY, value=Money(1049)))

    [found] = (await comparison.run()).differences

    assert (found.kind, found.reference) == (Kind.AMOUNT, "order-1")
    assert found.details == "R$ 10.50 asked, R$ 10.49 executed"


async def test_two_executions_of_one_key_are_one_difference(comparison):
    """Invariant I1."""
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW)
    comparison.says(movement(provider_key=KEY), movement(provider_key=KEY))

    report = await comparison.run()

    assert kinds(report) == ["executed_twice"]
    assert report.executions == 2


async def test_a_failed_payout_whose_money_was_returned_is_no_difference(comparison):
    await stand(comparison.office.store, payout(), FAILED)
    comparison.says(
        movement(provider_key=KEY),
        movement(provider_key=KEY, direction=Direction.CREDIT),
    )

    assert kinds(await comparison.run()) == []


async def test_foreign_pix_movements_are_counted_and_no_difference(comparison):
    comparison.says(movement(), movement())

    report = await comparison.run()

    assert (kinds(report), report.foreign) == ([], 2)


async def test_an_e2e_id_explains_an_entry_without_a_key(comparison):
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW, e2e_id="E7")
    comparison.says(movement(value=Money(1)))

    assert kinds(await comparison.run()) == ["amount_differs"]


async def test_an_account_whose_statement_cannot_be_read_is_a_difference(comparison):
    """Otherwise an unreadable statement would pass for agreement."""
    comparison.bank.reads["statement"] = {None: Unavailable("timeout")}

    [found] = (await comparison.run()).differences

    assert (found.kind, found.account_id) == (Kind.NOT_CHECKED, ACCOUNT)
    assert found.details == "the statement cannot be read: timeout"


async def test_two_accounts_that_cannot_be_checked_are_two_differences(comparison):
    comparison.banks.is_there = False

    report = await comparison.run(ids=(ACCOUNT, SISTER))

    assert kinds(report) == ["not_checked", "not_checked"]


async def test_days_whose_payouts_are_archived_are_not_checked(comparison, tmp_path: Path):
    """An archived one is not found by its key: its execution would have no row."""
    database, then = comparison.office.store.database, NOW - timedelta(days=300)
    made = payout(created_at=then)
    sent = {"tax_number": "52998224725", "key_type": "email", "key": "maria@example.com"}
    await stand(comparison.office.store, replace(made, destination_sent=sent), PAID)
    await write(database, tmp_path, lambda: NOW)
    comparison.says(movement(provider_key=KEY))

    report = await comparison.run(Window(then.date(), then.date()))

    [found] = report.differences
    assert (found.kind, found.details) == (
        Kind.NOT_CHECKED,
        "payouts of these days are archived",
    )


async def test_an_account_without_a_provider_is_skipped(comparison):
    verification = Verification(
        payouts=comparison.office.store.payouts,
        follow_ups=comparison.office.store.follow_ups,
        banks=comparison.banks,
        now=lambda: NOW,
    )

    report = await verification.verify([replace(account(), provider="")], TODAY)

    assert (report.accounts, report.differences) == (0, [])


RETURN_ID = "D9999999920261122134011ABCDEFGHIJ"[:32]


def back(centavos: int, number: int = 0) -> Entry:
    """Money of the payout that came back."""
    return movement(
        provider_key=KEY,
        direction=Direction.CREDIT,
        kind=MovementKind.PIX_RETURN,
        e2e_id=f"{RETURN_ID[:-1]}{number}",
        value=Money(centavos),
    )


@pytest.mark.parametrize("parts", [[1050], [400], [400, 650]], ids=str)
async def test_returns_of_a_paid_payout_are_stored_and_no_difference(comparison, parts: list[int]):
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW)
    entries = [back(centavos, number) for number, centavos in enumerate(parts)]
    comparison.says(*entries, movement(provider_key=KEY))

    reports = [await comparison.run() for _ in range(2)]

    kept = await comparison.office.store.payouts.returns(ACCOUNT, "order-1")
    assert [kinds(report) for report in reports] == [[], []]
    assert [report.returned for report in reports] == [1, 1]
    assert sorted(each.value.centavos for each in kept) == sorted(parts)


async def test_a_return_of_an_older_payout_is_stored(comparison):
    """Its execution is not in this statement; the window is that of the return."""
    early = NOW - timedelta(days=30)
    row = payout(created_at=early)
    await stand(comparison.office.store, row, PAID, settled_at=early)
    comparison.says(back(400))

    report = await comparison.run()

    assert kinds(report) == []
    assert len(await comparison.office.store.payouts.returns(ACCOUNT, "order-1")) == 1


async def test_returns_above_the_paid_amount_are_a_difference(comparison):
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW)
    comparison.says(back(1050, 1), back(1, 2), movement(provider_key=KEY))

    [found] = (await comparison.run()).differences

    assert (found.kind, found.reference) == (Kind.RETURNED, "order-1")
    assert found.details == "R$ 10.50 paid, R$ 10.51 came back"


@pytest.mark.parametrize(("parts", "denied"), [([1050], False), ([400, 650], False), ([400], True)])
async def test_a_failed_payout_with_a_partial_return_is_a_difference(
    comparison, parts: list[int], denied: bool
):
    await stand(comparison.office.store, payout(), FAILED)
    entries = [back(centavos, number) for number, centavos in enumerate(parts)]
    comparison.says(*entries, movement(provider_key=KEY))

    report = await comparison.run()

    assert kinds(report) == (["executed_though_denied"] if denied else [])
    assert await comparison.office.store.payouts.returns(ACCOUNT, "order-1") == []


async def test_payouts_of_a_former_bank_are_not_compared(comparison):
    """The account has changed its bank since."""
    for number, was in enumerate([{"provider": "former"}, {"provider_account": "former"}]):
        row = replace(payout(f"order-{number}"), **was)
        await stand(comparison.office.store, row, PAID, settled_at=NOW)

    assert kinds(await comparison.run()) == []


@pytest.mark.parametrize(("settled_h", "difference"), [(30, True), (80, False)])
async def test_payouts_settled_after_the_window_are_not_missing(
    comparison, settled_h: int, difference: bool
):
    comparison.now = NOW + timedelta(days=10)
    settled = NOW + timedelta(hours=settled_h)
    await stand(comparison.office.store, payout(), PAID, settled_at=settled)

    assert bool(kinds(await comparison.run())) is difference


async def test_the_bank_s_books_are_compared_beside_the_statement(comparison):
    """Unsettled payouts are in no statement yet; a difference found in both is reported once."""
    await stand(comparison.office.store, payout(), REJECTED)
    comparison.says(movement(provider_key=KEY))
    comparison.executed = [executed(), executed("0" * 32), executed("")]

    report = await comparison.run()

    assert kinds(report) == ["executed_though_denied", "execution_without_row"]
    assert report.foreign == 1


async def test_an_execution_in_books_and_statement_is_counted_once(comparison):
    await stand(comparison.office.store, payout(), PAID, settled_at=NOW)
    comparison.says(movement(provider_key=KEY))
    comparison.executed = [executed(), executed("0" * 32)]

    report = await comparison.run()

    assert report.executions == 2
    assert kinds(report) == ["execution_without_row"]


async def test_the_books_are_compared_by_account(comparison):
    await stand(comparison.office.store, payout(), REJECTED)
    comparison.executed = [executed()]

    assert kinds(await comparison.run(ids=(SISTER,))) == []
    assert kinds(await comparison.run(ids=(ACCOUNT,))) == ["executed_though_denied"]


async def test_executions_of_other_days_are_ignored(comparison):
    comparison.executed = [
        replace(executed("0" * 32), at=NOW - timedelta(days=1)),
        replace(executed("1" * 32), at=NOW + timedelta(days=1)),
    ]

    assert kinds(await comparison.run()) == []


async def test_the_longest_window_leaves_days_for_the_settlement(comparison):
    longest = Window(date(2026, 1, 1), date(2026, 3, 29))
    too_long = Window(date(2026, 1, 1), date(2026, 3, 30))

    assert (await comparison.run(longest)).differences == []
    with pytest.raises(RuleViolation, match="88 days"):
        await comparison.run(too_long)
