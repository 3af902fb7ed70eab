"""The sandbox's mail: what would have gone out, links and all; not in production."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from gateway.domain.identity.challenges import Mail
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Row, route
from gateway.operations.backoffice.oversight import Oversight
from policies.validation.inputs import NOTHING


class MailDocument(TypedDict):
    """A message."""

    to: str
    subject: str
    text: str
    created_at: Instant
    sent_at: Instant


class MailList(TypedDict):
    """The newest messages, newest first."""

    data: list[MailDocument]
    meta: Total


def outbox_rows(does: Oversight) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "GET",
            "/outbox",
            name="backoffice.outbox",
            summary="Read the newest mails of the sandbox.",
            needs=reading(Area.OUTBOX),
            limits=NO_BODY,
            takes=NOTHING,
            runs=in_scope(does.latest_mail),
            shows=_mails,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _mails(found: Sequence[Mail], _who: BackOfficeCaller) -> MailList:
    data: list[MailDocument] = [
        {
            "to": each.to,
            "subject": each.subject,
            "text": each.text,
            "created_at": instant(each.created_at),
            "sent_at": instant(each.sent_at),
        }
        for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}
