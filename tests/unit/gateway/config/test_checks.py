"""What makes a configuration unfit to serve."""

import base64

import pytest
from msgspec.structs import replace

from gateway.config.checks import Finding, check, is_loopback, remarks, sealing_key, sqlite_remark
from gateway.config.identity import Identity, Mail, Session
from gateway.config.listeners import Server
from gateway.config.reading import settings_from
from gateway.config.settings import (
    Approvals,
    Auth,
    Basic,
    Cache,
    Database,
    Events,
    Sandbox,
    Sealing,
    Settings,
)
from gateway.config.upstream import Breaker, Provider, SandboxBank
from gateway.config.values import Address, Secret
from gateway.core.account import Environment

PEPPER = Secret("a pepper of production, long enough")
KEY = Secret(base64.b64encode(bytes(range(32))).decode())
PEOPLE = Identity(origin="https://pix.example", mail=Mail(host="mail.example"))
ADAPTERS = {"sandbox", "acme"}


def fit_for_production() -> Settings:
    return Settings(
        environment=Environment.PRODUCTION,
        database=Database(url=Address("postgresql://a:b@db/pixgate?sslmode=verify-full")),
        auth=Auth(basic=Basic(pepper=PEPPER)),
        sealing=Sealing(key=KEY),
        identity=PEOPLE,
        cache=Cache(url=Address("rediss://:word@cache")),
        sandbox_bank=SandboxBank(start=False),
        providers={"acme": Provider(adapter="acme")},
    )


def paths(settings: Settings, **more) -> list[str]:
    return [finding.path for finding in check(settings, ADAPTERS, **more)]


DATABASE = "database: {url: 'postgresql://db/pixgate'}"
PROXIED = "providers: {a: {adapter: acme, proxy: {%s}}}"
BEHIND = "server: {trusted_peers: 10.0.0.1, client_address: %s, certificate_header: %s}"


@pytest.mark.parametrize("settings", [Settings(), fit_for_production()], ids=["sandbox", "prod"])
def test_the_default_settings_have_no_finding(settings: Settings):
    assert check(settings, ADAPTERS) == []


