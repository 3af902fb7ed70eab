"""The mark of what takes minutes."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark, so that ``-m "not torture"`` leaves these tests out."""
    config.addinivalue_line("markers", "torture: takes minutes and both cores")
