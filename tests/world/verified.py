"""How a case of the suite for authors of adapters ends."""

from __future__ import annotations

import pytest

from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.trial import Case, Subject, every_case, prove

CASES = every_case()
PASSED = ""


async def ended(subject: Subject, case: str | Case) -> str:
    """Return ``""`` for a case that passed, or why it did not, or does not apply."""
    try:
        await prove(subject, CASES[case] if isinstance(case, str) else case)
    except NotApplicable as absent:
        return f"not applicable: {absent}"
    except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - whatever it raises is its end
        return f"failed: {failure!r}"
    return PASSED
