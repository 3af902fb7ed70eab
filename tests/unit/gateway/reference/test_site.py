"""The documentation site: only its files, compressed once, and a page for each error code."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.core import errors
from gateway.http.documents import ReadyMade
from gateway.reference.site import absent_pages, error_links, read_site

FILES = {
    "index.html": b"<h1>home</h1>",
    "partner-guide/index.html": b"<h1>guide</h1>",
    "partner-guide.md": b"# guide",
    "errors/SVC.PIX.010/index.html": b"<h1>010</h1>",
    "assets/javascripts/bundle.0123abcd.min.js": b"1",
    "search/search_index.json": b"{}",
    "llms.txt": b"# pixgate",
    "404.html": b"<h1>404</h1>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / f"{name}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content))
    (tmp_path / "note.txt").write_text("not packed, so not of the site")
    return tmp_path


@pytest.fixture
def site(folder: Path) -> Mapping[str, ReadyMade]:
    return read_site(folder)


def test_the_paths_are_those_of_the_site_s_files(site: Mapping[str, ReadyMade]):
    """No path is a file's name that is looked up: nothing beside the files can be reached."""
    assert set(site) == {
        "/docs",
        "/docs/",
        "/docs/partner-guide",
        "/docs/partner-guide/",
        "/docs/partner-guide.md",
        "/docs/errors/SVC.PIX.010",
        "/docs/errors/SVC.PIX.010/",
        "/docs/assets/javascripts/bundle.0123abcd.min.js",
        "/docs/search/search_index.json",
        "/docs/llms.txt",
        "/llms.txt",
    }


def test_a_folder_that_is_absent_is_an_empty_site(tmp_path: Path):
    assert read_site(tmp_path / "absent") == absent_pages(tmp_path / "absent") == {}


def test_the_page_of_unknown_addresses_is_a_404_that_is_not_cached(folder: Path):
    reply = absent_pages(folder)["/docs/"].reply("")

    assert (reply.status, reply.body) == (404, b"<h1>404</h1>")
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_page_is_sent_compressed_to_clients_that_accept_gzip(site: Mapping[str, ReadyMade]):
    packed, plain = (site["/docs/partner-guide/"].reply(each) for each in ("gzip", ""))

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body or b"") == plain.body == b"<h1>guide</h1>"
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/docs/", "text/html; charset=utf-8"),
        ("/docs/partner-guide.md", "text/markdown; charset=utf-8"),
        ("/docs/assets/javascripts/bundle.0123abcd.min.js", "text/javascript; charset=utf-8"),
        ("/docs/search/search_index.json", "application/json; charset=utf-8"),
        ("/llms.txt", "text/plain; charset=utf-8"),
    ],
)
def test_a_file_has_its_content_type(site: Mapping[str, ReadyMade], path: str, kind: str):
    headers = site[path].reply("").headers

    assert headers["Content-Type"] == kind
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_only_names_with_a_digest_are_cached_for_long(site: Mapping[str, ReadyMade]):
    bundle = site["/docs/assets/javascripts/bundle.0123abcd.min.js"].reply("").headers
    page = site["/docs/errors/SVC.PIX.010/"].reply("").headers

    assert bundle["Cache-Control"] == "public, max-age=31536000, immutable"
    assert page["Cache-Control"] == "public, max-age=300"


def test_no_script_runs_but_the_site_s_own(site: Mapping[str, ReadyMade]):
    policy = site["/docs/"].reply("").headers["Content-Security-Policy"]

    rules = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["worker-src"] == rules["connect-src"] == "'self'"
    assert "http" not in policy


def test_the_path_of_a_page_without_its_slash_is_a_redirect(site: Mapping[str, ReadyMade]):
    reply = site["/docs/errors/SVC.PIX.010"].reply("")

    assert (reply.status, reply.headers["Location"]) == (308, "/docs/errors/SVC.PIX.010/")


def test_a_code_without_a_page_has_no_link():
    links = error_links(["/docs/errors/SVC.PIX.010/"], errors.CATALOGUE)

    assert links == {"SVC.PIX.010": '</docs/errors/SVC.PIX.010/>; rel="help"'}
