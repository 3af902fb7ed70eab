"""The configuration as commands read it: what is wrong with it is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.configuration import settings_of
from gateway.core.audit_context import RuleViolation
from tests.world.commands import SHORT
from tests.world.shell import CONFIG


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "cannot be read"), ("nonsense: 1\nworker: {nice: 20}\n", "1 more")],
    ids=["absent", "wrong"],
)
def test_a_configuration_error_is_reported_in_one_line(tmp_path: Path, text: str | None, said: str):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(RuleViolation, match=said):
        settings_of(file)


def test_the_short_configuration_of_tests_equals_the_shipped_one():
    assert settings_of(Path(SHORT["PIXGATE_CONFIG"])) == settings_of(CONFIG)
