"""The command ``pixgate``."""

from __future__ import annotations

import click

from gateway.cli.adapter.commands import adapter
from gateway.cli.admin.accounts import account
from gateway.cli.admin.audit import audit
from gateway.cli.admin.companies import company
from gateway.cli.admin.credentials import credential
from gateway.cli.config.callbacks import callbacks
from gateway.cli.config.catalogue import banks, errors, metrics, providers, routes
from gateway.cli.config.commands import config
from gateway.cli.config.database import database
from gateway.cli.identity.keys import keys
from gateway.cli.identity.outbox import outbox
from gateway.cli.identity.users import user
from gateway.cli.payouts.commands import payouts
from gateway.cli.sandbox.banks import bank
from gateway.cli.sandbox.commands import sandbox
from gateway.cli.sandbox.demo import demo
from gateway.cli.serve.commands import sandbox_bank, serve, worker


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pixgate", message="%(version)s")
def pixgate() -> None:
    """Run and operate a gateway in front of Brazilian PIX banks."""


for _command in (
    serve,
    worker,
    sandbox_bank,
    bank,
    demo,
    company,
    account,
    credential,
    user,
    keys,
    outbox,
    audit,
    payouts,
    database,
    config,
    routes,
    errors,
    metrics,
    providers,
    banks,
    adapter,
    callbacks,
    sandbox,
):
    pixgate.add_command(_command)
