"""Callbacks received (contract 4.3, GetWebhooks): what banks told us, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from gateway.domain.backoffice.callbacks import (
    Callback,
    CallbackSearch,
    CallbackState,
)
from gateway.domain.bank.provider_callbacks import CallbackKind
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.oversight import Oversight
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs


class WebhookDocument(TypedDict):
    """A callback that was proven; ``body`` is as it came, where it is text."""

    id: str
    provider: str
    event: str
    kind: Literal["payout", "return", "charge", "refund", "other"]
    subject: str
    state: Literal["received", "done", "ignored", "failed"]
    tries: int
    received_at: Instant
    handled_at: Instant
    body: str


class WebhookList(TypedDict):
    """A page of callbacks, newest first."""

    data: list[WebhookDocument]
    meta: Meter


def webhook_rows(does: Oversight) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "GET",
            "/webhooks",
            name="backoffice.webhooks",
            summary="List the callbacks that banks sent, newest first.",
            needs=reading(Area.WEBHOOK),
            limits=NO_BODY,
            takes=inputs.filters(
                _search,
                inputs.text_filter("provider", "Of this provider."),
                inputs.word_filter("kind", CallbackKind),
                inputs.word_filter("state", CallbackState),
                *inputs.PAGING,
            ),
            runs=in_scope(does.search_callbacks),
            shows=_webhooks,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _search(given: inputs.Filters) -> CallbackSearch:
    return CallbackSearch(
        paging=given.paging(),
        provider=given.text("provider"),
        kind=given.read("kind", CallbackKind),
        state=given.read("state", CallbackState),
    )


def _webhook(found: Callback) -> WebhookDocument:
    return {
        "id": found.id,
        "provider": found.provider,
        "event": found.event,
        "kind": found.kind.value,
        "subject": found.subject,
        "state": found.state.value,
        "tries": found.tries,
        "received_at": instant(found.received_at),
        "handled_at": instant(found.handled_at),
        "body": found.body.decode("utf-8", "replace"),
    }


def _webhooks(found: Listed[Callback], _who: BackOfficeCaller) -> WebhookList:
    data = [_webhook(each) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}
