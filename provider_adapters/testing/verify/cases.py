"""
Cases: what is proven of every adapter, each by an async function that is registered here.

::

    @case("bank.settled", needs={PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})
    async def settled(trial: Trial) -> None:
        ...
        trial.expect(isinstance(found, Settled), "a payout that settled is not found settled")

A case that returns has passed. It fails by ``Trial.expect``, or by whatever else it raises. It is
not applicable when the adapter does not declare what it needs, or when it or its stage raises
``NotApplicable``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from gateway.domain.bank.capabilities import Capabilities, PortCall

if TYPE_CHECKING:
    from provider_adapters.testing.verify.trial import Trial

Run = Callable[["Trial"], Awaitable[None]]
LONGEST_S: Final = 120.0
"""For one case; the slowest takes a few seconds on a machine that is busy with others."""


class CaseFailed(Exception):
    """What was expected of the adapter did not happen; the message is for its author."""


class CaseOutcome(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """
    What became of a case.

    Attributes:
        reason: Why it failed or does not apply; empty for one that passed.
        checks: How many things were expected of the adapter, and were so.
        seconds: It took.
    """

    id: str
    group: str
    outcome: CaseOutcome
    reason: str = ""
    checks: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One thing that is proven of an adapter.

    Attributes:
        id: Its group, a full stop, and its name: ``wire.create_payout``.
        title: What holds when it passes, in one sentence.
        needs: Calls that the adapter must declare.
    """

    id: str
    title: str
    needs: frozenset[PortCall]
    run: Run

    @property
    def group(self) -> str:
        """The first step of its id."""
        return self.id.partition(".")[0]

    def lacking(self, capabilities: Capabilities) -> str:
        """Return the reason why an adapter of these capabilities need not pass; empty if none."""
        absent = sorted(self.needs - capabilities.calls)
        return f"{', '.join(absent)} is not declared" if absent else ""


CASES: Final[dict[str, Case]] = {}
"""Every case by its id, in the order of their modules; see ``run.every_case``."""


def case(id: str, *, needs: Collection[PortCall] = ()) -> Callable[[Run], Run]:  # noqa: A002 - what it is
    """Register a function as a case; its docstring's first line is the title."""

    def registered(run: Run) -> Run:
        title = (run.__doc__ or "").strip().partition("\n")[0]
        add(Case(id=id, title=title, needs=frozenset(needs), run=run))
        return run

    return registered


def add(made: Case) -> None:
    """Register a case; raises ``ValueError`` for an id that is taken."""
    if made.id in CASES:
        message = f"there is a case {made.id} already"
        raise ValueError(message)
    CASES[made.id] = made
