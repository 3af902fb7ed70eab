"""Credentials changed by a command, in another process."""

from __future__ import annotations

from gateway.app.commands.context import AdminContext
from gateway.app.services import build_credentials
from gateway.core.access import Staff
from gateway.core.schemas import ReasonBody
from gateway.credentials.model import Credential, Issued, RotationBody


async def revoke(office: AdminContext, client_id: str) -> Credential:
    return await build_credentials(office.kernel).revoke(
        Staff(office.acting), client_id, ReasonBody()
    )


async def rotate(office: AdminContext, client_id: str, overlap_s: int) -> Issued:
    made = await build_credentials(office.kernel).rotate(
        Staff(office.acting), client_id, RotationBody(overlap_s)
    )
    assert isinstance(made, Issued)
    return made
