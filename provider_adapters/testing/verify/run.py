"""Runs the cases against one adapter, each with a fresh stage and within a bounded time."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from provider_adapters.testing.verify.cases import (
    CASES,
    LONGEST_S,
    Case,
    CaseFailed,
    CaseOutcome,
    CaseResult,
)
from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.suite import (
    access,
    amounts,
    bank,
    callbacks,
    lookups,
    oddities,
    offers,
    reads,
    refunds,
    unreached,
    wire,
)
from provider_adapters.testing.verify.trial import Subject, Trial, trial_of

GROUPS = (
    wire,
    unreached,
    bank,
    lookups,
    refunds,
    offers,
    reads,
    amounts,
    oddities,
    access,
    callbacks,
)
"""The modules of the cases; importing them registers their cases."""


_AT_ONCE: Final = 3
"""Each has a bank of its own; more would make one another late where a time limit is proven."""


def every_case() -> Sequence[Case]:
    """Return all cases, group by group."""
    order = {module.__name__: place for place, module in enumerate(GROUPS)}
    return sorted(CASES.values(), key=lambda each: order.get(each.run.__module__, len(order)))


@dataclass(slots=True)
class Counts:
    """How many cases of a group ended how."""

    passed: int = 0
    failed: int = 0
    not_applicable: int = 0
    checks: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What became of all cases, in their order."""

    results: Sequence[CaseResult] = field(default_factory=tuple)

    @property
    def failed(self) -> bool:
        """Whether any case failed."""
        return any(each.outcome is CaseOutcome.FAILED for each in self.results)

    @property
    def groups(self) -> Mapping[str, Counts]:
        """The counts of each group."""
        return {group: self._counts(group) for group in Counter(r.group for r in self.results)}

    def _counts(self, group: str) -> Counts:
        mine = [each for each in self.results if each.group == group]
        ended = Counter(each.outcome for each in mine)
        return Counts(
            passed=ended[CaseOutcome.PASSED],
            failed=ended[CaseOutcome.FAILED],
            not_applicable=ended[CaseOutcome.NOT_APPLICABLE],
            checks=sum(each.checks for each in mine),
        )


async def results(subject: Subject, cases: Sequence[Case]) -> AsyncIterator[CaseResult]:
    """Run cases, a few at once, since most of them wait; in their order."""
    for first in range(0, len(cases), _AT_ONCE):
        some = cases[first : first + _AT_ONCE]
        for ended in await asyncio.gather(*(result(subject, each) for each in some)):
            yield ended


async def result(subject: Subject, case: Case) -> CaseResult:
    """Run one case; whatever happens in it is its result."""
    began, checks = time.monotonic(), 0
    outcome, reason = CaseOutcome.PASSED, ""
    try:
        async with asyncio.timeout(LONGEST_S), trial_of(subject) as trial:
            try:
                await _run(trial, case)
            finally:
                checks = trial.checks
    except NotApplicable as absent:
        outcome, reason = CaseOutcome.NOT_APPLICABLE, str(absent)
    except TimeoutError:
        outcome, reason = CaseOutcome.FAILED, f"took longer than {LONGEST_S:.0f} s"
    except Exception as problem:  # noqa: BLE001 - an author's code: whatever it raises is the result
        outcome, reason = CaseOutcome.FAILED, _why(problem)
    return CaseResult(
        id=case.id,
        group=case.group,
        outcome=outcome,
        reason=reason,
        checks=checks,
        seconds=time.monotonic() - began,
    )


async def _run(trial: Trial, case: Case) -> None:
    lacking = case.lacking(trial.capabilities)
    if lacking:
        raise NotApplicable(lacking)
    await case.run(trial)
    if not trial.checks:
        message = "the case expected nothing of the adapter"
        raise CaseFailed(message)


def _why(problem: BaseException) -> str:
    """Say in a line why a case failed; of several at once, the first."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, CaseFailed):
        return str(problem)
    frames = traceback.extract_tb(problem.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}: {problem}{place}"