def test_errors_in_every_environment_are_found():
    cases = [
        ("admin: {host: 0.0.0.0}", "admin.host"),
        ("admin: {host: ops.example}", "admin.host"),
        ("server: {reuse_port: true}", "server.reuse_port"),
        ("worker: {run: apart}", "worker.run"),
        (f"{DATABASE}\nserver: {{reuse_port: true, single_process: true}}", "server.reuse_port"),
        ("sandbox_bank: {start: true, host: 10.0.0.1}", "sandbox_bank.host"),
        ("admin: {port: 8080}", "admin.port"),
        ("server: {port: 8091}\nsandbox_bank: {start: true}", "sandbox_bank.control_port"),
        ("server: {host: 0.0.0.0, port: 9090}", "admin.port"),
        ("server: {host: localhost, port: 9090}", "admin.port"),
        ("sealing: {key: '${K}'}", "sealing.key"),
        ("sealing: {retired_keys: {old: '${K}'}}", "sealing.retired_keys.old"),
        ("sealing: {retired_keys: {old: ''}}", "sealing.retired_keys.old"),
        ("auth: {basic: {retired_peppers: {old: ''}}}", "auth.basic.retired_peppers.old"),
        ("providers: {a: {adapter: acne}}", "providers.a.adapter"),
        ("providers: {a: {adapter: acme, connect_timeout_s: 8}}", "providers.a.connect_timeout_s"),
        ("providers: {a: {adapter: acme, read_timeout_s: 21}}", "providers.a.read_timeout_s"),
        ("providers: {a: {adapter: acme, waiting_s: 8}}", "providers.a.waiting_s"),
        ("providers: {a: {adapter: acme, payout_timeout_s: 30}}", "providers.a.payout_timeout_s"),
        ("server: {drain_s: 20}\nproviders: {a: {adapter: acme}}", "providers.a.payout_timeout_s"),
        ("providers: {a: {adapter: acme, breaker: {open_s: 121}}}", "providers.a.breaker.open_s"),
        (
            "providers: {a: {adapter: acme, callbacks: {secret: '${K}'}}}",
            "providers.a.callbacks.secret",
        ),
        (
            "providers: {a: {adapter: acme, callbacks: {retired_secrets: {old: '${K}'}}}}",
            "providers.a.callbacks.retired_secrets.old",
        ),
        (
            "providers: {a: {adapter: acme, callbacks: {retired_secrets: {old: ''}}}}",
            "providers.a.callbacks.retired_secrets.old",
        ),
        ("database: {auth_timeout_s: 3}", "database.auth_timeout_s"),
        ("server: {trusted_peers: 10.0.0.1/8}", "server.trusted_peers"),
        ("server: {trusted_peers: proxy.example}", "server.trusted_peers"),
        ("server: {trusted_peers: 0.0.0.0/0, client_address: forwarded}", "server.trusted_peers"),
        ("server: {trusted_peers: '10.0.0.0/8, ::/0'}", "server.trusted_peers"),
        ("events: {own_networks: 2001:db8::1/32}", "events.own_networks"),
        ("events: {own_networks: inner.example}", "events.own_networks"),
        ("server: {client_address: forwarded}", "server.client_address"),
        ("server: {client_address: proxy_protocol}", "server.client_address"),
        ("server: {certificate_header: Client-Cert}", "server.certificate_header"),
        (BEHIND % ("proxy_protocol", "Client-Cert"), "server.certificate_header"),
        (BEHIND % ("forwarded", "Client Cert"), "server.certificate_header"),
        ("identity: {origin: pix.example}", "identity.origin"),
        ("identity: {origin: 'https://pix.example/'}", "identity.origin"),
        ("identity: {origin: 'https://pix.example:x'}", "identity.origin"),
        ("identity: {origin: 'ftp://pix.example'}", "identity.origin"),
        ("identity: {access_s: 600, refresh_s: 600}", "identity.access_s"),
        ("identity: {retired_peppers: {old: ''}}", "identity.retired_peppers.old"),
        ("identity: {mail: {host: mail.example, sender: nobody}}", "identity.mail.sender"),
        (
            "identity: {mail: {password: '${K}', encryption: none}}",
            "identity.mail.encryption",
        ),
        ("telemetry: {tracing: {endpoint: 'collector:4318'}}", "telemetry.tracing.endpoint"),
        ("telemetry: {tracing: {endpoint: 'http:///v1/traces'}}", "telemetry.tracing.endpoint"),
        ("telemetry: {tracing: {headers: {'a b': '${K}'}}}", "telemetry.tracing.headers"),
        ("telemetry: {tracing: {headers: {X-Key: ''}}}", "telemetry.tracing.headers.X-Key"),
        ("cache: {url: 'http://127.0.0.1:6379'}", "cache.url"),
        ("cache: {url: 'redis://'}", "cache.url"),
        ("cache: {url: 'redis://cache:x/0'}", "cache.url"),
        ("cache: {url: 'redis://cache/name'}", "cache.url"),
        ("cache: {url: 'rediss://cache/0?ssl_cert_reqs=none'}", "cache.url"),
        ("cache: {url: 'redis+cluster://cache/1'}", "cache.url"),
        ("cache: {url: 'redis+sentinel://cache'}", "cache.url"),
        ("cache: {url: 'redis://cache/0', ca: /etc/ca.pem}", "cache.ca"),
        (
            "cache: {url: 'rediss://cache/0', sentinel_password: '${K}'}",
            "cache.sentinel_password",
        ),
        ("server: {policy_reports: 'http://reports.example'}", "server.policy_reports"),
        ("server: {policy_reports: 'https://a.example; script-src *'}", "server.policy_reports"),
        ("cache: {memory_bytes: 16777215}", "statements.snapshot_bytes"),
        (
            "limits: {failed_credentials: {per_address: 10}}",
            "limits.failed_credentials.per_address_and_client",
        ),
        (
            "limits: {failed_credentials: {hard_per_address: 59}}",
            "limits.failed_credentials.per_address",
        ),
        ("payouts: {night: {begins: '06:00'}}", "payouts.night.ends"),
    ]

    for text, path in cases:
        settings = settings_from(text, {"K": "dG9vIHNob3J0"})

        assert paths(settings) == [path]


