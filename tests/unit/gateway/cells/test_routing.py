"""The map: who serves which key."""

import os
from pathlib import Path

import pytest

from gateway.cells.routing import Claims, locked, map_of, read_map, replace_file, written
from gateway.core.audit_context import RuleViolation

NORTH = Claims(
    cell="north",
    companies={"c1": ["a1", "cli1"]},
    tokens=["t1"],
    former_tokens=["t0"],
    hosts=["north.example"],
)


def south(**changed: object) -> Claims:
    usual = {"companies": {"c2": ["a2"]}, "tokens": ["t2"], "former_tokens": ["t0", "t1"]}
    return Claims(cell="south", **{**usual, **changed})


def test_keys_are_mapped_to_their_cells_and_the_first_cell_is_the_default():
    assert map_of([NORTH, south()]) == {
        "first": "north",
        "a1": "north",
        "cli1": "north",
        "a2": "south",
        "north.example": "north",
        "t1": "north",
        "t2": "south",
        "t0": "north",
    }


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"companies": {"c1": ["a1"]}}, "north and south, claim one account or credential: a1"),
        ({"companies": {"c3": ["cli1"]}}, "credential: cli1 of company c3"),
        ({"hosts": ["north.example"]}, "host name: north.example"),
        ({"tokens": ["t1"]}, "callback address: their sealing keys must differ"),
    ],
)
def test_two_cells_that_claim_one_key_are_refused(claims: dict[str, object], said: str):
    with pytest.raises(RuleViolation, match=said):
        map_of([NORTH, south(**claims)])


def test_a_refusal_does_not_contain_the_token():
    with pytest.raises(RuleViolation) as refused:
        map_of([NORTH, south(tokens=["t1"])])

    assert "t1" not in str(refused.value)


def test_a_company_that_is_arriving_is_served_by_its_former_cell():
    copied = south(companies={"c1": ["a1", "cli1"]}, arriving=frozenset({"c1"}))
    left = Claims(cell="north", companies={})

    assert map_of([NORTH, copied])["a1"] == "north"
    assert map_of([left, copied])["a1"] == "south"


def test_keys_of_a_held_company_are_mapped_to_held():
    found = map_of([NORTH, south()], held="c1")

    assert {found["a1"], found["cli1"]} == {"held"}
    assert found["a2"] == "south"


def test_a_cell_map_is_written_in_a_stable_order_and_read_back(tmp_path: Path):
    entries = {"b": "south", "a": "north"}
    file = tmp_path / "cells.map"

    assert written(entries) == "a north\nb south\n"
    assert read_map(file) == {}
    replace_file(file, written(entries))
    assert read_map(file) == entries


def test_a_replaced_file_keeps_its_mode_and_a_new_one_is_private(tmp_path: Path):
    """The file contains the addresses of callbacks."""
    file = tmp_path / "cells.map"
    replace_file(file, "a north\n")
    assert file.stat().st_mode & 0o777 == 0o640
    file.chmod(0o600)
    replace_file(file, "a south\n")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_failed_write_leaves_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "cells.map"
    replace_file(file, "a north\n")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(file, "a south\n")

    assert file.read_text() == "a north\n"
    assert [each.name for each in tmp_path.iterdir()] == ["cells.map"]


def test_only_one_process_has_the_lock(tmp_path: Path):
    file = tmp_path / "cells.map"
    with locked(file):
        child = os.fork()
        if not child:
            import fcntl  # noqa: PLC0415 - of the child alone

            handle = os.open(file.with_name("cells.map.lock"), os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os._exit(7)
            os._exit(0)
        _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 7
    with locked(file):
        pass
