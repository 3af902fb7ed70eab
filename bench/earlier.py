"""The tree of an earlier commit, to be measured beside this one."""

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

BEFORE: Final = "59fc020c"
"""The last commit without a worker and follow-up in batches, and with a trip for each statement."""

_MODULES: Final = "PYTHONPATH"


def unpacked(folder: Path, commit: str) -> Path | None:
    """Unpack the tree of a commit; None where this is no clone, or the commit is not in it."""
    place = folder / "tree"
    place.mkdir()
    packed = subprocess.run(
        ["git", "-C", OURS, "archive", commit],  # noqa: S607 - wherever it is installed
        capture_output=True,
        check=False,
    )
    if packed.returncode:
        print(f"{commit} is not to be had here: nothing to compare with")
        return None
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tree:
        tree.extractall(place, filter="data")
    return place


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
