"""``pixgate callbacks``: our callback addresses at banks, the sandbox bank included."""

from __future__ import annotations

import click

from gateway.callbacks.cli import listing, register, remove
from gateway.cli.console import Terminal, reading

_COLUMNS = ("provider", "url")


@click.group("callbacks", invoke_without_command=True)
@reading
def callbacks(terminal: Terminal) -> None:
    """
    Show the address that each bank is given for its callbacks.

    Its last step is made from the sealing key. After that is replaced, the former address
    keeps working while the former key is in sealing.retired_keys.

    The commands below register the address at a bank, where its interface allows that.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return

    from gateway.app.commands.context import callback_orders
    from gateway.cli.configuration import keys_of, settings_of

    settings = settings_of(terminal.config)
    orders = callback_orders(settings, keys_of(settings).derivation).orders
    rows = [{"provider": name, "url": order.url} for name, order in sorted(orders.items())]
    terminal.show_all(rows, _COLUMNS)


for _command in (register, listing, remove):
    callbacks.add_command(_command)
