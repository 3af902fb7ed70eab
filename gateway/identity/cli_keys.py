"""``pixgate keys``: those that sign access tokens; those configured are in `key_rotation`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core.sessions import SigningKey

if TYPE_CHECKING:
    from gateway.identity.services import IdentityServices

COLUMNS = ("id", "state", "signs_from", "created_at", "retired_at")


@click.group("keys")
def keys() -> None:
    """
    Keys that sign access tokens, and keys in the configuration.

    list, rotate and retire are about those that sign; the next is published a day
    before it signs. status, stage and promote are about those configured: the
    sealing key, the pepper, the password pepper.
    """


@keys.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List all keys, retired ones too; private keys are never shown."""

    async def listed(office: CommandContext) -> list[Row]:
        async with _opened(office) as identity:
            found = await identity.signing_keys.list()
        now = office.acting.now()
        signing = _signing(found, now)
        return [_row(each, signing, now) for each in found]

    terminal.show_all(in_store(terminal, listed), COLUMNS)


@keys.command()
@click.option("--now", "at_once", is_flag=True, help="Sign with it at once; for emergencies.")
@changing
def rotate(terminal: Terminal, *, at_once: bool) -> None:
    """Create the next key."""

    async def rotated(office: CommandContext) -> Row:
        async with _opened(office) as identity:
            made = await identity.signing_keys.rotate(terminal.actor, at_once=at_once)
        return _row(made, "", office.acting.now())

    terminal.show(in_store(terminal, rotated))


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option(
    "--now",
    "at_once",
    is_flag=True,
    help="Even if tokens signed with it are still valid: they end.",
)
@changing
def retire(terminal: Terminal, key_id: str, *, at_once: bool) -> None:
    """Stop publishing a key; every process follows within a second."""

    async def retired(office: CommandContext) -> None:
        async with _opened(office) as identity:
            await identity.signing_keys.retire(terminal.actor, key_id, at_once=at_once)

    in_store(terminal, retired)
    terminal.show({"id": key_id, "state": "retired"})


def _opened(office: CommandContext) -> AbstractAsyncContextManager[IdentityServices]:
    from gateway.identity.services import IdentityServices  # noqa: PLC0415 - loads SQLAlchemy

    return office.opened(IdentityServices)


def _signing(found: Sequence[SigningKey], now: datetime) -> str:
    """Name the key that signs now."""
    ready = [each.id for each in found if each.retired_at is None and each.signs_from <= now]
    return ready[-1] if ready else ""


def _row(shown: SigningKey, signing: str, now: datetime) -> Row:
    return {
        "id": shown.id,
        "state": _state(shown, signing, now),
        **fields_of(shown, "created_at", "signs_from", "retired_at"),
    }


def _state(shown: SigningKey, signing: str, now: datetime) -> str:
    if shown.retired_at is not None:
        return "retired"
    if shown.signs_from > now:
        return "next"
    return "signs" if shown.id == signing or not signing else "verifies"
