"""Mistakes in a bank's configuration: reported by ``config check``, refused at startup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.app.assembly import assemble
from gateway.app.commands.startup_errors import REFUSALS
from gateway.app.lifecycle import running
from gateway.config.reading import settings_from
from tests.world.banks.authority import Authority
from tests.world.certified import registered
from tests.world.packages import PROVEN, Install, install_in
from tests.world.shell import Shell

CANARY = "canary-of-a-value"
Written = Callable[[Path], str]


def plain(text: str) -> Written:
    """Return one provider's block that needs no files."""
    return lambda _folder: text


def secure(files: str) -> str:
    """A bank behind TLS, to which nothing is sent."""
    return f"{{adapter: sandbox, settings: {{base_url: 'https://127.0.0.1:1'}}, tls: {{{files}}}}}"


def no_pem(folder: Path) -> str:
    """A certificate file with something else in it."""
    (folder / "we.pem").write_text(CANARY)
    return secure(f"certificate: '{folder / 'we.pem'}'")


def key_of_another(folder: Path) -> str:
    """A certificate with a key that is not its own."""
    authority, key = Authority(folder), folder / "key.pem"
    key.write_text(authority.pair("another").key)
    return secure(f"certificate: '{authority.sign('we')}', key: '{key}'")


WRONG: dict[str, tuple[Written, str, str]] = {
    "unknown adapter": (plain("{adapter: sandbx}"), "adapter", "did you mean sandbox?"),
    "unknown setting": (
        plain(f"{{adapter: sandbox, settings: {{bse_url: {CANARY}}}}}"),
        "settings",
        "bse_url",
    ),
    "wrong setting": (
        plain(f"{{adapter: sandbox, settings: {{absent_after_s: {CANARY}}}}}"),
        "settings.absent_after_s",
        "Expected `float | null`",
    ),
    "host of the other environment": (
        plain("{adapter: certified, settings: {base_url: 'https://api.bank.example'}}"),
        "settings.base_url",
        "is the bank's production host",
    ),
    "no secret to prove callbacks by": (
        plain(f"{{adapter: proven, settings: {{token: {CANARY}}}}}"),
        "callbacks",
        "needs a secret",
    ),
    "a PEM that is none": (no_pem, "tls.certificate", ""),
    "a key that is not the certificate's": (key_of_another, "tls.key", ""),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    registered(monkeypatch)
    return install_in(tmp_path, monkeypatch)


def configured(folder: Path, install: Install, what: str) -> str:
    """Return a configuration with one mistake."""
    install("proven", PROVEN)
    ports = "server: {port: 0}\nadmin: {port: 0}\nsandbox_bank: {start: false}\n"
    return f"var: {folder}\n{ports}providers: {{bank: {WRONG[what][0](folder)}}}\n"


@pytest.mark.parametrize("what", list(WRONG))
def test_config_check_names_path_and_reason_without_the_value(
    shell: Shell, install: Install, what: str
):
    """With status 1."""
    config = shell.folder / "wrong.yaml"
    config.write_text(configured(shell.folder, install, what))
    shell.environ["PIXGATE_CONFIG"] = str(config)

    told = shell.fails("config", "check")

    _named(told, what)


@pytest.mark.parametrize("what", list(WRONG))
async def test_a_refused_start_gives_the_same_reason(shell: Shell, install: Install, what: str):
    """With status 1: each of ``REFUSALS`` is one line."""
    settings = settings_from(configured(shell.folder, install, what), {})

    with pytest.raises(REFUSALS) as refused:
        async with running(assemble(settings, {})):
            pytest.fail("it started")

    _named(str(refused.value), what)


def _named(told: str, what: str) -> None:
    _, place, reason = WRONG[what]
    assert f"providers.bank.{place}" in told
    assert reason in told
    assert ("Traceback" in told, CANARY in told) == (False, False)
