"""What credentials may still pay out, counted payout by payout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gateway.core.money import Money
from gateway.core.night import NIGHT, Night
from gateway.payouts.limits import Allowances
from gateway.payouts.model import Claim, Intent, PayoutState
from tests.world.stores.samples import CLIENT, NOW, attempt, payout

TODAY = NOW.date()
EVENING = datetime(2026, 11, 20, 23, tzinfo=UTC)
TONIGHT = NIGHT.span_of(EVENING)


@dataclass
class Held:
    """A credential's limits, as in its row."""

    limit_payout: int | None = None
    limit_day: int | None = None
    limit_payout_at_night: int | None = None
    limit_night: int | None = None


def intent(reference: str = "o-1", *, centavos: int = 1050, at: datetime = NOW) -> Intent:
    return Intent(payout(reference, centavos=centavos), attempt(started_at=at), limited=True)


def test_a_payout_is_limited_by_the_payout_limit() -> None:
    cases = [
        (None, 10**14, "None"),
        (1050, 1049, "None"),
        (1050, 1050, "None"),
        (1050, 1051, "per_payout"),
    ]

    for limit, centavos, above in cases:
        left = Allowances({CLIENT: Held(limit_payout=limit)})

        assert str(left.take(intent(centavos=centavos))) == above


def test_the_nightly_payout_limit_applies_at_night_alone() -> None:
    own, default = Held(limit_payout_at_night=1000), Night(per_payout=Money(1000))
    cases = [
        (own, NIGHT, 1001, EVENING, "per_payout_at_night"),
        (own, NIGHT, 1000, EVENING, "None"),
        (own, NIGHT, 1001, NOW, "None"),
        (Held(), default, 1001, EVENING, "per_payout_at_night"),
        (Held(), default, 1001, NOW, "None"),
        (Held(limit_payout_at_night=2000), default, 1001, EVENING, "None"),
        (Held(limit_payout=900, limit_payout_at_night=1000), NIGHT, 950, EVENING, "per_payout"),
    ]

    for held, night, centavos, at, above in cases:
        left = Allowances({CLIENT: held}, night)

        assert str(left.take(intent(centavos=centavos, at=at))) == above


def test_an_accepted_payout_is_subtracted_from_the_daily_limit() -> None:
    left = Allowances({CLIENT: Held(limit_day=2000)}, left={(CLIENT, TODAY): 2000})

    taken = [str(left.take(intent(f"o-{number}", centavos=900))) for number in range(3)]

    assert taken == ["None", "None", "per_day"]
    assert left.take(intent("small", centavos=200)) is None
    assert left.left == {(CLIENT, TODAY): 0}


def test_a_held_payout_is_counted_when_it_is_stored() -> None:
    """When its hold ends it exceeds a limit only if that was lowered meanwhile."""
    cases = [(1050, "None"), (1049, "per_day")]

    for limit, above in cases:
        left = Allowances({CLIENT: Held(limit_day=limit)}, left={(CLIENT, TODAY): limit - 1050})
        claim = Claim(payout(centavos=1050), attempt(), limited=True, before=PayoutState.HELD)

        assert str(left.take(claim)) == above


def test_a_payout_refused_by_one_limit_uses_up_no_other_limit() -> None:
    assert TONIGHT is not None
    rest = {(CLIENT, TODAY): 2000, (CLIENT, TONIGHT): 500}
    left = Allowances({CLIENT: Held(limit_day=2000, limit_night=500)}, left=dict(rest))

    above = left.take(intent(centavos=501, at=EVENING))

    assert str(above) == "per_night"
    assert left.left == rest
    assert left.take(intent(centavos=500, at=EVENING)) is None
    assert left.left == {(CLIENT, TODAY): 1500, (CLIENT, TONIGHT): 0}


def test_a_credential_that_is_not_limited_has_no_limit() -> None:
    left = Allowances({CLIENT: Held(limit_payout=1)}, Night(per_payout=Money(1)))
    foreign = replace(intent(at=EVENING), payout=replace(payout(), client_id="cli_other"))

    assert left.take(foreign) is None
