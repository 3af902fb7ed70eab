"""Catalogues of this installation: version, routes, error codes, metrics, adapters, banks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.console import Row, Terminal, fields_of, reading
from gateway.core import errors as service_errors
from gateway.core import user_errors
from gateway.core.catalogue import ErrorCode
from gateway.core.reasons import REASONS, sentence

if TYPE_CHECKING:
    from gateway.config.settings import Settings
    from gateway.http.route import Gate
    from provider_adapters.registry import AdapterRow

_ROUTE_COLUMNS = (
    *("method", "path", "permission", "priority"),
    *("quota", "per_second", "burst", "body_bytes"),
)
EVERY_CODE = sorted(
    service_errors.CATALOGUE + user_errors.CATALOGUE,
    key=lambda error: not error.code.startswith("SVC."),
)
"""The service's codes, then those of users; otherwise in the order of the catalogues."""

_BODIES = (
    "Every error has the body `{code, message, trace_id}`. The same code can have several",
    "HTTP statuses: look at both. `SVC.GTW.*` and `SVC.SYS.*` hold on every route;",
    "codes without `SVC.` are those of users: identity, panel and back office.",
    "",
    "The `message` of `SVC.VAL.*`, and of `SVC.PIX.012` to `.014`, names the field by its path,",
    "such as `destination.key`, and says what is wanted. What was sent is never repeated.",
    "",
    "`SVC.PIX.010` with 400 has two meanings. Read the reference to tell them apart: `failed` is a",
    "payout that was rejected, anything else is a payout that this reference already has.",
)
_REASONS = (
    "Below `/iam/v1`, `/backoffice/v1` and `/panel` the body of a refusal has two fields more,",
    "always both: `field`, the path in the body or the name of the parameter, and `reason`,",
    'one of the words below, which a page can say in another language. Either is `""` where',
    "there is none: in every 401, which never reveals more than its code, and where the code",
    "is enough. The listener refuses before we know for which surface a request is: malformed",
    "HTTP (400), headers that come too late (408), `SVC.GTW.007` (431), and requests while it",
    "closes (503) have the three fields only; the documents call this `ListenerError`.",
    "`reason` is the log's `reason_id`; the log has some further words. New words may be added:",
    'treat an unknown one as `""`.',
)
_ERROR_COLUMNS = ("code", "status", "message")
_BANK_COLUMNS = ("compe", "ispb", "name", "pix")
_ADAPTER_COLUMNS = ("adapter", "profile", "payouts", "repeat", "lookup", "absent_after", "problem")


@click.command("version")
@reading
def show_version(terminal: Terminal) -> None:
    """Show the version, the commit it was built from, and Python's version."""
    import platform
    from importlib.metadata import version

    from gateway.config.build import built_from

    python = platform.python_version()
    terminal.show({"version": version("pixgate"), "commit": built_from(), "python": python})


@click.command("routes")
@reading
def routes(terminal: Terminal) -> None:
    """List every route with its permission, its quota and its error codes."""
    from gateway.app.surfaces import described_surfaces
    from gateway.cli.configuration import settings_of
    from gateway.http.openapi.operations import codes_of

    settings = settings_of(terminal.config)
    rows = [
        {
            "method": row.method,
            "path": surface.prefix + row.path,
            "name": row.name,
            "tells": row.summary,
            "permission": str(row.needs) if row.needs else "",
            "priority": row.priority.word,
            **_quota(settings, row.limits.quota if _is_counted(gate) else ""),
            "body_bytes": row.limits.body_bytes,
            "errors": [
                *dict.fromkeys(f"{error.code} {error.status}" for error in codes_of(gate, row))
            ],
        }
        for surface in described_surfaces(settings)
        for gate in surface.gates
        for row in gate.routes
    ]
    terminal.show_all(rows, _ROUTE_COLUMNS)


@click.command("errors")
@click.option("--markdown", is_flag=True, help="Print the page of the documentation.")
@reading
def errors(terminal: Terminal, *, markdown: bool) -> None:
    """List every error code with its status, its meaning and its remedy."""
    if markdown:
        click.echo("\n".join(error_page(EVERY_CODE)))
        return
    terminal.show_all([asdict(each) for each in EVERY_CODE], _ERROR_COLUMNS)


