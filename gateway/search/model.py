"""Parameters and results of the search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct

from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.charges.model import ChargeRecord, ChargeState
from gateway.core import fields, strict
from gateway.core.account import Account
from gateway.core.approvals import ApprovalState
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.schemas import PLAIN_TEXT, Moment
from gateway.core.windows import LONGEST_DAYS, LocalWindow, Window, local_end, local_start
from gateway.payouts.documents import FoundPayout, FoundPayoutDocument

MOST_PAGES: Final = 400
"""Ten thousand hits of a kind: who has more types a day beside the text."""
_DAYS_AGO: Final = {"hoje": 0, "today": 0, "ontem": 1, "yesterday": 1, "anteontem": 2}
_DAY: Final = re.compile(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?|(\d{4})-(\d\d)-(\d\d)", re.ASCII)


class SearchBody(Struct, forbid_unknown_fields=True):
    """
    An amount, a part of a name or a reference, an id, or a tax number.

    A day may stand before or behind it: `203,81 ontem`, `Maria 25/11`. Never in an address, which
    is logged. A `page` has 25 of each kind; results by an amount or a part of a text have
    payouts and charges on the first one alone, and all of them in their own searches.
    """

    text: Annotated[
        str,
        Meta(
            description="A reference, end-to-end id, trace id, CPF, CNPJ, client id or UUID.",
            min_length=1,
            max_length=1024,
            examples=["order-1042"],
            extra_json_schema={"pattern": PLAIN_TEXT},
        ),
    ]
    page: Annotated[
        int, Meta(description="Which page of the hits.", ge=1, le=MOST_PAGES, examples=[1])
    ] = 1


@dataclass(frozen=True, slots=True)
class TextQuery:
    """
    A typed search.

    Attributes:
        text: Without the day.
        day: Of Brasilia; None where none is named.
    """

    text: str
    day: date | None

    @classmethod
    def of(cls, text: str, today: date) -> TextQuery:
        """Parse the search; a day alone means all of that day."""
        words = text.split()
        for place in (-1, 0) if words else ():
            day = _day(words[place].casefold(), today)
            if day is not None:
                del words[place]
                return cls(" ".join(words), day)
        return cls(text.strip(), None)

    def since(self, today: date) -> datetime:
        """Return the start of the search: of the day, or of the last 90."""
        return local_start(self.day or today - timedelta(days=LONGEST_DAYS - 1))

    @property
    def until(self) -> datetime | None:
        """End of the named day; None without a day."""
        return None if self.day is None else local_end(self.day)

    def at_banks(self, today: date) -> Window:
        """Return the days to query at banks: of the id, as typed, or the last two."""
        if strict.is_e2e_id(self.text):
            with suppress(ValueError):
                day = datetime.strptime(self.text[9:17], "%Y%m%d").replace(tzinfo=UTC).date()
                return Window(day, day)
        return LocalWindow(self.day or today - timedelta(days=1), self.day or today)


def _day(word: str, today: date) -> date | None:
    """Parse a day; one without a year is the most recent."""
    if word in _DAYS_AGO:
        return today - timedelta(days=_DAYS_AGO[word])
    found = _DAY.fullmatch(word)
    if found is None:
        return None
    try:
        if found[4]:
            return date(int(found[4]), int(found[5]), int(found[6]))
        day = date(int(found[3] or today.year), int(found[2]), int(found[1]))
        return day if found[3] or day <= today else day.replace(year=today.year - 1)
    except ValueError:
        return None


class FoundName(Struct, frozen=True):
    """A company, an account or a credential that was found."""

    id: fields.Id
    name: fields.CompanyName


class FoundPerson(FoundName, frozen=True):
    """A person who signs in here."""

    name: fields.PersonName
    email: Annotated[
        str, Meta(description="The user's e-mail address.", examples=["ana@example.com"])
    ]


class FoundCharge(Struct, frozen=True, kw_only=True):
    """
    A charge that was made through us, as last known.

    ``value`` is 0 for an open amount, ``paid_value`` where no paid amount is known;
    ``payer_name`` is empty without a named payer.
    """

    account_id: fields.AccountId
    reference: fields.Reference
    payer_name: Annotated[
        str, Meta(description="Who paid, else who is asked to.", examples=["Maria Silva"])
    ]
    value: Sum
    paid_value: Annotated[Sum, meaning("Paid by the last payment that was seen.")]
    status: ChargeState
    created_at: Annotated[Moment, meaning("When it was ordered.")]

    @classmethod
    def of(cls, record: ChargeRecord, now: datetime) -> FoundCharge:
        """Show a record."""
        return cls(
            account_id=record.account_id,
            reference=record.reference,
            payer_name=record.payer_name,
            value=Sum(record.centavos or 0),
            paid_value=Sum(record.paid_centavos or 0),
            status=record.state_at(now),
            created_at=record.created_at,
        )


class FoundRefund(Struct, frozen=True, kw_only=True):
    """A refund that was ordered here and waited for a second person, by ``approval_id``."""

    approval_id: Annotated[
        str,
        Meta(
            description="The order, among the approvals.",
            examples=[fields.ID],
        ),
    ]
    account_id: fields.AccountId
    reference: fields.Reference
    value: Sum
    state: ApprovalState
    ordered_at: Annotated[Moment, meaning("When it was ordered.")]


class FoundDocument(Struct, frozen=True):
    """A page of a text's results: at most 25 of each kind, newest first."""

    payouts: Annotated[list[FoundPayoutDocument], meaning("Payouts found, at most a few.")]
    charges: Annotated[list[FoundCharge], meaning("Charges found.")]
    refunds: Annotated[list[FoundRefund], meaning("Refunds found.")]
    companies: Annotated[
        list[FoundName],
        Meta(description="Companies found.", examples=[[{"id": "6f1c2f0e", "name": "Padaria"}]]),
    ]
    accounts: Annotated[list[FoundName], meaning("Accounts found, at most a few.")]
    credentials: Annotated[list[FoundName], meaning("Credentials found, at most a few.")]
    people: Annotated[list[FoundPerson], meaning("People found.")]
    more: Annotated[bool, Meta(description="Whether the next page has some.", examples=[False])]


