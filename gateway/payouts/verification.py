"""
Verification: the banks' executions compared with the store.

Rows are read first and the bank after them, so that a payout made meanwhile is no difference. Only
one thing is changed: returns of paid payouts are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from gateway.banks.port.providers import Bank, Banks, PixReturn, ProviderError
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Now
from gateway.core.money import sum_of
from gateway.core.windows import LONGEST_DAYS, Window
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.matching import Execution, statement_payouts
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.staff import payouts_of
from gateway.payouts.store import StoredPayouts

# A payout of the last day may be in the bank's statement of the days after.
_SETTLES_WITHIN = timedelta(days=2)
LONGEST = LONGEST_DAYS - _SETTLES_WITHIN.days
"""Days; the statement is read for two more, since a payout may settle after its day."""
_MOVED_NOTHING = frozenset(
    {PayoutState.HELD, PayoutState.NOT_SENT, PayoutState.REJECTED, PayoutState.FAILED}
)


class Kind(StrEnum):
    """Kinds of differences between bank and store."""

    NO_ROW = "execution_without_row"
    NO_EXECUTION = "paid_without_execution"
    AMOUNT = "amount_differs"
    TWICE = "executed_twice"
    DENIED = "executed_though_denied"
    RETURNED = "returned_more_than_paid"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """
    One difference.

    Attributes:
        account_id, reference: Empty without a row.
        details: For people.
    """

    kind: Kind
    account_id: str = ""
    reference: str = ""
    key: str = ""
    details: str = ""


@dataclass(slots=True, kw_only=True)
class Report:
    """
    The result of a comparison.

    Attributes:
        executions: Each counted once, even if both statement and books report it.
        reported: The provider keys found in statements.
        returned: Payouts with returns.
        foreign: Pix that left an account without a key of ours: ordered
            elsewhere, or by a bank that does not repeat keys.
        unnamed: Paid payouts that the statement of their bank cannot name: it carries
            neither our key nor an end-to-end id that we know. Not compared.
    """

    accounts: int = 0
    rows: int = 0
    executions: int = 0
    foreign: int = 0
    unnamed: int = 0
    returned: int = 0
    reported: set[str] = field(default_factory=set)
    differences: list[Difference] = field(default_factory=list)

    def add(self, found: Difference) -> None:
        """Add a difference that no other source has reported yet."""
        if not any((known.kind, known.key) == (found.kind, found.key) for known in self._keyed()):
            self.differences.append(found)

    def _keyed(self) -> Iterator[Difference]:
        return (known for known in self.differences if known.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """
    Compares banks' executions with the store.

    Attributes:
        books: The executions of a bank that opens its books (the sandbox's);
            their answers hold beside the statements. None where none does.
    """

    payouts: StoredPayouts
    follow_ups: StoredFollowUps
    banks: Banks
    now: Now
    books: Callable[[], Awaitable[Sequence[Execution]]] | None = None

    async def verify(self, accounts: Sequence[Account], window: Window) -> Report:
        """
        Compare the payouts that these accounts created in a window, at most 88 days.

        Raises:
            RuleViolation: for a longer window.
        """
        if window.end - window.start > timedelta(days=LONGEST):
            message = f"at most {LONGEST} days can be verified at once"
            raise RuleViolation(message)
        report = Report()
        for account in accounts:
            if account.provider:
                await self._account(account, window, report)
        if self.books is not None:
            await self._books(self.books, accounts, window, report)
        return report

    async def _account(self, account: Account, window: Window, report: Report) -> None:
        rows = await payouts_of(self.payouts, account.id, window)
        report.accounts += 1
        report.rows += len(rows)
        bank = self.banks.of(account)
        if bank is None or any(each.archived for each in rows):
            report.add(_not_checked(account, _unchecked(account, bank)))
            return
        later = self._later(window)
        try:
            shown = await statement_payouts(bank, later, rows)
        except ProviderError as problem:
            report.add(_not_checked(account, f"the statement cannot be read: {problem.reason}"))
            return
        await self._compare(shown.executions, report, account.id)
        await self._note(account, bank, shown.returns, report)
        keys = {each.key for each in shown.executions}
        report.executions += len(shown.executions)
        report.reported |= keys
        for row in rows:
            own = row.was_sent_from(bank) and row.state is PayoutState.PAID
            settled = row.settled_at is not None and row.settled_at < later.end
            if not own or not settled or row.provider_key in keys:
                continue
            if bank.adapter.capabilities.statement_proves(row.e2e_id):
                report.add(_of(Kind.NO_EXECUTION, row, "the statement does not show it"))
            else:
                report.unnamed += 1

    async def _note(
        self,
        account: Account,
        bank: Bank,
        returns: Mapping[str, Sequence[PixReturn]],
        report: Report,
    ) -> None:
        """Store the returns of an account's paid payouts; more than was paid is a difference."""
        for key, found in returns.items():
            row = await self.follow_ups.find_by_key(key, account.id)
            if row is None or not row.was_sent_from(bank) or row.state is not PayoutState.PAID:
                continue
            report.returned += 1
            await self.payouts.note_returns(row, found)
            known = await self.payouts.returns(row.account_id, row.reference)
            back = sum_of(each.value for each in known)
            if back.centavos > row.moved_value.centavos:
                details = f"R$ {row.moved_value} paid, R$ {back} came back"
                report.add(_of(Kind.RETURNED, row, details))

    async def _books(
        self,
        books: Callable[[], Awaitable[Sequence[Execution]]],
        accounts: Sequence[Account],
        window: Window,
        report: Report,
    ) -> None:
        """Compare with the bank's own books; unexplained executions count for all accounts."""
        ids = {account.id for account in accounts}
        booked = [each for each in await books() if window.start <= each.at < window.end]
        concerning = [each for each in booked if await self._concerns(each, ids)]
        await self._compare(concerning, report)
        report.executions += sum(each.key not in report.reported for each in concerning)

    async def _concerns(self, execution: Execution, account_ids: set[str]) -> bool:
        row = await self.follow_ups.find_by_key(execution.key)
        return row is None or row.account_id in account_ids

    def _later(self, window: Window) -> Window:
        """Extend the window for payouts that settled after their day, but not into the future."""
        last = max(window.ends, min(window.ends + _SETTLES_WITHIN, self.now().date()))
        return Window(window.init, last)

    async def _compare(
        self, executed: Sequence[Execution], report: Report, account_id: str | None = None
    ) -> None:
        """Find the row of every execution, the account's own first."""
        times = Counter(each.key for each in executed)
        for execution in executed:
            if not execution.key:
                report.foreign += 1
                continue
            row = await self.follow_ups.find_by_key(execution.key, account_id)
            for difference in _differences(execution, row, times[execution.key]):
                report.add(difference)


def _differences(execution: Execution, row: Payout | None, times: int) -> Iterator[Difference]:
    if row is None:
        details = f"R$ {execution.value} at {execution.at:%Y-%m-%dT%H:%M:%SZ}"
        yield Difference(kind=Kind.NO_ROW, key=execution.key, details=details)
        return
    if times > 1:
        yield _of(Kind.TWICE, row, f"{times} executions")
    if execution.value != row.moved_value:
        yield _of(Kind.AMOUNT, row, f"R$ {row.value} asked, R$ {execution.value} executed")
    if row.state in _MOVED_NOTHING and not execution.returned:
        yield _of(Kind.DENIED, row, f"the row is {row.state.value}")


def _of(kind: Kind, row: Payout, details: str) -> Difference:
    return Difference(
        kind=kind,
        account_id=row.account_id,
        reference=row.reference,
        key=row.provider_key,
        details=details,
    )


def _unchecked(account: Account, bank: Bank | None) -> str:
    """Say why; an archived payout is not found by its key, so its execution would have no row."""
    if bank is None:
        return f"the provider {account.provider} is not configured"
    return "payouts of these days are archived"


def _not_checked(account: Account, details: str) -> Difference:
    return Difference(kind=Kind.NOT_CHECKED, account_id=account.id, details=details)
