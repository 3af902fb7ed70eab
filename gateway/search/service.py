"""Searches the store at once, and the banks afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, or_, select

from gateway.accounts.store import read_account
from gateway.banks.port.providers import NotSupported, ProviderError
from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.charges.model import ChargeRecord, ChargeSearch
from gateway.charges.store import StoredCharges
from gateway.core import strict
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.allowances import Allowance, refuse_for
from gateway.core.approvals import ApprovalKind, ApprovalState
from gateway.core.errors import ServiceError
from gateway.core.exports import Exports
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.terms import search_term
from gateway.core.windows import Keyset, Paging, Search, Window, local_start
from gateway.payouts.documents import FoundPayout
from gateway.payouts.search import (
    FOUND_AT_MOST,
    Cut,
    Named,
    PayoutDirectory,
    PayoutFilterBody,
    PayoutQuery,
)
from gateway.pix_keys.service import TOO_MANY_LOOK_UPS
from gateway.refunds.searches import IncomingSearch, RefundSearch
from gateway.refunds.service import Refunds
from gateway.search.model import (
    Found,
    FoundAtBanks,
    FoundCharge,
    FoundName,
    FoundPerson,
    FoundRefund,
    SearchBody,
    TextQuery,
)
from gateway.statements.model import local_day
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.tables.backoffice import approvals
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import accounts, charges, companies, credentials
from gateway.store.tables.identity import users
from gateway.store.tables.scope import of_account, of_company, users_in
from gateway.store.tables.texts import contains

ACCOUNTS_AT_MOST: Final = 20
"""Accounts that the banks are asked about in one search."""
_AT_ONCE: Final = 5
_BANKS_S: Final = 8.0
_CLIENT: Final = "cli_"
_KEY: Final = re.compile(r"[0-9a-f]{32}", re.ASCII)
_CHARGES: Final = Right(Area.QRCODE, Action.READ)
_REFUNDS: Final = Right(Area.REFUND, Action.READ)
_COMPANIES: Final = Right(Area.COMPANY, Action.READ)
_ACCOUNTS: Final = Right(Area.ACCOUNT, Action.READ)
_CREDENTIALS: Final = Right(Area.CREDENTIAL, Action.READ)
_PEOPLE: Final = Right(Area.USER, Action.READ)
_Answer = tuple[Sequence[IncomingPayment], Sequence[Refund]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """
    Searches the store, within the user's rights.

    Attributes:
        digests: Computes the digests of a recipient's tax number, under every key.
        looked_up: CPFs that each person may search for; above: 429. They are shown with six of
            their eleven digits, and with the two that check them a thousand are left to try.
        exports: What people take away as files and lists.
    """

    database: Database
    directory: PayoutDirectory
    digests: Callable[[str], Sequence[bytes]]
    looked_up: Allowance
    exports: Exports

    @requires(Area.PAYOUT, Action.READ)
    async def find(self, who: Staff, wanted: SearchBody) -> Found:
        """
        Find payouts, charges, refunds, companies, accounts, credentials and people.

        An id, a tax number or a whole reference finds its record, of any date.
        Else an amount, or a part of a name or a reference, is looked for on the day that stands
        beside it, or in the last 90 days. A tax number too may have a day beside it.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: the person has searched for
                too many CPFs lately, those of nobody included; or as ``Exports.show``.
        """
        found = await self._find(who, wanted)
        await self.exports.show(who, len(found))
        return found

    async def _find(self, who: Staff, wanted: SearchBody) -> Found:
        text = wanted.text.strip()
        if not text:  # every name holds it
            return Found()
        asked = TextQuery.of(text, local_day(who.acting.now()))
        number = strict.tax_number_if_any(asked.text)
        if who.person is not None and strict.hidden_tax_number(number) != number:
            refuse_for(await self.looked_up.take(who.person.user_id), TOO_MANY_LOOK_UPS)
        exact = await self._paid_to(who, number, asked, wanted.page) if number else Found()
        exact = exact or await self._exact(who, text)
        if exact:
            return exact.first(FOUND_AT_MOST, is_exact=True)
        # A reference may look like any of these: fourteen letters and digits like a CNPJ.
        return (await self._fuzzy(who, text, wanted.page)).first(FOUND_AT_MOST)

    async def _paid_to(self, who: Staff, number: str, asked: TextQuery, page: int) -> Found:
        cut = Cut(
            start=None if asked.day is None else local_start(asked.day),
            end=asked.until,
            limit=FOUND_AT_MOST + 1,
            offset=_offset(page),
        )
        paid = await self.directory.paid_to(self.digests(number), who.scope, cut)
        own = accounts.c.tax_number == number
        if asked.day is not None:
            return Found(payouts=paid)
        return Found(payouts=paid, accounts=await self._named(who, _ACCOUNTS, _ACCOUNT, own, page))

    async def _exact(self, who: Staff, text: str) -> Found:
        named = await self._by_id(who, text)
        if named:
            return named
        by_key = (Named.PROVIDER_KEY,) if _KEY.fullmatch(text) else ()
        begun = await self._payouts(who, text, Named.REFERENCE)
        whole = [each for each in begun if each.payout.reference == text]
        whole += await self._payouts(who, text, *by_key)
        asked = await self._charges(who, charges.c.reference_sha256 == reference_digest(text))
        if whole or asked:
            return Found(payouts=whole, charges=asked)
        return Found(payouts=await self._payouts(who, text, Named.PROVIDER_ID, Named.TRACE_ID))

    async def _by_id(self, who: Staff, text: str) -> Found:
        if strict.is_e2e_id(text):
            return Found(
                payouts=await self._payouts(who, text, Named.E2E_ID, Named.RETURN_ID),
                charges=await self._charges(who, charges.c.e2e_id == text),
            )
        if text.startswith(_CLIENT):
            named = credentials.c.client_id == text
            return Found(credentials=await self._named(who, _CREDENTIALS, _CREDENTIAL, named))
        if not (_is_uuid(text) or "@" in text):
            return Found()
        given = text.lower()
        return Found(
            companies=await self._named(who, _COMPANIES, _COMPANY, companies.c.id == given),
            accounts=await self._named(who, _ACCOUNTS, _ACCOUNT, accounts.c.id == given),
            charges=await self._charges(who, charges.c.id == given),
            refunds=await self._refunds(who, approvals.c.id == given),
            people=await self._people(who, or_(users.c.id == given, users.c.email == given)),
        )

    async def _fuzzy(self, who: Staff, text: str, page: int) -> Found:
        """Find records by a part of a text, or an amount; later pages have no payouts."""
        now = who.acting.now()
        today = local_day(now)
        asked = TextQuery.of(text, today)
        since, until = asked.since(today), asked.until
        paid, made = await self._listed(who, asked) if page == 1 else ((), ())
        terms = search_term(asked.text)
        ordered = [approvals.c.ordered_at >= since]
        if until is not None:
            ordered.append(approvals.c.ordered_at < until)
        if terms.centavos is not None:
            ordered.append(approvals.c.centavos == terms.centavos)
        else:
            ordered.append(contains(approvals.c.reference, asked.text))
        found = Found(
            payouts=paid,
            charges=made,
            refunds=await self._refunds(who, *ordered, page=page),
        )
        if asked.day is not None or terms.centavos is not None:
            return found
        return replace(
            found,
            companies=await self._named(
                who, _COMPANIES, _COMPANY, contains(companies.c.name, text), page
            ),
            accounts=await self._named(
                who, _ACCOUNTS, _ACCOUNT, contains(accounts.c.name, text), page
            ),
            credentials=await self._named(
                who, _CREDENTIALS, _CREDENTIAL, contains(credentials.c.name, text), page
            ),
            people=await self._people(
                who, or_(contains(users.c.name, text), contains(users.c.email, text)), page
            ),
        )

    async def _listed(
        self, who: Staff, asked: TextQuery
    ) -> tuple[Sequence[FoundPayout], Sequence[FoundCharge]]:
        """Return the first matching payouts and charges; both have their own lists."""
        now = who.acting.now()
        since, until = asked.since(local_day(now)), asked.until
        query = PayoutQuery(
            wanted=PayoutFilterBody(text=asked.text), start=since, end=until, limit=FOUND_AT_MOST
        )
        begun = [] if asked.day else await self._payouts(who, asked.text, Named.REFERENCE)
        paid, _ = await self.directory.page(query, who.scope)
        search = ChargeSearch(
            page=Keyset(limit=FOUND_AT_MOST), since=since, until=until, text=asked.text
        )
        may_charges = who.may(_CHARGES)
        made = await self._store.search(search, who.scope, now) if may_charges else ()
        charges = [FoundCharge.of(each, now) for each in made[:FOUND_AT_MOST]]
        return _once([*paid, *begun]), charges

    @property
    def _store(self) -> StoredCharges:
        return StoredCharges(self.database)

    async def _payouts(self, who: Staff, text: str, *names: Named) -> Sequence[FoundPayout]:
        """Try possible meanings of a text, until something is found."""
        for by in names:
            found = await self.directory.named(by, text, who.scope)
            if found:
                return found
        return ()

    async def _charges(self, who: Staff, *conditions: ColumnElement[bool]) -> Sequence[FoundCharge]:
        own = of_account(charges.c.account_id, who.scope)
        newest = select(charges).where(*conditions, *own).order_by(charges.c.created_at.desc())
        now = who.acting.now()
        rows = await self._rows(newest) if who.may(_CHARGES) else ()
        return [FoundCharge.of(from_row(row, ChargeRecord), now) for row in rows]

    async def _refunds(
        self, who: Staff, *conditions: ColumnElement[bool], page: int = 1
    ) -> Sequence[FoundRefund]:
        own = of_company(approvals.c.company_id, who.scope)
        is_refund = approvals.c.kind == ApprovalKind.REFUND.value
        wanted = select(approvals).where(*conditions, is_refund, *own)
        newest = wanted.order_by(approvals.c.ordered_at.desc(), approvals.c.id.desc())
        rows = await self._rows(newest, page) if who.may(_REFUNDS) else ()
        return [
            FoundRefund(
                approval_id=row.id,
                account_id=row.account_id,
                reference=row.reference,
                value=Sum(row.centavos),
                state=ApprovalState(row.state),
                ordered_at=row.ordered_at,
            )
            for row in rows
        ]

    async def _named(
        self,
        who: Staff,
        right: Right,
        columns: Sequence[ColumnElement[Any]],
        condition: ColumnElement[bool],
        page: int = 1,
    ) -> Sequence[FoundName]:
        """Return names of records; ``columns`` are id, name and company."""
        id_, name, company = columns
        wanted = select(id_.label("id"), name.label("name")).where(
            condition, *of_company(company, who.scope)
        )
        rows = await self._rows(wanted.order_by(name, id_), page) if who.may(right) else ()
        return [FoundName(row.id, row.name) for row in rows]

    async def _people(
        self, who: Staff, condition: ColumnElement[bool], page: int = 1
    ) -> Sequence[FoundPerson]:
        wanted = select(users.c.id, users.c.name, users.c.email).order_by(users.c.name, users.c.id)
        own = wanted.where(condition, *users_in(who.scope))
        rows = await self._rows(own, page) if who.may(_PEOPLE) else ()
        return [FoundPerson(row.id, row.name, row.email) for row in rows]

    async def _rows(self, wanted: Select[*tuple[Any, ...]], page: int = 1) -> Sequence[Record]:
        return await self.database.rows(wanted.limit(FOUND_AT_MOST + 1).offset(_offset(page)))


_COMPANY: Final = (companies.c.id, companies.c.name, companies.c.id)
_ACCOUNT: Final = (accounts.c.id, accounts.c.name, accounts.c.company_id)
_CREDENTIAL: Final = (credentials.c.client_id, credentials.c.name, credentials.c.company_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankSearches:
    """Searches payments received and refunds at the banks, which alone store all of them."""

    database: Database
    refunds: Refunds
    wait_s: float = _BANKS_S

    @requires(Area.TRANSACTION, Action.READ)
    async def find(self, who: Staff, wanted: SearchBody) -> FoundAtBanks:
        """
        Query the banks of the accounts in scope for the days of a search, at most 20 accounts.

        The days are an end-to-end id's day, the day typed beside the text, or yesterday and
        today. A bank that does not answer in time counts as failed.
        """
        today = local_day(who.acting.now())
        asked = TextQuery.of(wanted.text, today)
        days, named = asked.at_banks(today), await self._accounts(who)
        chosen, turns = named[:ACCOUNTS_AT_MOST], asyncio.Semaphore(_AT_ONCE)

        async def ask(account: Account) -> _Answer | None:
            try:
                async with asyncio.timeout(self.wait_s), turns:
                    return await self._ask(who, account, asked.text, days)
            except (TimeoutError, ProviderError):
                return None

        answers = await asyncio.gather(*map(ask, chosen))
        answered = [(each, said) for each, said in zip(chosen, answers, strict=True) if said]
        came = [(each, payment) for each, said in answered for payment in said[0]]
        back = [(each, refund) for each, said in answered for refund in said[1]]
        return FoundAtBanks(
            days=days,
            received=sorted(came, key=lambda each: each[1].paid_at, reverse=True)[:FOUND_AT_MOST],
            refunds=sorted(back, key=lambda each: each[1].created_at, reverse=True)[:FOUND_AT_MOST],
            read=len(answered),
            failed=[each.name for each, said in zip(chosen, answers, strict=True) if said is None],
            left=len(named) > len(chosen),
        )

    async def _ask(self, who: Staff, account: Account, text: str, days: Window) -> _Answer:
        """Query one bank; nothing for a bank without such a list."""
        search = Search(days, Paging(1, FOUND_AT_MOST))
        came: Sequence[IncomingPayment] = ()
        back: Sequence[Refund] = ()
        with suppress(NotSupported, ServiceError):
            came = (
                await self.refunds.received(who, account, IncomingSearch(search, text=text))
            ).items
        if who.may(_REFUNDS):
            with suppress(NotSupported, ServiceError):
                back = (
                    await self.refunds.search(who, account, RefundSearch(search, text=text))
                ).items
        return came, back

    async def _accounts(self, who: Staff) -> Sequence[Account]:
        """Return the accounts in scope with a bank, oldest first, and one more than queried."""
        wanted = (
            select(accounts)
            .where(accounts.c.provider != "", *of_company(accounts.c.company_id, who.scope))
            .order_by(accounts.c.created_at, accounts.c.id)
            .limit(ACCOUNTS_AT_MOST + 1)
        )
        return [read_account(row) for row in await self.database.rows(wanted)]


def _offset(page: int) -> int:
    """Return the number of hits of a kind on earlier pages."""
    return (page - 1) * FOUND_AT_MOST


def _once(found: Sequence[FoundPayout]) -> Sequence[FoundPayout]:
    by_key = {(each.payout.account_id, each.payout.reference): each for each in found}
    return list(by_key.values())[:FOUND_AT_MOST]


def _is_uuid(text: str) -> bool:
    try:
        return bool(strict.uuid_text(text))
    except ValueError:
        return False
