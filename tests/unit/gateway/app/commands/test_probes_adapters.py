"""Faulty adapters of other packages: reported by ``config check`` and refused at startup."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gateway.app.assembly import assemble
from gateway.app.banks import connect, start
from gateway.app.commands.probes import probed, unmakeable
from gateway.app.kernel import SilentObserver
from gateway.config.settings import Settings
from gateway.config.upstream import Callbacks, Provider
from gateway.config.values import Secret
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.registry import describe
from tests.world.gateway.world import sandbox
from tests.world.packages import (
    ADAPTER,
    FACTORY,
    HEAD,
    PACKAGE,
    PROVEN,
    SECRET,
    WRONG_WHEN_LOADED,
    WRONG_WHEN_MADE,
    Install,
    install_in,
)

EVERY_WRONG = WRONG_WHEN_LOADED | WRONG_WHEN_MADE
AT_THE_BANK = {
    "start": ("raise KeyError('{0}')", "raised KeyError"),
    "close": ("raise SystemExit('{0}')", "raised SystemExit"),
    "probe": ("raise RuntimeError('{0}')", "adapter_raised"),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    return install_in(tmp_path, monkeypatch)


def configured(folder: Path, **settings: object) -> Settings:
    """A configuration with one provider of the package ``otherbank``."""
    provider = Provider(
        adapter="otherbank",
        settings={"token": SECRET, **settings},
        read_timeout_s=2.5,
        payout_timeout_s=2.5,
    )
    return msgspec.structs.replace(sandbox(folder), providers={"one": provider})


def test_a_valid_adapter_has_no_finding(tmp_path: Path, install: Install):
    install("otherbank")

    assert list(unmakeable(configured(tmp_path))) == []


def test_a_bank_with_secret_proofs_needs_a_secret(tmp_path: Path, install: Install):
    """In the sandbox too: only a bank on this machine knows a derived secret."""
    install("otherbank", PROVEN)
    given = configured(tmp_path)
    shared = msgspec.structs.replace(
        given.providers["one"], callbacks=Callbacks(secret=Secret("sixteen bytes or more"))
    )

    ((path, message),) = unmakeable(given)

    assert path == "providers.one.callbacks"
    assert "needs a secret" in message
    with pytest.raises(AdapterRefused, match="needs a secret"):
        assemble(given, {}, with_bank=False)
    assert list(unmakeable(msgspec.structs.replace(given, providers={"one": shared}))) == []


@pytest.mark.parametrize("wrong", EVERY_WRONG)
def test_a_gateway_with_a_broken_adapter_does_not_start(
    tmp_path: Path, install: Install, wrong: str
):
    """The check and the start report path and reason, without a value."""
    text, reason = EVERY_WRONG[wrong]
    install("otherbank", text)

    ((path, message),) = unmakeable(configured(tmp_path))
    with pytest.raises(AdapterRefused) as refused:
        assemble(configured(tmp_path), {})

    assert path == "providers.one"
    assert str(refused.value).startswith("providers.one: ")
    for told in (message, str(refused.value)):
        assert reason in told
        assert SECRET not in told


@pytest.mark.parametrize("wrong", WRONG_WHEN_LOADED)
def test_a_broken_adapter_is_listed_with_its_error_and_affects_no_other(
    install: Install, wrong: str
):
    text, reason = WRONG_WHEN_LOADED[wrong]
    install("otherbank", text)

    rows = {row.adapter: row for row in describe()}

    assert reason in rows["otherbank"].problem
    assert not rows["otherbank"].capabilities.calls
    assert (rows["sandbox"].problem, SECRET in rows["otherbank"].problem) == ("", False)


def test_an_invalid_setting_is_reported_without_its_value(tmp_path: Path, install: Install):
    text = PACKAGE.replace(
        "return Adapter(context)",
        "from provider_adapters.kit.settings import settings_of\n"
        "        settings_of(context.name, Settings, settings)\n"
        "        return Adapter(context)",
    )
    install("otherbank", text)

    ((path, message),) = unmakeable(configured(tmp_path, tokn=SECRET))

    assert (path, "tokn" in message, SECRET in message) == ("providers.one.settings", True, False)


@pytest.mark.parametrize("call", AT_THE_BANK)
async def test_a_probe_that_raises_is_a_finding(tmp_path: Path, install: Install, call: str):
    raising, reason = AT_THE_BANK[call]
    install(
        "otherbank",
        PACKAGE.replace(f"{call}(self): ...", f"{call}(self): {raising.format(SECRET)}"),
    )

    found = [each for each in await probed(configured(tmp_path)) if each[0] != "database.url"]

    ((path, message),) = found
    assert path == "providers.one"
    assert (reason in message, SECRET in message) == (True, False)


async def test_a_bank_without_a_probe_is_only_started(tmp_path: Path, install: Install):
    install(
        "otherbank",
        PACKAGE.replace("PortCall.PROBE, ", "").replace("    async def probe(self): ...\n", ""),
    )

    found = [each for each in await probed(configured(tmp_path)) if each[0] != "database.url"]

    assert found == []


async def test_an_adapter_that_cannot_be_started_is_refused(tmp_path: Path, install: Install):
    install(
        "otherbank", PACKAGE.replace("start(self): ...", f"start(self): raise OSError('{SECRET}')")
    )
    made = connect("one", configured(tmp_path), SilentObserver())

    with pytest.raises(AdapterRefused, match=r"providers\.one: the adapter's start raised OSError"):
        await start("one", made)


def test_every_adapter_gets_clock_random_and_fail_points(tmp_path: Path, install: Install):
    """So that any adapter can be simulated, and its process ended at any point."""
    install("otherbank")
    runtime = Runtime(clock=lambda: 7.0, random=lambda: 0.5, failpoint=lambda _name: None)

    made = connect("one", configured(tmp_path), SilentObserver(), runtime).adapter.checked  # type: ignore[attr-defined]

    given = made.context.runtime
    assert (given.clock, given.random, given.failpoint) == (
        runtime.clock,
        runtime.random,
        runtime.failpoint,
    )
    assert (made.context.name, made.context.environment.value) == ("one", "sandbox")


def test_a_callback_proof_that_raises_is_a_finding(tmp_path: Path, install: Install):
    """Otherwise each callback would be refused without a visible cause."""
    proving = f"    def callback_proof(self, secrets): raise SystemExit({SECRET!r})\n"
    declaring = ADAPTER.replace("BALANCE})", 'BALANCE}), callback_proofs=frozenset({"hmac"})')
    install("otherbank", HEAD + declaring + proving + FACTORY)

    ((path, message),) = unmakeable(configured(tmp_path))

    assert path == "providers.one.callbacks"
    assert ("the proof raised SystemExit" in message, SECRET in message) == (True, False)
