"""
Checks of an adapter when it is loaded and when it is built.

Reasons name the adapter and its fault, for its author and for the operator.
They never quote a setting: it may be a secret.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, cast

import msgspec

from gateway.banks.port.capabilities import PORT, Capabilities, PortCall, contradictions
from gateway.banks.port.provider_callbacks import ProofRefused
from gateway.banks.port.providers import EveryCall, ProviderError
from provider_adapters.kit.factory import AdapterFactory, AdapterRefused, profiles_of
from provider_adapters.kit.secrets import check_kind

_MISSING: Final = object()
_BESIDE_CALLS: Final = ("start", "close")
# Shorter texts are part of any sentence.
_SHORTEST_HIDDEN: Final = 4


@contextmanager
def refused_if_raised(what: str) -> Iterator[None]:
    """
    Turn any error of an adapter's own code into a refusal that names kind and place.

    A bank's errors, time limits and the end of our own task are passed on.

    Raises:
        AdapterRefused: ``what``, and the exception's type, file and line.
    """
    try:
        yield
    except (AdapterRefused, ProofRefused, ProviderError, TimeoutError):
        raise
    # A foreign module may raise SystemExit or an interrupt too; who pressed Ctrl-C while it
    # was loaded is told so, and the process ends all the same.
    except BaseException as problem:
        if _is_stopped():
            raise
        message = f"{what} raised {type(problem).__name__}{_place(problem)}"
        raise AdapterRefused(message) from problem


def check_factory(factory: object, where: str) -> AdapterFactory:
    """
    Check a factory and the class of its adapters.

    Args:
        factory: An entry point's object, or one of ours.
        where: The adapter's name and module, for the reason.

    Raises:
        AdapterRefused: With the first thing that is wrong.
    """
    with refused_if_raised(where):
        for problem in _factory_problems(factory):
            message = f"{where}: {problem}"
            raise AdapterRefused(message)
    return cast("AdapterFactory", factory)


def check_adapter(adapter: object, factory: AdapterFactory, where: str) -> None:
    """
    Check the adapter that a factory made with the settings of a provider.

    Raises:
        AdapterRefused: It lacks a call that it declares, or declares more than its factory.
    """
    with refused_if_raised(where):
        for problem in _adapter_problems(adapter, factory):
            message = f"{where}: {problem}"
            raise AdapterRefused(message)


def without_values(message: str, settings: object) -> str:
    """Return a message without any text of the settings."""
    message = re.sub(
        r"(?<=Invalid enum value) .*(?= - at )|(?<=Invalid enum value) .*$", "", message
    )
    for text in sorted(set(_texts(settings)), key=len, reverse=True):
        if len(text) >= _SHORTEST_HIDDEN:
            message = message.replace(text, "…")
    return message


def _factory_problems(factory: object) -> Iterator[str]:
    port = getattr(factory, "PORT", _MISSING)
    if port is _MISSING:
        yield f"declares no PORT; this gateway has {PORT}"
    elif type(port) is not int or port != PORT:
        yield f"was written for another PORT; this gateway has {PORT}"
    declared = getattr(factory, "capabilities", None)
    if not isinstance(declared, Capabilities):
        yield "is no adapter factory: its capabilities are none"
        return
    yield from _factory_form(factory)
    yield from contradictions(declared)
    yield from _wrong_profiles(factory, declared)
    yield from _wrong_secrets(factory, declared)
    kind = getattr(factory, "adapter", None)
    if not inspect.isclass(kind):
        yield "names no class of its adapters"
        return
    yield from _wrong_methods(kind, (*_BESIDE_CALLS, *sorted(declared.calls)))
    if bool(declared.callback_proofs) is not callable(getattr(kind, "callback_proof", None)):
        yield "callback_proofs: means that there is a method callback_proof, and nothing else does"
    for call in PortCall:
        if call not in declared.calls and callable(getattr(kind, call.value, None)):
            yield f"{call.value} is there and not declared"


def _wrong_profiles(factory: object, most: Capabilities) -> Iterator[str]:
    """Name the faults of the profiles of an adapter that serves several banks."""
    profiles: Mapping[str, object] = profiles_of(factory)
    for name, declared in profiles.items():
        if not isinstance(declared, Capabilities):
            yield f"profiles: {name} declares no capabilities"
            continue
        yield from (f"profiles: {name}: {problem}" for problem in contradictions(declared))
        for call in sorted(declared.calls - most.calls):
            yield f"profiles: {name} declares {call}, and the factory does not"


def _wrong_secrets(factory: object, declared: Capabilities) -> Iterator[str]:
    """Name the faults of the declared credentials of accounts, if any."""
    kind = getattr(factory, "account_secrets", None)
    if kind is None:
        return
    if not declared.account_credentials:
        yield "account_secrets are named, and account_credentials is not declared"
    try:
        check_kind(kind)
    except TypeError as problem:
        yield f"account_secrets: {problem}"


def _factory_form(factory: object) -> Iterator[str]:
    """Name the faults of a factory's signature and settings."""
    kind = getattr(factory, "settings", None)
    if not (inspect.isclass(kind) and issubclass(kind, msgspec.Struct)):
        yield "its settings are no msgspec.Struct"
    elif not kind.__struct_config__.forbid_unknown_fields:
        yield "its settings take unknown fields: say forbid_unknown_fields=True"
    if not callable(factory) or not _takes(factory, ("settings", "context")):
        yield "is not called with (settings, context)"


