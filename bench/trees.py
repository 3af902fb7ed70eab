"""The modules of this tree, or of an earlier commit that is measured beside it."""

from __future__ import annotations

import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

OURS: Final = Path(__file__).parent.parent
"""This tree."""

_MODULES: Final = "PYTHONPATH"


def unpacked(folder: Path, commit: str) -> Path:
    """Unpack the tree of a commit of this clone into a new folder."""
    packed = subprocess.run(
        ["git", "-C", OURS, "archive", commit],  # noqa: S607 - wherever it is installed
        stdout=subprocess.PIPE,
        check=True,
    )
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tree:
        tree.extractall(folder, filter="data")
    return folder


@contextmanager
def modules_of(tree: Path) -> Iterator[None]:
    """Have Python that is started in the block with ``-P`` use the modules of a tree."""
    before = os.environ.get(_MODULES)
    os.environ[_MODULES] = str(tree)
    try:
        yield
    finally:
        del os.environ[_MODULES]
        if before is not None:
            os.environ[_MODULES] = before
