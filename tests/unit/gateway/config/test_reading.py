"""The configuration file into settings."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config.reading import ConfigError, read_settings, settings_from
from gateway.config.settings import Settings
from gateway.core.account import Environment

CANARY = "canary-0123456789-0123456789-0123456789"


def problems_of(text: str, environ: dict[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        settings_from(text, environ or {})
    return caught.value.problems


ROOT = Path(__file__).parents[4]
NAMED = re.compile(r"\$\{(\w+)\}")
EXAMPLE = re.compile(r"```yaml\n(providers:.*?)```", re.DOTALL)
OPTION = re.compile(r"^( +)# (\w+: )", re.MULTILINE)


def documented() -> Iterator[tuple[str, str]]:
    """
    Every configuration that a document shows, by its file.

    Also with the options that stand in comments.
    """
    text = (ROOT / "config.yaml").read_text(encoding="utf-8")
    rate = re.search(r"#.*?(get_balance: \{[^}]*\})", text)
    assert rate is not None
    yield "config.yaml", text
    yield "config.yaml, with a rate", text.replace("rates: {}", f"rates: {{{rate[1]}}}")
    yield "config.yaml, lifting a rate", text.replace("rates: {}", "rates: {get_balance: null}")
    for file in sorted(ROOT.glob("provider_adapters/*/README.md")):
        for example in EXAMPLE.findall(file.read_text(encoding="utf-8")):
            yield str(file.relative_to(ROOT)), example
            yield f"{file.relative_to(ROOT)}, every option", OPTION.sub(r"\1\2", example)


def test_every_documented_configuration_can_be_read():
    """Everything in config.yaml and on the adapters' pages is accepted."""
    wrong: dict[str, tuple[str, ...]] = {}
    for name, text in documented():
        try:
            settings_from(text, dict.fromkeys(NAMED.findall(text), "x" * 32))
        except ConfigError as problem:
            wrong[name] = problem.problems

    assert wrong == {}


def test_an_empty_file_has_the_defaults():
    assert settings_from("", {}) == Settings()


def test_variables_set_values_that_the_file_leaves_out():
    """Ports, folder, environment and database can be set without editing the file."""
    settings = settings_from(
        "server: {host: 0.0.0.0}",
        {
            "PIXGATE_ENVIRONMENT": "production",
            "PIXGATE_VAR": "/srv/pixgate",
            "PIXGATE_PORT": "1",
            "PIXGATE_OPS_PORT": "2",
            "PIXGATE_BANK_PORT": "3",
            "PIXGATE_BANK_CONTROL_PORT": "4",
            "PIXGATE_DATABASE_URL": "postgresql://db/x",
            "PIXGATE_PEPPER": "p",
            "PIXGATE_SEALING_KEY": "k",
        },
    )

    bank = settings.sandbox_bank
    ports = (settings.server.port, settings.admin.port, bank.port, bank.control_port)
    assert (settings.environment, settings.var) == (Environment.PRODUCTION, "/srv/pixgate")
    assert (ports, settings.database.url) == ((1, 2, 3, 4), "postgresql://db/x")
    assert (settings.auth.basic.pepper.encode(), settings.sealing.key.encode()) == (b"p", b"k")


def test_values_from_the_environment_get_the_type_of_their_setting():
    settings = settings_from(
        'server: {port: "${PORT}", drain_s: "${DRAIN:-7}", openapi: "${OPEN}"}\nvar: "${PORT}"',
        {"PORT": "8081", "OPEN": "true"},
    )

    server = settings.server
    assert (server.port, server.drain_s, server.openapi, settings.var) == (8081, 7.0, True, "8081")


