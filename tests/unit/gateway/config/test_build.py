"""What is running names its commit, wherever it was installed from."""

import subprocess
from pathlib import Path

import pytest

from gateway.config.build import RECORDED, UNKNOWN, commit_at

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")


def test_the_commit_is_unknown_without_a_record_and_git(tmp_path: Path):
    assert commit_at(tmp_path) == UNKNOWN


@pytest.mark.process
def test_the_commit_is_read_from_the_record_or_else_from_git(tmp_path: Path):
    for command in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "a")):
        subprocess.run([*GIT, *command], cwd=tmp_path, check=True)
    command = ["git", "rev-parse", "HEAD"]
    head = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    of_checkout = commit_at(tmp_path)
    record = tmp_path / RECORDED
    record.parent.mkdir(parents=True)
    record.write_text("0123456789ab\n")

    assert (of_checkout, commit_at(tmp_path)) == (head[:12], "0123456789ab")


@pytest.mark.process
def test_the_commit_of_an_empty_git_repository_is_unknown(tmp_path: Path):
    subprocess.run([*GIT, "init", "-q"], cwd=tmp_path, check=True)

    assert commit_at(tmp_path) == UNKNOWN
