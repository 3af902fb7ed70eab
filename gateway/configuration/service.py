"""The configuration in force, without its secrets; version and migrations of the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct

from gateway.config.effective import config_digest, effective
from gateway.config.settings import Settings
from gateway.core.access import Staff, requires
from gateway.core.fields import meaning
from gateway.core.permissions import Action
from gateway.core.rights import Area

_Revision = Annotated[str, Meta(examples=["0001"])]


class Migrations(Struct, frozen=True, kw_only=True):
    """
    The store's schema; ``wanted`` is the schema that this version needs.

    ``known`` are all of this version, oldest first.
    """

    current: Annotated[_Revision, meaning("The newest migration that the database has.")]
    wanted: Annotated[_Revision, meaning("The migration that this version needs.")]
    known: Annotated[list[_Revision], meaning("Every migration that this version knows.")]


class Config(Struct, frozen=True, kw_only=True):
    """
    The settings of this process.

    A secret is ``***`` where there is one and empty where there is none. ``digest`` is equal in
    processes of one configuration.
    """

    version: Annotated[str, meaning("Version of pixgate.", "1.0.0")]
    environment: Annotated[
        str, Meta(description="`sandbox` or `production`.", examples=["sandbox"])
    ]
    digest: Annotated[
        str,
        Meta(
            description="A short digest of the settings: equal digests are equal settings.",
            examples=["560ccd16167e"],
        ),
    ]
    migrations: Migrations
    config: Annotated[
        Mapping[str, Any],
        Meta(
            description="The settings in force by name, without secrets.",
            examples=[{"environment": "sandbox"}],
        ),
    ]


@dataclass(slots=True, kw_only=True)
class Configuration:
    """
    Configuration and versions of this process.

    Attributes:
        settings: Those in force.
        revision: The store's own; None where it has none yet.
        revisions: Every schema revision of this version, oldest first.
    """

    version: str
    settings: Settings
    revision: Callable[[], Awaitable[str | None]]
    revisions: Sequence[str]

    def take(self, settings: Settings) -> None:
        """Use reloaded settings from now on."""
        self.settings = settings

    @requires(Area.CONFIG, Action.READ)
    async def read(self, _who: Staff) -> Config:
        """Read the configuration in force without its secrets, version and migrations."""
        current, known = await self.revision(), [*self.revisions]
        return Config(
            version=self.version,
            environment=self.settings.environment.value,
            digest=config_digest(self.settings),
            migrations=Migrations(current=current or "", wanted=known[-1], known=known),
            config=effective(self.settings),
        )
