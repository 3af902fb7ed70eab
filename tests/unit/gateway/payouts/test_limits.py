"""What credentials may still pay out, counted payout by payout."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.payouts.limits import Allowances
from tests.world.stores.samples import CLIENT, NOW, payout

TODAY = NOW.date()


@dataclass
class Held:
    """A credential's limits, as its row tells them."""

    limit_payout: int | None = None
    limit_day: int | None = None


def test_one_payout_is_at_most_its_limit() -> None:
    cases = [
        (None, 10**14, "None"),
        (1050, 1049, "None"),
        (1050, 1050, "None"),
        (1050, 1051, "per_payout"),
    ]

    for limit, centavos, above in cases:
        left = Allowances({CLIENT: Held(limit_payout=limit)})

        assert str(left.take(payout(centavos=centavos))) == above


def test_what_fits_is_taken_from_what_is_left() -> None:
    left = Allowances({CLIENT: Held(limit_day=2000)}, {(CLIENT, TODAY): 2000})

    taken = [str(left.take(payout(f"o-{number}", centavos=900))) for number in range(3)]

    assert taken == ["None", "None", "per_day"]
    assert left.take(payout("small", centavos=200)) is None
    assert left.left == {(CLIENT, TODAY): 0}


def test_a_held_payout_counted_when_it_was_stored() -> None:
    """When its hold ends it is above a limit only if that was lowered meanwhile."""
    cases = [(1050, "None"), (1049, "per_day")]

    for limit, above in cases:
        left = Allowances({CLIENT: Held(limit_day=limit)}, {(CLIENT, TODAY): limit - 1050})

        assert str(left.take(payout(centavos=1050), is_counted=True)) == above


def test_who_is_not_held_has_no_limit() -> None:
    left = Allowances({CLIENT: Held(limit_payout=1)})

    assert left.take(replace(payout(), client_id="cli_other")) is None
