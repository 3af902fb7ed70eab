"""
A map of a running HAProxy, replaced by its command socket.

The socket and not a reload: after a reload the former process serves its kept connections by the
map that it was started with, for a minute or longer. By the socket all requests after ``commit``
see the new map, and no connection is closed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.core.audit_context import RuleViolation

_PART_BYTES: Final = 4_096
"""Of entries in a command, which must fit into HAProxy's buffer of 16 KiB."""
_PATIENCE_S: Final = 30.0
_VERSION: Final = re.compile(r"New version created: (\d+)")


async def replace_map(socket: Path, file: Path, entries: Mapping[str, str]) -> None:
    """
    Replace a map at once; ``file`` names it as the configuration does. Safe to repeat.

    Raises:
        RuleViolation: HAProxy does not answer, or refuses; the former map is in force.
    """
    version = _VERSION.search(await _said(socket, f"prepare map {file}"))
    if version is None:
        message = f"{socket}: HAProxy has no map {file}"
        raise RuleViolation(message)
    for part in _parts(entries):
        if refused := await _said(socket, f"add map @{version[1]} {file} <<\n{part}"):
            message = f"{socket}: {refused}"
            raise RuleViolation(message)
    if refused := await _said(socket, f"commit map @{version[1]} {file}"):
        message = f"{socket}: {refused}"
        raise RuleViolation(message)


def _parts(entries: Mapping[str, str]) -> Iterator[str]:
    part = ""
    for key in sorted(entries):
        part += f"{key} {entries[key]}\n"
        if len(part) >= _PART_BYTES:
            yield part
            part = ""
    if part:
        yield part


async def _said(socket: Path, command: str) -> str:
    """Return the answer to one command, without blank lines around it."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(f"{command}\n".encode())
                return (await reader.read()).decode(errors="replace").strip()
            finally:
                writer.close()
    except (OSError, TimeoutError) as problem:
        message = f"{socket}: HAProxy does not answer"
        raise RuleViolation(message) from problem
