"""The sandbox bank: the simulated bank in a dress of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.dialect import Callback, Dialect
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.kernel.books import SANDBOX as IDENTITY
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.clock import from_micros
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.bank.simulator import Simulator
from provider_adapters.testing.sandbox import documents, rows
from provider_adapters.testing.sandbox.callbacks import sign


def _callback(books: Books, event: Event, to: Listener) -> Callback | None:
    if event.kind is EventKind.PAYMENT:
        return None  # its customers are told of payments of charges alone
    body = json.dumps(documents.event(books, event)).encode()
    at = from_micros(books.clock.micros())
    headers = sign(bytes.fromhex(to.secret), event.id, at, body)
    return Callback(url=to.url, body=body, headers=headers)


SANDBOX: Final = Dialect(
    identity=IDENTITY,
    rows=rows.ROWS,
    authenticate=rows.authenticate,
    refusal=messages.refusal,
    payout=documents.payout,
    callback=_callback,
)


_REPEATS: Final = {
    PayoutKind.IDEM: {"repeat": "same_answer"},
    PayoutKind.DUP: {"repeat": "refuses"},
    PayoutKind.NONE: {"repeat": "ignores"},
}
SIMULATORS: Final = {
    "sandbox": Simulator(adapter="sandbox", dialect=SANDBOX, repeats=_REPEATS),
}


@dataclass(slots=True, kw_only=True)
class SandboxBank(SimulatedBank):
    """The sandbox bank, running."""

    dialect: Dialect = SANDBOX
