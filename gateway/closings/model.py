"""
The closing of an account's day: the bank's movements compared with our book.

Amounts are sums in centavos, days are in the time of Brasilia.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum

import msgspec
from msgspec import Struct

from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.charges.model import ChargeRecord
from gateway.core.money import Sum
from gateway.core.windows import local_end, local_start
from gateway.payouts.model import Payout
from gateway.statements.model import LinkedEntry


class Rule(StrEnum):
    """Result of comparing one movement; all but the first two are differences."""

    TIED = "tied"
    EXPLAINED = "explained"
    OTHER_AMOUNT = "other_amount"
    BANK_ONLY = "bank_only"
    BOOK_ONLY = "book_only"


DIFFERENCES = (Rule.OTHER_AMOUNT, Rule.BANK_ONLY, Rule.BOOK_ONLY)


class ForeignDebit(Struct, frozen=True, kw_only=True):
    """
    A debit at the bank without a payout of ours, which was neither a refund nor a fee.

    Attributes:
        line_id: As ``line_ids`` names it.
        day: Of Brasilia.
        settled_by: The user who explained it, as in the audit log, or ``payout:`` and the
            reference of the payout that was known later; empty while it is open.
        reason: The explanation; empty where a payout settled it.
    """

    account_id: str
    line_id: str
    day: date
    at: datetime
    centavos: int
    name: str
    description: str
    e2e_id: str
    provider_key: str
    found_at: datetime
    settled_at: datetime | None = None
    settled_by: str = ""
    reason: str = ""


def line_ids(debits: Sequence[Entry]) -> Sequence[str]:
    """
    Name debits by their bank's ids, or by a digest where the bank gives none.

    Those that would have the same name are numbered, oldest first.
    """
    names = [each.provider_id or _digest_of(each) for each in debits]
    seen, numbered = Counter[str](), dict[int, str]()
    for place in sorted(range(len(debits)), key=lambda place: debits[place].created_at):
        name = names[place]
        seen[name] += 1
        numbered[place] = name if seen[name] == 1 else f"{name}#{seen[name]}"
    return [numbered[place] for place in range(len(debits))]


def _digest_of(entry: Entry) -> str:
    parts = (
        entry.created_at,
        entry.value.centavos,
        entry.e2e_id,
        entry.description,
        entry.counterparty.name,
    )
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def movements_digest(entries: Iterable[Entry]) -> str:
    """
    Digest movements by their instants, amounts and identifiers, in any order.

    Texts are left out: a bank may write a name or a description otherwise later.
    """
    parts = sorted(
        (
            each.created_at.astimezone(UTC).isoformat(),
            each.direction.value,
            each.value.centavos,
            each.kind.value,
            each.e2e_id,
            each.provider_id,
        )
        for each in entries
    )
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


class Line(Struct, frozen=True, kw_only=True):
    """
    One movement of the day.

    Attributes:
        id: Of a debit, as ``line_ids`` names it; empty for others.
        at: When the bank moved the money; the book's instant where the bank shows no movement.
        bank, book: The amount in each; None where there is none.
        name: The counterparty.
        payout, charge: The reference of ours behind it; empty for none.
    """

    id: str = ""
    rule: Rule
    direction: Direction
    at: datetime
    bank: Sum | None
    book: Sum | None
    name: str
    e2e_id: str
    payout: str = ""
    charge: str = ""


class Figures(Struct, frozen=True, kw_only=True):
    """
    The day in centavos: ``opening + credits - debits - fees + returns == closing``.

    Attributes:
        credits, debits: Without fees and returns.
        returns: Money returned to the account less money that it returned.
        paid: Total paid out on the day by our book; compared with ``debits``.
    """

    opening: int
    credits: int
    debits: int
    fees: int
    returns: int
    closing: int
    paid: int


class Day(Struct, frozen=True, kw_only=True):
    """
    An account's day by bank and book, as of now.

    Attributes:
        figures: None while movements keep the balance from being read beside them.
        movements: A digest of the bank's movements alone, as ``movements_digest`` makes it.
        explained: Ids of the explained foreign debits.
    """

    day: date
    figures: Figures | None
    lines: Sequence[Line]
    movements: str = ""
    explained: Collection[str] = ()

    @property
    def shown(self) -> Sequence[Line]:
        """The lines as people read them: differences first, by rule, then all others by time."""

        def place(line: Line) -> tuple[int, datetime]:
            is_one = line.rule in DIFFERENCES
            return DIFFERENCES.index(line.rule) if is_one else len(DIFFERENCES), line.at

        return sorted(self.lines, key=place)

    @property
    def differing(self) -> Sequence[Line]:
        """The lines that differ, explained or not."""
        return [each for each in self.shown if each.rule in DIFFERENCES]

    @property
    def unexplained(self) -> Sequence[Line]:
        """The lines that need an explanation."""
        return [each for each in self.differing if each.id not in self.explained]

    @property
    def differences(self) -> int:
        """Number of lines that need an explanation."""
        return len(self.unexplained)

    @property
    def digest(self) -> str:
        """A digest of all figures and lines."""
        return hashlib.sha256(msgspec.json.encode((self.day, self.figures, self.lines))).hexdigest()


class Closing(Figures, frozen=True, kw_only=True):
    """
    The figures of a signed day; it is locked once as many people have signed it as it needs.

    Attributes:
        movements: As of ``Day``.
        signed_by, locked_by: As the audit log names them; ``locked_by`` is empty before, and the
            same person where one signature is enough.
    """

    account_id: str
    day: date
    differences: int
    digest: str
    movements: str
    signed_by: str
    signed_at: datetime
    locked_by: str = ""
    locked_at: datetime | None = None


def compared(
    day: date,
    linked: Iterable[LinkedEntry],
    shown: Collection[str],
    settled: Iterable[Payout],
    paid: Iterable[ChargeRecord],
) -> Sequence[Line]:
    """
    Compare the movements of a day with our book.

    Args:
        day: The day.
        linked: Its movements, matched with our records.
        shown: Provider keys and end-to-end ids of all movements that the bank shows around the
            day: a movement of another day is no difference of this day.
        settled: The payouts that settled on the day.
        paid: The charges that were paid on it.

    Returns:
        Every line, oldest first.
    """
    linked = list(linked)
    debits = [each.entry for each in linked if each.entry.direction is Direction.DEBIT]
    ids = {id(entry): name for entry, name in zip(debits, line_ids(debits), strict=True)}
    lines = [_line(each, ids.get(id(each.entry), "")) for each in linked]
    lines += [
        Line(
            rule=Rule.BOOK_ONLY,
            direction=Direction.DEBIT,
            at=each.settled_at or local_start(day),
            bank=None,
            book=each.moved_value,
            name=each.destination.name,
            e2e_id=each.e2e_id,
            payout=each.reference,
        )
        for each in settled
        if not {each.provider_key, each.e2e_id} & set(shown)
    ]
    lines += [
        Line(
            rule=Rule.BOOK_ONLY,
            direction=Direction.CREDIT,
            at=each.paid_at or local_start(day),
            bank=None,
            book=None if each.centavos is None else Sum(each.centavos),
            name="",
            e2e_id=each.e2e_id,
            charge=each.reference,
        )
        for each in paid
        if each.e2e_id not in shown
    ]
    return sorted(lines, key=lambda each: (each.at, each.e2e_id))


def _line(linked: LinkedEntry, line_id: str) -> Line:
    entry, payout, charge = linked.entry, linked.payout, linked.charge
    book: Sum | None = payout.moved_value if payout else None
    if charge is not None:
        book = entry.value if charge.centavos is None else Sum(charge.centavos)
    return Line(
        id=line_id,
        rule=_rule(linked, book),
        direction=entry.direction,
        at=entry.created_at,
        bank=entry.value,
        book=book,
        name=entry.counterparty.name,
        e2e_id=entry.e2e_id,
        payout=payout.reference if payout else "",
        charge=charge.reference if charge else "",
    )


def _rule(linked: LinkedEntry, book: Sum | None) -> Rule:
    """Return the rule; a payment received needs no charge, a debit needs a reason of ours."""
    if linked.is_unexplained:
        return Rule.BANK_ONLY
    if book is None or is_return(linked.entry):
        return Rule.EXPLAINED
    is_same = book.centavos == linked.entry.value.centavos
    return Rule.TIED if is_same else Rule.OTHER_AMOUNT


def is_return(entry: Entry) -> bool:
    """Return whether the movement is a return or a refund."""
    return entry.kind is MovementKind.PIX_RETURN


def figures(
    day: date, entries: Iterable[Entry], balance: int, settled: Iterable[Payout]
) -> Figures:
    """
    Compute the day's figures from all movements since its beginning.

    Args:
        day: The day.
        entries: Every movement from its first instant until now.
        balance: Of the account now, in centavos.
        settled: The payouts that settled on the day.
    """
    ends, sums = local_end(day), dict.fromkeys(("credits", "debits", "fees", "returns"), 0)
    closing = balance
    for each in entries:
        signed = each.value.centavos * (1 if each.direction is Direction.CREDIT else -1)
        if each.created_at >= ends:
            closing -= signed
        elif is_return(each):
            sums["returns"] += signed
        elif each.kind is MovementKind.FEE:
            sums["fees"] -= signed
        elif signed > 0:
            sums["credits"] += signed
        else:
            sums["debits"] -= signed
    moved = sums["credits"] - sums["debits"] - sums["fees"] + sums["returns"]
    return Figures(
        opening=closing - moved,
        closing=closing,
        paid=sum(each.moved_value.centavos for each in settled),
        **sums,
    )
