"""``pixgate single-sign-on``."""

from __future__ import annotations

from tests.world.shell import Shell

WANTED = (
    *("--short-name", "loja", "--domain", "loja.example.com"),
    *("--issuer", "https://sso.example.com", "--client-id", "pixgate"),
    *("--claim", "groups", "--role", "pix=ops=operator"),
)


def test_a_provider_is_set_shown_and_removed(fresh_shell: Shell):
    company = fresh_shell.reads("company", "create", "--name", "Loja")["id"]
    secret = fresh_shell.folder / "secret"
    secret.write_text("geheim" * 3 + "\n", encoding="utf-8")

    made = fresh_shell.reads(
        "single-sign-on", "set", company, *WANTED, "--secret-file", str(secret)
    )
    shown = fresh_shell.reads("single-sign-on", "show", company)
    removed = fresh_shell.reads("single-sign-on", "remove", company)

    assert made == shown
    assert shown["mapping"] == "pix=ops = operator"
    assert "geheim" not in str(shown)
    assert removed["state"] == "removed"
