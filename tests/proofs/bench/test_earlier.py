"""An earlier commit's tree stands beside this one; without a history there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench import earlier


def test_a_commit_that_is_not_there_is_told_and_left_out(tmp_path: Path, capsys):
    found = earlier.unpacked(tmp_path, "0" * 40)

    assert found is None
    assert capsys.readouterr().out == f"{'0' * 40} is not to be had here: nothing to compare with\n"


def test_what_is_started_has_the_modules_of_the_tree(tmp_path: Path):
    (tmp_path / "gateway.py").write_text("SAID = 'of another tree'\n")
    command = [sys.executable, "-P", "-c", "import gateway; print(gateway.SAID)"]

    with earlier.modules_of(tmp_path):
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    assert said == "of another tree\n"
