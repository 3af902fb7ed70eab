"""The map's way into force."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.cells import writer as module
from gateway.cells.model import Cell, Cells
from gateway.cells.routing import Claims, read_map
from gateway.cells.writer import MapWriter
from gateway.core.audit_context import RuleViolation

NORTH = Claims(cell="north", companies={"c1": ["a1"]})
SOUTH = Claims(cell="south", companies={"c2": ["a2"]})


def known(folder: Path, *sockets: Path) -> Cells:
    cell = Cell(config=folder, environment=folder)
    return Cells(map=folder / "cells.map", cells={"north": cell, "south": cell}, sockets=sockets)


def writer_of(cells: Cells, *claims: Claims) -> MapWriter:
    async def read() -> Sequence[Claims]:
        return claims

    return MapWriter(cells, read)


async def test_a_held_company_is_served_again_by_the_next_map(tmp_path: Path):
    cells = known(tmp_path)
    with writer_of(cells, NORTH, SOUTH) as writer:
        await writer.hold("c1")
        assert read_map(cells.map) == {"first": "north", "a1": "held", "a2": "south"}
        assert await writer.compare() == 1
        assert (
            await writer.write()
            == read_map(cells.map)
            == {
                "first": "north",
                "a1": "north",
                "a2": "south",
            }
        )
        assert await writer.compare() == 0


async def test_a_map_with_two_claims_of_one_key_is_not_written(tmp_path: Path):
    cells = known(tmp_path)
    with writer_of(cells, NORTH, Claims(cell="south", companies={"c1": ["a1"]})) as writer:
        with pytest.raises(RuleViolation, match="claim one account"):
            await writer.write()
        assert not cells.map.exists()


async def test_the_map_file_is_written_before_the_proxy_is_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """So that a proxy starting at that moment has the same map."""
    cells = known(tmp_path, tmp_path / "one", tmp_path / "two")
    told = []

    async def replace(socket: Path, file: Path, entries: dict[str, str]) -> None:
        told.append((socket.name, read_map(file) == entries))

    monkeypatch.setattr(module, "replace_map", replace)
    with writer_of(cells, NORTH) as writer:
        await writer.write()

    assert told == [("one", True), ("two", True)]
