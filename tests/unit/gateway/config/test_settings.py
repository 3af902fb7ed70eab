"""Every setting has a meaning; what is left out follows from others."""

import re
from pathlib import Path

import msgspec
import pytest

from gateway.config import documents
from gateway.config.checks import check
from gateway.config.documents import Section
from gateway.config.identity import Session
from gateway.config.listeners import Admin, Server, Trace
from gateway.config.reading import read_settings, settings_from
from gateway.config.settings import (
    Auth,
    Basic,
    Database,
    FailedCredentials,
    Limits,
    Payouts,
    RateLimits,
    Sandbox,
    Sealing,
    Settings,
    Telemetry,
)
from gateway.config.upstream import AccountLimits, Breaker, Callbacks, Provider, SandboxBank
from gateway.config.values import Address
from gateway.core.account import Environment
from gateway.core.limits import CallRate
from gateway.sandbox.self_service import OF_NETWORK

SHIPPED = Path(__file__).parents[4] / "config.yaml"
STRUCTS = [
    *(
        Admin,
        Auth,
        Basic,
        Breaker,
        Callbacks,
        Database,
        FailedCredentials,
        Limits,
        Provider,
        CallRate,
        RateLimits,
    ),
    *(SandboxBank, Sealing, Server, Settings, Telemetry, Trace),
]


def test_every_setting_has_a_meaning():
    for struct in STRUCTS:
        told = " ".join(re.findall(r"^ {8}([a-z_, ]+):", struct.__doc__, re.MULTILINE))
        names = set(re.findall(r"[a-z_]+", told))

        assert names == {member.name for member in msgspec.structs.fields(struct)}


def test_settings_are_immutable():
    for struct in STRUCTS:
        assert struct.__struct_config__.frozen
        assert struct.__struct_config__.forbid_unknown_fields


def test_the_embedded_store_and_bank_are_in_the_data_folder():
    settings = Settings(var="/srv/pixgate")

    assert settings.store_url == "sqlite:////srv/pixgate/pixgate.db"
    assert settings.bank_file == Path("/srv/pixgate/bank.db")


def test_a_configured_store_and_bank_are_kept():
    database = Database(url=Address("postgresql://db/x"))
    settings = Settings(database=database, sandbox_bank=SandboxBank(file="b.db"))

    assert (settings.store_url, settings.bank_file) == ("postgresql://db/x", Path("b.db"))


def test_the_store_s_address_includes_the_pooler():
    """So that every command that opens the store uses it."""
    cases = [
        ("postgresql://db/x", "none", "postgresql://db/x"),
        ("postgresql://db/x", "session", "postgresql://db/x?pooler=session"),
        (
            "postgresql://db/x?sslmode=require",
            "transaction",
            "postgresql://db/x?sslmode=require&pooler=transaction",
        ),
        ("sqlite:///x.db", "transaction", "sqlite:///x.db"),
        ("", "transaction", "sqlite:///var/pixgate.db"),
    ]

    for url, pooler, named in cases:
        settings = settings_from(f"database: {{pooler: {pooler}, url: '${{DB:-}}'}}", {"DB": url})

        assert settings.store_url == named


@pytest.mark.parametrize(
    ("migrate", "file", "server"),
    [("auto", True, False), ("always", True, True), ("never", False, False)],
)
def test_a_database_server_is_migrated_only_when_configured(migrate: str, file: bool, server: bool):
    """The embedded default is migrated; a database server belongs to somebody else."""
    on_file = settings_from(f"database: {{migrate: {migrate}}}", {})
    on_server = settings_from(
        f"database: {{migrate: {migrate}, url: '${{DB}}'}}", {"DB": "postgresql://db/x"}
    )

    assert (on_file.migrates, on_server.migrates) == (file, server)


def test_a_relative_folder_starts_at_the_working_directory():
    assert settings_from("", {}).store_url == "sqlite:///var/pixgate.db"


def test_defaults_hold_no_secret():
    settings = Settings()

    assert not settings.auth.basic.pepper
    assert not settings.sealing.key
    assert not Provider(adapter="x").callbacks.secret


def test_the_shipped_file_is_the_sandbox_at_its_defaults():
    settings = read_settings(SHIPPED, {})

    shipped = settings.providers
    bank = SandboxBank(start=True)
    assert settings == Settings(
        server=Server(openapi=True, docs=True),
        session=Session(insecure_dev=True),
        sandbox=Sandbox(open=True),
        sandbox_bank=bank,
        providers=shipped,
    )
    assert shipped == {
        "sandbox": Provider(
            adapter="sandbox",
            settings={"base_url": "http://127.0.0.1:8090"},
            account_limits=AccountLimits(in_flight=12),
            breaker=Breaker(whole_bank=False),
        ),
        "sandbox-read-only": Provider(
            adapter="sandbox", read_only=True, settings={"base_url": "http://127.0.0.1:8090"}
        ),
    }
    assert check(settings, {"sandbox"}) == []


def test_the_accounts_of_one_stranger_cannot_fill_the_shipped_sandbox_bank():
    bank = read_settings(SHIPPED, {}).providers["sandbox"]

    assert OF_NETWORK * (bank.account_limits.in_flight or bank.in_flight) < bank.in_flight


def test_the_shipped_file_follows_the_bank_s_port_variable():
    settings = read_settings(SHIPPED, {"PIXGATE_BANK_PORT": "18090"})

    urls = {provider.settings["base_url"] for provider in settings.providers.values()}
    assert (settings.sandbox_bank.port, urls) == (18090, {"http://127.0.0.1:18090"})


def test_every_setting_is_in_the_shipped_file():
    root = documents.parse(SHIPPED.read_text(encoding="utf-8")).root
    assert isinstance(root, Section)
    providers = root.nodes["providers"].nodes.pop("sandbox")

    missing = [*absent(Settings, root, ""), *absent(Provider, providers, "providers.sandbox.")]

    assert missing == []


def test_every_setting_of_the_shipped_file_is_explained():
    """By a comment on its line or right above it; repeated ones are left out."""
    unexplained = []
    above = ""
    for line in SHIPPED.read_text(encoding="utf-8").split("  sandbox-read-only:")[0].splitlines():
        if re.match(r" *[a-z_-]+:", line) and "  # " not in line and not above.startswith("#"):
            unexplained.append(line)
        above = line.strip()

    assert unexplained == [
        "  sandbox:",
        "      base_url: http://127.0.0.1:${PIXGATE_BANK_PORT:-8090}",
    ]


def absent(struct: type[msgspec.Struct], section: Section, path: str) -> list[str]:
    found = []
    for member in msgspec.structs.fields(struct):
        node = section.nodes.get(member.name)
        if node is None:
            found.append(path + member.name)
        elif isinstance(member.type, type) and issubclass(member.type, msgspec.Struct):
            found += absent(member.type, node, f"{path}{member.name}.")
    return found


def test_one_process_runs_the_worker_by_default():
    """On PostgreSQL and on a file: payouts are followed up without starting a worker."""
    assert (Settings().worker.run, Settings().server.reuse_port) == ("inside", False)


def test_payouts_to_new_payees_are_held_in_production_by_default():
    """An amount, ``off``, or nothing for the environment's default."""
    sandbox, production = Environment.SANDBOX, Environment.PRODUCTION
    cases = [
        (sandbox, "", None),
        (production, "", "1000.00"),
        (sandbox, "50.00", "50.00"),
        (production, "50.00", "50.00"),
        (production, "off", None),
    ]

    found = [
        Settings(environment=where, payouts=Payouts(hold_above=said)).hold_above
        for where, said, _ in cases
    ]

    assert found == [above for *_, above in cases]