def test_a_mistake_is_reported_with_the_path_of_its_setting():
    cases = [
        ("serverr: {}", "serverr: no such setting; did you mean server? (line 1)"),
        ("server:\n  prot: 1", "server.prot: no such setting; did you mean port? (line 2)"),
        ("server: {zzz: 1}", "server.zzz: no such setting (line 1)"),
        ("server: 5", "server: a section is expected here (line 1)"),
        ("server: {port: [1]}", "server.port: one value is expected here (line 1)"),
        ("server: {port: {a: 1}}", "server.port: one value is expected here (line 1)"),
        ('server: {port: "8080"}', "server.port: Expected `int`, got `str` (line 1)"),
        ("server: {port: 65536}", "server.port: Expected `int` <= 65535 (line 1)"),
        ("server: {openapi: no}", "server.openapi: Expected `bool`, got `str` (line 1)"),
        ("server: {headers: null}", "server.headers: Expected `int`, got `null` (line 1)"),
        ("server: {drain_s: 0}", "server.drain_s: Expected `float` > 0.0 (line 1)"),
        ("auth: {basic: {cache_ttl_s: 3601}}", "auth.basic.cache_ttl_s: Expected `float` <= 3600"),
        ("environment: live", "environment: expected sandbox or production (line 1)"),
        ("trace: {accept: x}", "trace.accept: expected token or uuid (line 1)"),
        ("worker: {run: host}", "worker.run: expected inside or apart (line 1)"),
        ("providers: {a: {}}", "providers.a.adapter: is missing (line 1)"),
        ("providers: {A b: {adapter: x}}", "providers.A b: expected a name of lower-case letters"),
        ("ratelimits: {read: {rate: 1}}", "ratelimits.read.burst: is missing (line 1)"),
        ("database: {url: 5}", "database.url: Expected `str` (line 1)"),
        ("- a", "(file): a section is expected here (line 1)"),
        ("a: [", "(file): not YAML"),
        ('var: "${NOPE}"', "var: the environment variable NOPE is not set (line 1)"),
        ('server: {port: "${PORT:-x}"}', "server.port: Expected `int`, got `str` (line 1)"),
    ]

    for text, problem in cases:
        problems = problems_of(text)

        assert len(problems) == 1
        assert problems[0].startswith(problem)


def test_a_duration_is_a_finite_number():
    for number in ["nan", "inf", "-1", "1e99"]:
        problems = problems_of('server: {drain_s: "${X}"}', {"X": number})

        assert problems[0].startswith("server.drain_s: Expected `float`")


def test_all_mistakes_are_reported_at_once():
    problems = problems_of(
        "server: {prot: 1, port: x, host: a, host: b}\nadmin: 1\nvar: ${A}\nproviders: {a: {b: 1}}"
    )

    assert [problem.split(": ")[0] for problem in problems] == [
        "server.host",
        "var",
        "server.prot",
        "server.port",
        "admin",
        "providers.a.b",
        "providers.a.adapter",
    ]


def test_a_secret_in_the_file_is_refused():
    path_cases = ["auth.basic.pepper", "auth.basic.retired_peppers.old", "sealing.key"]

    for text in [CANARY, "${X:-" + CANARY + "}", CANARY + "${X}", "123456"]:
        for path in path_cases:
            names = path.split(".")
            document = "".join(f"{'  ' * depth}{name}:\n" for depth, name in enumerate(names))

            problems = problems_of(f"{document.rstrip()} {text}\n", {"X": "x"})

            line = len(names)
            assert problems == (
                f"{path}: a secret stands here as ${{NAME}} or ${{NAME:-}} (line {line})",
            )


def test_a_secret_comes_from_the_environment_or_a_file(tmp_path: Path):
    file = tmp_path / "old"
    file.write_text("old\n", encoding="utf-8")

    settings = settings_from(
        "auth: {basic: {pepper: '${A}', retired_peppers: {old: '${B}'}}}\nsealing: {key: ''}",
        {"A": CANARY, "B_FILE": str(file), "PIXGATE_SEALING_KEY": "not asked for"},
    )

    basic = settings.auth.basic
    assert basic.pepper.encode() == CANARY.encode()
    assert basic.retired_peppers["old"].encode() == b"old"
    assert not settings.sealing.key


def test_no_secret_is_reported_by_the_settings():
    settings = settings_from(
        "",
        {
            "PIXGATE_PEPPER": CANARY,
            "PIXGATE_SEALING_KEY": CANARY,
            "PIXGATE_DATABASE_URL": f"postgresql://u:{CANARY}@db/x",
        },
    )

    assert CANARY not in repr(settings)


def test_the_adapter_s_own_settings_pass_unchanged():
    settings = settings_from(
        "providers: {a: {adapter: x, settings: {n: 1, t: '${A}', l: [1, {b: '${A}'}], e: null}}}",
        {"A": "12"},
    )

    expected = {"n": 1, "t": "12", "l": [1, {"b": "12"}], "e": None}
    assert settings.providers["a"].settings == expected


def test_a_section_without_content_has_its_defaults():
    assert settings_from("server:\nproviders:\n", {}) == Settings()


def test_an_absent_file_raises_file_not_found(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        read_settings(tmp_path / "none.yaml", {})


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path):
    file = tmp_path / "config.yaml"
    file.write_bytes(b"var: \xff")

    with pytest.raises(ConfigError, match="not UTF-8"):
        read_settings(file, {})
