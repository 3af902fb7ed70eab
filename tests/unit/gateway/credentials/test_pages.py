"""Forms of credentials, as the pages read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.core.errors import ServiceError
from gateway.credentials.pages import _end_of, _wanted
from policies.validation.forms import Form
from tests.unit.gateway.http.panel.pages.visit import visit


def typed(**fields: str):
    looked = visit()
    looked.form = Form({name: (value,) for name, value in fields.items()})
    return looked


def test_a_credential_expires_at_the_end_of_its_last_local_day():
    """Of the day in São Paulo, which ends at three in UTC."""
    assert _end_of(typed(expires_on="20/11/2026")) == datetime(2026, 11, 21, 2, 59, 59, tzinfo=UTC)


def test_a_credential_without_an_expiry_must_be_chosen():
    assert _end_of(typed(ends="never")) is None
    with pytest.raises(ServiceError):
        _end_of(typed(expires_on=""))


def test_a_resource_without_a_level_gets_no_permission():
    wanted = _wanted(typed(may_withdraw="read", may_balance="", ends="never"))

    assert wanted["permissions"] == ["withdraw:read"]
