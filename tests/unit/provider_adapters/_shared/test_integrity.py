"""Whether an answer speaks of what was asked."""

from __future__ import annotations

import pytest

from gateway.domain.kernel.strict import Malformed
from provider_adapters._shared.integrity import is_e2e_id, provider_id


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("E99999999202611201340abcDEF12345", True),
        ("D99999999202611201340abcDEF12345", True),
        ("E9999999920261120134abcDEF123456", False),
        ("e99999999202611201340abcDEF12345", False),
        ("E99999999202611201340abcDEF1234", False),
        ("E99999999202611201340abcDEF12345\n", False),
        ("E99999999202611201340abcDEF1234é", False),
        ("", False),
    ],
)
def test_an_end_to_end_id_has_the_central_bank_s_form(text: str, is_one: bool):
    assert is_e2e_id(text) is is_one


@pytest.mark.parametrize("text", ["a\x00b", "a\nb", "x" * 129])
def test_an_id_that_cannot_be_stored_is_refused(text: str):
    with pytest.raises(Malformed):
        provider_id(text)


def test_an_ordinary_id_passes():
    assert provider_id("trf_77ab") == "trf_77ab"
