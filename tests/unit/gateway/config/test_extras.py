"""What is not installed is named in one line, with the command that installs it."""

import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from gateway.config.extras import EXTRAS, missing
from gateway.config.reading import ConfigError, read_settings
from tests.world.tree import PROJECT

WITHOUT_EXTRAS = "server: {panel: false}\ndatabase: {url: 'postgresql://none/none'}"
NEEDED = {
    "otel": (
        "telemetry.tracing.endpoint",
        f"{WITHOUT_EXTRAS}\ntelemetry: {{tracing: {{endpoint: 'http://127.0.0.1:9/v1/traces'}}}}",
    ),
    "panel": ("server.panel", "database: {url: 'postgresql://none/none'}"),
    "redis": ("cache.url", "server: {panel: false}\ncache: {url: 'redis://127.0.0.1:1/0'}"),
    "sqlite": ("database.url", "server: {panel: false}"),
}
"""The setting that wants each extra, and a file that wants it."""
WITHOUT_SANDBOX = "environment: production\ndatabase: {url: 'postgresql://none/none'}"


def test_each_extra_has_the_packages_that_it_declares():
    spelt = {
        "python-bidi": "bidi",
        "opentelemetry-sdk": "opentelemetry.sdk",
        "opentelemetry-exporter-otlp-proto-http": "opentelemetry.exporter.otlp.proto.http",
    }
    declared = {
        extra: [
            spelt.get(name, name.replace("-", "_"))
            for name in (Requirement(need).name for need in needs)
        ]
        for extra, needs in PROJECT["project"]["optional-dependencies"].items()
        if extra in EXTRAS
    }

    assert {extra: sorted(modules) for extra, modules in EXTRAS.items()} == declared


def test_an_installed_extra_is_not_missing():
    assert {extra: missing(extra) for extra in EXTRAS} == dict.fromkeys(EXTRAS, "")


def test_a_setting_that_needs_an_absent_extra_is_refused_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file, told, expected = tmp_path / "config.yaml", {}, {}
    for extra, (path, text) in NEEDED.items():
        file.write_text(text)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, EXTRAS[extra][0], None)
            with pytest.raises(ConfigError) as refused:
                read_settings(file, {})
        told[extra] = refused.value.problems
        install = f"pip install 'pixgate[{extra}]'"
        expected[extra] = (f"{path}: the extra `{extra}` is not installed: {install}",)

    assert told == expected


def test_one_command_installs_everything_that_a_sandbox_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With only the wheel, and the file of ``config init``."""
    file = tmp_path / "config.yaml"
    for extra in ("panel", "pdf", "redis", "sqlite"):
        monkeypatch.setitem(sys.modules, EXTRAS[extra][0], None)
    told = {}
    for text in ("{}", f"{WITHOUT_SANDBOX}\ncache: {{url: 'redis://127.0.0.1:1/0'}}"):
        file.write_text(text)
        with pytest.raises(ConfigError) as refused:
            read_settings(file, {})
        told[text] = [each.partition("pip install ")[2] for each in refused.value.problems]

    assert [*told.values()] == [["'pixgate[sandbox]'"] * 2, ["'pixgate[redis,panel]'"] * 2]


def test_an_extra_is_missing_when_its_package_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(EXTRAS, "otel", ("no_such_package.sdk",))

    assert "pixgate[otel]" in missing("otel")


def test_extras_that_no_setting_needs_may_be_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "config.yaml"
    file.write_text(WITHOUT_EXTRAS)
    for modules in EXTRAS.values():
        monkeypatch.setitem(sys.modules, modules[0], None)

    assert not read_settings(file, {}).server.panel
