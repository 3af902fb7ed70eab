"""Cases: their registration, and how one ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from gateway.banks.port.capabilities import Capabilities, PortCall
from provider_adapters.registry import find
from provider_adapters.testing.stages import SandboxStage
from provider_adapters.testing.verify import trial
from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.trial import (
    Case,
    Subject,
    Trial,
    applies_if,
    case,
    every_case,
    prove,
)
from tests.world.waiting import forever

SUBJECT = Subject(name="sandbox", factory=find("sandbox"), make_stage=SandboxStage)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Case]]:
    known: dict[str, Case] = {}
    monkeypatch.setattr(trial, "_CASES", known)
    return known


def test_a_parametrized_case_has_one_function(registered: dict[str, Case]):
    @case("bank.one", 1, needs={PortCall.PROBE})
    @case("bank.two", 2)
    async def invented(trial: Trial, number: int) -> None:
        pass

    one = registered["bank.one"]

    assert (one.group, registered.keys()) == ("bank", {"bank.one", "bank.two"})
    assert one.lacking(Capabilities(calls=frozenset({PortCall.PROBE}))) == ""
    assert one.lacking(Capabilities()) == "probe is not declared"


def test_a_case_id_can_be_registered_only_once(registered: dict[str, Case]):
    case("bank.one")(lambda _: forever())

    with pytest.raises(ValueError, match="already"):
        case("bank.one")(lambda _: forever())


def test_cases_are_listed_by_group():
    groups = [each.group for each in every_case().values()]

    assert groups == sorted(groups)
    assert set(groups) == {"access", "bank", "callbacks", "calls", "reads", "wire"}


async def test_a_case_receives_the_values_of_its_table(registered: dict[str, Case]):
    given = []

    @case("bank.one", 1)
    async def invented(trial: Trial, number: int) -> None:
        given.append((trial.account.provider_account != "", number))

    await prove(SUBJECT, registered["bank.one"])

    assert given == [(True, 1)]


async def test_a_case_needing_an_undeclared_call_does_not_apply(registered: dict[str, Case]):
    class ReadOnly(SandboxStage):
        def settings(self, address: str) -> dict[str, object]:
            return {"base_url": address, "payouts": False}

    case("bank.pays", needs={PortCall.CREATE_PAYOUT})(lambda _: forever())

    with pytest.raises(NotApplicable, match="create_payout is not declared"):
        await prove(dataclasses.replace(SUBJECT, make_stage=ReadOnly), registered["bank.pays"])


async def test_a_hanging_case_fails(registered: dict[str, Case], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "LONGEST_S", 0.3)
    case("bank.hangs")(lambda _: forever())

    with pytest.raises(TimeoutError):
        await prove(SUBJECT, registered["bank.hangs"])


def test_a_case_that_does_not_apply_has_a_reason():
    applies_if([1], "there is nothing")
    with pytest.raises(NotApplicable, match="there is nothing"):
        applies_if([], "there is nothing")
