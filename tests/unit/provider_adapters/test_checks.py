"""Adapters that are wrong: each is refused when it is loaded, with its reason and no value."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from gateway.banks.port.capabilities import PORT, Capabilities, PortCall
from provider_adapters import registry
from provider_adapters.checks import (
    check_adapter,
    check_factory,
    refused_if_raised,
    without_values,
)
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from tests.world.tables import cases

WHERE = "adapter 'bank' (bank.module:FACTORY)"
SECRET = "s3cr3t-of-the-bank"


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    token: str = ""


class Loose(msgspec.Struct):
    """Settings in which a mistyped name passes."""


class Adapter:
    """An adapter with two calls, and nothing wrong with it."""

    capabilities = Capabilities(calls=frozenset({PortCall.GET_BALANCE, PortCall.LIST_RECEIVED}))

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def get_balance(self, account: object) -> None: ...

    async def list_received(
        self, _account: object, window: object, cursor: str | None, limit: int = 1, more: int = 0
    ) -> None: ...


class Factory:
    PORT = PORT
    capabilities = Adapter.capabilities
    adapter: type = Adapter
    settings: type = Settings

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> object:
        return self.adapter()


def changed(kind: type, **members: object) -> Any:
    """Make a class that differs in some members; None removes one that a call needs."""
    return type(kind.__name__, (kind,), members)


def plain(kind: type) -> dict[str, Any]:
    """Return the members of a class without its methods."""
    return {name: value for name, value in vars(kind).items() if not name.startswith("__")}


def with_adapter(**members: object) -> object:
    return changed(Factory, adapter=changed(Adapter, **members))()


def declaring(*calls: str) -> object:
    return changed(Factory, capabilities=Capabilities(calls=frozenset(calls)))()  # type: ignore[arg-type]


def sync(self: object, account: object) -> None:
    """Answer at once, which blocks every other request."""


async def nothing(self: object) -> None:
    """Take no account."""


async def swapped(
    self: object, account: object, window: object, limit: int, cursor: str | None
) -> None:
    """Take a page's size for its place."""


async def demanding(self: object, account: object, mood: str) -> None:
    """Ask for more than the port gives."""


async def a_call(self: object, account: object) -> None:
    """Whatever."""


WRONG = {
    "no PORT": (object(), "declares no PORT"),
    "PORT of tomorrow": (changed(Factory, PORT=2)(), "another PORT; this gateway has 1"),
    "PORT that is a text": (changed(Factory, PORT="1")(), "another PORT"),
    "PORT that is true": (changed(Factory, PORT=True)(), "another PORT"),
    "no capabilities": (changed(Factory, capabilities=None)(), "its capabilities are none"),
    "no adapter class": (changed(Factory, adapter=None)(), "names no class of its adapters"),
    "settings of no struct": (changed(Factory, settings=dict)(), "no msgspec.Struct"),
    "loose settings": (changed(Factory, settings=Loose)(), "forbid_unknown_fields"),
    "not callable": (type("Uncalled", (), plain(Factory))(), "not called with"),
    "called otherwise": (
        changed(Factory, __call__=sync)(), "not called with (settings, context)",
    ),
    "sync method": (with_adapter(get_balance=sync), "get_balance is not an async method"),
    "sync start": (with_adapter(start=sync), "start is not an async method"),
    "missing method": (with_adapter(get_balance=None), "get_balance is declared and not there"),
    "missing parameter": (with_adapter(get_balance=nothing), "get_balance does not take (account)"),
    "swapped parameters": (
        with_adapter(list_received=swapped),
        "list_received does not take (account, window, cursor, limit)",
    ),
    "a parameter too many": (with_adapter(get_balance=demanding), "get_balance does not take"),
    "unknown word": (declaring("get_balance", "list_received", "fly"), "knows no 'fly'"),
    "undeclared option": (with_adapter(cancel_key=a_call), "cancel_key is there and not declared"),
    "undeclared proof": (with_adapter(callback_proof=nothing), "callback_proofs: means"),
    "undeclared call": (declaring("get_balance"), "list_received is there and not declared"),
}  # fmt: skip


def test_the_model_adapter_passes_the_checks():
    factory = check_factory(Factory(), WHERE)

    check_adapter(Adapter(), factory, WHERE)


