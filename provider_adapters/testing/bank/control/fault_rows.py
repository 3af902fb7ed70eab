"""The rows of the control interface about faults."""

from __future__ import annotations

from dataclasses import asdict

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.control.api import ControlRequest, ControlRow, listing
from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.faults import OPERATIONS, Fault, FaultKind
from provider_adapters.testing.bank.messages import Answer

_CREATED = 201
_STATUSES = range(200, 600)
# More requests than any test makes; ``null`` stands for "until cleared".
_HIGHEST_COUNT = 1_000_000


async def _inject(request: ControlRequest) -> Answer:
    fault = _fault(request.body)
    if fault.fault is FaultKind.REFUSE:
        await request.controls.ports.refuse(fault)
    else:
        request.controls.faults.inject(fault)
    return Answer(document=asdict(fault), status=_CREATED)


async def _faults(request: ControlRequest) -> Answer:
    refusing = request.controls.ports.refusing
    waiting = request.controls.faults.waiting() + ((refusing,) if refusing else ())
    return listing([asdict(fault) for fault in waiting])


async def _clear_faults(request: ControlRequest) -> Answer:
    refusing = int(request.controls.ports.refusing is not None)
    await request.controls.ports.open()
    return Answer(document={"cleared": request.controls.faults.clear() + refusing})


def _fault(body: messages.Fields) -> Fault:
    status = body.whole("status", 500)
    if status not in _STATUSES:
        problem = "status is 200 to 599"
        raise refusals.invalid(problem)
    return Fault(
        operation=body.choice("operation", {name: name for name in OPERATIONS}, "*"),
        fault=FaultKind(body.choice("fault", {str(kind): str(kind) for kind in FaultKind})),
        status=status,
        count=_count(body),
        executed=body.flag("executed"),
    )


def _count(body: messages.Fields) -> int | None:
    """Read the count; absent is 1, ``null`` is until cleared."""
    if body.says_null("count"):
        return None
    count = body.whole("count", 1)
    if not 1 <= count <= _HIGHEST_COUNT:
        problem = "count is 1 to a million, or null"
        raise refusals.invalid(problem)
    return count


ROWS = (
    ControlRow("POST", "/faults", _inject),
    ControlRow("GET", "/faults", _faults),
    ControlRow("DELETE", "/faults", _clear_faults),
)
"""The rows about faults."""
