"""The forms a report can be had in (contract 4.3, GetAccountReport)."""

import pytest

from gateway.reports.formats import FORMATS, Format, Write
from gateway.reports.texts import Locale
from tests.unit.reporting import DOCUMENT, document, whole
from tests.world.people import ACCOUNT

BEGINS = {"csv": b"created_at,", "ofx": b"<?xml ", "json": b'{"account"', "pdf": b"%PDF-"}
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8; header=present",
    "ofx": "application/x-ofx",
    "json": "application/json; charset=utf-8",
    "pdf": "application/pdf",
}
every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


def writer(form: Format, locale: Locale) -> Write:
    return form.write or whole(form.pieces[locale])


def test_the_four_report_formats_have_names():
    assert {name: form.name for name, form in FORMATS.items()} == {name: name for name in BEGINS}


@every_format
def test_each_format_has_its_content_type(form: Format):
    assert form.media_type == MEDIA_TYPES[form.name]
    assert writer(form, Locale.PLAIN)(DOCUMENT).startswith(BEGINS[form.name])


@every_format
@pytest.mark.parametrize("locale", Locale)
@pytest.mark.parametrize("told", [DOCUMENT, document()], ids=["full", "empty"])
def test_the_same_report_gives_the_same_bytes(form: Format, locale: Locale, told):
    write = writer(form, locale)

    assert write(told) == write(told)


def test_only_csv_has_a_brazilian_format():
    choosing = [
        form.name
        for form in FORMATS.values()
        if form.pieces.get(Locale.PT_BR) is not form.pieces.get(Locale.PLAIN)
    ]

    assert choosing == ["csv"]


@every_format
def test_a_file_is_named_after_account_and_days(form: Format):
    """It is sent in a header, so it contains nothing of a name or a bank."""
    assert form.file_name(DOCUMENT) == f"statement_{ACCOUNT}_2026-11-01_2026-11-20.{form.name}"
