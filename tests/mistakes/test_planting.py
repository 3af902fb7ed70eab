"""The runner itself: it must be able to say that a mistake survived."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mistakes.mistake import Mistake, NotPlantable
from tests.mistakes.planting import LONGEST_S, Ran, judged, planted

RIGHT = "if paid > owed:\n    refuse()\n"
FAILED = "F\nFAILED tests/test_a.py::test_b[x - y] - assert 1 == 2\n1 failed in 0.1s\n"
MISTAKE = Mistake(
    name="too-much",
    promise="Nobody gives back more than came in.",
    source="a page",
    file="paying.py",
    right="paid > owed",
    wrong="paid < owed",
    tests=("tests/test_a.py",),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy with one file."""
    (tmp_path / MISTAKE.file).write_text(RIGHT)
    return tmp_path


def test_a_mistake_is_in_the_copy_while_its_tests_run(tree: Path):
    path = tree / MISTAKE.file

    with planted(tree, MISTAKE):
        during = path.read_text()

    assert during == RIGHT.replace(">", "<")
    assert path.read_text() == RIGHT


def test_successive_texts_of_a_file_have_different_modification_seconds(tree: Path):
    """Bytecode is identified by second and size: that of a wrong text must not be reused."""
    path = tree / MISTAKE.file
    seconds = [int(path.stat().st_mtime)]

    for _ in range(3):
        with planted(tree, MISTAKE):
            seconds.append(int(path.stat().st_mtime))

    assert len(set(seconds)) == len(seconds)
    assert int(path.stat().st_mtime) == seconds[0]


@pytest.mark.parametrize("text", ["", RIGHT * 2])
def test_a_row_whose_text_is_not_in_its_file_once_is_not_planted(tree: Path, text: str):
    (tree / MISTAKE.file).write_text(text)

    with pytest.raises(NotPlantable), planted(tree, MISTAKE):
        pass


def test_a_failed_test_counts_as_caught():
    verdict = judged(MISTAKE, Ran(1, FAILED, 1.0))

    assert (verdict.caught, verdict.by) == (True, "tests/test_a.py::test_b[x - y]")
    assert verdict.error == "assert 1 == 2"


@pytest.mark.parametrize(
    ("ran", "why"),
    [
        (Ran(0, "1 passed", 1.0), "every named test passes"),
        (Ran(-1, "", LONGEST_S), f"no answer within {LONGEST_S:.0f} s"),
        (Ran(2, "ERROR tests/test_a.py", 1.0), "pytest ended with 2"),
        (Ran(4, "ERROR: not found", 1.0), "pytest ended with 4"),
        (Ran(5, "no tests ran", 1.0), "pytest ended with 5"),
        (
            Ran(1, "ERROR tests/test_a.py::test_b - NameError: name 'x'", 1.0),
            "the code cannot run: NameError: name 'x'",
        ),
    ],
)
def test_an_error_or_a_pass_does_not_count_as_caught(ran: Ran, why: str):
    """Code that cannot run at all fails every test and proves nothing about the promise."""
    verdict = judged(MISTAKE, ran)

    assert (verdict.caught, verdict.by) == (False, why)


def test_a_mistake_that_cannot_run_is_refused(tree: Path):
    (tree / MISTAKE.file).write_text("if paid > owed")

    with pytest.raises(SyntaxError), planted(tree, MISTAKE):
        pass
