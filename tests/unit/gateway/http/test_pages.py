"""Documents that are served as they stand."""

from __future__ import annotations

import json

import yaml

from gateway.http.pages import PAGES, openapi_pages
from tests.unit.gateway.http.stage import row, surface


def test_the_document_is_there_in_two_forms():
    pages = openapi_pages(surface(row(path="/a")))

    as_json, as_yaml = pages["/openapi.json"], pages["/openapi.yaml"]
    assert json.loads(as_json.body) == yaml.safe_load(as_yaml.body)
    assert as_json.content_type == "application/json; charset=utf-8"
    assert as_yaml.content_type == "application/yaml; charset=utf-8"


def test_every_page_has_a_known_name():
    """Metrics know no other."""
    pages = openapi_pages(surface(row(path="/a")))

    assert {page.name for page in pages.values()} == set(PAGES)
