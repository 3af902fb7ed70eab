"""Cases about the wire: what breaks there fails a read in one way, and pays nothing twice."""

from __future__ import annotations

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Unavailable
from provider_adapters.verify.cases import case
from provider_adapters.verify.relay import Act, Line, from_request
from provider_adapters.verify.trial import SHORT, Trial


async def close(_: Line) -> None:
    """Return, and the connection is closed."""


@case("wire.get_balance", needs={PortCall.GET_BALANCE})
async def balance(trial: Trial) -> None:
    """A balance that is cut off raises Unavailable."""
    async with trial.harness(SHORT) as harness:
        harness.relay.begin(from_request(1, Act(play=close)))
        await trial.raised(Unavailable, harness.adapter.get_balance(trial.account), "cut off")
