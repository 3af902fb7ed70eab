"""Payouts put together: settings reach the rules, and every step is recorded."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import msgspec
import pytest

from gateway.app.build_payouts import build_payouts, shown_similar_within
from gateway.app.kernel import Kernel, SilentObserver
from gateway.config.settings import Payouts, Settings
from gateway.payouts.model import PayoutState
from tests.world.kernel import kernel_on
from tests.world.payouts import (
    IS_ACCEPTED,
    IS_SETTLED,
    OK,
    SETTINGS,
    OneBank,
    PayoutWorld,
    ScriptedBank,
    no_stops,
)
from tests.world.standing import Clock

STORE = SimpleNamespace(
    payouts="payouts",
    follow_ups="follow-ups",
    database="database",
)


class Ended(SilentObserver):
    def __init__(self) -> None:
        self.ended: list[tuple[str, str, float]] = []
        self.moved: list[tuple[str, str, int]] = []

    def payout_ended(self, provider: str, state: str, took_s: float) -> None:
        self.ended.append((provider, state, took_s))

    def money(self, provider: str, state: str, centavos: int) -> None:
        self.moved.append((provider, state, centavos))


def kernel(**payouts: object) -> Kernel:
    settings = msgspec.structs.replace(Settings(), payouts=Payouts(**payouts))  # type: ignore[arg-type]
    return kernel_on(STORE, Clock(), settings=settings)


@pytest.mark.parametrize(("configured_s", "shown_s"), [(0, 600), (90, 90)])
def test_similar_payouts_are_shown_even_when_the_check_is_off(configured_s: float, shown_s: float):
    shown = shown_similar_within(kernel(similar_within_s=configured_s).settings)

    assert shown == timedelta(seconds=shown_s)


@pytest.mark.parametrize(
    ("says", "knows"), [(IS_SETTLED, IS_SETTLED), (IS_ACCEPTED, IS_SETTLED)], ids=["sent", "seen"]
)
async def test_the_end_of_a_payout_is_counted_once(payout_world: PayoutWorld, says, knows):
    """By sending or by follow-up, whichever ends it."""
    bank, observer = ScriptedBank(says=[says], knows=knows), Ended()
    told = kernel_on(
        SimpleNamespace(payouts=payout_world.store),
        payout_world.clock,
        settings=SETTINGS,
        observer=observer,
    )
    payout_world.payouts = build_payouts(told, OneBank(bank), no_stops)
    payout_world.follow_up = payout_world.payouts.follow_up

    assert await payout_world.post() == OK
    if says is IS_ACCEPTED:
        payout_world.clock.passes(5)
        await payout_world.look()

    [(provider, state, _took_s)] = observer.ended
    assert (provider, state) == ("sandbox", PayoutState.PAID)
    [(_, _, centavos), _] = observer.moved
    assert observer.moved == [("sandbox", state, centavos) for state in ("accepted", "paid")]
    assert centavos > 0
