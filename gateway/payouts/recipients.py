"""
Recipients whom an account paid before, each with what changed since.

They are read from the payouts themselves (ADR 0085). To choose one fills in an order and skips no
check of it. Nobody is shown a whole CPF: an order names a recipient by the payout that paid them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Subquery,
    Text,
    and_,
    case,
    cast,
    func,
    or_,
    select,
    tuple_,
    union,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core import strict, user_errors
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.calls import Input
from gateway.core.errors import ServiceError
from gateway.core.exports import Exports
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.schemas import Moment
from gateway.core.terms import folded, search_term
from gateway.core.windows import Listed, Paging
from gateway.payouts.model import (
    NamedOwner,
    Payout,
    PayoutState,
    hidden_destination,
    is_same_place,
    restored_destination,
)
from gateway.payouts.store import StoredPayouts
from gateway.store.kernel.database import Database, page
from gateway.store.tables import columns
from gateway.store.tables.columns import Record
from gateway.store.tables.core import payouts, payouts_by_people, returns
from policies.validation.backoffice import inputs

LOOKED_AT: Final = 5_000
"""Payouts of the account, the newest, and as many of those that people ordered there."""
REMEMBERED: Final = timedelta(days=400)
"""Who is paid once a year is found, as in files of payouts."""


class RecipientChange(StrEnum):
    """
    What stands out about a recipient who was paid before.

    REFUSED: a later payout there failed, or the bank refused it.
    OPEN: of some payout there the outcome is not proven, or in review.
    HELD: a payout there is held.
    RETURNED: money that was paid there came back.
    OTHER_NAME: payouts there name several people.
    OTHER_OWNER: the bank names another owner of the key than it did then.
    OTHER_BANK: the key is at another bank than it was then.
    """

    REFUSED = "refused"
    OPEN = "open"
    HELD = "held"
    RETURNED = "returned"
    OTHER_NAME = "other_name"
    OTHER_OWNER = "other_owner"
    OTHER_BANK = "other_bank"


class RecipientDocument(Struct, frozen=True, kw_only=True):
    """A recipient whom an account paid: a tax number at a Pix key or at a bank account."""

    reference: Annotated[
        str, meaning("The reference of the last payout that was paid there.", "order-1")
    ]
    name: Annotated[str, meaning("As that payout names them; may be empty.", "Maria Silva")]
    method: Annotated[
        Literal["pix", "bank_account"], meaning("How the money is paid: `pix` or `bank_account`.")
    ]
    destination: Annotated[
        dict[str, str], meaning("Where the money goes, a person's tax number and key masked.")
    ]
    payouts: Annotated[int, meaning("How many payouts were paid.", 12)]
    value: Annotated[Sum, meaning("What they moved together, less what came back.")]
    paid_at: Moment
    changed: Annotated[
        list[RecipientChange], meaning("What stands out about the recipient.", ["refused"])
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientSearch:
    """
    Which recipients.

    Attributes:
        text: Words of the name, or a whole CNPJ.
    """

    paging: Paging
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ChosenRecipient:
    """
    A recipient to pay again.

    Attributes:
        payout: The last one that was paid there. It has the whole numbers: they are for an order,
            and never for a page.
    """

    recipient: RecipientDocument
    payout: Payout

    def since(self, owner: NamedOwner) -> Sequence[RecipientChange]:
        """Return what changed, with the owner of the key as the bank names them now."""
        changed, then = [*self.recipient.changed], self.payout.owner
        if then is None:
            return changed
        if (folded(then.name), then.tax_number) != (folded(owner.name), owner.tax_number):
            changed.append(RecipientChange.OTHER_OWNER)
        if then.bank and owner.bank and then.bank != owner.bank:
            changed.append(RecipientChange.OTHER_BANK)
        return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidRecipients:
    """
    Reads recipients from the store; every method raises ``StoreUnavailable`` as stores do.

    Attributes:
        digests: Computes the digests of a recipient's tax number, under every key.
    """

    database: Database
    payouts: StoredPayouts
    digests: Callable[[str], Sequence[bytes]]
    exports: Exports

    @requires(Area.PAYOUT, Action.READ)
    async def page(
        self, who: Staff, account: Account, wanted: RecipientSearch
    ) -> Listed[RecipientDocument]:
        """
        List the recipients whom an account paid, those paid last first.

        Of the last 400 days, among the newest 5,000 payouts of the account and the newest 5,000
        that people ordered there. Archived payouts are left out.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        since = who.acting.now() - REMEMBERED
        own = (payouts.c.account_id == account.id, payouts.c.created_at >= since)
        found = _recipients(_newest(*own), _newest_by_people(account.id, since))
        if wanted.text is not None:
            found = found.where(*self._named(found, wanted.text))
        listed = await page(self.database, found, wanted.paging, _document)
        await self.exports.show(who, len(listed.items))
        return listed

    @requires(Area.PAYOUT, Action.READ)
    async def choose(self, who: Staff, account: Account, reference: str) -> ChosenRecipient:
        """
        Return the recipient of a payout that was paid, to pay them again.

        Raises:
            ServiceError: ``NOT_FOUND``: the account has paid none of this reference, or it is
                archived, and the whole numbers are in a file alone.
        """
        payout = await self.payouts.find(account.id, reference)
        if payout is None or payout.archived or payout.state is not PayoutState.PAID:
            raise ServiceError(user_errors.NOT_FOUND, "no_recipient", field="reference")
        digests = self.digests(payout.destination.tax_number)
        there = _newest(payouts.c.account_id == account.id, payouts.c.payee_digest.in_(digests))
        for row in await self.database.rows(_recipients(there)):
            method = PayoutMethod(row.method)
            to = restored_destination(method, columns.read(row.destination))
            if is_same_place(to, payout.destination):
                return ChosenRecipient(_document(row), payout)
        # Its digest is of a key that is gone, or it was archived meanwhile.
        raise ServiceError(user_errors.NOT_FOUND, "no_recipient", field="reference")

    def _named(self, found: Select[*tuple[Any, ...]], given: str) -> Sequence[ColumnElement[bool]]:
        """Return conditions: each word is in the name, or the text is the whole CNPJ."""
        shown = found.selected_columns
        number = strict.tax_number_if_any(given)
        if number and strict.hidden_tax_number(number) == number:
            return [shown.payee_digest.in_(self.digests(number))]
        words = search_term(given).words
        return [shown.payee_folded.contains(each, autoescape=True) for each in words]


