"""The side column shows what there is and what a person may open."""

from dataclasses import replace

from gateway.core.rights import RIGHTS, Role
from gateway.http.panel.pages.navigation import GROUPS, Navigation
from gateway.http.panel.pages.page import Page
from tests.unit.gateway.http.panel.pages.visit import visit


async def _nothing(_visit):
    raise AssertionError


def test_a_menu_entry_without_a_page_is_not_shown():
    page = Page(path="", name="overview", summary="", shows=_nothing)

    ((name, entries),) = Navigation([page]).of(visit())

    assert (name, [each.path for each in entries]) == ("", [""])


def test_a_menu_entry_is_not_shown_without_its_right():

    right = next(iter(RIGHTS[Role.VIEWER]))
    page = Page(path="/payouts", name="payouts", summary="", shows=_nothing, needs=right)

    assert Navigation([page]).of(visit()) == []
    assert Navigation([replace(page, needs=None)]).of(visit())


def test_a_form_is_not_a_menu_page():
    page = Page(path="/payouts", name="x", summary="", shows=_nothing, does=_nothing)

    assert not Navigation([page]).holds("/payouts")


def test_no_menu_path_is_repeated():
    paths = [entry.path for _, entries in GROUPS for entry in entries]

    assert len(paths) == len(set(paths))
