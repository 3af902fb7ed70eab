"""Who looks, in which language, and where a page may send them."""

import pytest

from gateway.http.panel.pages.visit import (
    HOME,
    Language,
    Theme,
    address,
    own_path,
)
from tests.unit.gateway.http.panel.pages.visit import visit


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({}, Language.PORTUGUESE),
        ({"Accept_Language": "en-GB,en;q=0.9"}, Language.ENGLISH),
        ({"Accept_Language": "fr, pt-PT;q=0.5, en;q=0.1"}, Language.PORTUGUESE),
        ({"Accept_Language": "de"}, Language.PORTUGUESE),
        ({"Accept_Language": "pt-BR", "Cookie": "pixgate-language=en"}, Language.ENGLISH),
        ({"Cookie": "pixgate-language=xx"}, Language.PORTUGUESE),
    ],
    ids=str,
)
def test_the_language_is_the_chosen_the_accepted_or_portuguese(headers, language):
    assert visit(**headers).language is language


def test_the_theme_is_the_chosen_or_the_system_s():
    assert visit().theme is Theme.SYSTEM
    assert visit(Cookie="pixgate-theme=dark").theme is Theme.DARK
    assert visit(Cookie="pixgate-theme=pink").theme is Theme.SYSTEM


@pytest.mark.parametrize(
    "path",
    ["/panel", "/panel/payouts?state=paid&q=%2F", "/panel?period=7"],
)
def test_a_path_of_our_pages_may_be_the_next_page(path):
    assert own_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("", "//evil.example", "https://evil.example/panel", "/panelx", "/iam/v1/auth"),
        *("/panel/../iam", "/panel\\evil", "/panel/\r\nSet-Cookie: a=b", "/panel/ x", "/panel/é"),
    ],
)
def test_another_path_is_replaced_by_the_home_page(path):
    assert own_path(path) == HOME


def test_an_address_encodes_its_parameters():
    assert address("/panel/accounts/{id}/x", id="a/b c%") == "/panel/accounts/a%2Fb%20c%25/x"


def test_a_query_parameter_that_is_not_utf_8_is_empty():
    made = visit(query={"q": [" a ", "b"], "bad": ["\udcff"]})

    assert (made.query("q"), made.query("bad"), made.query("none")) == ("a", "", "")
    assert made.queries("q") == ["a", "b"]


def test_an_address_keeps_its_other_query_parameters():
    made = visit(query={"q": ["a b"], "page": ["2"]})
    made.address = "/panel/payouts"

    assert made.with_query(page="3") == "/panel/payouts?q=a+b&page=3"
    assert made.with_query(page="") == "/panel/payouts?q=a+b"
    assert made.with_query(page="", q="") == "/panel/payouts"


def test_a_link_from_another_site_is_recognised():
    followed = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}

    assert visit(Sec_Fetch_Site="cross-site", **followed).is_foreign
    assert not visit(Sec_Fetch_Site="none", **followed).is_foreign
    assert not visit(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="cors").is_foreign
