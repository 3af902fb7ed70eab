"""The audit log, searched, exported and proven within a company scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, exists, false, func, or_, select, true

from gateway.audit.model import AcceptedBreakDocument, AuditDocument, AuditSearch, Proof
from gateway.audit.store import StoredAudit
from gateway.audit.walk import event_of
from gateway.core.access import Staff, requires
from gateway.core.audit import AcceptedBreak, AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.exports import ExportKind, Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.user import same_name
from gateway.core.windows import Listed, Paging
from gateway.store.kernel.database import Database, page
from gateway.store.tables.columns import Record
from gateway.store.tables.core import audit, payouts
from gateway.store.tables.identity import users
from gateway.store.tables.scope import limited_exactly, users_in

_EXPORTED_AT_MOST: Final = 10_000
"""Acts of one export: some 5 MB, which fit in memory; the next export begins after the last."""
_ONE: Final = Paging(1, 1)
_OPINION: Final = "payout.judged"
_IN_REVIEW: Final = exists().where(
    payouts.c.provider_key == func.substr(audit.c.subject, len("payout:") + 1), payouts.c.review
)
# Asked about opinions alone: there are few.
_ACTS: Final = select(
    audit, case((audit.c.action == _OPINION, _IN_REVIEW), else_=false()).label("is_open_opinion")
)
_NEWEST: Final = _ACTS.order_by(audit.c.number.desc())


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """
    An act in the log: its number, content and hash.

    Attributes:
        is_open_opinion: Whether it is an opinion on a payout that is still in review.
    """

    number: int
    event: AuditEvent
    hash: bytes
    is_open_opinion: bool = False

    def to_document(self, reader: Staff) -> AuditDocument:
        """Return the document; opinions on payouts under review are hidden here too."""
        event = self.event
        is_own = same_name(reader.acting.actor) == same_name(event.actor)
        return AuditDocument(
            number=self.number,
            at=event.at,
            actor=event.actor,
            action=event.action,
            subject=event.subject,
            details=event.details if is_own or not self.is_open_opinion else {},
            trace_id=event.trace_id,
            companies=sorted(event.companies or ()),
            hash=self.hash.hex(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLog:
    """
    The audit log within a company scope.

    A limited scope shows acts of one of its companies, or of exactly all of them.

    Attributes:
        chain: Verifies the whole log.
        exports: What people take away as files and lists.
    """

    database: Database
    chain: StoredAudit
    exports: Exports

    @requires(Area.AUDIT, Action.READ)
    async def search(self, who: Staff, wanted: AuditSearch) -> Listed[AuditEntry]:
        """
        Search the record of acts, newest first.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await find_acts(self.database, wanted, who.scope)
        await self.exports.show(who, len(found.items))
        return found

    @requires(Area.AUDIT, Action.READ, also=Area.REPORT)
    async def export(self, who: Staff, after: int) -> Sequence[AuditEntry]:
        """
        Read up to 10,000 acts in the order of the chain, one JSON object a line.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.begin`` and ``Export.take``.
        """
        export = await self.exports.begin(who, ExportKind.AUDIT)
        following = _ACTS.where(audit.c.number > after).order_by(audit.c.number)
        following = following.where(*limited_exactly(audit.c.companies, who.scope))
        rows = await self.database.rows(following.limit(_EXPORTED_AT_MOST))
        await export.take(len(rows))
        return [_entry(row) for row in rows]

    @requires(Area.AUDIT, Action.READ)
    async def prove(self, who: Staff) -> Proof:
        """Check the whole chain, and return the result."""
        try:
            events, accepted = await self.chain.verify(), await self.chain.accepted()
        except ValueError as problem:
            return Proof(whole=False, events=0, problem=str(problem), accepted=[])
        is_limited = not who.scope.everything
        if is_limited:  # the whole chain is walked all the same: a part of it proves nothing
            events = (await find_acts(self.database, AuditSearch(paging=_ONE), who.scope)).total
        shown = [_accepted(each, is_limited=is_limited) for each in accepted]
        return Proof(whole=True, events=events, problem="", accepted=shown)


async def find_acts(
    database: Database, search: AuditSearch, scope: CompanyScope
) -> Listed[AuditEntry]:
    """Return a page, newest first."""
    actors = await _people(database, search.actor, scope) if search.actor else []
    return await page(database, _matching(search, scope, actors), search.paging, _entry)


async def _people(database: Database, text: str, scope: CompanyScope) -> list[str]:
    """Return the users whose address or, if in scope, name contains a text."""
    named = case((and_(*users_in(scope), true()), users.c.name), else_="")
    asked = text.casefold()
    rows = await database.rows(select(users.c.email, named.label("name")))
    return [
        f"user:{row.email}"
        for row in rows
        if asked in row.email.casefold() or asked in row.name.casefold()
    ]


def _matching(
    search: AuditSearch, scope: CompanyScope, actors: Sequence[str]
) -> Select[*tuple[Any, ...]]:
    """Return the statement of a search; ``actors`` are further ids of its actor."""
    wanted = _NEWEST
    if search.since is not None:
        wanted = wanted.where(audit.c.at >= search.since)
    if search.until is not None:
        wanted = wanted.where(audit.c.at < search.until)
    if search.trace_id is not None:
        wanted = wanted.where(audit.c.trace_id == search.trace_id)
    wanted = wanted.where(*limited_exactly(audit.c.companies, scope))
    if search.actor is not None:
        wanted = wanted.where(or_(_is(audit.c.actor, search.actor), audit.c.actor.in_(actors)))
    for column, value in ((audit.c.action, search.action), (audit.c.subject, search.subject)):
        if value is not None:
            wanted = wanted.where(_is(column, value))
    return wanted


def _is(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Return the SQL condition: equal to a text, or with its prefix if it ends in ``*``."""
    if text.endswith("*"):
        return column.startswith(text[:-1], autoescape=True)
    return column == text


def _entry(row: Record) -> AuditEntry:
    return AuditEntry(row.number, event_of(row), row.hash, bool(row.is_open_opinion))


def _accepted(shown: AcceptedBreak, *, is_limited: bool) -> AcceptedBreakDocument:
    return AcceptedBreakDocument(
        first=shown.found.first,
        last=shown.found.last,
        problem=shown.found.problem,
        number=shown.number,
        at=shown.at,
        proposed_by="" if is_limited else shown.proposed_by,
        approved_by="" if is_limited else shown.approved_by,
        reason="" if is_limited else shown.reason,
    )