def _adapter_problems(adapter: object, factory: AdapterFactory) -> Iterator[str]:
    declared = getattr(adapter, "capabilities", None)
    if not isinstance(declared, Capabilities):
        yield "the adapter that was made declares no capabilities"
        return
    yield from contradictions(declared)
    for call in sorted(declared.calls - factory.capabilities.calls):
        yield f"{call} is declared by the adapter and not by its factory"
    if not isinstance(adapter, factory.adapter):
        yield from _wrong_methods(type(adapter), (*_BESIDE_CALLS, *sorted(declared.calls)))


def _wrong_methods(kind: type, names: Iterable[str]) -> Iterator[str]:
    """Name the methods that are absent, not ``async``, or not of the port's parameters."""
    for name in names:
        method = getattr(kind, str(name), None)
        if method is None:
            yield f"{name} is declared and not there"
        elif not inspect.iscoroutinefunction(method):
            yield f"{name} is not an async method"
        else:
            wanted = tuple(inspect.signature(getattr(EveryCall, name)).parameters)
            if not _takes(method, wanted):
                yield f"{name} does not take ({', '.join(wanted[1:])})"


def _takes(method: Callable[..., object], wanted: tuple[str, ...]) -> bool:
    """Return whether a method takes these parameters, in this order; ``_name`` is ``name``."""
    signature = inspect.signature(method)
    given = list(signature.parameters.values())
    plain = [each for each in given[: len(wanted)] if each.kind in _BY_PLACE]
    named = tuple(each.name.lstrip("_") for each in plain)
    rest = given[len(wanted) :]
    return named == wanted and all(_optional(each) for each in rest)


_BY_PLACE: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _optional(parameter: inspect.Parameter) -> bool:
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.kind in several or parameter.default is not parameter.empty


def _is_stopped() -> bool:
    """Return whether our own task was cancelled; an adapter may raise ``CancelledError`` too."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs
        return False
    return task is not None and task.cancelling() > 0


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, Iterable):
        for each in value:
            yield from _texts(each)


def _place(problem: BaseException) -> str:
    """Return the file and line of an exception, and a missing module; not the message."""
    missing = f" for {problem.name}" if isinstance(problem, ImportError) and problem.name else ""
    frames = traceback.extract_tb(problem.__traceback__)
    if not frames:
        return missing
    last = frames[-1]
    return f"{missing} at {last.filename.rpartition('/')[2]}:{last.lineno}"
