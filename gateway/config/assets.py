"""
Files for operators that the wheel carries: configurations, requirements, the folder ``deploy``.

In a checkout they are read from where they stand. Imports nothing but the standard library: the
build runs before anything is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

FOLDER: Final = "gateway/config/assets"
"""Where the wheel has them."""
SANDBOX: Final = "config.yaml"
PRODUCTION: Final = "production.yaml"

_OF_AN_OPERATOR: Final = {".env", ".pem", ".whl"}
"""Secrets, keys, and what an image is built from."""
_ROOT: Final = Path(__file__).parents[2]


def assets(root: Path = _ROOT) -> Mapping[str, Path]:
    """Return each file by its target name; files of the wheel first."""
    if (root / FOLDER).is_dir():
        return _below(root / FOLDER)
    return {
        SANDBOX: root / "config.yaml",
        "requirements.txt": root / "requirements" / "production.txt",
        **_below(root / "deploy"),
    }


def _below(folder: Path) -> Mapping[str, Path]:
    """Return every file below a folder, without an operator's own files."""
    return {
        file.relative_to(folder).as_posix(): file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.suffix not in _OF_AN_OPERATOR
    }
