"""Settings of an adapter."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters._shared.factory import AdapterRefused, CallbackFactory, settings_of
from provider_adapters.sandbox.factory import SandboxFactory


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Two settings, one of them a secret."""

    base_url: str
    secret: int = 0


def test_settings_are_read_into_their_struct():
    assert settings_of("bank", Settings, {"base_url": "x"}) == Settings("x")


@pytest.mark.parametrize(
    ("given", "path"),
    [({}, "base_url"), ({"base_url": 1}, "$.base_url"), ({"base_url": "", "url": ""}, "url")],
)
def test_what_is_wrong_is_named_with_its_place(given: dict[str, object], path: str):
    with pytest.raises(AdapterRefused) as refused:
        settings_of("bank", Settings, given)

    assert str(refused.value).startswith("providers.bank: ")
    assert path in str(refused.value)


def test_a_value_is_never_repeated():
    with pytest.raises(AdapterRefused) as refused:
        settings_of("bank", Settings, {"base_url": "", "secret": "canary"})

    assert "canary" not in str(refused.value)


def test_a_factory_whose_bank_sends_callbacks_is_known_by_what_it_can_make():
    assert isinstance(SandboxFactory(), CallbackFactory)
    assert not isinstance(object(), CallbackFactory)
