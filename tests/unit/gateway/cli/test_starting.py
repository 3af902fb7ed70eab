"""Loading without looking for garbage, and what is left of that."""

import gc
import subprocess
import sys

import pytest

from gateway.cli.starting import uncollected

SELDOM = {"alembic", "babel", "reportlab", "jinja2", "schemathesis", "asyncpg"}
LOADED = "gateway.app.assembly, gateway.app.running, gateway.cli.serve, gateway.store.sqlite"


@pytest.fixture(autouse=True)
def collecting():
    """Whatever a test does, the others are collected."""
    yield
    gc.enable()


def test_nothing_is_collected_while_modules_are_loaded():
    with uncollected():
        inside = gc.isenabled()

    assert (inside, gc.isenabled()) == (False, True)


def test_what_cannot_be_loaded_changes_nothing_for_the_rest():
    with pytest.raises(ImportError), uncollected():
        raise ImportError

    assert gc.isenabled()


def test_who_does_not_collect_at_all_is_left_alone():
    gc.disable()

    with uncollected():
        pass

    assert not gc.isenabled()


def test_what_is_seldom_used_is_loaded_when_it_is_used():
    """Each of them costs a start 30 to 300 ms, and a process several MB."""
    code = f"import sys, {LOADED}; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )

    assert not SELDOM & set(done.stdout.split())
