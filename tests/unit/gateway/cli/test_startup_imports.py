"""Modules whose code waits: imported at once, begun when somebody asks for something."""

import importlib
import json
import subprocess
import sys
import threading
from types import ModuleType

import pytest

from gateway.cli.startup import LATER, take_parts

PACKAGE = "slow_package"
ABSENT = "fancy_printer"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A package that counts how often it runs, with a module, waiting on the path."""
    folder = tmp_path / PACKAGE
    folder.mkdir()
    folder.joinpath("__init__.py").write_text(
        "from slow_package.heavy import WEIGHT\n"
        "from slow_package import heavy as itself\n"
        "from slow_package import ring\n"
        "import threading\n"
        "threading.Event().wait(0.02)\n"
        "RAN = object()\n"
    )
    folder.joinpath("light.py").write_text("WEIGHT = 1\n")
    folder.joinpath("heavy.py").write_text("WEIGHT = 100\n")
    folder.joinpath("ring.py").write_text("GOLD = 1\nfrom slow_package.closing import LAST\n")
    folder.joinpath("closing.py").write_text("from slow_package.ring import GOLD\nLAST = 2\n")
    folder.joinpath("broken.py").write_text("import nowhere_at_all\n")
    (tmp_path / f"{ABSENT}.py").write_text("")
    (tmp_path / "failing_once.py").write_text(
        "import sys\nsys.tries = getattr(sys, 'tries', 0) + 1\n1 / (sys.tries - 1)\nDONE = 1\n"
    )
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.syspath_prepend(tmp_path)
    take_parts({PACKAGE, "failing_once", f"{PACKAGE}.heavy"}, {ABSENT})
    yield
    for name in [each for each in sys.modules if each.startswith((PACKAGE, "failing_once"))]:
        del sys.modules[name]
    vars(sys).pop("tries", None)


def _has_run(name: str = PACKAGE) -> bool:
    return type(sys.modules[name]) is ModuleType


@pytest.mark.usefixtures("written")
def test_a_module_is_taken_without_its_package():
    light = importlib.import_module(f"{PACKAGE}.light")

    assert light.WEIGHT == 1
    assert not _has_run()
    assert f"{PACKAGE}.heavy" not in sys.modules


@pytest.mark.usefixtures("written")
def test_a_package_says_where_its_modules_are_without_running():
    package = importlib.import_module(PACKAGE)

    assert package.light.WEIGHT == 1
    assert not _has_run()


@pytest.mark.usefixtures("written")
def test_whoever_asks_for_a_name_has_the_package_run_once():
    package = importlib.import_module(PACKAGE)

    asked = package.RAN, package.RAN, package.WEIGHT

    assert asked[0] is asked[1]
    assert asked[2] == 100
    assert _has_run()


@pytest.mark.usefixtures("written")
def test_a_module_that_is_no_package_waits_as_well():
    heavy = importlib.import_module(f"{PACKAGE}.heavy")

    assert not _has_run(heavy.__name__)
    assert heavy.WEIGHT == 100
    assert _has_run(heavy.__name__)


@pytest.mark.usefixtures("written")
def test_a_name_that_is_nowhere_is_missed_as_ever():
    package = importlib.import_module(PACKAGE)

    with pytest.raises(AttributeError, match=r"slow_package.*nothing"):
        package.nothing  # noqa: B018 - asking is the point
    with pytest.raises(ImportError):
        exec("from slow_package import nothing")  # noqa: S102 - ours


@pytest.mark.usefixtures("written")
def test_a_module_below_that_cannot_be_loaded_says_why():
    package = importlib.import_module(PACKAGE)

    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        exec("from slow_package import broken")  # noqa: S102 - ours

    assert not hasattr(package, "broken")


@pytest.mark.usefixtures("written")
def test_a_ring_of_modules_is_begun_where_its_package_begins_it():
    package = importlib.import_module(PACKAGE)

    assert package.closing.LAST == 2


@pytest.mark.usefixtures("written")
def test_threads_that_ask_at_once_see_all_of_it():
    package = importlib.import_module(PACKAGE)
    found = []
    threads = [threading.Thread(target=lambda: found.append(package.RAN)) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == len(threads)
    assert len(set(found)) == 1


@pytest.mark.usefixtures("written")
def test_code_that_failed_is_tried_again():
    module = importlib.import_module("failing_once")

    with pytest.raises(ZeroDivisionError):
        module.DONE  # noqa: B018 - asking is the point

    assert module.DONE == 1


@pytest.mark.usefixtures("written")
def test_what_libraries_can_do_without_is_not_found():
    with pytest.raises(ModuleNotFoundError) as missed:
        importlib.import_module(ABSENT)

    assert missed.value.name == ABSENT


OFFERED = """
import importlib, json
from gateway.cli.startup import LATER
modules = {name: importlib.import_module(name) for name in LATER}
print(json.dumps({name: [*vars(module)] for name, module in modules.items()}))
"""
MISSED = """
import importlib, json, sys
from gateway.cli.startup import take_parts
take_parts()
offered = json.load(sys.stdin)
modules = {name: importlib.import_module(name) for name in offered}
waiting = [name for name, module in modules.items() if type(module).__name__ == "_Waiting"]
missed = [
    f"{name}.{each}"
    for name, module in modules.items()
    for each in offered[name]
    if not hasattr(module, each)
]
print(json.dumps([waiting, missed]))
"""


@pytest.mark.process
def test_each_library_is_whole_when_it_is_asked():
    """What its package offers is there, the same as without waiting."""
    offered = {
        name: [each for each in names if not each.startswith("_")]
        for name, names in said(OFFERED).items()
    }

    waiting, missed = said(MISSED, json.dumps(offered))

    assert all(offered.values())
    assert (waiting, missed) == (list(LATER), [])


def said(code: str, typed: str = ""):
    """Run code in a process of its own; return the JSON it prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, input=typed)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)