@cases("name", registry.ADAPTERS)
def test_every_built_in_adapter_passes_the_checks(name: str):
    assert check_factory(registry.ADAPTERS[name], WHERE) is registry.ADAPTERS[name]


@cases("wrong", WRONG)
def test_an_invalid_factory_is_refused_with_its_reason(wrong: str):
    factory, reason = WRONG[wrong]

    with pytest.raises(AdapterRefused) as refused:
        check_factory(factory, WHERE)

    assert str(refused.value).startswith(WHERE)
    assert reason in str(refused.value)


class Lying:
    """A factory whose capabilities cannot even be read."""

    PORT = PORT

    @property
    def capabilities(self) -> Capabilities:
        raise KeyError(SECRET)


@cases("problem", [KeyError(SECRET), SystemExit(SECRET), KeyboardInterrupt(), GeneratorExit(),
     asyncio.CancelledError(), RecursionError(SECRET)])  # fmt: skip
def test_an_error_raised_by_an_adapter_is_reported_without_its_text(problem: BaseException):
    with pytest.raises(AdapterRefused) as refused, refused_if_raised(WHERE):
        raise problem

    assert f"{WHERE} raised {type(problem).__name__} at test_checks.py:" in str(refused.value)
    assert SECRET not in str(refused.value)


def test_capabilities_that_cannot_be_read_are_refused():
    with pytest.raises(AdapterRefused, match="raised KeyError") as refused:
        check_factory(Lying(), WHERE)
    assert SECRET not in str(refused.value)


def test_a_missing_module_is_named():
    with (
        pytest.raises(AdapterRefused, match="ModuleNotFoundError for nobody_has_this"),
        refused_if_raised(WHERE),
    ):
        import nobody_has_this  # noqa: F401, PLC0415 - it is not there


@cases(
    ("made", "reason"),
    [
        (object(), "declares no capabilities"),
        (
            changed(Adapter, capabilities=Capabilities(calls=frozenset({PortCall.PROBE})))(),
            "probe is declared by the adapter and not by its factory",
        ),
        (
            type("Other", (), {"capabilities": Adapter.capabilities, "start": a_call})(),
            "start does not take ()",
        ),
    ],
)
def test_an_adapter_must_match_its_factory_s_declaration(made: object, reason: str):
    with pytest.raises(AdapterRefused) as refused:
        check_adapter(made, check_factory(Factory(), WHERE), WHERE)
    assert reason in str(refused.value)


def test_settings_may_reduce_the_declared_capabilities():
    less = changed(Adapter, capabilities=Capabilities(calls=frozenset({PortCall.GET_BALANCE})))

    check_adapter(less(), check_factory(Factory(), WHERE), WHERE)


@cases(
    "message",
    [
        f"providers.one.settings: Invalid enum value '{SECRET}' - at `$.repeat`",
        f"providers.one.settings: {SECRET} is no host",
        f"providers.one: {SECRET}{SECRET}",
    ],
)
def test_a_settings_value_is_not_quoted(message: str):
    told = without_values(message, {"tls": [{"key": SECRET}], "limit": 3})

    assert SECRET not in told
    assert told.startswith("providers.one")


def test_a_short_settings_value_does_not_alter_the_message():
    assert without_values("providers.one: is no text", {"a": "is", "b": ""}) == (
        "providers.one: is no text"
    )


class Secrets(msgspec.Struct):
    client_id: str


class Pin(msgspec.Struct):
    """A number cannot be entered as a text."""

    pin: int


CREDENTIALS = dataclasses.replace(Adapter.capabilities, account_credentials=True)


@cases(
    ("secrets", "declared", "reason"),
    [
        (Pin, CREDENTIALS, "account_secrets: Pin.pin: a secret is a text"),
        (dict, CREDENTIALS, "account_secrets: "),
        (Secrets, Adapter.capabilities, "account_credentials is not declared"),
    ],
)
def test_a_factory_with_invalid_account_secrets_is_refused(
    secrets: type, declared: Capabilities, reason: str
):
    factory = changed(Factory, account_secrets=secrets, capabilities=declared)()

    with pytest.raises(AdapterRefused, match=reason):
        check_factory(factory, WHERE)


def test_account_secrets_that_can_be_entered_in_a_form_are_accepted():
    factory = changed(Factory, account_secrets=Secrets, capabilities=CREDENTIALS)()

    assert check_factory(factory, WHERE) is factory
