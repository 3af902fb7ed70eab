"""The archive of payouts over a store, as its command runs it."""

from __future__ import annotations

from pathlib import Path

from gateway.archive.folder import ArchiveFolder
from gateway.archive.model import ArchiveFile
from gateway.archive.service import Archive
from gateway.archive.store import ArchiveRecords
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.net.common.runtime import Failpoint, unarmed
from gateway.store.kernel.database import Database


def archive(
    database: Database, passed: Failpoint = unarmed, keep_months: int | None = 6
) -> Archive:
    records = ArchiveRecords(database)
    return Archive(database=database, records=records, keep_months=keep_months, passed=passed)


def archivist(now: Now) -> Staff:
    return Staff(AuditContext("cli:test", now))


async def write(
    database: Database, folder: Path, now: Now, passed: Failpoint = unarmed
) -> list[tuple[str, int]]:
    """Archive what may leave; return each file, with how many of its payouts stay."""
    said: list[tuple[str, int]] = []

    def say(file: ArchiveFile, stay: int) -> None:
        said.append((file.name, stay))

    await archive(database, passed).write(archivist(now), ArchiveFolder(folder), say)
    return said
