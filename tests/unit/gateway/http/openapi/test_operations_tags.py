"""Every operation is in a described group."""

import pytest

from gateway.http.openapi.operations import OTHER, shown_tags, tag_of
from tests.world.gateway.listener_client import route


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        ("/account/{account_id}/balance", "Balance"),
        ("/account/{account_id}/pix/keys/{key_id}", "PIX keys"),
        ("/account/{account_id}/withdraw/{reference}", "Payouts"),
        ("/accounts", "Accounts"),
        ("/accounts/{account_id}", "Accounts"),
        ("/accounts/{account_id}/provider", "Accounts"),
        ("/auth/totp/confirm", "Own second factor"),
        ("/health", "Service"),
        ("/elsewhere", OTHER),
    ],
)
def test_a_path_determines_the_tag(path: str, tag: str):
    assert tag_of(route(path=path)) == tag


def test_only_groups_in_use_are_described_in_one_order():
    shown = shown_tags(["Service", "Balance", "Balance"])

    assert [each["name"] for each in shown] == ["Balance", "Service"]
    assert all(each["description"].endswith(".") for each in shown)
