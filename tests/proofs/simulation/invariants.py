"""
The observed truth: executions, committed rows and answers, and the rules they must obey.

Nothing here asks the code under test. Rows are read separately after each commit; executions and
answers are recorded as they happen. So each rule is checked in the step that could break it.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date

from gateway.banks.port.capabilities import Repeat
from tests.proofs.simulation.loop import CALL
from tests.proofs.simulation.scenario import Scenario

_DAY_US = 86_400_000_000
_FIRST_DAY = date(1970, 1, 1).toordinal()
_FINAL = {"paid": "paid", "rejected": "failed", "failed": "failed"}
_NEGATIVE = {"rejected", "failed"}
_NOT_LEFT = _NEGATIVE | {"held"}
_ROWS = "SELECT provider_key, state, attempt, centavos, review, date, held_until FROM payouts"
_RETURNS = (
    "SELECT provider_key, id FROM payout_returns JOIN payouts USING (account_id, reference_sha256)"
)
_NAMES = "SELECT provider_key, e2e_id FROM payouts WHERE state = 'paid'"
_NEXT = "SELECT min(max(next_check_at, coalesce(check_until, 0))) FROM payouts"


class Violation(Exception):
    """An invariant does not hold."""


@dataclass(frozen=True, slots=True)
class Row:
    """A payout as committed; the amount represents its content, instants are microseconds."""

    state: str
    attempt: int
    centavos: int
    review: bool
    day: str
    held_until: int | None

    @property
    def visible(self) -> str:
        return _FINAL.get(self.state, "processing")


@dataclass(eq=False, slots=True)
class Call:
    """
    A request in a node, from its arrival to its answer.

    Attributes:
        seen: Every state its payout was committed in meanwhile; None for no row.
        writes: How often it sent money.
    """

    kind: str
    key: str
    reference: str
    centavos: int
    seen: set[str | None] = field(default_factory=set)
    writes: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a node says: a status, and the code where it refuses."""

    status: int
    code: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """What the oracle asks the world: its database, and what may still be on its way."""

    read: sqlite3.Connection
    flying: Callable[[str], bool]
    now: Callable[[], int]