def _search(given: inputs.Filters) -> RecipientSearch:
    return RecipientSearch(paging=given.paging(), text=given.text("text"))


RECIPIENTS: Final[Input[RecipientSearch]] = inputs.filters(
    _search,
    inputs.text_filter("text", "Words of the recipient's name, or a whole CNPJ."),
    *inputs.PAGING,
)


class _Nameless(FunctionElement[str]):
    """Where the money of a stored destination goes, whatever the recipient is called."""

    name = "nameless"
    inherit_cache = True
    type = Text()


@compiles(_Nameless, "sqlite")
def _in_sqlite(element: _Nameless, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    return f"json_remove({compiler.process(element.clauses, **options)}, '$.name')"


@compiles(_Nameless, "postgresql")
def _in_postgresql(element: _Nameless, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - SQLAlchemy's
    return f"(CAST({compiler.process(element.clauses, **options)} AS jsonb) - 'name')"


_READ: Final = (
    *(payouts.c.account_id, payouts.c.reference_sha256, payouts.c.reference, payouts.c.method),
    *(payouts.c.destination, payouts.c.destination_sent, payouts.c.key_owner),
    *(payouts.c.payee_folded, payouts.c.payee_digest, payouts.c.state, payouts.c.review),
    *(payouts.c.created_at, payouts.c.settled_at),
    func.coalesce(payouts.c.moved_centavos, payouts.c.centavos).label("moved"),
)
_REFUSED: Final = (PayoutState.REJECTED.value, PayoutState.FAILED.value)


def _newest(*wanted: ColumnElement[bool]) -> Subquery:
    newest = select(*_READ).where(*wanted).order_by(payouts.c.created_at.desc())
    return newest.limit(LOOKED_AT).subquery()


def _newest_by_people(account_id: str, since: datetime) -> Subquery:
    """Read the end of the index of people's payouts, and the payouts by their keys."""
    index = payouts_by_people.c
    newest = (
        select(index.account_id, index.reference_sha256)
        .where(index.account_id == account_id, index.created_at >= since)
        .order_by(index.created_at.desc())
        .limit(LOOKED_AT)
    )
    key = tuple_(payouts.c.account_id, payouts.c.reference_sha256)
    return select(*_READ).where(key.in_(newest)).subquery()


def _recipients(*parts: Subquery) -> Select[*tuple[Any, ...]]:
    """Select a row of each recipient that was paid: of the last payout paid there, with sums."""
    each = union(*map(select, parts)).subquery()
    is_paid = each.c.state == PayoutState.PAID.value
    came_back = (
        select(cast(func.coalesce(func.sum(returns.c.centavos), 0), BigInteger))
        .where(
            returns.c.account_id == each.c.account_id,
            returns.c.reference_sha256 == each.c.reference_sha256,
        )
        .correlate(each)
        .scalar_subquery()
    )
    back = case((is_paid, came_back), else_=0).label("back")
    paid = select(each, _number(is_paid).label("paid"), back).subquery()
    place = (paid.c.method, _Nameless(paid.c.destination))
    paid_first = (paid.c.paid.desc(), paid.c.created_at.desc(), paid.c.reference_sha256)
    name = func.nullif(paid.c.payee_folded, "")

    def over(figure: FunctionElement[Any]) -> ColumnElement[Any]:
        return figure.over(partition_by=place)

    refused_at = case((paid.c.state.in_(_REFUSED), paid.c.created_at))
    is_open = or_(paid.c.state == PayoutState.UNKNOWN.value, paid.c.review)
    left = case((paid.c.paid == 1, paid.c.moved - paid.c.back), else_=0)
    added = select(
        paid,
        over(func.sum(paid.c.paid)).label("payouts"),
        over(func.sum(left)).label("centavos"),
        over(func.max(refused_at)).label("refused_at"),
        over(func.max(_number(is_open))).label("open"),
        over(func.max(_number(paid.c.state == PayoutState.HELD.value))).label("held"),
        over(func.max(_number(paid.c.back > 0))).label("returned"),
        (over(func.max(name)) != over(func.min(name))).label("names"),
        func.row_number().over(partition_by=place, order_by=paid_first).label("rank"),
    ).subquery()
    return (
        select(added)
        .where(and_(added.c.rank == 1, added.c.paid == 1))
        .order_by(added.c.created_at.desc(), added.c.reference_sha256)
    )


def _number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)


def _document(row: Record) -> RecipientDocument:
    to = columns.read(row.destination)
    sent = {name: text for name, text in columns.read(row.destination_sent).items() if text}
    owner = None if row.key_owner is None else columns.read(row.key_owner)
    changes = {
        RecipientChange.REFUSED: row.refused_at is not None and row.refused_at > row.created_at,
        RecipientChange.OPEN: row.open,
        RecipientChange.HELD: row.held,
        RecipientChange.RETURNED: row.returned,
        RecipientChange.OTHER_NAME: row.names,
    }
    return RecipientDocument(
        reference=row.reference,
        name=(owner or to)["name"],
        method=row.method,
        destination={
            name: text for name, text in hidden_destination({**to, **sent}).items() if text
        },
        payouts=int(row.payouts),
        value=Sum(int(row.centavos)),
        paid_at=row.settled_at or row.created_at,
        changed=[each for each, is_so in changes.items() if is_so],
    )
