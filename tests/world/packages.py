"""Packages that bring adapters along, installed as pip would, and what can be wrong with one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from provider_adapters.registry import GROUP

Install = Callable[..., None]

SECRET = "s3cr3t-of-the-bank"

HEAD = """
import asyncio
import msgspec
from gateway.banks.port.capabilities import Capabilities, Lookup, PortCall

class Settings(msgspec.Struct, forbid_unknown_fields=True):
    token: str = ""
"""
ADAPTER = """
class Adapter:
    capabilities = Capabilities(calls=frozenset({PortCall.PROBE, PortCall.GET_BALANCE}))
    def __init__(self, context): self.context = context
    async def start(self): ...
    async def close(self): ...
    async def probe(self): ...
    async def get_balance(self, account): ...
"""
FACTORY = """
class Factory:
    PORT = 1
    capabilities = Adapter.capabilities
    adapter = Adapter
    settings = Settings
    def __call__(self, settings, context):
        return Adapter(context)

MADE = Factory()
"""
PACKAGE = HEAD + ADAPTER + FACTORY
"""A package with nothing wrong with it."""


PROVEN_ADAPTER = """
from gateway.banks.port.capabilities import ProofKind
from provider_adapters.kit.proofs import Hmac

class Adapter(Adapter):
    capabilities = Capabilities(
        calls=Adapter.capabilities.calls, callback_proofs=frozenset({ProofKind.HMAC})
    )
    def callback_proof(self, secrets): return Hmac(secrets.shared)
"""
PROVEN = HEAD + ADAPTER + PROVEN_ADAPTER + FACTORY
"""One whose bank signs its callbacks with a shared secret."""


def _without(line: str, instead: str = "") -> str:
    assert line in PACKAGE, line
    return PACKAGE.replace(line, instead)


def _raises(problem: str) -> str:
    return _without("self.context = context", f"raise {problem}")


WRONG_WHEN_LOADED = {
    "sync method": (
        _without("async def get_balance", "def get_balance"),
        "get_balance is not an async method",
    ),
    "missing method": (
        _without("    async def get_balance(self, account): ...\n"),
        "get_balance is declared and not there",
    ),
    "missing parameter": (
        _without("get_balance(self, account)", "get_balance(self)"),
        "get_balance does not take (account)",
    ),
    "unknown word": (_without("PortCall.PROBE,", "PortCall.PROBE, 'fly',"), "knows no 'fly'"),
    "undeclared option": (
        _without(
            "async def start", "async def list_blocks(self, account): ...\n    async def start"
        ),
        "list_blocks is there and not declared",
    ),
    "no PORT": (_without("    PORT = 1\n"), "declares no PORT"),
    "PORT 2": (_without("PORT = 1", "PORT = 2"), "was written for another PORT"),
    "loose settings": (_without(", forbid_unknown_fields=True"), "forbid_unknown_fields"),
    "exit when imported": (f"raise SystemExit({SECRET!r})", "raised SystemExit"),
    "interrupt when imported": ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
    "cancelled when imported": (HEAD + "raise asyncio.CancelledError", "raised CancelledError"),
    "own ending when imported": (
        f"class Gone(BaseException): ...\nraise Gone({SECRET!r})",
        "raised Gone",
    ),
    "error when imported": (f"raise KeyError({SECRET!r})", "raised KeyError"),
    "no Python": ("class", "raised SyntaxError"),
}
"""What is wrong with a package as soon as it is loaded, and a part of the reason."""

WRONG_WHEN_MADE = {
    "raises when made": (_raises(f"KeyError({SECRET!r})"), "raised KeyError"),
    "exits when made": (_raises(f"SystemExit({SECRET!r})"), "raised SystemExit"),
    "quotes its settings": (_raises("ValueError(context, 's3cr3t-of-the-bank')"), "raised ValueE"),
    "declares more when made": (
        _without("self.context = context", "self.capabilities = Capabilities(\n"
                 "        calls=frozenset({PortCall.LIST_KEYS}))"),
        "list_keys is declared by the adapter and not by its factory",
    ),
    "makes something else": (_without("return Adapter(context)", "return None"), "no capabilities"),
}  # fmt: skip
"""What is wrong with an adapter once it is made with settings."""


def install_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs a distribution: its name, its module's text, and what it names."""
    monkeypatch.syspath_prepend(str(folder))

    def installed(distribution: str, text: str = PACKAGE, **points: str) -> None:
        module = f"{distribution}_module"
        (folder / f"{module}.py").write_text(text)
        monkeypatch.delitem(sys.modules, module, raising=False)
        metadata = folder / f"{distribution}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {distribution}\nVersion: 1.0\n")
        named = points or {distribution: "MADE"}
        lines = [f"[{GROUP}]", *(f"{name} = {module}:{what}" for name, what in named.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines))

    return installed
