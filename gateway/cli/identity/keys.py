"""``pixgate keys``: those that sign access tokens; those configured are in `key_rotation`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from gateway.cli.config.key_rotation import promote, stage, status
from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.store_access import in_identity
from gateway.core.sessions import SigningKey

if TYPE_CHECKING:
    from gateway.app.build_identity import IdentityRoom

COLUMNS = ("id", "state", "signs_from", "created_at", "retired_at")


@click.group("keys")
def keys() -> None:
    """
    Keys that sign access tokens, and keys in the configuration.

    list, rotate and retire are about those that sign; the next is published a day
    before it signs. status, stage and promote are about those configured: the
    sealing key, the pepper, the password pepper.
    """


for _command in (status, stage, promote):
    keys.add_command(_command)


@keys.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List all keys, retired ones too; private keys are never shown."""

    async def listed(identity: IdentityRoom) -> list[Row]:
        found = await identity.services.signing_keys.list()
        now = identity.context.now()
        signing = _signing(found, now)
        return [_row(each, signing, now) for each in found]

    terminal.show_all(in_identity(terminal, listed), COLUMNS)


@keys.command()
@click.option("--now", "at_once", is_flag=True, help="Sign with it at once; for emergencies.")
@changing
def rotate(terminal: Terminal, *, at_once: bool) -> None:
    """Create the next key."""

    async def rotated(identity: IdentityRoom) -> Row:
        made = await identity.services.signing_keys.rotate(terminal.actor, at_once=at_once)
        return _row(made, "", identity.context.now())

    terminal.show(in_identity(terminal, rotated))


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
    in_identity(
        terminal,
        lambda it: it.services.signing_keys.retire(terminal.actor, key_id, at_once=at_once),
    )
    terminal.show({"id": key_id, "state": "retired"})


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
