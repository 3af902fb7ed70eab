"""
Starting fast: from libraries only what is used, and no garbage collection meanwhile.

Python runs the code of a package before that of any module in it, and some packages import all they
have, which a gateway then keeps for as long as it lives. A module that is taken on its own must be
imported by its own name: ``from aiohttp.streams import StreamReader``, not ``from aiohttp``.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import version
from types import MappingProxyType, ModuleType
from typing import Final

LATER: Final[Mapping[str, str]] = MappingProxyType(
    {
        "aiocache": "the clients of Redis, where they are installed and none is configured",
        "aiohttp": "a client, and this machine's certificates, read twice; adapters have their own",
        "attr.validators": "what no class of aiohttp's asks for",
        "cryptography.x509": "for keys in certificates, which PyJWT might be given",
        "jwt": "for users who sign in, where any do",
        "prometheus_client": "a server of its own, and one for WSGI",
        "sqlalchemy.ext.asyncio": "sessions, and with them the whole ORM",
        "xml.etree.ElementTree": "for reports in OFX",
    }
)
"""Modules that are loaded when a name of theirs is first used, and what that saves."""
_ABSENT: Final = frozenset({"rich"})
"""What libraries do without where it is not installed: structlog would print with it."""
_KEEPING: Final = "__keeping__"


class _Waiting(ModuleType):
    """
    A module whose code has not run; modules below it can be imported without it.

    Whatever else is asked of it, its code runs first, once. Threads that ask meanwhile wait.
    """

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # it would be there, if this were a package
            raise AttributeError(name)
        if name == "__version__":
            return version(self.__name__)
        below = _module_below(self, name)
        if below is not None:
            return below
        vars(self)[_KEEPING].run(self)
        try:
            return vars(self)[name]
        except KeyError:
            message = f"module {self.__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self) from None


class _Keeping(Loader):
    """Makes a module without running its code."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = threading.RLock()
        self._has_begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make what the module's own loader makes."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing yet."""
        vars(module)[_KEEPING] = self
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__class__ = _Waiting

    def run(self, module: ModuleType) -> None:
        """Run the code, unless that has begun: imports in a circle see what is there so far."""
        with self._lock:
            if self._has_begun:
                return
            self._has_begun = True
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._has_begun = False
                raise
            module.__class__ = ModuleType


class _Finder(MetaPathFinder):
    """Finds the modules that are named, and no others."""

    def __init__(self, later: Collection[str], absent: Collection[str]) -> None:
        self._later = later
        self._absent = absent

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module as usual, with a loader that keeps its code; None for all others."""
        if fullname in self._absent:
            message = f"No module named {fullname!r}"
            raise ModuleNotFoundError(message, name=fullname)
        spec = PathFinder.find_spec(fullname, path, target) if fullname in self._later else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Keeping(spec.loader)
        return spec


def take_parts(later: Collection[str] = LATER, absent: Collection[str] = _ABSENT) -> None:
    """
    Have the code of some modules wait until it is needed; what was imported before stays as it is.

    Args:
        later: Modules by name. Each behaves as ever, except that it begins later, so that one with
            an effect that others rely on must not be among them.
        absent: What is not found at all, as where it is not installed.
    """
    sys.meta_path.insert(0, _Finder(later, absent))


def _module_below(package: _Waiting, name: str) -> ModuleType | None:
    """
    Import a module of a package; None where that fails.

    It may not exist, or be one of a ring that closes only if the package begins with another.
    """
    if "__path__" not in vars(package):
        return None
    try:
        return import_module(f"{package.__name__}.{name}")
    except ImportError:
        return None


@contextmanager
def uncollected() -> Iterator[None]:
    """
    Look for no garbage while modules are loaded.

    They leave hardly any, and walking over them again and again takes a sixth
    of a start. Afterwards it is as it was, also when loading fails.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
