"""The settings of the panel's sessions."""

import pytest

from gateway.config.identity import Session
from gateway.config.reading import ConfigError, settings_from


def test_session_defaults_match_production():
    """A cookie without Secure must be requested explicitly."""
    assert Session() == Session(idle_s=900, renew_s=3600, insecure_dev=False)


def test_session_lifetimes_out_of_bounds_are_refused():
    cases = ["{idle_s: 59}", "{idle_s: 3601}", "{renew_s: 0}", "{insecure_dev: 1}", "{idle: 1}"]

    for text in cases:
        with pytest.raises(ConfigError):
            settings_from(f"session: {text}", {})
