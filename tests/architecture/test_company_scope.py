"""Company scope is one policy: decided once, given to every look-up, and in the store's WHERE."""

import ast
import inspect
from pathlib import Path

from gateway.approvals.store import StoredApprovals
from gateway.audit.service import AuditLog
from gateway.banks.readings import Readings
from gateway.callbacks.store import CallbackRecords
from gateway.identity.store import StoredMailbox
from gateway.overview.store import OverviewRecords
from gateway.request_log.store import RequestRecords
from gateway.traces.records import TracedRecords
from tests.world.tree import ROOT, modules

DECIDES = Path("policies/authorization/user.py")
PORTS = {
    TracedRecords: set(),
    StoredApprovals: {
        *("people_of", "people_of_file"),  # of a payout that was found within a scope
        *("add", "decide", "conclude"),  # of one that was found within a scope
        "waiting_money",  # of an account that was found within a scope
        *("unsettled", "overdue", "waiting"),  # our own tasks look at all of them
    },
    CallbackRecords: {"add", "due", "handled", "belongs", "waiting", "forget"},  # our own tasks
    RequestRecords: {
        "people",  # who made requests that were found within a scope
        *("add", "forget"),
    },
    AuditLog: set(),
    Readings: {"turn", "claim", "keep", "live"},  # of one that was found within a scope
    OverviewRecords: {"remember"},  # our own task, for whoever reads it in a scope
    StoredMailbox: {"put", "add", "waiting", "sent", "forget"},
}
"""Every port that the back office reads from; methods without a scope, with the reason."""

SURFACES = ("gateway/http/gates.py", "gateway/http/routing.py")
BACK_OFFICE = (*SURFACES, "gateway/identity/users.py")
DECISIONS = {"sees", "includes", "covers"}


def calls(path: Path) -> set[str]:
    """Return the names of the methods that a module calls."""
    tree = ast.parse((ROOT / path).read_text())
    return {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


def limits(path: Path) -> list[int]:
    """Return the lines that read a user's company limit."""
    tree = ast.parse((ROOT / path).read_text())
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "companies"
        and ast.unparse(node.value).rpartition(".")[2] in {"person", "scope"}
    ]


def test_every_read_of_the_back_office_takes_a_scope():
    """A scope without a default, so that the type checker reports a missing one."""
    lacking = [
        f"{port.__name__}.{name}"
        for port, without in PORTS.items()
        for name, method in vars(port).items()
        if inspect.isfunction(method) and not name.startswith("_") and name not in without
        if not scoped(method)
    ]

    assert lacking == []


def scoped(method: object) -> bool:
    """Say whether a method requires a scope or a caller."""
    parameters = inspect.signature(method).parameters.values()  # type: ignore[arg-type]
    return any(
        each.annotation in {"CompanyScope", "Staff"} and each.default is each.empty
        for each in parameters
    )


def test_no_surface_decides_visibility():
    deciding = {
        str(path): found
        for path in modules()
        if str(path) in SURFACES
        if (found := sorted(calls(path) & DECISIONS) or limits(path))
    }

    assert deciding == {}


def test_no_list_is_loaded_whole():
    """``list()`` without a filter returns every row."""
    loading = {
        f"{path}:{node.lineno}"
        for path in modules()
        if str(path).startswith(BACK_OFFICE)
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr == "list" and not node.args and not node.keywords
    }

    assert loading == set()


def test_one_policy_decides_the_scope_of_a_call():
    """Operations read a stored user's scope only to check whether an old order is still valid."""
    deciding = {str(path) for path in modules() if "call.scope =" in (ROOT / path).read_text()}

    assert deciding == {str(DECIDES)}
