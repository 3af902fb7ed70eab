"""The fixed words."""

from __future__ import annotations

import re

from gateway.banks.port.provider_reasons import Reason


def test_a_reason_is_a_metric_label():
    for reason in list(Reason):
        assert re.fullmatch(r"[a-z0-9_]{1,32}", reason.value)
        assert reason.value == reason.name.lower()
