"""The suite is proven by adapters that are wrong in one thing: a named case catches each."""

from __future__ import annotations

import pytest

from provider_adapters.verify import run
from provider_adapters.verify.cases import CaseOutcome, CaseResult
from provider_adapters.verify.trial import Subject
from tests.contract.verify import (
    wrong_access,
    wrong_callbacks,
    wrong_inter,
    wrong_offers,
    wrong_payouts,
    wrong_reads,
    wrong_wire,
)
from tests.contract.verify.mistaken import Wrong

CASES = {each.id: each for each in run.every_case()}
MODULES = (
    wrong_payouts,
    wrong_reads,
    wrong_access,
    wrong_callbacks,
    wrong_offers,
    wrong_wire,
    wrong_inter,
)
TABLES = [each.WRONG for each in MODULES]
WRONG = {each.name: each for table in TABLES for each in table}


async def ended(wrong: Wrong, case: str) -> CaseResult:
    subject = Subject(name="wrong", factory=wrong.factory, make_stage=wrong.stage)
    return await run.result(subject, CASES[case])


@pytest.mark.parametrize("name", list(WRONG))
async def test_the_named_case_catches_it(name: str):
    """And says why; a case that raises something by itself has not understood it."""
    wrong = WRONG[name]

    caught, sane = await ended(wrong, wrong.case), await ended(wrong, wrong.sane)

    assert caught.outcome is CaseOutcome.FAILED, caught
    assert sane.outcome is CaseOutcome.PASSED, sane


def test_every_case_catches_something():
    """Those of the wire are one function for all calls: some calls stand for the others."""
    proven = {each.case for each in WRONG.values()}
    alike = {each.id for each in CASES.values() if each.group == "wire"}

    assert CASES.keys() - proven - alike == set()
    assert len(proven & alike) >= 8


def test_every_mistake_has_a_name_of_its_own():
    assert len(WRONG) == sum(map(len, TABLES)) >= 25