@dataclass(frozen=True, slots=True)
class Found:
    """
    Results of a search.

    Attributes:
        is_exact: The text is the id or the whole reference of all of it.
        more: Whether there is a next page.
    """

    payouts: Sequence[FoundPayout] = ()
    charges: Sequence[FoundCharge] = ()
    refunds: Sequence[FoundRefund] = ()
    companies: Sequence[FoundName] = ()
    accounts: Sequence[FoundName] = ()
    credentials: Sequence[FoundName] = ()
    people: Sequence[FoundPerson] = ()
    is_exact: bool = False
    more: bool = False

    def first(self, most: int, *, is_exact: bool = False) -> Found:
        """Keep at most ``most`` results of each kind."""
        return Found(
            payouts=self.payouts[:most],
            charges=self.charges[:most],
            refunds=self.refunds[:most],
            companies=self.companies[:most],
            accounts=self.accounts[:most],
            credentials=self.credentials[:most],
            people=self.people[:most],
            is_exact=is_exact,
            more=any(len(each) > most for each in self._kinds),
        )

    @property
    def _kinds(self) -> Sequence[Sequence[object]]:
        records = (self.companies, self.accounts, self.credentials, self.people)
        return self.payouts, self.charges, self.refunds, *records

    def __len__(self) -> int:
        """Count the results of all kinds."""
        return sum(map(len, self._kinds))

    def to_document(self, reader: object) -> FoundDocument:
        """Return everything found as a document."""
        return FoundDocument(
            [each.to_document(reader) for each in self.payouts],
            list(self.charges),
            list(self.refunds),
            list(self.companies),
            list(self.accounts),
            list(self.credentials),
            list(self.people),
            self.more,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAtBanks:
    """
    Banks' results for the searched days; newest first.

    Attributes:
        read: Number of accounts whose banks answered.
        failed: Names of accounts whose banks did not, or not in time.
        left: Whether there are more accounts than one search queries.
    """

    days: Window
    received: Sequence[tuple[Account, IncomingPayment]]
    refunds: Sequence[tuple[Account, Refund]]
    read: int
    failed: Sequence[str]
    left: bool