def test_a_worker_may_have_the_public_port_for_operations():
    """It opens no other one; the same environment file starts it beside a server process."""
    one_port = settings_from("server: {port: 9090}", {})

    assert paths(one_port) == ["admin.port"]
    assert paths(one_port, serves=False) == []


def test_valid_settings_have_no_finding():
    cases = [
        "admin: {host: 0.0.0.0, allow_public: true, port: 9091}",
        "admin: {host: '::1'}",
        "admin: {host: 127.0.0.2, port: 8080}",
        "server: {port: 0}\nadmin: {port: 0}",
        "server: {trusted_peers: 10.0.0.1}",
        "events: {own_networks: '200.160.0.0/24, 2804:14d::/48'}",
        "server: {trusted_peers: '10.0.0.0/8, fd00::/8', client_address: forwarded}",
        "server: {trusted_peers: 10.0.0.0/8, client_address: proxy_protocol}",
        "telemetry: {tracing: {endpoint: 'https://otel.example/v1', headers: {X-Key: '${S}'}}}",
        "cache: {url: 'redis://127.0.0.1'}",
        "cache: {url: 'rediss://user:word@cache.example:6380/2'}",
        "cache: {url: 'rediss+cluster://:word@a.example,b.example:7000', ca: /etc/ca.pem}",
        "cache: {url: 'redis+sentinel://127.0.0.1/pix', sentinel_password: '${S}'}",
        "cache: {memory_bytes: 1048576}\nstatements: {snapshot_bytes: 1048576}",
        BEHIND % ("forwarded", "Client-Cert"),
        "sandbox_bank: {start: false, host: 10.0.0.1, port: 8080}",
        "providers: {a: {adapter: acme, callbacks: {retired_secrets: {b: '${S}'}}}}",
    ]

    wrong = [text for text in cases if paths(settings_from(text, {"S": "sixteen bytes ok"})) != []]

    assert wrong == []


def test_errors_only_in_production_are_found_there_only():
    cases = [
        ({"auth": Auth()}, "auth.basic.pepper"),
        ({"auth": Auth(basic=Basic(pepper=Secret("short")))}, "auth.basic.pepper"),
        ({"auth": Auth(basic=Basic(pepper=Secret("changeme" * 4)))}, "auth.basic.pepper"),
        (
            {"auth": Auth(basic=Basic(pepper=PEPPER, retired_peppers={"old": Secret("short")}))},
            "auth.basic.retired_peppers.old",
        ),
        ({"auth": Auth(basic=Basic(pepper=KEY))}, "sealing.key"),
        ({"sealing": Sealing()}, "sealing.key"),
        ({"sealing": Sealing(key=Secret("A" * 43 + "="))}, "sealing.key"),
        ({"identity": replace(PEOPLE, origin="")}, "identity.origin"),
        ({"identity": replace(PEOPLE, origin="http://pix.example")}, "identity.origin"),
        ({"identity": replace(PEOPLE, mail=Mail())}, "identity.mail.host"),
        ({"identity": replace(PEOPLE, pepper=Secret("short"))}, "identity.pepper"),
        ({"session": Session(insecure_dev=True)}, "session.insecure_dev"),
        ({"server": Server(trusted_peers="10.0.0.0/8")}, "server.client_address"),
        ({"cache": Cache()}, "cache.url"),
        ({"sandbox_bank": SandboxBank(start=True)}, "sandbox_bank.start"),
        ({"events": Events(allow_local=True)}, "events.allow_local"),
        ({"sandbox": Sandbox(open=True)}, "sandbox.open"),
        ({"providers": {"a": Provider(adapter="sandbox")}}, "providers.a.adapter"),
        ({"database": Database()}, "database.url"),
        ({"database": Database(url=Address("sqlite+aiosqlite:///x.db"))}, "database.url"),
    ]

    for change, path in cases:
        production = replace(fit_for_production(), **change)

        assert paths(production) == [path]
        assert paths(replace(production, environment=Environment.SANDBOX)) == []


