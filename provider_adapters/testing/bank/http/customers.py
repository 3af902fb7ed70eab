"""The customers' ports: a dialect's rows, with faults, over the books."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.dialect import BankRequest, Dialect, Row
from provider_adapters.testing.bank.http import fault_effects
from provider_adapters.testing.bank.http.recorded_calls import RecordedCalls
from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.faults import Faults
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import settlement

LARGEST_BODY = 64 * 1024
"""Bytes of a body; every valid one is far smaller."""


@dataclass(frozen=True, slots=True)
class CustomersPort:
    """What a customers' port serves: the bank's, or that of its second host for tokens."""

    dialect: Dialect
    books: Books
    faults: Faults
    recorded: RecordedCalls
    latency_s: float = 0.0
    at_token_host: bool = False

    def application(self) -> web.Application:
        """Build the application of the port; what belongs to the other one is not found."""
        shown = messages.showing_refusals(self.dialect.refusal)
        app = web.Application(
            middlewares=[shown, self.recorded.recording()], client_max_size=LARGEST_BODY
        )
        for row in self.dialect.rows:
            if row.at_token_host is self.at_token_host:
                app.router.add_route(row.method, row.path, self._serve(row))
        return app

    def _serve(self, row: Row) -> Handler:
        async def serve(received: web.Request) -> web.StreamResponse:
            raw = await received.read()
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            fault = self.faults.take(row.operation)
            if fault and not fault.executes:
                answer = self.dialect.refusal(refusals.of_status(fault.status))
            else:
                answer = self._run(row, received, raw)
            spoiling = fault or answer.fault
            if spoiling is None:
                return messages.respond(answer)
            return await fault_effects.spoil(received, spoiling, answer, self.dialect.refusal)

        return serve

    def _run(self, row: Row, received: web.Request, raw: bytes) -> Answer:
        """Settle what is due, identify the customer, do what is asked; never interrupted."""
        settlement.settle_due(self.books)
        tls = received.get_extra_info("ssl_object")
        request = BankRequest(
            books=self.books,
            method=received.method,
            target=received.raw_path,
            path=received.match_info,
            query=received.query,
            headers=received.headers,
            raw=raw,
            certificate=(tls and tls.getpeercert(binary_form=True)) or b"",
        )
        try:
            if not row.is_open:
                request = replace(request, signed_in=self.dialect.authenticate(request))
            return row.answer(request)
        except Refusal as problem:
            return self.dialect.refusal(problem)
