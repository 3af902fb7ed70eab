"""The command ``pixgate``."""

from __future__ import annotations

import click

from gateway.cli.accounts import account
from gateway.cli.audit import audit
from gateway.cli.callbacks import callbacks
from gateway.cli.catalogue import errors, metrics, providers, routes
from gateway.cli.companies import company
from gateway.cli.configuration import config
from gateway.cli.credentials import credential
from gateway.cli.database import database
from gateway.cli.demo import demo
from gateway.cli.keys import keys
from gateway.cli.outbox import outbox
from gateway.cli.payouts import payouts
from gateway.cli.sandbox import sandbox
from gateway.cli.serve import sandbox_bank, serve
from gateway.cli.users import user


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pixgate", message="%(version)s")
def pixgate() -> None:
    """Run a gateway in front of Brazilian PIX banking providers, and look after it."""


for _command in (
    serve,
    sandbox_bank,
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
    callbacks,
    sandbox,
):
    pixgate.add_command(_command)
