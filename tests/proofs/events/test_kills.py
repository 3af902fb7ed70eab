"""Events amid kills of servers, workers and PostgreSQL: each change is told and delivered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import uvloop

from tests.proofs.events.campaign import campaign
from tests.proofs.events.scale import FULL, SMALL
from tests.world.extent import SEED, WHOLE


@pytest.mark.timeout(1800)
def test_each_change_has_one_event_and_is_delivered(record_property: Callable[[str, object], None]):
    scale = FULL if WHOLE else SMALL

    tally = uvloop.run(campaign(scale, SEED))

    record_property("figures", "\n".join(tally.lines()))
    assert tally.violations == []
    assert tally.changes.total() >= scale.changes
    assert tally.kills.total() >= 3 * scale.kills
    assert tally.events.total() >= scale.changes