class Oracle:
    def __init__(self, scenario: Scenario, truth: Truth, fail: Callable[[str], None]) -> None:
        self._scenario, self._truth, self._fail = scenario, truth, fail
        self.rows: dict[str, Row] = {}
        self.executions: defaultdict[str, list[int]] = defaultdict(list)
        self.restores = 0
        self._forgotten: set[str] = set()
        self._refused: set[str] = set()
        self._unsent: set[tuple[str, int]] = set()
        self._written: defaultdict[str, list[int]] = defaultdict(list)
        self._hold_ended: set[tuple[str, int]] = set()
        self._calls: list[Call] = []

    def next_check(self) -> int | None:
        """When the next look is due, in microseconds since 1970."""
        return self._truth.read.execute(_NEXT).fetchone()[0]

    def asked(self, call: Call) -> None:
        call.seen.add(self._state(call.key))
        self._calls.append(call)

    def committed(self) -> None:
        """A transaction was committed: rows may have moved."""
        now = {key: Row(*rest) for key, *rest in self._truth.read.execute(_ROWS)}
        by = CALL.get()
        if self.rows.keys() - now.keys():
            self._fail("I7 a row was deleted")
        for key, row in now.items():
            before = self.rows.get(key)
            if before != row:
                self._moved(key, before, row, by if isinstance(by, Call) else None)
                self._held(key, before, row, now.values())
        self.rows = now

    def wrote(self, key: str, centavos: int) -> None:
        """The first byte of an order leaves a node."""
        asked, row = CALL.get(), self.rows.get(key)
        call = asked if isinstance(asked, Call) and asked.kind == "POST" else None
        ends_hold = row is not None and (key, row.attempt) in self._hold_ended
        if call is None and not ends_hold:
            self._fail("R15 money was sent outside a caller's POST, and no hold ended")
            return
        if call is not None:
            call.writes += 1
        if row is None or row.state != "sending":
            self._fail(f"I2 money was sent without a committed intent ({self._state(key)})")
            return
        if row.centavos != centavos or (call is not None and call.centavos != centavos):
            self._fail("I6 money was sent for other content")
        self._separated(key, row)
        self._written[key].append(row.attempt)

    def executed(self, key: str, centavos: int) -> None:
        self.executions[key].append(centavos)
        row = self.rows.get(key)
        if len(self.executions[key]) > 1:
            self._fail("I1 executed twice")
        elif row is None:
            self._fail("I2 executed without a row")
        elif row.state in _NEGATIVE:
            self._fail(f"I4 executed while {row.state}")
        elif key in self._refused:
            self._fail("I5 executed after a refusal was told")

    def answered(self, call: Call, answer: Answer) -> None:
        if call in self._calls:
            self._calls.remove(call)
        if answer.status in {500, 502} and answer.code != "SVC.PIX.010" and call.writes:
            self._fail(f"I9 {answer.status} {answer.code} from a request that sent money")
        row = self.rows.get(call.key)
        if call.kind == "GET":
            self._read(call, answer, row)
        elif answer.status == 200:
            self._taken(call, row)
        elif answer.status in {400, 403}:
            self._denied(call, answer, row)
        elif answer.status not in {500, 502}:
            self._fail(f"unexpected answer {answer}")

    def restored(self) -> None:
        """An old backup took the place of the database; what it does not know starts afresh."""
        self.restores += 1
        self._forgotten |= {key for key, paid in self.executions.items() if paid}
        self.rows = {key: Row(*rest) for key, *rest in self._truth.read.execute(_ROWS)}
        self._refused.clear()
        self._unsent.clear()
        self._written.clear()
        self._hold_ended.clear()
        self._calls.clear()

    def at_rest(self) -> bool:
        """Every intent has ended or waits for a person."""
        return all(row.state in _FINAL or row.review for row in self.rows.values())

    def end(self) -> None:
        """Everything has come to rest: compare the books."""
        provable = self._scenario.lookup and not self._scenario.mismatch
        for key, row in self.rows.items():
            paid = len(self.executions[key])
            # forgotten by a restore, then asked for anew with another amount: a person looks
            is_ours = set(self.executions[key]) <= {row.centavos}
            if row.state not in _FINAL and provable and is_ours:
                self._fail(f"I11 {row.state} for ever, though the bank tells")
            if row.state == "paid" and paid != 1:
                self._fail(f"I11 shown paid, executed {paid} times")
        for key, paid in self.executions.items():
            if paid and key not in self.rows and not self.restores:
                self._fail("I2 money moved, no row")

    def compare_returns(self, told: Mapping[str, Collection[str]]) -> None:
        """Compare returns of paid payouts with the stored ones; ``told`` is the bank's."""
        kept: defaultdict[str, set[str]] = defaultdict(set)
        for key, name in self._truth.read.execute(_RETURNS):
            kept[key].add(name)
        paid = {key for key, row in self.rows.items() if row.state == "paid"}
        if kept.keys() - paid:
            self._fail("I14 a return beside a payout that is not paid")
        for key in sorted(paid):
            missing = set(told.get(key, ())) - kept[key]
            if kept[key] - set(told.get(key, ())):
                self._fail("I14 a return is kept that the bank never made")
            if missing and self._scenario.statement_keys:
                self._fail("I14 a return is lost")

    def compare_debits(self, shown: Mapping[str, Collection[tuple[str, str]]]) -> None:
        """
        Demand that no debit of a paid payout would be taken for one that is none of ours.

        ``shown`` are the keys and end-to-end ids that the bank's statement shows, by our key.
        Nothing names a payout whose id was never told where the statement has no key.
        """
        named = dict(self._truth.read.execute(_NAMES).fetchall())
        ours = {name for pair in named.items() for name in pair if name}
        for key, row in self.rows.items():
            is_named = self._scenario.statement_keys or named.get(key)
            tied = all(ours & set(names) for names in shown.get(key, ()))
            if row.state == "paid" and is_named and not tied:
                self._fail("I15 a debit of ours is not known as ours")

    def _moved(self, key: str, before: Row | None, row: Row, by: Call | None) -> None:
        for call in self._calls:
            if call.key == key:
                call.seen.add(row.state)
        if before is not None:
            self._changed(before, row)
        if row.state in _NEGATIVE and self.executions[key]:
            self._fail(f"I4 {row.state}, though executed")
        if row.state == "not_sent":
            self._unsent.add((key, row.attempt))
            if key not in self._forgotten and (self.executions[key] or self._truth.flying(key)):
                self._fail("I10 taken for unsent, though it may move money")
        self._in_time(row)
        if by is not None and by.kind == "POST" and by.key == key and by.centavos != row.centavos:
            self._fail("I6 other content changed a row")

    def _held(self, key: str, before: Row | None, row: Row, rows: Collection[Row]) -> None:
        """The sum for a first payee is held, and sent when its hold ends, on its day."""
        if before is None:
            if self._scenario.first_payee and row.state != "held":
                self._unheld(row, rows)
            return
        if before.state != "held" or row.state != "sending":
            return
        now = self._truth.now()
        if (before.held_until or 0) > now:
            self._fail("I16 sent before its hold was over")
        if now // _DAY_US > date.fromisoformat(row.day).toordinal() - _FIRST_DAY:
            self._fail("I17 a hold lasted beyond its day")
        self._hold_ended.add((key, row.attempt))

    def _unheld(self, row: Row, rows: Collection[Row]) -> None:
        """All payouts of a run go to one payee, who is known a day after it was paid."""
        if any(each.state in {"accepted", "paid"} and each.day < row.day for each in rows):
            return
        sent = [each for each in rows if each.day == row.day and each.state not in _NOT_LEFT]
        if sum(each.centavos for each in sent) > self._scenario.unheld:
            self._fail("I16 a payout to a first payee was not held")

    def _in_time(self, row: Row) -> None:
        """No query is made before the bank's own deadline, unless it contradicts the order."""
        held = row.state == "accepted" and (row.held_until or 0) > self._truth.now()
        if row.review and held and not self._scenario.mismatch:
            self._fail("I13 a person was asked while the bank has time to decide")

    def _changed(self, before: Row, row: Row) -> None:
        if before.visible not in {"processing", row.visible}:
            self._fail(f"I7 {before.state} became {row.state}")
        if before.centavos != row.centavos:
            self._fail("I6 the content of a row changed")
        if before.day != row.day:
            self._fail("I12 sent on another day than its own")

    def _separated(self, key: str, row: Row) -> None:
        earlier = self._written[key]
        if earlier and self._scenario.kind is Repeat.IGNORES:
            self._fail("I10 sent again to a bank that ignores our key")
        if row.attempt in earlier:
            self._fail("I10 an attempt was sent twice")
        if any((key, attempt) not in self._unsent for attempt in earlier):
            self._fail("I10 sent again without a proof of absence")

    def _read(self, call: Call, answer: Answer, row: Row | None) -> None:
        if answer.status == 404 and None not in call.seen:
            self._fail("I3 a stored payout was not found")
        if answer.status == 200 and row is None:
            self._fail("I3 a payout was shown that is not stored")
        if answer.status not in {200, 404, 500}:
            self._fail(f"unexpected answer {answer}")

    def _taken(self, call: Call, row: Row | None) -> None:
        if row is None:
            self._fail("I3 200 without a committed row")
        elif row.centavos != call.centavos:
            self._fail("I6 other content was answered 200")

    def _denied(self, call: Call, answer: Answer, row: Row | None) -> None:
        if answer.code == "SVC.VAL.008":
            if row is not None and row.centavos == call.centavos and not call.seen & _MAY_BE_LATE:
                self._fail("I8 a live payout was refused for its date")
            return
        if answer.code != "SVC.PIX.010":
            self._fail(f"unexpected answer {answer}")
        if row is not None and row.centavos != call.centavos:
            return
        if row is None or row.state not in _NEGATIVE:
            live = call.seen <= {"held", "sending", "unknown", "accepted", "paid"}
            live = live and not call.writes
            rule = "I8 refused while alive" if live else "I5 told before stored"
            self._fail(f"{rule} ({self._state(call.key)})")
        self._refused.add(call.key)
        if self.executions[call.key]:
            self._fail("I5 a refusal was told of what was executed")

    def _state(self, key: str) -> str | None:
        row = self.rows.get(key)
        return None if row is None else row.state


_MAY_BE_LATE = {None, "not_sent"}
