"""A module has its test at the same path, so that nobody has to look for it."""

from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, modules

UNIT = Path("tests/unit")
# What has no test of its own, each with the reason. A folder stands for all below it.
WITHOUT = {
    "gateway/__main__.py": "hands over to the commands; every test of a command passes through it",
    **dict.fromkeys(
        [f"gateway/domain/{name}.py" for name in ("callbacks", "identity")]
        + ["gateway/domain/request_log.py"],
        "records alone: nothing runs",
    ),
    "gateway/domain/identity_stores.py": "ports: nothing runs; the store contract suite keeps them",
    "gateway/domain/office_stores.py": "ports: nothing runs; the store contract suite keeps them",
    "gateway/domain/providers.py": "ports: nothing runs; the adapter contract suite keeps them",
    "gateway/domain/stores.py": "ports: nothing runs; the store contract suite keeps them",
    "gateway/store/migrations": "run on SQLite and PostgreSQL by the store contract suite",
    **dict.fromkeys(
        [
            f"gateway/store/{name}.py"
            for name in (
                *("approvals", "audit_reading", "callbacks", "challenges", "changes"),
                "failure_counts",
                *(
                    "identity",
                    "identity_tables",
                    "lists",
                    "office",
                    "office_tables",
                    "outbox",
                    "pages",
                ),
                *("panel_sessions", "records", "request_log", "sessions", "signing_keys"),
                "users",
            )
        ],
        "statements alone: the store contract suite runs each on SQLite and PostgreSQL",
    ),
}


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_module_has_a_test_at_the_same_path(path: Path):
    if excused(path):
        pytest.skip(WITHOUT[excused(path)])

    assert (ROOT / mirrored(path)).is_file(), f"{mirrored(path)} is missing"


def test_a_test_at_a_module_s_path_has_its_module():
    """A test whose module moved away is found by nobody."""
    expected = {mirrored(path) for path in modules()}
    orphans = [
        str(path.relative_to(ROOT))
        for path in (ROOT / UNIT).rglob("test_*.py")
        if path.relative_to(ROOT) not in expected
    ]

    assert orphans == []


@pytest.mark.parametrize("name", WITHOUT)
def test_an_exception_is_still_one(name: str):
    """An exception for a module that has a test by now is a wrong statement."""
    excepted = [path for path in modules() if excused(path) == name]

    tested = [str(path) for path in excepted if (ROOT / mirrored(path)).is_file()]

    assert tested == []


def mirrored(path: Path) -> Path:
    """Name the place of a module's test."""
    return UNIT / path.parent / f"test_{path.name}"


def excused(path: Path) -> str:
    """Name the exception a module falls under, or nothing."""
    return next((name for name in WITHOUT if path.is_relative_to(name)), "")