def test_one_server_process_in_production_needs_no_shared_cache():
    alone = replace(fit_for_production(), cache=Cache(), server=Server(single_process=True))
    file = replace(
        fit_for_production(),
        cache=Cache(),
        database=Database(url=Address("sqlite:///x.db"), allow_sqlite_in_production=True),
    )

    assert (paths(alone), paths(file, sqlite_version=(3, 52, 0))) == ([], [])


@pytest.mark.parametrize(
    ("version", "found"), [((3, 51, 2), ["database.url"]), ((3, 51, 3), []), ((3, 52, 0), [])]
)
def test_allowed_sqlite_still_requires_a_library_that_keeps_every_commit(version, found):
    database = Database(allow_sqlite_in_production=True)

    production = replace(fit_for_production(), database=database)

    assert paths(production, sqlite_version=version) == found


def test_an_old_sqlite_library_is_a_remark_in_the_sandbox():
    server = Settings(database=Database(url=Address("postgresql://db/pixgate")))

    said = sqlite_remark(Settings(), (3, 40, 1))

    assert said.startswith("SQLite 3.40.1 is fine for a sandbox. ")
    assert "\n" not in said
    assert sqlite_remark(Settings(), (3, 51, 3)) == sqlite_remark(server, (3, 40, 1)) == ""


@pytest.mark.parametrize(("length", "found"), [(31, ["auth.basic.pepper"]), (32, [])])
def test_a_production_pepper_has_32_bytes(length: int, found: list[str]):
    """Bytes, not characters."""
    pepper = Secret(("é" * 4 + "0123456789abcdefghijklmnopqrst")[: length - 4])

    settings = replace(fit_for_production(), auth=Auth(basic=Basic(pepper=pepper)))

    assert paths(settings) == found


def test_an_unknown_adapter_is_reported_with_a_suggestion():
    settings = Settings(providers={"a": Provider(adapter="sandbx")})

    findings = check(settings, ADAPTERS)

    assert [str(finding) for finding in findings] == [
        "providers.a.adapter: no adapter of that name; did you mean sandbox?"
    ]
    assert findings == [
        Finding("providers.a.adapter", "no adapter of that name; did you mean sandbox?")
    ]


def test_no_finding_shows_a_secret():
    weak = Secret("canary")
    basic = Basic(pepper=weak, retired_peppers={"old": weak})
    sealing = Sealing(key=weak, retired_keys={"old": weak})

    findings = check(
        replace(fit_for_production(), auth=Auth(basic=basic), sealing=sealing), ADAPTERS
    )

    assert len(findings) > 4
    assert "canary" not in repr(findings)


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(b"\xff" * 32).decode(),
        base64.urlsafe_b64encode(b"\xff" * 32).decode(),
        base64.urlsafe_b64encode(b"\xff" * 32).decode().rstrip("="),
    ],
    ids=["standard", "of URLs", "without padding"],
)
def test_a_sealing_key_may_use_either_base64_alphabet(text: str):
    assert sealing_key(text) == b"\xff" * 32


def test_a_sealing_key_has_32_bytes():
    cases = [
        "",
        "A",
        "A" * 42,
        "A" * 44 + "=",
        "f" * 64,
        "A" * 43 + "\n",
        "é" * 43,
        "A=" + "A" * 41,
    ]

    for text in cases:
        with pytest.raises(ValueError, match="32 bytes in base64"):
            sealing_key(text)


def test_loopback_hosts_are_recognised():
    cases = [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104 - asked about, not bound
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("gateway.example", False),
    ]

    wrong = [(host, loopback) for host, loopback in cases if is_loopback(host) is not loopback]

    assert wrong == []


def test_settings_without_two_person_approval_are_a_remark_in_production():
    """The configuration is valid: a platform may be run by one person."""
    alone = replace(fit_for_production(), approvals=Approvals(credentials=False, people=False))

    assert paths(alone) == []
    assert [each.path for each in remarks(alone)] == ["approvals.credentials", "approvals.people"]
    assert remarks(fit_for_production()) == []
    assert remarks(replace(alone, environment=Environment.SANDBOX)) == []


