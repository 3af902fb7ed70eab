"""``pixgate user``: users of the operator."""

from __future__ import annotations

import functools
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core.rights import Role
from gateway.core.schemas import instant
from gateway.core.user import User
from gateway.identity.users import NewUser

if TYPE_CHECKING:
    from gateway.identity.services import IdentityServices

Result = TypeVar("Result")
COLUMNS = ("id", "email", "state", "roles", "companies", "second_factor")

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


def _new_user(command: Callable[[Terminal, NewUser], None]) -> Callable[..., None]:
    """Give a command the options of a new user, as one ``NewUser``."""

    @click.option("--email", required=True)
    @click.option("--name", required=True)
    @_roles
    @_companies
    @changing
    @functools.wraps(command)
    def called(
        terminal: Terminal, email: str, name: str, roles: Sequence[str], companies: Sequence[str]
    ) -> None:
        given = frozenset(map(Role, roles))
        order = NewUser(email=email, name=name, roles=given, companies=frozenset(companies))
        command(terminal, order)

    return called


@user.command()
@_new_user
def create(terminal: Terminal, order: NewUser) -> None:
    """Add a user. The password is asked for, or read from standard input."""
    password = _password()
    _show(terminal, lambda services: services.users.create(terminal.actor, order, password))


@user.command()
@_new_user
def invite(terminal: Terminal, order: NewUser) -> None:
    """Add a user, who gets a link by mail to choose a password."""
    _show(terminal, lambda services: services.invitations.invite(terminal.actor, order))


@user.command("invite-again")
@_WHO
@changing
def invite_again(terminal: Terminal, who: str) -> None:
    """Send a new link to choose a password; the previous one no longer works."""
    _show(terminal, lambda services: services.invitations.invite_again(terminal.actor, who))


@user.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List users, oldest first."""
    found = _in_identity(terminal, lambda services: services.users.list())
    terminal.show_all([_row(each) for each in found], COLUMNS)


@user.command()
@_WHO
@click.option("--reason", default="", help="For the audit log.")
@changing
def disable(terminal: Terminal, who: str, reason: str) -> None:
    """Disable a user; all sessions end at once."""
    _show(terminal, lambda services: services.users.disable(terminal.actor, who, reason))


@user.command()
@_WHO
@changing
def enable(terminal: Terminal, who: str) -> None:
    """Enable a disabled user."""
    _show(terminal, lambda services: services.users.enable(terminal.actor, who))


@user.command("reset-mfa")
@_WHO
@changing
def reset_mfa(terminal: Terminal, who: str) -> None:
    """Remove a user's second factor, such as a lost one. Their sessions end."""
    _show(terminal, lambda services: services.users.reset_mfa(terminal.actor, who))


@user.command()
@_WHO
@_roles
@changing
def roles(terminal: Terminal, who: str, roles: Sequence[str]) -> None:
    """Replace the roles of a user. Their sessions end."""
    given = frozenset(map(Role, roles))
    _show(terminal, lambda services: services.users.set_roles(terminal.actor, who, given))


@user.command("end-sessions")
@_WHO
@changing
def end_sessions(terminal: Terminal, who: str) -> None:
    """Sign a user out everywhere."""
    ended = _in_identity(
        terminal, lambda services: services.users.end_sessions(terminal.actor, who)
    )
    terminal.show({"ended": ended})


def _show(terminal: Terminal, act: Callable[[IdentityServices], Awaitable[User]]) -> None:
    """Change one user, and print them."""
    terminal.show(_row(_in_identity(terminal, act)))


def _in_identity(
    terminal: Terminal, act: Callable[[IdentityServices], Awaitable[Result]]
) -> Result:
    from gateway.identity.services import IdentityServices  # noqa: PLC0415 - loads SQLAlchemy

    async def work(office: CommandContext) -> Result:
        async with office.opened(IdentityServices) as services:
            return await act(services)

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


def _row(shown: User) -> Row:
    return {
        **fields_of(shown, "id", "email", "name"),
        "state": shown.state,
        "roles": sorted(each.value for each in shown.roles),
        "companies": sorted(shown.companies),
        "second_factor": shown.has_factor,
        "created_at": instant(shown.created_at),
    }
