"""``pixgate user`` and ``pixgate keys``: users of the operator, and the keys of their tokens."""

from __future__ import annotations

import functools
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody, instant
from gateway.core.sessions import SigningKey
from gateway.identity.model import InvitationBody, RolesBody, UserRecord

if TYPE_CHECKING:
    from gateway.core.access import Staff
    from gateway.core.approvals import Approval
    from gateway.identity.services import IdentityServices
    from gateway.identity.users import Users

Result = TypeVar("Result")
_USER = ("id", "email", "state", "roles", "companies", "second_factor")
_KEY = ("id", "state", "signs_from", "created_at", "retired_at")

_roles = click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    type=click.Choice([each.value for each in Role]),
    help="May be repeated.",
)
_companies = click.option(
    "--company", "companies", multiple=True, help="Limit the user to this company; may be repeated."
)
_WHO = click.argument("who", metavar="EMAIL|ID")


@click.group("user")
def user() -> None:
    """Users of the operator, who sign in to the panel."""


def _new_user(command: Callable[[Terminal, InvitationBody], None]) -> Callable[..., None]:
    """Give a command the options of a new user."""

    @click.option("--email", required=True)
    @click.option("--name", required=True)
    @_roles
    @_companies
    @changing
    @functools.wraps(command)
    def called(
        terminal: Terminal, /, *, roles: Sequence[str], companies: Sequence[str], **named: str
    ) -> None:
        given = list(map(Role, roles))
        command(terminal, InvitationBody(**named, roles=given, companies=list(companies)))

    return called


@user.command()
@_new_user
def create(terminal: Terminal, wanted: InvitationBody) -> None:
    """Add a user. The password is asked for, or read from standard input."""
    password = _password()
    _show(terminal, lambda users, staff: users.create_announced(staff, wanted, password))


@user.command()
@_new_user
def invite(terminal: Terminal, wanted: InvitationBody) -> None:
    """Add a user, who gets a link by mail to choose a password."""
    _show(terminal, lambda users, staff: users.invite(staff, wanted))


@user.command("invite-again")
@_WHO
@changing
def invite_again(terminal: Terminal, who: str) -> None:
    """Send a new link to choose a password; the previous one no longer works."""
    _show(terminal, lambda users, staff: users.invite_again(staff, who))


@user.command("list")
@reading
def list_users(terminal: Terminal) -> None:
    """List users, oldest first."""
    found = _in_register(terminal, lambda users, _staff: users.context.stores.users.list())
    terminal.show_all([_user_row(UserRecord.of(each)) for each in found], _USER)


@user.command()
@_WHO
@click.option("--reason", default="", help="For the audit log.")
@changing
def disable(terminal: Terminal, who: str, reason: str) -> None:
    """Disable a user; all sessions end at once."""
    _show(terminal, lambda users, staff: users.disable(staff, who, ReasonBody(reason)))


@user.command()
@_WHO
@changing
def enable(terminal: Terminal, who: str) -> None:
    """Enable a disabled user."""
    _show(terminal, lambda users, staff: users.enable(staff, who))


@user.command("reset-mfa")
@_WHO
@changing
def reset_mfa(terminal: Terminal, who: str) -> None:
    """Remove a user's second factor, such as a lost one. Their sessions end."""
    _show(terminal, lambda users, staff: users.reset_mfa(staff, who))


@user.command()
@_WHO
@_roles
@changing
def roles(terminal: Terminal, who: str, roles: Sequence[str]) -> None:
    """Replace the roles of a user. Their sessions end."""
    wanted = RolesBody(list(map(Role, roles)))
    _show(terminal, lambda users, staff: users.set_roles(staff, who, wanted))


@user.command("end-sessions")
@_WHO
@changing
def end_sessions(terminal: Terminal, who: str) -> None:
    """Sign a user out everywhere."""
    ended = _in_register(terminal, lambda users, staff: users.end_sessions(staff, who))
    terminal.show({"ended": ended.ended})


def _show(
    terminal: Terminal, act: Callable[[Users, Staff], Awaitable[UserRecord | Approval]]
) -> None:
    """Change one user, and print them; a command needs no second person."""
    made = _in_register(terminal, act)
    if isinstance(made, UserRecord):
        terminal.show(_user_row(made))


def _in_register(terminal: Terminal, act: Callable[[Users, Staff], Awaitable[Result]]) -> Result:
    async def work(office: CommandContext) -> Result:
        async with _opened(office) as services:
            return await act(services.users, office.staff)

    return in_store(terminal, work)


def _password() -> str:
    """Ask for a password twice, or read one line that was piped in; never from an option."""
    if sys.stdin.isatty():
        asked: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
        return asked
    given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        message = "no password came in; `pixgate user invite` needs none"
        raise click.UsageError(message)
    return given


def _user_row(shown: UserRecord) -> Row:
    return {
        **fields_of(shown, "id", "email", "name", "state"),
        "roles": sorted(shown.roles),
        "companies": shown.companies,
        "second_factor": shown.has_factor,
        "created_at": instant(shown.created_at),
    }


@click.group("keys")
def keys() -> None:
    """
    Keys that sign access tokens, and keys in the configuration.

    list, rotate and retire are about the signing keys; the next is published a day
    before it signs. status, stage and promote are about those configured: the
    sealing key, the pepper, the password pepper.
    """


@keys.command("list")
@reading
def list_keys(terminal: Terminal) -> None:
    """List all keys, retired ones too; private keys are never shown."""

    async def listed(office: CommandContext) -> list[Row]:
        async with _opened(office) as identity:
            found = await identity.signing_keys.list()
        now = office.acting.now()
        signing = _signing(found, now)
        return [_key_row(each, signing, now) for each in found]

    terminal.show_all(in_store(terminal, listed), _KEY)


@keys.command()
@click.option("--now", "at_once", is_flag=True, help="Sign with it at once; for emergencies.")
@changing
def rotate(terminal: Terminal, *, at_once: bool) -> None:
    """Create the next key."""

    async def rotated(office: CommandContext) -> Row:
        async with _opened(office) as identity:
            made = await identity.signing_keys.rotate(terminal.actor, at_once=at_once)
        return _key_row(made, "", office.acting.now())

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


def _key_row(shown: SigningKey, signing: str, now: datetime) -> Row:
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
