"""Refuses to build a wheel without the panel's scripts and fonts; see ``make wheel``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))  # the package is not installed where it is built

from gateway.panel.vendor import FOLDER, absent_files


class PanelFiles(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Checks each file by its digest; an editable install goes on without them."""

    def initialize(self, version: str, _build_data: dict[str, Any]) -> None:
        """Refuse a wheel that would lack a file."""
        absent = absent_files(FOLDER)
        if version != "editable" and absent:
            problem = f"the panel lacks {', '.join(absent)}: build with `make wheel`"
            raise FileNotFoundError(problem)
