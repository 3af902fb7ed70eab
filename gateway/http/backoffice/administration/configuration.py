"""The configuration in force, without its secrets; version and migrations of the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.route import Row, route
from policies.validation.inputs import NOTHING


class MigrationsDocument(TypedDict):
    """
    Where the store's schema is; ``wanted`` is what this version works with.

    ``known`` are all of this version, oldest first.
    """

    current: Annotated[str, Meta(examples=["0001"])]
    wanted: Annotated[str, Meta(examples=["0001"])]
    known: list[Annotated[str, Meta(examples=["0001"])]]


class ConfigDocument(TypedDict):
    """
    What this process works with.

    A secret is ``***`` where there is one and empty where there is none. ``digest`` is equal in
    processes of one configuration.
    """

    version: str
    environment: Annotated[str, Meta(examples=["sandbox"])]
    digest: Annotated[str, Meta(examples=["560ccd16167e"])]
    migrations: MigrationsDocument
    config: Annotated[Mapping[str, Any], Meta(examples=[{"environment": "sandbox"}])]


@dataclass(slots=True, kw_only=True)
class Configuration:
    """
    What is told of this process.

    Attributes:
        digest: Of the settings that are in force; both change when they are reloaded.
        shown: The settings as they may be shown; asked for each time, which costs a millisecond.
        revision: The store's own; None where it has none yet.
        revisions: Every one that this version knows, oldest first.
    """

    version: str
    environment: str
    digest: str
    shown: Callable[[], Mapping[str, Any]]
    revision: Callable[[], Awaitable[str | None]]
    revisions: Sequence[str]

    async def read(self, _who: BackOfficeCaller, _taken: None) -> ConfigDocument:
        """Return it; raises ``StoreUnavailable``."""
        current = await self.revision()
        return {
            "version": self.version,
            "environment": self.environment,
            "digest": self.digest,
            "migrations": {
                "current": current or "",
                "wanted": self.revisions[-1],
                "known": list(self.revisions),
            },
            "config": self.shown(),
        }


def configuration_rows(configuration: Configuration) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "GET",
            "/config",
            name="backoffice.config",
            summary="Read the configuration in force without its secrets, version and migrations.",
            needs=reading(Area.CONFIG),
            limits=NO_BODY,
            takes=NOTHING,
            runs=configuration.read,
            shows=_shown,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _shown(found: ConfigDocument, _who: BackOfficeCaller) -> ConfigDocument:
    return found
