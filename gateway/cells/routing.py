"""HAProxy's map: which cell serves a credential, an account, a callback's token or a host name."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import select, union_all

from gateway.cells.model import FIRST, HELD
from gateway.core.audit_context import RuleViolation
from gateway.core.folders import sync_folder
from gateway.store.kernel.database import Database
from gateway.store.tables.core import accounts, company_moves, credentials

ARRIVING: Final = "arriving"
"""The state of a move in the cell that a company moves to, until it is in force there."""
_KEYS: Final = union_all(
    select(accounts.c.company_id, accounts.c.id.label("key")),
    select(credentials.c.company_id, credentials.c.client_id.label("key")),
)
_ARRIVING: Final = select(company_moves.c.company_id).where(company_moves.c.state == ARRIVING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """
    What one cell serves.

    Attributes:
        companies: By company, the ids of its accounts and credentials.
        arriving: Companies that are copied to the cell and may still be served by another.
        tokens: Of its callback addresses, by the current sealing key.
        former_tokens: The same by former ones; a cell that companies moved to has those of others.
        hosts: Under which its people and banks reach it.
    """

    cell: str
    companies: Mapping[str, Sequence[str]]
    arriving: frozenset[str] = frozenset()
    tokens: Sequence[str] = ()
    former_tokens: Sequence[str] = ()
    hosts: Sequence[str] = ()


async def companies_of(database: Database) -> Mapping[str, Sequence[str]]:
    """Return by company the ids of its accounts and credentials."""
    found: dict[str, list[str]] = {}
    for row in await database.rows(_KEYS):
        found.setdefault(row.company_id, []).append(row.key)
    return found


async def arriving_in(database: Database) -> frozenset[str]:
    """Return the companies whose move to this cell has not ended."""
    return frozenset(row.company_id for row in await database.rows(_ARRIVING))


def map_of(claims: Sequence[Claims], held: str = "") -> Mapping[str, str]:
    """
    Return the cell of each key; keys of the company ``held`` lead to no server.

    The rows of a company that is being moved are in two cells for a while: the one that it comes
    from serves it as long as it has them.

    Raises:
        RuleViolation: two cells claim one key.
    """
    found: dict[str, str] = {FIRST: claims[0].cell}
    settled = {company for each in claims for company in each.companies.keys() - each.arriving}
    for each in claims:
        for company in each.companies.keys() - (each.arriving & settled):
            for key in each.companies[company]:
                cell = HELD if company == held else each.cell
                _claim(found, key, cell, f"account or credential: {key} of company {company}")
    _claim_addresses(found, claims)
    return found


def _claim_addresses(found: dict[str, str], claims: Sequence[Claims]) -> None:
    for each in claims:
        for host in each.hosts:
            _claim(found, host, each.cell, f"host name: {host}")
        for token in each.tokens:
            # not shown: whoever has it can reach the callbacks
            _claim(found, token, each.cell, "callback address: their sealing keys must differ")
    for each in claims:
        for token in each.former_tokens:
            found.setdefault(token, each.cell)


def _claim(found: dict[str, str], key: str, cell: str, what: str) -> None:
    other = found.setdefault(key, cell)
    if other != cell:
        message = f"two cells, {other} and {cell}, claim one {what}"
        raise RuleViolation(message)


def written(entries: Mapping[str, str]) -> str:
    """Write a map as HAProxy reads it, in the order of its keys."""
    return "".join(f"{key} {entries[key]}\n" for key in sorted(entries))


def read_map(file: Path) -> Mapping[str, str]:
    """Read a map file; empty where there is none."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return dict(_entry(line) for line in lines)


def _entry(line: str) -> tuple[str, str]:
    key, _, cell = line.partition(" ")
    return key, cell


def replace_file(file: Path, content: str) -> None:
    """Replace a file, completely or not at all; it keeps its mode and owner."""
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        _like(draft, file)
        Path(draft).replace(file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def _like(draft: str, file: Path) -> None:
    """Give a draft the mode and owner of the file: only the proxy may read the tokens in it."""
    try:
        former = file.stat()
    except FileNotFoundError:
        Path(draft).chmod(0o640)
        return
    Path(draft).chmod(former.st_mode & 0o777)
    if os.geteuid() == 0:
        os.chown(draft, former.st_uid, former.st_gid)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of a map: who reads the cells and writes it does so alone."""
    lock = os.open(file.with_name(f"{file.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
