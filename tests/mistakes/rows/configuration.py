"""Configuration: what is refused before the first request, and where secrets may be."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_CONFIG = "tests/unit/gateway/config"
_COMMANDS = "tests/unit/gateway/app/commands"

ROWS = (
    Mistake(
        name="our-secrets-to-a-key-store",
        promise="A command that prints a secret gets no `PIXGATE_` variable.",
        source="docs/operations.md",
        file="gateway/config/variables.py",
        right="        env=theirs,",
        wrong="        env={**environ, **theirs},",
        tests=(f"{_CONFIG}/test_variables.py",),
    ),
    Mistake(
        name="renewed-certificate-shared",
        promise="Two configurations share no certificate of a bank and no key of one.",
        source="docs/operations.md",
        file="gateway/app/commands/shared_secrets.py",
        right="            if prints & known:",
        wrong="            if prints == known:",
        tests=(f"{_COMMANDS}/test_shared_secrets.py",),
    ),
    Mistake(
        name="secret-written-in-the-file",
        promise="A secret does not stand in the configuration file.",
        source="SECURITY.md, docs/operations.md",
        file="gateway/config/reading.py",
        right="if bare is Secret and not _is_named(node):",
        wrong="if bare is Secret and node.content is None:",
        tests=(f"{_CONFIG}/test_reading.py::test_a_secret_in_the_file_is_refused",),
    ),
    Mistake(
        name="secret-with-a-default",
        promise="A secret has no default that the file could hold.",
        source="SECURITY.md",
        file="gateway/config/documents.py",
        right='_ALONE = re.compile(rf"\\$\\{{{_NAME}(?::-)?\\}}", re.ASCII)',
        wrong='_ALONE = re.compile(rf"\\$\\{{{_NAME}(?::-[^}}]*)?\\}}", re.ASCII)',
        tests=(f"{_CONFIG}/test_reading.py::test_a_secret_in_the_file_is_refused",),
    ),
    Mistake(
        name="last-of-two-settings-counts",
        promise="A setting that stands twice keeps the service from starting.",
        source="docs/operations.md",
        file="gateway/config/documents.py",
        right=(
            "        elif key.value in found:\n"
            "            first = found[key.value].line\n"
            "            name = joined(path, key.value)\n"
            '            problems.append(f"{name}: stands twice (lines {first} and {line})")\n'
            "        else:\n"
        ),
        wrong="        else:\n",
        tests=(
            (
                f"{_CONFIG}/test_documents.py"
                "::test_a_name_that_is_repeated_is_reported_with_its_path_and_lines"
            ),
        ),
    ),
    Mistake(
        name="empty-secret-file-is-the-default",
        promise="A secret's file that is empty keeps the service from starting.",
        source="docs/operations.md",
        file="gateway/config/variables.py",
        right="    if not content:",
        wrong="    if content is None:",
        tests=(
            (
                f"{_CONFIG}/test_documents_interpolation.py"
                "::test_an_unusable_file_is_reported_and_not_replaced_by_the_default"
            ),
        ),
    ),
    Mistake(
        name="sandbox-bank-in-production",
        promise="Production refuses the bank that moves no money.",
        source="decisions 10, ADR 0006",
        file="gateway/config/checks.py",
        right="        if provider.adapter == _SANDBOX_ADAPTER:",
        wrong="        if name == _SANDBOX_ADAPTER:",
        tests=(f"{_CONFIG}/test_checks.py::test_errors_only_in_production_are_found_there_only",),
    ),
    Mistake(
        name="everybody-is-a-proxy-of-ours",
        promise="A configuration that believes everybody's forwarded address is refused.",
        source="decisions 11 (caller's address)",
        file="gateway/config/checks.py",
        right="    if any(each.prefixlen == 0 for each in networks):",
        wrong="    if any(each.is_unspecified for each in networks):",
        tests=(f"{_CONFIG}/test_checks.py::test_errors_in_every_environment_are_found",),
    ),
    Mistake(
        name="mail-password-in-the-clear",
        promise="The password of the mail server is not sent without encryption.",
        source="docs/operations.md",
        file="gateway/config/checks.py",
        right='    if identity.mail.password and identity.mail.encryption == "none":',
        wrong="    if identity.mail.password and not identity.mail.encryption:",
        tests=(f"{_CONFIG}/test_checks.py::test_errors_in_every_environment_are_found",),
    ),
    Mistake(
        name="secret-formatted-in-the-clear",
        promise="A secret hides when it is written into a text.",
        source="SECURITY.md",
        file="gateway/config/values.py",
        right="    def __str__(self) -> str:\n        return self.shown\n\n\nclass Address",
        wrong="\nclass Address",
        tests=(f"{_CONFIG}/test_values_hidden.py::test_a_secret_is_not_reported",),
    ),
    Mistake(
        name="password-in-the-query-of-an-address",
        promise="An address is shown without the password in its query.",
        source="SECURITY.md",
        file="gateway/config/values.py",
        right='    return _PASSWORD.sub(r"\\1***", _USERINFO.sub("***@", text))',
        wrong='    return _USERINFO.sub("***@", text)',
        tests=(f"{_CONFIG}/test_values_hidden.py::test_credentials_of_urls_are_hidden",),
    ),
    Mistake(
        name="access-token-of-a-day",
        promise="An access token lives an hour at most, whatever is configured.",
        source="decisions 7, docs/people.md",
        file="gateway/config/identity.py",
        right="access_s: Annotated[float, Meta(ge=60, le=3_600)] = 600.0",
        wrong="access_s: Annotated[float, Meta(ge=60, le=86_400)] = 600.0",
        tests=(f"{_CONFIG}/test_identity.py::test_values_out_of_bounds_are_refused",),
    ),
    Mistake(
        name="browser-session-of-a-day",
        promise="A browser that is left alone is signed out after an hour at most.",
        source="docs/people.md",
        file="gateway/config/identity.py",
        right="idle_s: Annotated[float, Meta(ge=60, le=3_600)] = 900.0",
        wrong="idle_s: Annotated[float, Meta(ge=60, le=86_400)] = 900.0",
        tests=(
            (
                f"{_CONFIG}/test_identity_session.py"
                "::test_session_lifetimes_out_of_bounds_are_refused"
            ),
        ),
    ),
    Mistake(
        name="limit-in-a-float",
        promise="An amount in the configuration is a text with two decimals, never a float.",
        source="ADR 0004",
        file="gateway/config/values.py",
        right='pattern=r"\\A(0|[1-9][0-9]{0,9})\\.[0-9]{2}\\Z"',
        wrong='pattern=r"\\A(0|[1-9][0-9]{0,9})(\\.[0-9]+)?\\Z"',
        tests=(
            f"{_CONFIG}/test_values.py::test_each_type_of_setting_accepts_values_within_its_bounds",
        ),
    ),
    Mistake(
        name="pepper-changed-while-running",
        promise="Keys and peppers are those of the start until a restart.",
        source="docs/operations.md",
        file="gateway/config/reloading.py",
        right='    "limits.in_flight",\n',
        wrong='    "auth.basic",\n    "limits.in_flight",\n',
        tests=(
            (
                f"{_CONFIG}/test_reloading.py"
                "::test_reloadable_settings_are_applied_and_the_others_named"
            ),
        ),
    ),
    Mistake(
        name="provider-s-secret-printed",
        promise="A secret among an adapter's own settings is not printed.",
        source="docs/operations.md",
        file="gateway/config/effective.py",
        right="    if value and _SECRET_NAME.search(name):",
        wrong="    if value and _SECRET_NAME.fullmatch(name):",
        tests=(f"{_CONFIG}/test_effective.py::test_no_secret_is_shown",),
    ),
    Mistake(
        name="metrics-open-to-everybody",
        promise="The operations listener is reached from this machine unless that is permitted.",
        source="docs/operations.md",
        file="gateway/config/listeners.py",
        right="    allow_public: bool = False",
        wrong="    allow_public: bool = True",
        tests=(f"{_CONFIG}/test_listeners.py::test_listeners_bind_loopback_by_default",),
    ),
    Mistake(
        name="port-of-a-file-shared",
        promise="An SQLite store has one process: no second one may share its port.",
        source="ADR 0043",
        file="gateway/config/checks.py",
        right="        if server.reuse_port:\n",
        wrong="        if False:\n",
        tests=(f"{_CONFIG}/test_checks.py::test_errors_in_every_environment_are_found",),
    ),
)
