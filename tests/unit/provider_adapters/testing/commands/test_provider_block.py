"""A provider is written into a configuration file, of which nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.commands.provider_block import block, write_provider
from tests.unit.provider_adapters.testing.commands.provider_block import removed

BANK = {"adapter": "sandbox", "settings": {"base_url": "http://127.0.0.1:8100", "pem": "a\nb"}}
PLAIN = """# ours
providers:  # each bank once
  # the first one
  one:
    adapter: sandbox
database:
  url: ""
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "config.yaml"
    made.write_text(PLAIN)
    made.chmod(0o640)
    return made


def test_it_stands_first_and_all_else_is_as_it_was(file: Path):
    settings = write_provider(file, "two", BANK)

    assert list(settings.providers) == ["two", "one"]
    assert settings.providers["two"].settings == BANK["settings"]
    assert file.stat().st_mode & 0o777 == 0o640
    assert removed(PLAIN, file.read_text()) == []
    assert sorted(each.name for each in file.parent.iterdir()) == ["config.yaml"]


@pytest.mark.parametrize(
    "text",
    ["providers: {}\n", "database: {}\n", "  providers:\n", PLAIN.replace("one:", "two:"), "a: ["],
)
def test_what_cannot_be_written_plainly_is_left_alone(file: Path, text: str):
    file.write_text(text)

    with pytest.raises(RuleViolation):
        write_provider(file, "two", BANK)
    assert file.read_text() == text


def test_a_folder_that_cannot_be_written_is_one_line(file: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)

    with pytest.raises(RuleViolation, match="cannot be written: Permission denied"):
        write_provider(file, "two", BANK)


def test_a_block_is_what_a_person_would_add():
    assert block("two", {"adapter": "a", "settings": {}}) == (
        "providers:\n  two:\n    adapter: a\n    settings: {}\n"
    )
