"""``python -m gateway``."""

from __future__ import annotations

from importlib.metadata import MetadataPathFinder

import pytest

from gateway.__main__ import main


def test_starting_without_an_installed_package_is_an_error(monkeypatch: pytest.MonkeyPatch):
    """The first step would fail on its version or on an entry point, with a trace."""
    monkeypatch.setattr(MetadataPathFinder, "find_distributions", lambda *_: iter(()))

    with pytest.raises(SystemExit, match="Error: pixgate is not installed for this Python"):
        main()
