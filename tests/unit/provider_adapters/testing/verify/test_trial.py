"""What a case works with."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.money import Money
from provider_adapters.registry import find
from provider_adapters.testing.stages import SandboxStage
from provider_adapters.testing.verify.stage import Fate
from provider_adapters.testing.verify.trial import Subject, far, passed, trial_of

SUBJECT = Subject(name="sandbox", factory=find("sandbox"), make_stage=SandboxStage)


async def test_an_order_is_as_wished_with_a_key_of_its_own():
    async with trial_of(SUBJECT) as trial:
        wish = await trial.stage.wish(Fate.FAILS)
        wished, plain = await trial.wished(Fate.FAILS), trial.order()
        by_account = trial.order(destination=trial.stage.payee(PayoutMethod.BANK_ACCOUNT))

    assert (wished.value, wished.destination) == (wish.value, wish.destination)
    assert (plain.value, plain.method) == (Money(1050), PayoutMethod.PIX)
    assert by_account.method is PayoutMethod.BANK_ACCOUNT
    assert len({wished.provider_key, plain.provider_key, by_account.provider_key}) == 3


async def test_an_adapter_s_calls_pass_its_relay_and_are_told():
    async with trial_of(SUBJECT) as trial:
        await trial.adapter.get_balance(trial.account)
        async with trial.again() as fresh:
            await fresh.adapter.probe()

    path = f"/v1/contas/{trial.account.provider_account}/saldo"
    assert [seen.path for seen in trial.relay.seen] == [path]
    assert [call.operation for (call,) in trial.witness.told["provider_call"]] == ["get_balance"]
    assert [call.operation for (call,) in fresh.witness.told["provider_call"]] == ["probe"]
    assert len(fresh.relay.seen) == 1


async def test_a_stage_that_does_not_start_is_closed():
    closed = []

    class Broken(SandboxStage):
        async def start(self) -> None:
            raise OSError

        async def close(self) -> None:
            closed.append(self)

    broken = Subject(name="sandbox", factory=find("sandbox"), make_stage=Broken)
    with pytest.raises(OSError):  # noqa: PT011 - that it is passed on is all that matters
        async with trial_of(broken):
            pass

    assert len(closed) == 1


def test_deadlines_lie_on_their_sides_of_now():
    assert not far().passed()
    assert passed().passed()
