"""A gateway with its bank, and one person of each role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from gateway.config.identity import Identity
from gateway.config.settings import Notifications
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.world.gateway.identity_api import ORIGIN
from tests.world.gateway.world import World, opened, sandbox
from tests.world.notifications import PUSH_KEY
from tests.world.people import CLI

PASSWORD = "uma frase bem comprida"


@asynccontextmanager
async def with_every_role(folder: Path) -> AsyncIterator[World]:
    """Run a gateway; ``viewer@panel.example`` and the like have no second factor yet."""
    settings = msgspec.structs.replace(
        sandbox(folder),
        identity=Identity(origin=ORIGIN),
        notifications=Notifications(push_key=PUSH_KEY),
    )
    async with opened(settings) as made:
        users = made.gateway.services.identity.users
        for role in Role:
            email = f"{role}@panel.example"
            order = InvitationBody(email=email, name=role.title(), roles=[role])
            await users.create(CLI, order, PASSWORD)
        yield made
