"""Modules and their mirrored tests, and the modules that have none."""

from pathlib import Path

from tests.world.tree import ROOT

UNIT = Path("tests/unit")
CASES = "cases of the suite: it is run for every adapter, and planted mistakes prove it"
STATEMENTS = "statements alone: the store contract suite runs each on SQLite and PostgreSQL"
PAGES = "tests/surfaces/panel/pages open every page and send every form of a real gateway"
RECORDS = "records and ports: nothing runs; the store contract suite keeps them"
# What has no test of its own, each with the reason. A folder stands for all below it.
WITHOUT = {
    "gateway/store/tables/every.py": "names alone; tests/contract/stores/test_schema.py goes by it",
    **dict.fromkeys(
        [
            *(f"gateway/{noun}/searches.py" for noun in ("accounts", "approvals", "audit")),
            *(f"gateway/{noun}/searches.py" for noun in ("callbacks", "charges", "credentials")),
            *(f"gateway/{noun}/searches.py" for noun in ("endpoints", "request_log", "statements")),
            *(f"gateway/{noun}/searches.py" for noun in ("batches", "closings", "deliveries")),
            "gateway/notifications/searches.py",
        ],
        "filters: tests/contract/openapi/test_every_value.py and tests/surfaces send their values",
    ),
    **dict.fromkeys(
        [
            *(f"gateway/{noun}/routes.py" for noun in ("accounts", "audit", "callbacks")),
            *(f"gateway/{noun}/routes.py" for noun in ("charges", "companies", "credentials")),
            *(f"gateway/{noun}/routes.py" for noun in ("refunds", "request_log", "reviews")),
            *(f"gateway/{noun}/routes.py" for noun in ("search", "statements", "stops")),
            "gateway/single_sign_on/routes.py",
            *(f"gateway/{noun}/routes.py" for noun in ("banks", "configuration", "identity")),
            *(f"gateway/{noun}/routes.py" for noun in ("mailbox", "outflow", "overview", "traces")),
            "gateway/closings/routes.py",
            *(f"gateway/{noun}/routes.py" for noun in ("deliveries", "endpoints", "events")),
            "gateway/batches/routes.py",
            "gateway/notifications/routes.py",
        ],
        "declarations: tests/contract/openapi keeps and calls each, tests/surfaces its permission",
    ),
    "gateway/core/folders.py": "what it is for shows after a power cut alone",
    "gateway/payouts/order_text.py": "run by tests/unit/gateway/approvals/test_money.py",
    "gateway/refunds/searches.py": "tested with searches in a body, tests/unit/policies",
    "gateway/identity/services.py": "names alone: every test of identity is built on them",
    "gateway/store/opening.py": "opened by each test of a store, on SQLite and PostgreSQL",
    "gateway/store/orders.py": "so too: tests/contract/stores/test_approvals.py, test_office.py",
    "gateway/closings/service.py": "over a database: tests/contract/stores/test_closings.py",
    "gateway/payouts/recipients.py": "so too: tests/contract/stores/test_recipients.py",
    "gateway/closings/foreign_debits.py": "so too: tests/contract/stores/test_foreign_debits.py",
    **dict.fromkeys(
        [
            *(f"gateway/closings/{each}.py" for each in ("days", "readings", "reconciliation")),
            *(f"gateway/closings/{each}.py" for each in ("archive", "packages", "signatures")),
        ],
        "so too: tests/contract/stores/test_closing_days.py, _packages.py, test_day_readings.py",
    ),
    **dict.fromkeys(
        [
            *(f"gateway/batches/{each}.py" for each in ("model", "oddities", "order", "service")),
            *(f"gateway/batches/{each}.py" for each in ("result_file", "store", "worker")),
        ],
        "so too: tests/contract/stores/test_batches.py",
    ),
    **dict.fromkeys(
        [f"gateway/outflow/{each}.py" for each in ("guard", "model", "service", "store")],
        "so too: tests/contract/stores/test_outflow.py",
    ),
    **dict.fromkeys(
        [
            *(f"gateway/notifications/{each}.py" for each in ("calls", "chat", "model")),
            *(f"gateway/notifications/{each}.py" for each in ("occasions", "outages", "push")),
            *(f"gateway/notifications/{each}.py" for each in ("recipients", "service", "store")),
            *(f"gateway/notifications/{each}.py" for each in ("subscriptions", "watch")),
        ],
        "so too: tests/contract/stores/test_notifications.py",
    ),
    **dict.fromkeys(
        [
            *(f"gateway/archive/{each}.py" for each in ("folder", "lines", "model", "reading")),
            *("gateway/archive/store.py", "gateway/payouts/archived.py"),
        ],
        "so too: tests/contract/stores/test_archive.py",
    ),
    **dict.fromkeys(
        ["gateway/credentials/expiry.py", "gateway/events/service.py", "gateway/events/store.py"],
        "so too: tests/contract/stores/test_events.py",
    ),
    "gateway/deliveries/model.py": "structs; tests of store, worker and service make and read them",
    "gateway/deliveries/store.py": "over a database: tests/contract/stores/test_deliveries.py",
    "gateway/endpoints/model.py": "structs; tests of the service make and read them",
    "gateway/single_sign_on/model.py": "structs; tests of the service make and read them",
    **dict.fromkeys(
        [
            *(f"gateway/received/{each}.py" for each in ("store", "walk", "walks")),
            "gateway/events/readers.py",
        ],
        "so too: tests/contract/stores/test_payment_walks.py",
    ),
    **dict.fromkeys(
        ["gateway/closings/documents.py", "gateway/closings/signed.py"],
        "shown over the socket: tests/surfaces/banking/test_closings.py",
    ),
    **dict.fromkeys(
        [f"gateway/cells/{each}.py" for each in ("moving", "transfer")],
        "between two databases: tests/contract/stores/test_company_moves.py",
    ),
    "gateway/app/commands/opened_cells.py": "opened by tests/proofs/operating/test_cells.py",
    "gateway/http/openapi/recorded.py": "kept by tests/contract/openapi/test_recorded.py",
    "gateway/http/openapi/files.py": "compared by tests/contract/openapi/test_plausible.py",
    "gateway/banks/port/payout_orders.py": "tested with the payouts that are made of it",
    "gateway/pix_keys/model.py": "tested with the keys that are read",
    "gateway/sandbox/model.py": "structs; tests of the tools and of their page read them",
    "gateway/sandbox/store.py": "over a database: tests/contract/stores/test_sandbox_accounts.py",
    "gateway/sandbox/self_service.py": "tests/surfaces/banking/test_sandbox_credentials.py",
    **dict.fromkeys(
        ["gateway/sandbox/control.py", "gateway/sandbox/partners.py"],
        "over the socket, with the sandbox bank: tests/surfaces/banking/test_sandbox.py",
    ),
    "gateway/statements/model.py": "tested with the statements that are made of it",
    "gateway/core/bank_calls.py": "one variable: tests of checked_adapter and server set it",
    "gateway/core/waiting.py": "one variable: tests of server and of waiting events set it",
    "gateway/core/calls.py": "a record: tests of every policy and route make and read calls",
    "gateway/core/structs.py": "copies fields: tests of documents that are made by it show them",
    "gateway/accounts/documents.py": "shown with a statement, tests/surfaces/banking/test_reads.py",
    "gateway/configuration/service.py": "shown by tests/surfaces/panel/pages/test_service.py",
    "gateway/core/cache.py": "a port: the tests of gateway/process/shared.py keep it",
    **dict.fromkeys(
        [
            *(f"gateway/core/{name}.py" for name in ("headers", "storage")),
            "gateway/banks/port/statements.py",
            "gateway/audit/model.py",
            "gateway/callbacks/model.py",
        ],
        RECORDS,
    ),
    "gateway/traces/service.py": "proven by tests/surfaces/backoffice/test_explanations.py",
    "provider_adapters/testing/verify/stage.py": "the protocol of stages; every case keeps it",
    "provider_adapters/testing/verify/relay.py": (
        "what cases are made of: tests/contract/verify plants mistakes that they must catch"
    ),
    **dict.fromkeys(
        [
            "provider_adapters/testing/commands/every_case.py",
            "provider_adapters/testing/verify/suite",
        ],
        CASES,
    ),
    "provider_adapters/apipix/adapter.py": "puts the parts together; the suite makes every call",
    **dict.fromkeys(
        [
            *(f"provider_adapters/{bank}/documents.py" for bank in ("apipix", "apipix/efi")),
            *(f"provider_adapters/{bank}/documents.py" for bank in ("apipix/inter", "asaas")),
            *(f"provider_adapters/{bank}/documents.py" for bank in ("sandbox", "starkbank")),
            "provider_adapters/woovi/documents.py",
        ],
        "records; tests of what is made of them read them",
    ),
    **dict.fromkeys(
        [
            f"provider_adapters/testing/{each}"
            for each in ("apipix", "asaas.py", "starkbank.py", "woovi.py")
        ],
        "judged by the bank's official documents in tests/contract, and by every adapter's suite",
    ),
    **dict.fromkeys(
        [
            "provider_adapters/testing/bank",
            "provider_adapters/testing/demo/contents.py",
            "provider_adapters/testing/sandbox.py",
        ],
        "under every bank of tests/contract/adapters, tests/surfaces and the README's walk",
    ),
    "provider_adapters/kit/certificates.py": "names of gateway/net/common/certificates.py alone",
    "provider_adapters/kit/factory.py": "protocols; the registry and its checks keep them",
    **dict.fromkeys(
        [
            "gateway/charges/pages.py",
            "gateway/http/panel/pages/days.py",
            "gateway/http/panel/pages/page.py",
            "gateway/accounts/pages.py",
            "gateway/approvals/pages.py",
            "gateway/closings/day_pages.py",
            "gateway/closings/pages.py",
            "gateway/companies/pages.py",
            "gateway/deliveries/pages.py",
            "gateway/endpoints/pages.py",
            "gateway/identity/pages.py",
            "gateway/identity/sign_in_pages.py",
            "gateway/identity/sign_in_visits.py",
            "gateway/single_sign_on/pages.py",
            "gateway/pix_keys/pages.py",
            "gateway/refunds/pages.py",
            "gateway/sandbox/pages.py",
            "gateway/statements/pages.py",
            "gateway/payouts/order_pages.py",
            "gateway/stops/pages.py",
            "gateway/outflow/pages.py",
            "gateway/batches/pages.py",
            "gateway/notifications/pages.py",
            *(f"gateway/{noun}/pages.py" for noun in ("audit", "configuration", "overview")),
            *(f"gateway/{noun}/pages.py" for noun in ("reference", "request_log", "traces")),
            "gateway/overview/chart.py",
        ],
        PAGES,
    ),
    "gateway/store/migrations": "run on SQLite and PostgreSQL by the store contract suite",
    **dict.fromkeys(
        [
            "gateway/callbacks/store.py",
            "gateway/charges/store.py",
            "gateway/endpoints/store.py",
            "gateway/overview/store.py",
            "gateway/request_log/store.py",
            "gateway/refunds/store.py",
            "gateway/reviews/store.py",
            "gateway/single_sign_on/store.py",
            "gateway/approvals/store.py",
            "gateway/audit/changes.py",
            "gateway/traces/records.py",
            "gateway/payouts/beside.py",
            "gateway/payouts/certainty.py",
            "gateway/identity/store.py",
            "gateway/store/kernel/leases.py",
            "gateway/store/kernel/partitions.py",
            "gateway/store/kernel/processes.py",
            "gateway/store/kernel/structs.py",
            "gateway/store/tables/backoffice.py",
            "gateway/store/tables/figures.py",
            "gateway/store/tables/identity.py",
            "gateway/store/tables/notifications.py",
            "gateway/store/tables/texts.py",
            "gateway/store/own_work.py",
        ],
        STATEMENTS,
    ),
}


def found_tests(path: Path) -> list[Path]:
    """Find a module's tests: ``test_<module>.py``, or a file for each of its parts."""
    folder, name = ROOT / UNIT / path.parent, f"test_{path.stem}"
    return [*folder.glob(f"{name}.py"), *folder.glob(f"{name}_*.py")]


def excused(path: Path) -> str:
    """Name the exception a module falls under, or nothing."""
    return next((name for name in WITHOUT if path.is_relative_to(name)), "")
