"""The suite is proven by adapters that are wrong in one thing: a named case catches each."""

from __future__ import annotations

from types import ModuleType

import pytest

from provider_adapters.testing.verify.trial import Subject
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
from tests.world.verified import CASES, PASSED, ended

MODULES = (
    wrong_payouts,
    wrong_reads,
    wrong_access,
    wrong_callbacks,
    wrong_offers,
    wrong_wire,
    wrong_inter,
)
WRONG = {each.name: each for module in MODULES for each in module.WRONG}


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.__name__.rpartition(".")[2])
async def test_the_named_case_fails_for_a_wrong_adapter(module: ModuleType):
    """The adapter passes another case, so nothing else is wrong with it."""
    caught = {each.name: await ended(subject_of(each), each.case) for each in module.WRONG}
    sane = {each.name: await ended(subject_of(each), each.sane) for each in module.WRONG}

    missed = {name: why for name, why in caught.items() if not why.startswith("failed")}
    assert missed == {}
    assert {name: why for name, why in sane.items() if why != PASSED} == {}


def subject_of(wrong: Wrong) -> Subject:
    return Subject(name="wrong", factory=wrong.factory, make_stage=wrong.stage)


def test_every_case_catches_a_wrong_adapter():
    """Cases of the wire are one function for all calls, so some calls represent the others."""
    proven = {each.case for each in WRONG.values()}
    alike = {each.id for each in CASES.values() if each.group == "wire"}

    assert CASES.keys() - proven - alike == set()
    assert len(proven & alike) >= 8


def test_every_wrong_adapter_has_a_unique_name():
    assert len(WRONG) == sum(len(each.WRONG) for each in MODULES) >= 25
