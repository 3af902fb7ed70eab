"""
What a wheel has beside its packages: scripts and fonts, operators' files, commit and addresses.

Without a script or font it is not built; see ``make wheel``. Where the project is hosted is known
where it is released: PIXGATE_HOME names the address, ``https://host/owner/pixgate``.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).parent))  # the package is not installed where it is built

from gateway.config import assets
from gateway.config.build import RECORDED, commit_at
from gateway.panel.vendor import FOLDER, absent_files

PAGES = {
    "Documentation": "docs/README.md",
    "Changelog": "CHANGELOG.md",
    "Security": "SECURITY.md",
}
KIND = {"": "blob", "!": "raw"}
LINK = re.compile(r"(!?)(\[[^]]*\]\()(?!https?:|#)")
"""The beginning of a Markdown link or picture whose address is a path."""


class Addresses(MetadataHookInterface):
    """Addresses of the project, and a README whose links work apart from the tree."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add ``readme`` and ``urls``; without PIXGATE_HOME the README as it is, and no address."""
        home, tag = os.environ.get("PIXGATE_HOME", "").rstrip("/"), f"v{metadata['version']}"
        text, urls = (Path(self.root) / "README.md").read_text(encoding="utf-8"), {}
        if home:
            text = LINK.sub(lambda link: f"{link[0]}{home}/{KIND[link[1]]}/{tag}/", text)
            urls = {name: f"{home}/blob/{tag}/{page}" for name, page in PAGES.items()}
            urls["Homepage"] = home
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls


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
