"""The record of acts: searched, exported, proven whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

from gateway.domain.backoffice.lists import AuditEntry, AuditSearch
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.audit import AcceptedBreak
from gateway.domain.payouts.reviews import same_name
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import dumps, instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Answer, Row, route
from gateway.operations.backoffice.oversight import EXPORTED_AT_MOST, Oversight, Proof
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.inputs import NOTHING

NDJSON: Final = "application/x-ndjson"


class AuditDocument(TypedDict):
    """
    An act; ``hash`` chains it to the one before, ``companies`` are shown it beside us.

    The ``details`` of an opinion on a payout are empty for everybody but the user who gave it,
    until the payout is decided.
    """

    number: int
    at: Instant
    actor: str
    action: str
    subject: str
    details: Mapping[str, str]
    trace_id: str
    companies: list[str]
    hash: str


class AuditList(TypedDict):
    """A page of acts, newest first."""

    data: list[AuditDocument]
    meta: Meter


class AcceptedBreakDocument(TypedDict):
    """
    Acts that cannot be proven, ``first`` to ``last``, which two people accepted by act ``number``.

    Their names and the reason are empty for users who are limited to companies.
    """

    first: int
    last: int
    problem: str
    number: int
    at: Instant
    proposed_by: str
    approved_by: str
    reason: str


class ProofDocument(TypedDict):
    """
    Whether the whole chain holds; ``problem`` names the first link that does not.

    ``events`` counts the acts that you may see; ``accepted`` are breaks that the chain is whole
    but for.
    """

    whole: bool
    events: int
    problem: str
    accepted: list[AcceptedBreakDocument]


def audit_rows(does: Oversight) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/audit",
            name="backoffice.audit",
            summary="Search the record of acts, newest first.",
            needs=reading(Area.AUDIT),
            limits=NO_BODY,
            takes=inputs.filters(
                _search,
                inputs.instant_filter("since", "Included."),
                inputs.instant_filter("until", "Not included."),
                inputs.text_filter("actor", "The actor; `*` at the end matches anything."),
                inputs.text_filter("action", "The action; `*` likewise."),
                inputs.text_filter("subject", "The subject; `*` likewise."),
                inputs.text_filter("trace_id", "The trace id of the request."),
                *inputs.PAGING,
            ),
            runs=in_scope(does.search_acts),
            shows=_acts,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/audit/export",
            name="backoffice.audit_export",
            summary=(
                f"Read up to {EXPORTED_AT_MOST} acts in the order of the chain, "
                "one JSON object a line."
            ),
            needs=reading(Area.AUDIT),
            limits=NO_BODY,
            takes=inputs.filters(
                lambda given: given.whole("after") or 0,
                inputs.whole_filter("after", "The last number that is known; 0 for none."),
            ),
            runs=in_scope(does.export_acts),
            shows=show_lines,
            fails=STORE_FAILS,
            raises=(),
            media=(NDJSON,),
        ),
        route(
            "GET",
            "/audit/proof",
            name="backoffice.audit_verify",
            summary="Check the whole chain, and say whether it holds.",
            needs=reading(Area.AUDIT),
            limits=NO_BODY,
            takes=NOTHING,
            runs=in_scope(does.prove_acts),
            shows=_proof,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _search(given: inputs.Filters) -> AuditSearch:
    return AuditSearch(
        paging=given.paging(),
        since=given.instant("since"),
        until=given.instant("until"),
        actor=given.text("actor"),
        action=given.text("action"),
        subject=given.text("subject"),
        trace_id=given.text("trace_id"),
    )


def act(found: AuditEntry, who: BackOfficeCaller) -> AuditDocument:
    """Show an act; opinions on payouts are independent of each other here too."""
    event = found.event
    is_hidden = found.is_open_opinion and same_name(who.acting.actor) != same_name(event.actor)
    return {
        "number": found.number,
        "at": instant(event.at),
        "actor": event.actor,
        "action": event.action,
        "subject": event.subject,
        "details": {} if is_hidden else dict(event.details),
        "trace_id": event.trace_id,
        "companies": sorted(event.companies or ()),
        "hash": found.hash.hex(),
    }


def _acts(found: Listed[AuditEntry], who: BackOfficeCaller) -> AuditList:
    data = [act(each, who) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}


def show_lines(found: Sequence[AuditEntry], who: BackOfficeCaller) -> Answer[bytes]:
    """Write a line for each; the file is to be kept, and no browser guesses at what it is."""
    return Answer(
        content=b"".join(dumps(_exact(each, who)) + b"\n" for each in found),
        content_type=NDJSON,
        headers={
            "Content-Disposition": 'attachment; filename="audit.ndjson"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def _exact(found: AuditEntry, who: BackOfficeCaller) -> Mapping[str, object]:
    """Write an act with all that its hash is made of: the instant to the microsecond."""
    return {**act(found, who), "at": found.event.at.isoformat()}


def _proof(found: Proof, _who: BackOfficeCaller) -> ProofDocument:
    return {
        "whole": not found.problem,
        "events": found.events,
        "problem": found.problem,
        "accepted": [_accepted(each) for each in found.accepted],
    }


def _accepted(shown: AcceptedBreak) -> AcceptedBreakDocument:
    return {
        "first": shown.found.first,
        "last": shown.found.last,
        "problem": shown.found.problem,
        "number": shown.number,
        "at": instant(shown.at),
        "proposed_by": shown.proposed_by,
        "approved_by": shown.approved_by,
        "reason": shown.reason,
    }
