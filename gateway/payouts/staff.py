"""Payouts for staff: reading, searching and ordering."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import count
from typing import Final

from gateway.audit.store import StoredAudit
from gateway.banks.port.payout_orders import PixDestination
from gateway.banks.port.providers import NotSupported
from gateway.banks.port.refunds import Refund
from gateway.core import errors, strict
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.approvals import Approval
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.errors import (
    CANCEL_NOT_IMPLEMENTED,
    PAYOUT_NOT_FOUND,
    TOO_MANY_REQUESTS,
    ServiceError,
)
from gateway.core.exports import ExportKind, Exports
from gateway.core.permissions import Action, client_of
from gateway.core.rights import Area
from gateway.core.strict import hidden_tax_number
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.core.windows import LARGEST_LIMIT, Listed, Paging, Search, Window
from gateway.payouts import report_file as payout_table
from gateway.payouts.documents import (
    AccountPayout,
    FoundPayout,
    HitPayouts,
    OpenWork,
    PayoutDetail,
    PayoutsAlike,
    PayoutsFound,
    PayoutWithReturns,
    Probed,
)
from gateway.payouts.events import WITHDRAWN, PayoutEvent, is_complete, shown_move, timeline
from gateway.payouts.followup import FollowUp
from gateway.payouts.model import (
    FINAL_STATES,
    EventKind,
    KeyPayout,
    NamedOwner,
    Opinion,
    Payout,
    PayoutRequest,
    PayoutSearch,
    PayoutState,
    absent_at,
    may_read,
    states_of,
)
from gateway.payouts.schedule import PROBE_EVERY
from gateway.payouts.search import (
    PayoutDirectory,
    PayoutFilterBody,
    PayoutPlace,
    PayoutQuery,
    PayoutsBody,
    place_text,
)
from gateway.payouts.store import StoredPayouts
from gateway.pix_keys.service import KeyOwners
from gateway.reports.files import ROWS_A_PAGE, DownloadFile, DownloadPage, DownloadReader

RECIPIENT_DAYS: Final = 30
"""How far back payouts to the same recipient are told: a month of salaries and rents."""
SIMILAR_MOST: Final = 20
"""Shown beside a payout: a partner may pay the same to the same recipient all day."""
_ALIKE_MOST: Final = 10
"""Of one value in one day: more say no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutRecords:
    """
    Reads payouts from the store alone; every method raises ``StoreUnavailable`` as stores do.

    Attributes:
        similar_within: Maximum time between two similar payouts.
        absent_after: The declaration of each provider's adapter, by the provider's name.
        digests: Computes the digests of a recipient's tax number, under every key.
        exports: What people take away as files and lists.
        kept_from: Returns at a time the first day of the oldest month that is not archived; None
            where nothing is.
    """

    directory: PayoutDirectory
    payouts: StoredPayouts
    similar_within: timedelta
    absent_after: Mapping[str, timedelta | None]
    digests: Callable[[str], Sequence[bytes]]
    exports: Exports
    kept_from: Callable[[datetime], date | None]

    @requires(Area.PAYOUT, Action.READ)
    async def find(self, who: Staff, account: Account, reference: str) -> Payout:
        """
        Return the payout of an account.

        Raises:
            RuleViolation: the account has none of this reference.
        """
        payout = await self.payouts.find(account.id, reference)
        if payout is None:
            message = f"the account has no payout {reference}"
            raise RuleViolation(message)
        return payout

    @requires(Area.PAYOUT, Action.READ)
    async def created(
        self, who: Staff, account: Account, window: Window, state: PayoutState | None
    ) -> Sequence[Payout]:
        """Return every payout that an account created in a window, newest first."""
        found = await payouts_of(self.payouts, account.id, window)
        return [payout for payout in found if state in {None, payout.state}]

    @requires(Area.PAYOUT, Action.READ)
    async def page(
        self, who: Staff, account: Account, wanted: PayoutSearch
    ) -> Listed[AccountPayout]:
        """
        Search payouts created within a window of days.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        states = () if wanted.status is None else states_of(wanted.status)
        found, total = await self.payouts.search(account.id, wanted.search, states)
        await self.exports.show(who, len(found))
        items = [AccountPayout(account, each) for each in found]
        return Listed(items=items, paging=wanted.search.paging, total=total)

    @requires(Area.PAYOUT, Action.READ)
    async def detail(self, who: Staff, account: Account, reference: str) -> PayoutDetail:
        """
        Read everything that is known of a payout: tries, evidence, opinions.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) when there is none.
        """
        payout = await _found(self.payouts, account.id, reference)
        actor, key = who.acting.actor, (account.id, reference)
        attempts, events = await self.payouts.attempts(*key), await self.payouts.events(*key)
        given = await self._opinions(payout, events)
        opinions = [each for each in given if may_read(actor, each.by, payout)]
        events = [_readable(actor, each, payout) for each in events]
        is_paid = payout.state is PayoutState.PAID
        return PayoutDetail(
            account=account,
            payout=payout,
            attempts=attempts,
            similar=await self.payouts.similar_around(payout, self.similar_within, SIMILAR_MOST),
            opinions=opinions,
            returns=await self.payouts.returns(*key) if is_paid else [],
            timeline=timeline(payout, events, attempts, opinions),
            shown=shown_move(payout, events),
            absent_at=absent_at(payout, self.absent_after.get(payout.provider)),
            people=await self.directory.people(payout),
        )

    @requires(Area.PAYOUT, Action.READ)
    async def search(self, who: Staff, wanted: PayoutsBody) -> PayoutsFound:
        """
        Search the payouts of every account that you may see.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        query = PayoutQuery.of(wanted, who.acting.now())
        found, after = await self.directory.page(query, who.scope)
        await self.exports.show(who, len(found))
        counts = await self.directory.counts(query, who.scope)
        return PayoutsFound(found, counts, "" if after is None else place_text(after))

    @requires(Area.REPORT, Action.READ, also=Area.PAYOUT)
    async def export(self, who: Staff, wanted: PayoutFilterBody) -> DownloadFile:
        """
        Read every payout of a search as a table: semicolons, decimal commas, time of Brasilia.

        Every page is read for itself, so nothing is locked meanwhile: a row stands in the file
        as it was when its page was read.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.begin`` and ``Export.take``.
        """
        export = await self.exports.begin(who, ExportKind.PAYOUTS)
        query = replace(PayoutQuery.of(wanted, who.acting.now()), limit=ROWS_A_PAGE)
        directory, scope = self.directory, who.scope

        async def read(place: PayoutPlace | None) -> DownloadPage[FoundPayout, PayoutPlace]:
            return DownloadPage(*await directory.page(replace(query, after=place), scope))

        reader = DownloadReader(read=read, write=payout_table.lines, export=export)
        return await reader.file(payout_table.HEAD)

    @requires(Area.REVIEW, Action.READ)
    async def open_work(self, who: Staff) -> OpenWork:
        """Count your tasks: unresolved, in review, approvals, stops."""
        return await self.directory.open_work(who)

    @requires(Area.PAYOUT, Action.READ)
    async def hit(self, who: Staff, provider: str, since: datetime) -> list[HitPayouts]:
        """Count payouts at a bank by account: without an outcome, and not sent since then."""
        return await self.directory.hit(provider, since, who.scope)

    @requires(Area.APPROVAL, Action.READ)
    async def alike(self, who: Staff, account_id: str, order: PayoutRequest) -> PayoutsAlike:
        """
        Return payouts similar to an order, without the order's own payout.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        number, now = strict.tax_number_if_any(order.destination.tax_number), who.acting.now()
        since = now - timedelta(days=RECIPIENT_DAYS)
        today = PayoutFilterBody(account_id=account_id, days=1)
        query = replace(PayoutQuery.of(today, now), ordered=order.value, limit=_ALIKE_MOST)
        found = await self.directory.paid_to(self.digests(number), who.scope)
        same, _ = await self.directory.page(query, who.scope)
        itself = account_id, order.reference

        def others(found: Sequence[FoundPayout]) -> Sequence[FoundPayout]:
            return [
                each for each in found if (each.payout.account_id, each.payout.reference) != itself
            ]

        recent = [each for each in found if each.payout.created_at >= since]
        alike = PayoutsAlike(others(recent), others(same))
        await self.exports.show(who, len(alike.to_recipient) + len(alike.same_value))
        return alike

    async def _opinions(self, payout: Payout, events: Sequence[PayoutEvent]) -> Sequence[Opinion]:
        """Return the opinions; skips the query if the events prove that there are none."""
        judged = any(each.kind is EventKind.JUDGED for each in events)
        if is_complete(events) and not judged:
            return []
        return await self.payouts.opinions(payout.account_id, payout.reference)


Pay = Callable[[Staff, Account, PayoutRequest], Awaitable[Payout | Refund | Approval]]


async def with_owner(
    owners: KeyOwners,
    payouts: StoredPayouts,
    who: Staff,
    account: Account,
    order: KeyPayout,
) -> PayoutRequest:
    """
    Return the order with the key's owner, as the bank names the owner now.

    A page's copy proves nothing. A reference that is known already, a date that is not today,
    which is refused without the bank, and a bank that names no owners leave the order as it is.

    Raises:
        ServiceError: ``SVC.VAL.001`` when the typed number is not the owner's and no reason is
            given; as the look-up does.
        ProviderError: the bank gave no usable answer; nothing was ordered.
        StoreUnavailable: nothing was asked.
    """
    request, to = order.request, order.request.destination
    if request.date != who.acting.now().date():
        return request
    is_known = await payouts.find(account.id, request.reference) is not None
    if is_known or not isinstance(to, PixDestination):
        return request
    try:
        found = await owners.look_up_for_order(who, account, to.key)
    except NotSupported:
        return request
    number = hidden_tax_number(found.tax_number)
    owner = NamedOwner(name=found.name, tax_number=number, bank=found.bank)
    if not owner.differs(to):
        return replace(request, owner=owner)
    if not order.difference_reason:
        field = "difference_reason"
        raise ServiceError(errors.FIELD_MISSING, "owner_differs", field=field)
    return replace(request, owner=replace(owner, reason=order.difference_reason))


Look = Callable[[str, str], Awaitable[Payout | None]]
"""Looks at the payout of an account and a reference; None if somebody does, or did just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutProbes:
    """Queries one payout as the reconciler does, and records the act."""

    payouts: StoredPayouts
    look: Look
    audit: StoredAudit

    async def probe(
        self, acting: AuditContext, account_id: str, reference: str
    ) -> tuple[Payout, Payout]:
        """
        Query the bank once, at most every five seconds over all users; its answer is stored.

        Returns:
            The payout before and after.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) without such a payout, ``NOT_POSSIBLE`` for
                one that has ended, ``SVC.GTW.005`` (429) for one that was just asked about.
            StoreUnavailable: as stores do.
        """
        before = await _found(self.payouts, account_id, reference)
        if before.state in FINAL_STATES:
            raise ServiceError(NOT_POSSIBLE, "ended", field="reference")
        after = await self.look(account_id, reference)
        if after is None:
            wait = {"Retry-After": str(round(PROBE_EVERY.total_seconds()))}
            raise ServiceError(TOO_MANY_REQUESTS, "probed", wait)
        details = {"before": before.state.value, "after": after.state.value}
        subject = f"payout:{before.provider_key}"
        await self.audit.append(acting.event("payout.probed", subject, details))
        return before, after


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutActs:
    """
    Asks banks for payouts and about them.

    Attributes:
        pay: Moves the money of a user's order, or lets the order wait for another user.
    """

    payouts: StoredPayouts
    follow_up: FollowUp
    probes: PayoutProbes
    pay: Pay
    owners: KeyOwners

    @requires(Area.PAYOUT, Action.READ)
    async def read(self, who: Staff, account: Account, reference: str) -> PayoutWithReturns:
        """
        Read a payout by its reference.

        The bank is asked at most once while it is unsettled.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) when there is none.
            StoreUnavailable: as stores do.
        """
        found = await _found(self.payouts, account.id, reference)
        payout = await self.follow_up.look(found, account)
        is_paid = payout.state is PayoutState.PAID
        returns = await self.payouts.returns(payout.account_id, reference) if is_paid else ()
        return PayoutWithReturns(account, payout, returns)

    @requires(Area.PROBE, Action.WRITE)
    async def probe(self, who: Staff, account: Account, reference: str) -> Probed:
        """
        Ask the bank about a payout now; at most every five seconds.

        Raises:
            ServiceError: as ``PayoutProbes.probe``.
        """
        return Probed(account, *await self.probes.probe(who.acting, account.id, reference))

    @requires(Area.PAYOUT, Action.WRITE, active=True)
    async def order_by_key(
        self, who: Staff, account: Account, order: KeyPayout
    ) -> Payout | Approval:
        """
        Pay out; the order may wait for another user.

        The bank is asked who owns the key. Raises as ``with_owner`` and ``order``.
        """
        named = await with_owner(self.owners, self.payouts, who, account, order)
        return await self.order(who, account, named)

    @requires(Area.PAYOUT, Action.WRITE, active=True)
    async def order(self, who: Staff, account: Account, order: PayoutRequest) -> Payout | Approval:
        """
        Pay out; the order may wait for another user.

        An order by the reference of a payout to a CPF that somebody else ordered counts as a search
        for that CPF: by the answer, the number is the same or another.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: the person has searched for
                too many CPFs lately. Nothing was compared or ordered.
        """
        await self._count_repetition(who, account.id, order.reference)
        found = await self.pay(who, account, order)
        if isinstance(found, Refund):
            raise TypeError(found)
        return found

    async def _count_repetition(self, who: Staff, account_id: str, reference: str) -> None:
        if who.person is None:
            return
        known = await self.payouts.find(account_id, reference)
        if known is None or known.client_id == client_of(who.person.user_id):
            return
        number = known.destination.tax_number
        # An archived payout has it masked already.
        if known.archived or hidden_tax_number(number) != number:
            await self.owners.count(who.person.user_id)

    @requires(Area.PAYOUT, Action.WRITE, active=True)
    async def cancel(self, who: Staff, account: Account) -> AccountPayout:
        """
        Refuse always: a submitted payout is final.

        Raises:
            ServiceError: always; the reference is not looked up.
        """
        raise ServiceError(CANCEL_NOT_IMPLEMENTED, "final")


async def payouts_of(store: StoredPayouts, account_id: str, window: Window) -> list[Payout]:
    """
    Return every payout an account created in a window, newest first.

    A payout made meanwhile moves others to a later page: they are still returned once.
    """
    found: dict[str, Payout] = {}
    for number in count(1):
        search = Search(window, Paging(number, LARGEST_LIMIT))
        page, _ = await store.whole(account_id, search)
        found |= {payout.reference: payout for payout in page}
        if len(page) < LARGEST_LIMIT:
            break
    return list(found.values())


def _readable(person: str, event: PayoutEvent, payout: Payout) -> PayoutEvent:
    """Return an event as a user may read it: another's opinion without name and content."""
    facts = event.facts
    if event.kind is not EventKind.JUDGED or may_read(person, str(facts.get("by", "")), payout):
        return event
    is_withdrawn = facts.get("verdict") == WITHDRAWN
    return replace(event, facts={"verdict": WITHDRAWN} if is_withdrawn else {})


async def _found(payouts: StoredPayouts, account_id: str, reference: str) -> Payout:
    payout = await payouts.find(account_id, reference)
    if payout is None:
        raise ServiceError(PAYOUT_NOT_FOUND, "no_row")
    return payout
