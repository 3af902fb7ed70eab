"""Cases about a bank that cannot be reached: certainly nothing was sent, and that is told."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Collection
from functools import partial
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import NotSent, Unreachable
from provider_adapters.testing.verify.cases import case
from provider_adapters.testing.verify.relay import Act, Play, Relay, from_request
from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.suite.calls import (
    PREPARED,
    Call,
    MakeMoneyCall,
    Ready,
    payouts,
    refunds,
)
from provider_adapters.testing.verify.suite.faults import close, hang
from provider_adapters.testing.verify.suite.wire import Attempt, all_of
from provider_adapters.testing.verify.trial import UNCONNECTED, Trial, Witness, far

Reasons = Collection[str]
"""What may be told as the reason; empty for any."""

_HERE: Final = "127.0.0.1"
_LATE: Final = frozenset({"connect_timeout", "timeout"})
"""The repetition of a read may run into the limit of the whole call."""


@case("wire.connection_refused")
async def connection_refused(trial: Trial) -> None:
    """Where nobody listens nothing is sent, and that is certain."""
    with socket.socket() as bound:
        bound.bind((_HERE, 0))
        await _unreached(trial, _address(trial, bound), {"connect_failed"})


@case("wire.connection_stalled")
async def connection_stalled(trial: Trial) -> None:
    """A connection that is neither taken nor refused sends nothing, and that is certain."""
    with contextlib.ExitStack() as opened:
        listening = opened.enter_context(socket.socket())
        listening.bind((_HERE, 0))
        listening.listen(0)
        for _ in range(4):  # fill the queue: the next one is neither taken nor refused
            waiting = opened.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(listening.getsockname())
        await _unreached(trial, _address(trial, listening), _LATE)


@case("wire.tls_refused")
async def tls_refused(trial: Trial) -> None:
    """A bank that hangs up in the handshake of TLS is sent nothing, and that is certain."""
    await _unencrypted(trial, close, frozenset())


@case("wire.tls_unanswered")
async def tls_unanswered(trial: Trial) -> None:
    """A plain bank behind an encrypted address is sent nothing, and that is certain."""
    await _unencrypted(trial, hang, _LATE)


def _address(trial: Trial, bound: socket.socket) -> str:
    """Return a socket's address; some adapters take none without encryption."""
    scheme = "http" if trial.stage.relay_tls is None else "https"
    return f"{scheme}://{_HERE}:{bound.getsockname()[1]}"


async def _unencrypted(trial: Trial, play: Play, reasons: Reasons) -> None:
    relay = Relay(trial.stage.address)
    relay.begin(from_request(1, Act(play=play, reads=False)))
    async with relay.open():
        await _unreached(trial, f"https://{_HERE}:{relay.port}", reasons)


async def _unreached(trial: Trial, address: str, reasons: Reasons) -> None:
    """Make every declared call of a bank that cannot be reached."""
    declared = trial.capabilities.calls
    reads: list[tuple[bool, Attempt]] = []
    async with trial.adapter(trial.stage.address) as clean:
        for call, prepare in PREPARED.items():
            if call in declared:
                with contextlib.suppress(NotApplicable):
                    prepared = await prepare(Ready(trial, clean))
                    reads.append(
                        (True, partial(_read_unreached, trial, address, prepared, reasons))
                    )
        money: list[MakeMoneyCall] = []
        if PortCall.CREATE_PAYOUT in declared:
            money.append(payouts(trial, trial.method))
        if PortCall.CREATE_REFUND in declared:
            money.append(await refunds(trial))
        unsent = [
            (True, partial(_money_unreached, trial, address, make, reasons)) for make in money
        ]
        await all_of(trial, [*reads, *unsent])


async def _read_unreached(trial: Trial, address: str, call: Call, reasons: Reasons) -> None:
    witness = Witness()
    async with trial.adapter(address, UNCONNECTED, witness) as adapter:
        failure = await trial.raised(Unreachable, call(adapter), "a bank that is not there")
    trial.expect(failure.reason in reasons or not reasons, f"the reason is {failure.reason!r}")
    _told(trial, witness)


async def _money_unreached(
    trial: Trial, address: str, make: MakeMoneyCall, reasons: Reasons
) -> None:
    witness = Witness()
    async with trial.adapter(address, UNCONNECTED, witness) as adapter:
        outcome = await make().made(adapter, far())
    trial.expect(isinstance(outcome, NotSent), f"it was answered by {outcome!r}")
    if isinstance(outcome, NotSent):
        found = outcome.evidence.reason
        trial.expect(found in reasons or not reasons, f"the reason is {found!r}")
        trial.expect(not outcome.evidence.bytes_left, "it says that bytes left")
    _told(trial, witness)


def _told(trial: Trial, witness: Witness) -> None:
    """Look at what the adapter told of its calls."""
    told = {(each.outcome, each.bytes_left) for each in witness.calls}
    allowed = {("connect_error", False), ("timeout", False)}
    trial.expect(told and told <= allowed, f"it tells of {told}")
