"""``pixgate chat``: chat rooms that get notifications."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Final

import click
from msgspec import UNSET

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, every, in_store
from gateway.core.schemas import instant
from gateway.core.windows import Listed, Paging
from gateway.notifications.model import (
    NOT_FOR_CHATS,
    Chat,
    ChatFormat,
    ChatSearch,
    Kind,
    NewChat,
)

if TYPE_CHECKING:
    from gateway.notifications.service import Chats

COLUMNS: Final = ("id", "company_id", "name", "host", "kinds", "last_ok_at", "failing_since")
_CHAT = click.argument("chat_id", metavar="ID")
_KINDS: Final = [each.value for each in Kind if each not in NOT_FOR_CHATS]


@click.group("chat")
def chat() -> None:
    """Rooms of a company's or the operators' chat; an address is never shown."""


@chat.command("list")
@click.option("--company", "company_id", help="UUID of a company: only its chats.")
@reading
def listing(terminal: Terminal, company_id: str | None) -> None:
    """List chats, oldest first."""

    async def listed(office: CommandContext) -> list[Row]:
        def page(paging: Paging) -> Awaitable[Listed[Chat]]:
            return _chats(office).page(office.staff, ChatSearch(paging, company_id))

        return [_row(each) for each in await every(page)]

    terminal.show_all(in_store(terminal, listed), COLUMNS)


@chat.command()
@click.option("--company", "company_id", default="", help="A UUID. [default: operators]")
@click.option("--name", required=True, help="Name, as people know it.")
@click.option(
    "--format",
    "form",
    type=click.Choice([each.value for each in ChatFormat]),
    default=ChatFormat.TEXT.value,
    show_default=True,
    help="teams for a workflow of Microsoft Teams.",
)
@click.option("--language", type=click.Choice(["pt-BR", "en"]), default="pt-BR", show_default=True)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    required=True,
    type=click.Choice(_KINDS),
    help="What it is told of. May be repeated.",
)
@changing
def add(  # noqa: PLR0913 - one parameter per option
    terminal: Terminal,
    *,
    company_id: str,
    name: str,
    form: str,
    language: str,
    kinds: Sequence[str],
) -> None:
    """Add a chat; the address of its webhook, a secret, is read from standard input."""
    wanted = NewChat(
        name=name,
        webhook=_webhook(),
        kinds=tuple(map(Kind, kinds)),
        company_id=company_id,
        format=ChatFormat(form),
        language=language,
    )

    async def added(office: CommandContext) -> Row:
        return _row(await _chats(office).add(office.staff, wanted))

    terminal.show(in_store(terminal, added))


@chat.command("try")
@_CHAT
@changing
def send_test(terminal: Terminal, chat_id: str) -> None:
    """Send a test message to a chat."""

    async def sent(office: CommandContext) -> Row:
        found = await _chats(office).send_test(office.staff, chat_id)
        status = None if found.status is UNSET else found.status
        return {
            "id": chat_id,
            "at": instant(found.at),
            "status": status,
            "failure": found.failure.value,
        }

    terminal.show(in_store(terminal, sent))


@chat.command()
@_CHAT
@changing
def remove(terminal: Terminal, chat_id: str) -> None:
    """Delete a chat; what it was not told yet is not sent any more."""
    in_store(terminal, lambda office: _chats(office).remove(office.staff, chat_id))
    terminal.show({"id": chat_id, "state": "removed"})


def _webhook() -> str:
    """Ask for the address on a terminal; read one line from anything else."""
    if sys.stdin.isatty():
        asked: str = click.prompt("Address", hide_input=True)
        return asked
    return sys.stdin.readline().strip()


def _chats(office: CommandContext) -> Chats:
    from gateway.notifications.service import Chats  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Chats)


def _row(shown: Chat) -> Row:
    names = ("id", "company_id", "name", "format", "host", "kinds", "language", "created_by")
    return {
        **fields_of(shown, *names),
        "created_at": instant(shown.created_at),
        "last_ok_at": instant(shown.last_ok_at),
        "failing_since": instant(shown.failing_since),
    }
