"""Cells: whole stacks with a database each, behind one HAProxy; the file that names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from gateway.core.audit_context import RuleViolation

NAME: Final = r"^[a-z][a-z0-9-]{0,30}$"
FIRST: Final = "first"
"""The key of the map that leads to the cell of requests which no other key leads anywhere."""
HELD: Final = "held"
"""A cell of the map without servers: HAProxy answers 503, and nothing is sent."""
_RESERVED: Final = frozenset({FIRST, HELD})


class Cell(Struct, frozen=True, forbid_unknown_fields=True):
    """
    One cell, as the file describes it.

    Attributes:
        config: Its configuration file; relative to the file of the cells.
        environment: The variables of its processes, in lines NAME='value'.
    """

    config: Path
    environment: Path


class Cells(Struct, frozen=True, forbid_unknown_fields=True):
    """
    The cells behind one HAProxy.

    Attributes:
        map: The map file that HAProxy reads.
        cells: By name, the first one first.
        sockets: The command socket of each HAProxy; without any the map counts after a reload.
    """

    map: Path
    cells: Mapping[Annotated[str, Meta(pattern=NAME)], Cell]
    sockets: tuple[Path, ...] = ()

    def named(self, name: str) -> str:
        """Return the name of a cell; raises ``RuleViolation`` where there is none."""
        if name not in self.cells:
            message = f"there is no cell {name!r} (cells: {', '.join(self.cells)})"
            raise RuleViolation(message)
        return name


def read_cells(file: Path) -> Cells:
    """
    Read the file that names the cells.

    Raises:
        RuleViolation: it cannot be used; in one line.
    """
    try:
        read = msgspec.yaml.decode(file.read_bytes(), type=Cells, dec_hook=_path)
    except OSError as problem:
        message = f"{file} cannot be read: {problem.strerror}"
        raise RuleViolation(message) from problem
    except msgspec.MsgspecError as problem:
        message = f"{file}: {_one_line(problem)}"
        raise RuleViolation(message) from problem
    if taken := sorted(_RESERVED & read.cells.keys()):
        message = f"{file}: no cell may be called {taken[0]!r}"
        raise RuleViolation(message)
    if not read.cells:
        message = f"{file}: cells: there is none"
        raise RuleViolation(message)
    folder = file.parent
    return Cells(
        map=folder / read.map,
        cells={
            name: Cell(config=folder / each.config, environment=folder / each.environment)
            for name, each in read.cells.items()
        },
        sockets=tuple(folder / each for each in read.sockets),
    )


def _path(kind: type[Path], text: object) -> Path:
    if not isinstance(text, str) or not text:
        problem = "a path is a text"
        raise ValueError(problem)
    return kind(text)


def _one_line(problem: Exception) -> str:
    return re.sub(r"\s+", " ", str(problem)).strip()
