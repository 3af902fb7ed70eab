"""
What a wheel has beside its packages: scripts and fonts, operators' files, and the commit.

Without a script or font it is not built; see ``make wheel``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))  # the package is not installed where it is built

from gateway.config import assets
from gateway.config.build import RECORDED, commit_at
from gateway.panel.vendor import FOLDER, absent_files


class Wheel(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Checks each file by its digest; an editable install goes on without them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Refuse a wheel that would lack a file; add operators' files and the commit to others."""
        if version == "editable":
            return  # the checkout tells its commit itself
        absent = absent_files(FOLDER)
        if absent:
            problem = f"the panel lacks {', '.join(absent)}: build with `make wheel`"
            raise FileNotFoundError(problem)
        for name, file in assets.assets(Path(self.root)).items():
            build_data["force_include"][str(file)] = f"{assets.FOLDER}/{name}"
        self.folder = TemporaryDirectory()
        commit = Path(self.folder.name) / "commit.txt"
        # Where git is absent, such as in the build of an image, PIXGATE_COMMIT says it.
        said = os.environ.get("PIXGATE_COMMIT") or commit_at(Path(self.root))
        commit.write_text(f"{said}\n", encoding="utf-8")
        build_data["force_include"][str(commit)] = RECORDED

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Remove what was made for the wheel."""
        if version != "editable":
            self.folder.cleanup()
