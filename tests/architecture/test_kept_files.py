"""No committed file names a local machine or a package index, so it builds anywhere."""

import re
from pathlib import Path

from tests.world.tree import ROOT, kept

MACHINE = re.compile(r"(?<![\w.~])/(?:home|root|Users|work)/\w")
INDEX = re.compile(
    r"\b(?:pypi|pythonhosted|npmjs|jsdelivr|unpkg|ghcr|docker)\.(?:org|com|io|net)\b"
    r"|--(?:(?:extra-)?index-url|find-links|trusted-host)"
)
BINARY = {".gz", ".ico", ".png", ".woff2", ".zip"}


def test_no_file_names_a_local_machine_s_folder():
    assert found(MACHINE) == []


def test_no_file_names_a_package_index():
    """An address in a requirement would be used, whatever the machine is configured to use."""
    assert found(INDEX) == []


def test_no_requirement_names_an_address():
    """The file has names and hashes; the registry is configured on each machine."""
    locked = [path for path in (ROOT / "requirements").glob("*.txt") if "://" in path.read_text()]

    assert locked == []


def test_each_pattern_finds_its_example():
    """The examples are disguised, so that this file is not found itself."""
    cases = [
        (MACHINE, "at |home|maria|pixgate"),
        (MACHINE, "|Users|maria"),
        (INDEX, "https:||pypi^org|simple"),
        (INDEX, "^^index-url https:||example^org".replace("^", "-", 2)),
    ]

    wrong = [
        (pattern, text)
        for pattern, text in cases
        if not pattern.search(text.replace("|", "/").replace("^", "."))
    ]

    assert wrong == []


def found(pattern: re.Pattern[str]) -> list[str]:
    """Name every kept line that the pattern finds."""
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path in kept()
        if path.suffix not in BINARY
        for number, line in enumerate(read(path).splitlines(), 1)
        if pattern.search(line)
    ]


def read(path: Path) -> str:
    """Read a file as text, whatever its bytes are."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")
