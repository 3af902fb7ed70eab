"""
The folder of archives: a folder for each account, and in it each file beside its manifest.

A file is complete or not there: it is written as a draft, and renamed once the database has noted
it. Files and folders are for their owner alone, since they name payees in full.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import msgspec

from gateway.archive.model import ArchiveFile
from gateway.core.audit_context import RuleViolation
from gateway.core.folders import sync_folder

SUFFIX: Final = ".jsonl.gz"
_DRAFT: Final = ".part"
_MANIFEST: Final = ".json"
_UNREADABLE: Final = (OSError, EOFError, zlib.error)
_AT_ONCE: Final = 1 << 20
_LEVEL: Final = 6
"""Of compression: zlib's own default, between speed and size."""


class Damaged(RuleViolation):
    """A file is not as its manifest or the database says."""


class ArchiveFolder:
    """
    Reads and writes the files of archives.

    Raises ``RuleViolation`` where the file system refuses.
    """

    def __init__(self, root: Path) -> None:
        """Use a folder, which ``locked`` makes where it is absent."""
        self.root = root

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process of this machine write meanwhile."""
        with _failures(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.root / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as problem:
                message = f"another process writes to {self.root}"
                raise RuleViolation(message) from problem
            yield
        finally:
            os.close(handle)

    @contextmanager
    def draft(self, file: ArchiveFile) -> Iterator[gzip.GzipFile]:
        """Write the draft of a file in place of a former one; it is on disk in the end."""
        path = self._draft(file)
        with _failures(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _created(path) as raw:
                # without name and time, so that the same payouts give the same bytes
                with gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed:
                    yield packed
                raw.flush()
                os.fsync(raw.fileno())
            sync_folder(path.parent)

    def drop(self, file: ArchiveFile) -> None:
        """Remove a draft that has no payout."""
        self._draft(file).unlink(missing_ok=True)

    def draft_lines(self, file: ArchiveFile) -> Iterator[bytes]:
        """Read a draft back from its file."""
        return _lines(self._draft(file))

    def draft_sha256(self, file: ArchiveFile) -> str:
        """Return the digest of a draft."""
        return _sha256(self._draft(file))

    def publish(self, file: ArchiveFile) -> None:
        """
        Give a noted draft its name, with its manifest; check it where it has the name already.

        Raises:
            Damaged: neither is the file that the database has noted.
        """
        path, draft = self.root / file.name, self._draft(file)
        if not path.exists() and draft.exists() and _sha256(draft) == file.sha256:
            with _failures(path):
                self._write_manifest(file)
                draft.replace(path)
                sync_folder(path.parent)
        if not path.exists():
            message = f"{path} is in the database's list of archives, and not in the folder"
            raise Damaged(message)
        if _sha256(path) != file.sha256:
            message = f"{path} is not the file that was compared with the database"
            raise Damaged(message)
        if self.manifest(file.name) is None:
            self._write_manifest(file)

    def lines(self, name: str) -> Iterator[bytes]:
        """Read the lines of a file; raises ``Damaged`` for one that cannot be read to its end."""
        return _lines(self.root / name)

    def sha256(self, name: str) -> str:
        """Return the digest of a file."""
        return _sha256(self.root / name)

    def names(self) -> Iterable[str]:
        """Return the names of all files and of all manifests' files, in order."""
        found = {str(each.relative_to(self.root)) for each in self.root.glob(f"*/*{SUFFIX}")}
        for each in self.root.glob(f"*/*{_MANIFEST}"):
            found.add(str(each.relative_to(self.root)).removesuffix(_MANIFEST) + SUFFIX)
        return sorted(found)

    def manifest(self, name: str) -> ArchiveFile | None:
        """Read what a file should be; None where there is no manifest, or not one of ours."""
        try:
            return msgspec.json.decode(self._manifest(name).read_bytes(), type=ArchiveFile)
        except (OSError, msgspec.MsgspecError):
            return None

    def _draft(self, file: ArchiveFile) -> Path:
        return self._manifest(file.name).with_suffix(_DRAFT)

    def _manifest(self, name: str) -> Path:
        return self.root / (name.removesuffix(SUFFIX) + _MANIFEST)

    def _write_manifest(self, file: ArchiveFile) -> None:
        path = self._manifest(file.name)
        new = path.with_suffix(f"{_MANIFEST}{_DRAFT}")
        with _failures(path):
            with _created(new) as raw:
                raw.write(msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n")
                raw.flush()
                os.fsync(raw.fileno())
            new.replace(path)
            sync_folder(path.parent)


def _created(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as packed:
            yield from packed
    except _UNREADABLE as problem:
        message = f"{path} cannot be read: {problem}"
        raise Damaged(message) from problem


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as raw:
            while part := raw.read(_AT_ONCE):
                digest.update(part)
    except OSError as problem:
        message = f"{path} cannot be read: {problem.strerror}"
        raise Damaged(message) from problem
    return digest.hexdigest()


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        message = f"{path}: {problem.strerror}"
        raise RuleViolation(message) from problem
