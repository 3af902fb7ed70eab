"""
The control interface: what tests and demonstrations make the bank do.

It uses the words of the gateway's contract and amounts in reais. It has a
port of its own, which no injected fault affects.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.dialect import Dialect
from provider_adapters.testing.bank.http.listening_port import ListeningPorts
from provider_adapters.testing.bank.http.recorded_calls import RecordedCalls
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.faults import Faults
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import settlement
from provider_adapters.testing.bank.pix.received_payments import Payer


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """Everything the control interface can change."""

    dialect: Dialect
    books: Books
    faults: Faults
    calls: RecordedCalls
    ports: ListeningPorts


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequest:
    """One control request."""

    controls: Controls
    path: Mapping[str, str]
    query: Mapping[str, str]
    raw: bytes

    @property
    def books(self) -> Books:
        """The bank's books."""
        return self.controls.books

    @property
    def body(self) -> messages.Fields:
        """The body, read strictly; raises ``INVALID_REQUEST``."""
        return messages.read(self.raw)


@dataclass(frozen=True, slots=True)
class ControlRow:
    """One call of the control interface, below ``/control``."""

    method: str
    path: str
    run: Callable[[ControlRequest], Awaitable[Answer]]


def application(controls: Controls, rows: Sequence[ControlRow]) -> web.Application:
    """Build the application of the control port."""
    app = web.Application(middlewares=[messages.showing_refusals(messages.refusal)])
    for row in rows:
        app.router.add_route(row.method, f"/control{row.path}", _serve(row, controls))
    return app


def listing(rows: Sequence[object]) -> Answer:
    """Return a list as a document."""
    return Answer(document={"data": rows, "meta": {"total": len(rows)}})


def read_payer(body: messages.Fields) -> Payer:
    """Read a payer; raises ``INVALID_REQUEST``."""
    return Payer(
        name=body.text("name"),
        tax_number=body.text("tax_number"),
        message=body.text("message", ""),
    )


def _serve(row: ControlRow, controls: Controls) -> Handler:
    async def serve(received: web.Request) -> web.StreamResponse:
        raw = await received.read()
        settlement.settle_due(controls.books)
        request = ControlRequest(
            controls=controls, path=received.match_info, query=received.query, raw=raw
        )
        return messages.respond(await row.run(request))

    return serve
