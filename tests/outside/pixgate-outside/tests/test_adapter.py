"""The adapter against the suite of pixgate, a test for each case; and what its README says."""

from __future__ import annotations

from pathlib import Path

import pytest
from provider_adapters.kit.matrix import markdown
from provider_adapters.testing.pytest_plugin import AdapterCase

from pixgate_outside.factory import CAPABILITIES

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.pixgate_adapter("outside")
def test_the_suite(adapter_case: AdapterCase) -> None:
    adapter_case.run()


def test_the_readme_matches_the_adapter_s_capabilities() -> None:
    """After a change of ``CAPABILITIES`` put the lines of the matrix into the README anew."""
    matrix = "\n".join(markdown({"outside": CAPABILITIES}, heading="###")).strip()

    assert matrix in README.read_text(encoding="utf-8"), matrix
