"""
Cases: what is proven of every adapter, each by an async function that is registered here.

A case that returns has passed; whatever it raises is a failure. It does not apply when the adapter
does not declare what it needs, or when it or its stage raises ``NotApplicable``.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.banks.port.capabilities import Capabilities, PortCall
from provider_adapters.testing.verify import suite
from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.trial import Subject, Trial, trial_of

Run = Callable[..., Awaitable[None]]
LONGEST_S: Final = 120.0
"""For one case; the slowest takes a few seconds on a machine that is busy with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that is proven of an adapter; it must declare the calls that this needs."""

    id: str
    needs: frozenset[PortCall]
    run: Callable[[Trial], Awaitable[None]]

    @property
    def group(self) -> str:
        """The first step of its id."""
        return self.id.partition(".")[0]

    def lacking(self, capabilities: Capabilities) -> str:
        """Return the reason why an adapter of these capabilities need not pass; empty if none."""
        absent = sorted(self.needs - capabilities.calls)
        return f"{', '.join(absent)} is not declared" if absent else ""


_CASES: Final[dict[str, Case]] = {}


def case(id: str, *given: object, needs: Collection[PortCall] = ()) -> Callable[[Run], Run]:  # noqa: A002 - what it is
    """Register a function as a case, several times for a table; ``given`` follows its trial."""

    def registered(run: Run) -> Run:
        made = Case(id=id, needs=frozenset(needs), run=lambda trial: run(trial, *given))
        if _CASES.setdefault(id, made) is not made:
            message = f"there is a case {id} already"
            raise ValueError(message)
        return run

    return registered


def every_case() -> Mapping[str, Case]:
    """Return all cases of the suite by their ids, group by group."""
    for module in pkgutil.iter_modules(suite.__path__, f"{suite.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_CASES.items()))


def applies_if(holds: object, otherwise: str) -> None:
    """Raise ``NotApplicable`` with a reason unless something holds."""
    if not holds:
        raise NotApplicable(otherwise)


async def prove(subject: Subject, case: Case) -> None:
    """Run a case on a fresh stage; raises ``NotApplicable``, and anything else for a failure."""
    async with asyncio.timeout(LONGEST_S), trial_of(subject) as trial:
        applies_if(not (lacking := case.lacking(trial.capabilities)), lacking)
        await case.run(trial)