@click.command("metrics")
@click.option("--markdown", is_flag=True, help="Print the page of the documentation.")
@reading
def metrics(terminal: Terminal, *, markdown: bool) -> None:
    """List every metric with its type, its labels and its meaning."""
    from gateway.telemetry.metrics.page import describe_metrics
    from gateway.telemetry.metrics.series import SERIES

    if markdown:
        click.echo(describe_metrics(), nl=False)
        return
    rows = [
        {**fields_of(each, "name", "kind"), "labels": each.label_names, "meaning": each.meaning}
        for each in SERIES
    ]
    terminal.show_all(rows, ("name", "kind", "labels"))


@click.command("providers")
@click.option("--matrix", "as_matrix", is_flag=True, help="Print a column for each adapter.")
@click.option("--markdown", is_flag=True, help="Print the page of the documentation.")
@reading
def providers(terminal: Terminal, *, as_matrix: bool, markdown: bool) -> None:
    """List the installed provider adapters and their capabilities."""
    from provider_adapters.registry import ADAPTERS, describe

    if markdown:
        click.echo("\n".join(matrix_page(describe(ADAPTERS))))
    elif as_matrix:
        rows = describe()
        terminal.show_all(_matrix(rows), ("part", "word", *(each.name for each in rows)))
    else:
        terminal.show_all([_adapter(each) for each in describe()], _ADAPTER_COLUMNS)


@click.group("banks")
def banks() -> None:
    """Look up the numbers of Brazilian banks."""


@banks.command("lookup")
@click.argument("text")
@reading
def lookup(terminal: Terminal, text: str) -> None:
    """Find banks by COMPE (341), by ISPB (60701190) or by a part of the name."""
    from provider_adapters.kit.banks import search

    terminal.show_all([fields_of(each, *_BANK_COLUMNS) for each in search(text)], _BANK_COLUMNS)


def matrix_page(rows: Sequence[AdapterRow]) -> list[str]:
    """Write the capabilities of all our adapters as a page."""
    from provider_adapters.kit.matrix import markdown

    return [
        "# Matrix of adapters",
        "",
        "Written by `make docs` from what the adapters declare; a test compares them. What each",
        "word means, and what the gateway does without it, says [capabilities](capabilities.md).",
        "`pixgate providers --matrix` prints the same for what is installed, other packages",
        "included, and `GET /backoffice/v1/providers` gives it for the configured providers.",
        "A dash is what the bank lacks, or what no source says of it.",
        *markdown({each.name: each.capabilities for each in rows}),
    ]


def error_page(catalogue: Iterable[ErrorCode]) -> list[str]:
    """Write the catalogue as a page."""
    return [
        "# Error codes",
        "",
        "Written by `make docs` from `gateway/core/errors.py` and",
        "`gateway/core/user_errors.py`; a test compares them.",
        "",
        *_BODIES,
        "",
        "| Code | Status | Meaning | What to do |",
        "| --- | --- | --- | --- |",
        *(
            f"| `{each.code}` | {each.status} | {each.message} | {each.remedy} |"
            for each in catalogue
        ),
        "",
        "## Reasons",
        "",
        *_REASONS,
        "",
        "| Reason | Meaning |",
        "| --- | --- |",
        *(f"| `{word}` | {sentence(word, 'The field')} |" for word in REASONS),
    ]


def _adapter(row: AdapterRow) -> Row:
    from gateway.banks.port.capabilities import described

    return {
        **fields_of(row, "adapter", "profile"),
        "payouts": row.capabilities.payouts,
        **described(row.capabilities),
        "operations": sorted(row.capabilities.operations),
        "problem": row.problem,
    }


def _matrix(rows: Sequence[AdapterRow]) -> list[Row]:
    """Transpose the matrix: a record for each capability, a field for each adapter."""
    from provider_adapters.kit.matrix import matrix

    names = [each.name for each in rows]
    lines = matrix([each.capabilities for each in rows])
    told = {"part": "", "word": "problem", **{each.name: each.problem for each in rows}}
    return [
        *(
            {"part": line.part, "word": line.word, **dict(zip(names, line.cells, strict=True))}
            for line in lines
        ),
        *([told] if any(each.problem for each in rows) else ()),
    ]


def _is_counted(gate: Gate[Any]) -> bool:
    """Return whether calls of a gate draw from token buckets."""
    from policies.traffic.quota import WithinAddressQuota, WithinPersonQuota, WithinQuota

    counting = (WithinQuota, WithinAddressQuota, WithinPersonQuota)
    return any(isinstance(each, counting) for each in gate.policies)


def _quota(settings: Settings, name: str) -> Row:
    """Describe a route's token bucket, if it has one."""
    rate = getattr(settings.ratelimits, name, None) if name else None
    return {
        "quota": name if rate else "",
        "per_second": rate and rate.rate,
        "burst": rate and rate.burst,
    }
