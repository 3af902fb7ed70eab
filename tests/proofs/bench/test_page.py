"""StoreGauges in a page: as they were kept, between the marks, and nowhere else."""

import pytest

from bench import history, page, subjects, targets
from bench.figures import Measured
from tests.proofs.bench.goals import rounds

MARKS = "before\n<!-- figures: bench/run.py -->\nformer\n<!-- end -->\nafter\n"


@pytest.fixture
def kept(tmp_path):
    """A file of the history."""
    measured = Measured(
        rounds={subjects.BALANCE: rounds(60, 62), subjects.PROXY: rounds(100, 100)},
        values={"start": [0.5]},
    )
    how = history.Kept(folder=tmp_path / "kept", command="bench/run.py --rounds 2", told="")
    history.close(measured, targets.GOALS, how, check=False)
    [file] = (tmp_path / "kept").iterdir()
    return file


def test_a_kept_run_is_written_between_its_marks(kept):
    text = page.replaced(MARKS, page.read(kept), "x.json")

    assert text.startswith("before\n<!-- figures: bench/run.py -->\n| System |")
    assert text.endswith("(../bench/results/quoted/x.json).\n<!-- end -->\nafter\n")
    assert "former" not in text
    assert "| R1 | balance / bare proxy, CPU | 0.61 (0.60..0.62) |" in text
    assert "- start: 0.50" in text


def test_writing_it_twice_changes_nothing(kept):
    once = page.replaced(MARKS, page.read(kept), "x.json")

    assert page.replaced(once, page.read(kept), "x.json") == once


def test_a_page_without_a_place_is_not_guessed_at(kept):
    with pytest.raises(ValueError, match="the page has no <!-- figures: bench/run"):
        page.replaced("nothing", page.read(kept), "x.json")


def test_the_page_is_written_and_the_file_kept(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "QUOTED", tmp_path / "quoted")
    file = tmp_path / "page.md"
    file.write_text(MARKS)

    page.main([str(file), str(kept)])

    [quoted] = (tmp_path / "quoted").iterdir()
    assert quoted.name.endswith("-bench-run.json")
    assert quoted.name in file.read_text()
