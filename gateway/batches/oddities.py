"""Unusual payouts of a file, compared with the company's own payouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import case, func, select

from gateway.banks.port.payout_orders import Destination, PayoutMethod
from gateway.batches.model import Oddity
from gateway.core.account import Account
from gateway.core.money import Money
from gateway.payouts.model import (
    KNOWN_AFTER,
    MAY_MOVE_MONEY,
    PayoutRequest,
    PayoutState,
    normal_destination,
    restored_destination,
)
from gateway.store.kernel.database import Database
from gateway.store.tables import columns
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import accounts, archived_payouts, payouts

_LATELY: Final = timedelta(days=30)
"""A month of salaries and rents, as where one payout is decided."""
_REMEMBERED: Final = timedelta(days=400)
"""Who is paid once a year is known."""
_USUAL_TIMES: Final = 2
_AT_ONCE: Final = 400
"""Values in one statement, of which SQLite takes some thousands."""
_PAID: Final = (PayoutState.ACCEPTED.value, PayoutState.PAID.value)
_MAY_MOVE: Final = sorted(each.value for each in MAY_MOVE_MONEY)
_PLACE: Final = (payouts.c.method, payouts.c.destination)
PayeeKey = tuple[tuple[str, str], ...]


class KnownPayout(NamedTuple):
    """The fingerprint of a stored payout, and the credential or user whose it is."""

    fingerprint: str
    client_id: str


@dataclass(slots=True)
class _Payee:
    """
    What a company paid to one place.

    Attributes:
        most: The largest amount, in centavos; 0 where nothing may have been paid.
        first_paid: When it was paid first; None where no bank has taken a payout to it.
        lately: The amounts of the last 30 days, in centavos.
    """

    most: int = 0
    first_paid: datetime | None = None
    lately: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddities:
    """
    Compares payouts of a file with what the store has.

    Attributes:
        digests: Computes the digests of a payee's tax number, under every key.
        hold_above: A first payee gets more than this held; None where nothing is held.
    """

    database: Database
    digests: Callable[[str], Sequence[bytes]]
    hold_above: Money | None

    async def known(
        self, account_id: str, orders: Mapping[int, PayoutRequest]
    ) -> Mapping[int, KnownPayout]:
        """Return the payouts that have the references already, by row."""
        numbers = {reference_digest(each.reference): number for number, each in orders.items()}
        found: dict[int, KnownPayout] = {}
        for part in _parts(list(numbers)):
            for table in (payouts, archived_payouts):
                wanted = select(
                    table.c.reference_sha256, table.c.fingerprint, table.c.client_id
                ).where(table.c.account_id == account_id, table.c.reference_sha256.in_(part))
                for row in await self.database.rows(wanted):
                    number = numbers[row.reference_sha256]
                    found[number] = KnownPayout(row.fingerprint, row.client_id)
        return found

    async def of(
        self,
        account: Account,
        orders: Mapping[int, PayoutRequest],
        known: Container[int],
        now: datetime,
    ) -> Mapping[int, tuple[Oddity, ...]]:
        """Return what stands out, by row; rows without are left out, ``known`` have payouts."""
        payees = await self._payees(account.company_id, orders, now)
        alike = Counter((_place(each.destination), each.value) for each in orders.values())
        ordered: Counter[PayeeKey] = Counter()
        found: dict[int, tuple[Oddity, ...]] = {}
        for number, order in orders.items():
            if number in known:
                found[number] = (Oddity.KNOWN_REFERENCE,)
                continue
            place = _place(order.destination)
            ordered[place] += order.value.centavos
            payee = payees.get(place, _Payee())
            words = [*self._beside(order, payee, ordered[place], now)]
            if alike[place, order.value] > 1:
                words.append(Oddity.TWICE_IN_FILE)
            if words:
                found[number] = tuple(words)
        return found

    def _beside(
        self, order: PayoutRequest, payee: _Payee, ordered: int, now: datetime
    ) -> Iterator[Oddity]:
        """Yield what stands out beside earlier payouts; ``ordered`` is what the file pays there."""
        centavos = order.value.centavos
        if not payee.most:
            yield Oddity.NEW_PAYEE
        elif centavos > _USUAL_TIMES * payee.most:
            yield Oddity.ABOVE_USUAL
        is_first = payee.first_paid is None or payee.first_paid > now - KNOWN_AFTER
        if is_first and self.hold_above is not None and ordered > self.hold_above.centavos:
            yield Oddity.WILL_BE_HELD
        if centavos in payee.lately:
            yield Oddity.SAME_AMOUNT

    async def _payees(
        self, company_id: str, orders: Mapping[int, PayoutRequest], now: datetime
    ) -> Mapping[PayeeKey, _Payee]:
        """Read what the company paid to the places of a file."""
        found: dict[PayeeKey, _Payee] = {}
        digests = {
            digest
            for number in {each.destination.tax_number for each in orders.values()}
            for digest in self.digests(number)
        }
        own = select(accounts.c.id).where(accounts.c.company_id == company_id)
        paid_at = case((payouts.c.state.in_(_PAID), payouts.c.created_at))
        for part in _parts(sorted(digests)):
            to_payees = (
                payouts.c.payee_digest.in_(part),
                payouts.c.account_id.in_(own),
                payouts.c.state.in_(_MAY_MOVE),
            )
            whole = select(
                *_PLACE,
                func.max(payouts.c.centavos).label("most"),
                func.min(paid_at).label("first_paid"),
            ).where(*to_payees, payouts.c.created_at >= now - _REMEMBERED)
            for row in await self.database.rows(whole.group_by(*_PLACE)):
                place = _place_of(row)
                payee = found.setdefault(place, _Payee())
                payee.most = max(payee.most, row.most)
                firsts = [each for each in (payee.first_paid, row.first_paid) if each is not None]
                payee.first_paid = min(firsts, default=None)
            amounts = select(*_PLACE, payouts.c.centavos).where(
                *to_payees, payouts.c.created_at >= now - _LATELY
            )
            for row in await self.database.rows(amounts.distinct()):
                found.setdefault(_place_of(row), _Payee()).lately.add(row.centavos)
        return found


def _parts(values: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for first in range(0, len(values), _AT_ONCE):
        yield values[first : first + _AT_ONCE]


def _place(destination: Destination) -> PayeeKey:
    """Return where money goes, whatever the recipient is called."""
    return tuple(sorted({**normal_destination(destination), "name": ""}.items()))


def _place_of(row: Record) -> PayeeKey:
    return _place(restored_destination(PayoutMethod(row.method), columns.read(row.destination)))
