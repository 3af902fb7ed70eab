"""
Settings that a running process can apply, and settings that need a restart.

Limits and log settings are applied. Settings used at the start are not: addresses, the store, keys,
banks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from gateway.config.settings import Settings

RELOADABLE: Final = (
    "limits.in_flight",
    "limits.loop_lag_s",
    "ratelimits",
    "server.connections",
    "server.connections_per_address",
    "server.header_deadline_s",
    "server.header_line_bytes",
    "server.headers",
    "server.keep_alive_s",
    "server.request_line_bytes",
    "server.trusted_peers",
    "telemetry.level",
)
"""Settings by their path; a section stands for all that is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloading:
    """
    The result of reading a configuration again.

    Attributes:
        settings: Those in force from now on.
        taken: Paths of changed settings that are in force.
        left: Paths of changed settings that need a restart.
    """

    settings: Settings
    taken: tuple[str, ...]
    left: tuple[str, ...]


def reloaded(current: Settings, fresh: Settings) -> Reloading:
    """Apply the reloadable settings of ``fresh``; paths contain no values."""
    changed = tuple(_differences(current, fresh, ""))
    taken = tuple(path for path in changed if _is_reloadable(path))
    settings = current
    for path in taken:
        section, name = path.split(".")[:2]
        value = getattr(getattr(fresh, section), name)
        replaced = msgspec.structs.replace(getattr(settings, section), **{name: value})
        settings = msgspec.structs.replace(settings, **{section: replaced})
    left = tuple(path for path in changed if path not in taken)
    return Reloading(settings=settings, taken=taken, left=left)


def _is_reloadable(path: str) -> bool:
    """Return whether the setting, or the section around it, is reloadable."""
    return any(f"{path}.".startswith(f"{each}.") for each in RELOADABLE)


def _differences(old: object, new: object, path: str) -> Iterator[str]:
    """Name every setting that differs."""
    if old == new:
        return
    before, after = _parts(old), _parts(new)
    if before is None or after is None:
        yield path
        return
    for name in sorted(before.keys() | after.keys()):
        below = f"{path}.{name}" if path else name
        yield from _differences(before.get(name), after.get(name), below)


def _parts(value: object) -> Mapping[str, object] | None:
    """Return the named parts of a value; None for a value without them."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return value if isinstance(value, Mapping) else None
