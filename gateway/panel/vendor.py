"""
Vendored files of the panel's pages, copied from npm packages.

``make`` runs this module as a script, before anything is installed: it imports the standard
library alone. A file is copied only if its digest is the one in ``vendor.toml``.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
LIST: Final = HERE / "vendor.toml"
FOLDER: Final = HERE / "static" / "vendor"
"""Where the files stand; ignored by git, contained in the wheel."""


class WrongFile(ValueError):
    """A file is not the listed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFile:
    """
    One vendored file.

    Attributes:
        name: As our pages name it; names are flat.
        package: The npm package it comes from; the lock pins the version.
        path: Inside the package.
        sha256: Of its content, in hexadecimal digits.
    """

    name: str
    package: str
    path: str
    sha256: str

    @property
    def is_licence(self) -> bool:
        """Whether it is a licence: distributed with the files, never served."""
        return self.name.endswith(".txt")

    @property
    def is_served(self) -> bool:
        """Whether the panel's pages load it; licences and fonts for PDF files are not served."""
        return not self.name.endswith((".txt", ".ttf"))

    def matches(self, content: bytes) -> bool:
        """Return whether the content is the listed one."""
        return hashlib.sha256(content).hexdigest() == self.sha256


def vendor_files() -> Sequence[VendorFile]:
    """Read the list."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [VendorFile(**entry) for entry in listed["file"]]


def read_vendored(folder: Path, file: VendorFile) -> bytes | None:
    """Return a file's content; None if it is absent or not the listed one."""
    try:
        content = (folder / file.name).read_bytes()
    except OSError:
        return None
    return content if file.matches(content) else None


def absent_files(folder: Path) -> Sequence[str]:
    """Return the listed files that a folder lacks or has with other content."""
    return [file.name for file in vendor_files() if read_vendored(folder, file) is None]


def collect(packages: Path, folder: Path, files: Sequence[VendorFile]) -> None:
    """
    Copy the files; nothing is copied if one of them is wrong.

    Args:
        packages: A ``node_modules`` folder.
        folder: The target; its other files are removed.
        files: The files to copy.

    Raises:
        OSError: a file is missing.
        WrongFile: a file has another digest.
    """
    found = {file.name: (packages / file.package / file.path).read_bytes() for file in files}
    for file in files:
        if not file.matches(found[file.name]):
            problem = f"{file.package}: {file.path} is not the file that {LIST.name} lists"
            raise WrongFile(problem)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in found:
            old.unlink()
    for name, content in found.items():
        (folder / name).write_bytes(content)


def main(arguments: Sequence[str]) -> int:
    """Copy from the ``node_modules`` folder that is named; return the exit code."""
    try:
        collect(Path(arguments[0]), FOLDER, vendor_files())
    except (OSError, WrongFile) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
