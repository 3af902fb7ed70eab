"""The settings of people."""

import pytest

from gateway.config.identity import Identity
from gateway.config.listeners import Server
from gateway.config.reading import ConfigError, settings_from
from gateway.config.settings import Settings


def test_tokens_have_the_documented_lifetimes_by_default():
    """Ten minutes and eight hours (ADR on identity)."""
    identity = settings_from("", {}).identity

    assert (identity.access_s, identity.refresh_s, identity.sessions) == (600, 28_800, 5)


@pytest.mark.parametrize(
    "text",
    [
        "identity: {access_s: 59}",
        "identity: {access_s: 3601}",
        "identity: {refresh_s: 86401}",
        "identity: {mail: {encryption: x}}",
    ],
)
def test_values_out_of_bounds_are_refused(text: str):
    with pytest.raises(ConfigError):
        settings_from(text, {})


def test_the_mail_server_s_password_is_not_in_the_file():
    with pytest.raises(ConfigError, match=r"identity\.mail\.password"):
        settings_from("identity: {mail: {password: written}}", {})


def test_the_sandbox_links_to_its_own_listener_by_default():
    assert Settings().origin == "http://127.0.0.1:8080"
    assert Settings(identity=Identity(origin="https://pix.example")).origin == "https://pix.example"


@pytest.mark.parametrize(
    ("origin", "host", "reached_at"),
    [
        ("https://pix.example", "::", "https://pix.example"),
        ("", "127.0.0.1", "http://127.0.0.1:81"),
        ("", "::1", "http://[::1]:81"),
        ("", "0.0.0.0", ""),  # noqa: S104 - nothing is bound to it
        ("", "::", ""),
    ],
)
def test_the_public_address_is_the_configured_origin_or_a_bound_host(
    origin: str, host: str, reached_at: str
):
    """The wildcard address cannot be reached by callers."""
    settings = Settings(identity=Identity(origin=origin), server=Server(host=host))

    assert settings.reached_at(81) == reached_at
