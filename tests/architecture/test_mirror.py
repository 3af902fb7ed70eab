"""Each module has its test at the same path, where it is easy to find."""

from tests.architecture.mirror import UNIT, WITHOUT, excused, found_tests
from tests.world.tree import ROOT, modules


def test_a_module_has_a_test_at_the_same_path():
    missing = [str(path) for path in modules() if not excused(path) and not found_tests(path)]

    assert missing == []


def test_every_mirrored_test_has_its_module():
    """A test whose module was moved would otherwise remain unnoticed."""
    expected = {test for path in modules() for test in found_tests(path)}

    assert sorted(set((ROOT / UNIT).rglob("test_*.py")) - expected) == []


def test_an_exception_names_a_module_without_a_test():
    """An exception for a module with a test, or for a removed module, is outdated."""
    kept = {excused(path) for path in modules() if not found_tests(path)}

    assert set(WITHOUT) - kept == set()