@pytest.mark.parametrize(
    ("is_open", "whole_bank", "read_only", "said"),
    [
        (True, True, False, ["providers.a.breaker.whole_bank"]),
        (True, False, False, []),
        (True, True, True, []),
        (False, True, False, []),
    ],
)
def test_a_breaker_that_strangers_open_for_everybody_is_a_remark_in_an_open_sandbox(
    *, is_open: bool, whole_bank: bool, read_only: bool, said: list[str]
):
    bank = Provider(adapter="sandbox", read_only=read_only, breaker=Breaker(whole_bank=whole_bank))

    found = remarks(Settings(sandbox=Sandbox(open=is_open), providers={"a": bank}))

    assert [each.path for each in found] == said


def test_remote_servers_without_tls_or_password_are_a_remark_in_production():
    """The configuration is valid: a network may be protected by other means."""
    databases = [
        ("postgresql://a:b@db/x?sslmode=verify-full", []),
        ("postgresql://a:b@db/x?ssl=verify-full", []),
        ("postgresql://a:b@db/x", ["TLS"]),
        ("postgresql://a:b@db/x?sslmode=require", ["TLS"]),
        ("postgresql://a@db/x?sslmode=verify-full", ["password"]),
        ("postgresql://a:b@/x?host=one:5432&host=two:5432", ["TLS"]),
        ("postgresql://a:b@/x?host=/run/postgresql", []),
        ("postgresql://a@127.0.0.1/x", []),
        ("postgresql://a@localhost/x", []),
    ]
    caches = [
        ("rediss://:word@cache/0", []),
        ("redis://:word@cache/0", ["TLS"]),
        ("redis://cache/0", ["TLS", "password"]),
        ("redis://127.0.0.1/0", []),
        ("rediss+cluster://:word@a,b", []),
        ("redis+sentinel://127.0.0.1,b/pix", ["TLS", "password"]),
        ("redis://[::1]/0", []),
    ]
    given = [
        *(
            ("database.url", {"database": Database(url=Address(url))}, lacks)
            for url, lacks in databases
        ),
        *(("cache.url", {"cache": Cache(url=Address(url))}, lacks) for url, lacks in caches),
    ]

    wrong = []
    for path, changes, lacks in given:
        found = remarks(replace(fit_for_production(), **changes))
        told = [
            (each.path, [word for word in ("TLS", "password") if word in each.message])
            for each in found
        ]
        if told != [(path, [word]) for word in lacks]:
            wrong.append((changes, told))

    assert wrong == []


def test_an_invalid_proxy_is_a_finding():
    cases = [
        ("url: 'https://proxy.example:3128'", "url"),
        ("url: 'proxy.example:3128'", "url"),
        ("url: 'http://proxy.example'", "url"),
        ("url: 'http://proxy.example:0'", "url"),
        ("url: 'http://proxy.example:port'", "url"),
        ("url: 'http://proxy.example:3128/path'", "url"),
        ("url: 'http://us:secret@proxy.example:3128'", "url"),
        ("url: 'http://[::1:3128'", "url"),
        ("user: us, password: '${S}'", "url"),
        ("url: 'http://p:1', user: us", ""),
        ("url: 'http://p:1', password: '${S}'", ""),
        ("url: 'http://p:1', user: 'u:s', password: '${S}'", "user"),
        ("url: 'http://p:1', user: \"u\\ns\", password: '${S}'", "user"),
    ]

    for proxy, path in cases:
        settings = settings_from(PROXIED % proxy, {"S": "secret"})
        found = check(settings, ADAPTERS)

        assert [each.path for each in found] == [f"providers.a.proxy.{path}".rstrip(".")]
        assert "secret" not in str(found)


def test_a_valid_proxy_has_no_finding():
    cases = [
        "url: ''",
        "url: 'http://proxy.example:3128'",
        "url: 'http://Proxy.Example:3128/'",
        "url: 'http://[::1]:3128', user: us, password: '${S}'",
    ]

    wrong = [
        proxy
        for proxy in cases
        if check(settings_from(PROXIED % proxy, {"S": "secret"}), ADAPTERS) != []
    ]

    assert wrong == []
