"""A day's movements against our book: every difference is found, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pytest

from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.charges.model import ChargeRecord
from gateway.closings.model import DIFFERENCES, Day, Line, Rule, compared, figures
from gateway.core.money import Money
from gateway.core.windows import local_start
from gateway.payouts.model import Payout, PayoutState
from gateway.statements.model import LinkedEntry, local_day
from tests.world.movements import movement
from tests.world.standing import NOON, TODAY
from tests.world.stores.charges import charge
from tests.world.stores.samples import payout

DAYS = 1_000
PLANTED = 200
DAY = timedelta(days=1)


class Books:
    """One day at a bank and in our book; each kind of difference can be planted."""

    def __init__(self, chance: Random, day: date) -> None:
        self.chance, self.day = chance, day
        self.linked: list[LinkedEntry] = []
        self.settled: list[Payout] = []
        self.paid: list[ChargeRecord] = []
        self.others: set[str] = set()
        for _ in range(chance.randint(0, 12)):
            self.pay()
        for _ in range(chance.randint(0, 12)):
            self.receive()
        for kind in (MovementKind.FEE, MovementKind.PIX_RETURN):
            if chance.random() < 0.3:
                self.link(self.entry(kind=kind))

    def entry(self, **fields: object) -> Entry:
        at = local_start(self.day) + timedelta(seconds=self.chance.randrange(86_400))
        e2e_id = f"E{self.chance.getrandbits(64):016x}"
        value = Money(self.chance.randint(1, 10**7))
        return movement(**{"created_at": at, "e2e_id": e2e_id, "value": value, **fields})

    def link(
        self, entry: Entry, payout: Payout | None = None, charge: ChargeRecord | None = None
    ) -> None:
        self.linked.append(LinkedEntry(entry=entry, payout=payout, charge=charge))

    def pay(self, *, more: int = 0) -> None:
        """Pay out, perhaps by so many centavos more than ordered; some banks tell it a day late."""
        told = self.entry()
        made = self.payout(told.e2e_id, Money(told.value.centavos), told)
        told = movement(
            e2e_id=told.e2e_id,
            value=Money(told.value.centavos + more),
            created_at=told.created_at,
        )
        self.settled.append(made)
        if not more and self.chance.random() < 0.05:
            self.others.add(told.e2e_id)  # it moved on the day before
        else:
            self.link(told, payout=made)

    def payout(self, e2e_id: str, value: Money, told: Entry) -> Payout:
        return replace(
            payout(f"order-{e2e_id}"),
            state=PayoutState.PAID,
            e2e_id=e2e_id,
            value=value,
            provider_key=f"key-{e2e_id}",
            settled_at=told.created_at,
        )

    def receive(self) -> None:
        """Receive money, for a charge or by a key."""
        told = self.entry(direction=Direction.CREDIT)
        if self.chance.random() < 0.5:
            self.link(told)
            return
        paid = charge(centavos=told.value.centavos, e2e_id=told.e2e_id, paid_at=told.created_at)
        self.paid.append(paid)
        self.link(told, charge=paid)

    def plant(self) -> Rule:
        rule = self.chance.choice(DIFFERENCES)
        if rule is Rule.OTHER_AMOUNT:
            self.pay(more=self.chance.choice((-1, 1, 100)))
        elif rule is Rule.BANK_ONLY:
            self.link(self.entry(kind=MovementKind.PIX))
        elif self.chance.random() < 0.5:
            lost = self.entry()
            self.settled.append(self.payout(lost.e2e_id, lost.value, lost))
        else:
            lost = self.entry()
            self.paid.append(charge(centavos=1, e2e_id=lost.e2e_id, paid_at=lost.created_at))
        return rule

    @property
    def entries(self) -> Sequence[Entry]:
        return [each.entry for each in self.linked]

    def read(self) -> Day:
        shown = self.others | {each.e2e_id for each in self.entries}
        lines = compared(self.day, self.linked, shown, self.settled, self.paid)
        return Day(
            day=self.day, figures=figures(self.day, self.entries, 0, self.settled), lines=lines
        )


def test_every_planted_difference_of_a_thousand_days_is_found():
    chance = Random(29)
    days = [Books(chance, TODAY - each * DAY) for each in range(DAYS)]
    planted = [(each.day, each.plant()) for each in chance.choices(days, k=PLANTED)]

    found = [
        (seen.day, line.rule)
        for seen in (each.read() for each in days)
        for line in seen.lines
        if line.rule in DIFFERENCES
    ]

    assert sorted(found) == sorted(planted)
    assert {rule for _, rule in found} == set(DIFFERENCES)


def test_figures_add_up_after_later_movements():
    chance = Random(30)
    books = Books(chance, TODAY - 3 * DAY)
    later = [books.entry(created_at=local_start(TODAY)) for _ in range(5)]
    balance = 1_000_000

    told = figures(books.day, [*books.entries, *later], balance, books.settled)

    moved = told.credits - told.debits - told.fees + told.returns
    assert told.opening + moved == told.closing
    assert told.closing == balance + sum(each.value.centavos for each in later)
    assert told.paid == sum(each.value.centavos for each in books.settled)


def test_an_amount_confirmed_by_two_people_is_not_a_difference():
    books = Books(Random(1), TODAY)
    books.pay(more=1)
    *others, last = books.linked
    known = replace(last.payout, moved=Money(last.entry.value.centavos))
    books.linked = [*others, replace(last, payout=known)]

    assert books.read().differences == 0


@pytest.mark.parametrize(
    ("direction", "kind", "rule"),
    [
        (Direction.DEBIT, MovementKind.PIX, Rule.BANK_ONLY),
        (Direction.DEBIT, MovementKind.TED, Rule.BANK_ONLY),
        (Direction.DEBIT, MovementKind.FEE, Rule.EXPLAINED),
        (Direction.DEBIT, MovementKind.PIX_RETURN, Rule.EXPLAINED),
        (Direction.CREDIT, MovementKind.PIX, Rule.EXPLAINED),
    ],
)
def test_movements_without_an_order_are_no_difference(
    direction: Direction, kind: MovementKind, rule: Rule
):
    told = movement(direction=direction, kind=kind)
    day = local_day(told.created_at)

    (line,) = compared(day, [LinkedEntry(told, None, None)], {told.e2e_id}, [], [])

    assert line.rule is rule
    assert Day(day=day, figures=None, lines=[line]).shown == [line]


def test_lines_with_a_difference_are_shown_first():
    """Even money in among money out: differences are what the page is read for."""
    kinds = [
        (Rule.TIED, Direction.DEBIT),
        (Rule.BANK_ONLY, Direction.DEBIT),
        (Rule.EXPLAINED, Direction.CREDIT),
    ]
    lines = [
        Line(
            rule=rule,
            direction=direction,
            at=NOON + timedelta(minutes=minute),
            bank=None,
            book=None,
            name="",
            e2e_id="",
        )
        for minute, (rule, direction) in enumerate([*kinds, *kinds])
    ]

    shown = Day(day=TODAY, figures=None, lines=lines[::-1]).shown

    assert shown == [lines[1], lines[4], lines[0], lines[2], lines[3], lines[5]]


def test_a_charge_without_an_amount_is_matched_with_its_payment():
    told = movement(direction=Direction.CREDIT)
    paid = charge(centavos=None, e2e_id=told.e2e_id, paid_at=told.created_at)
    day = local_day(told.created_at)

    (line,) = compared(day, [LinkedEntry(told, None, paid)], {told.e2e_id}, [], [paid])

    assert (line.rule, line.book, line.charge) == (Rule.TIED, told.value, paid.reference)


def test_the_digest_changes_with_figures_and_lines():
    books = Books(Random(31), TODAY)
    books.pay()
    seen = books.read()
    moved = [figures(books.day, books.entries, 1, books.settled), seen.figures]

    digests = {
        Day(day=seen.day, figures=told, lines=lines).digest
        for told in moved
        for lines in (seen.lines, seen.lines[1:])
    }

    assert len(digests) == 4
    assert seen.digest in digests
    assert seen.differences == 0
