"""Styles, scripts, fonts and icons: their addresses, their answers, and how large they may be."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.http.panel.static import OWN, WORKER, StaticFiles, read_static
from gateway.panel.vendor import FOLDER, vendor_files
from tests.servers.demand import absent
from tests.world.gateway.listener_client import on_stage, route, surface

KB = 1024
PAINT = re.compile(r"#[0-9a-fA-F]{3,8}\b|\brgb\(")


@pytest.fixture
def own() -> StaticFiles:
    """Our files alone, as on a machine without npm."""
    return read_static(OWN, Path("/nowhere"))


@pytest.fixture
def whole() -> StaticFiles:
    if not FOLDER.is_dir():
        absent("browser", "no scripts and fonts for the panel: run `make panel-files`")
    return read_static()


def test_an_address_of_a_static_file_changes_with_any_content():
    """A style sheet names its fonts relatively, so all files share one digest."""
    first = StaticFiles({"a.css": b"1", "b.js": b"2"}, frozenset({"a.css", "b.js"}))
    second = StaticFiles({"a.css": b"1", "b.js": b"3"}, frozenset({"a.css", "b.js"}))

    assert first.address("a.css") != second.address("a.css")
    assert re.fullmatch(r"/panel/static/[0-9a-f]{16}/a\.css", first.address("a.css"))


def test_an_unknown_file_name_raises(own: StaticFiles):
    with pytest.raises(KeyError):
        own.address("htmx.js")


def test_our_static_files_are_served_without_the_vendor_files(own: StaticFiles):
    """Pages ask ``address`` which files exist; an empty answer means none."""
    absent_ones = [file.name for file in vendor_files() if file.is_served]

    assert [own.address(name) for name in (*absent_ones, "fonts.css")] == [""] * (
        len(absent_ones) + 1
    )
    assert all(own.address(name) for name in ("tokens.css", "panel.css", "panel.js", "icons.svg"))


def test_every_static_file_has_an_address_with_the_vendor_files(whole: StaticFiles):
    assert all(whole.address(name) for name in whole.known)


def test_a_vendor_file_with_other_content_is_not_served(tmp_path: Path):
    (tmp_path / "htmx.min.js").write_bytes(b"alert(1)")

    assert read_static(OWN, tmp_path).address("htmx.min.js") == ""


def test_licence_files_are_not_served(whole: StaticFiles):
    assert not [path for path in whole.pages if path.endswith(".txt")]


def test_static_files_are_cacheable_for_a_year(own: StaticFiles):
    for path, page in own.pages.items():
        answer = page.reply("")
        if path == WORKER:  # its address never changes
            assert answer.headers["Cache-Control"] == "no-cache"
            continue

        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tokens.css", "text/css; charset=utf-8"),
        ("panel.js", "text/javascript; charset=utf-8"),
        ("icons.svg", "image/svg+xml"),
        ("plex-sans.woff2", "font/woff2"),
    ],
)
def test_a_file_has_its_content_type(name: str, kind: str, whole: StaticFiles):
    assert whole.pages[whole.address(name)].content_type == kind


@pytest.mark.parametrize(
    ("names", "most"),
    [
        (["fonts.css", "tokens.css", "panel.css"], 30 * KB),
        (["htmx.min.js", "panel.js"], 20 * KB),
        (["icons.svg"], 8 * KB),
        (["plex-sans.woff2", "plex-mono-400.woff2", "plex-mono-500.woff2"], 80 * KB),
    ],
    ids=["styles", "scripts", "icons", "fonts"],
)
def test_the_files_of_a_page_are_small(names: Sequence[str], most: int, whole: StaticFiles):
    """As sent, compressed."""
    pages = whole.pages

    assert sum(len(pages[whole.address(name)].reply("gzip").body) for name in names) <= most


def test_our_own_scripts_are_small(own: StaticFiles):
    """Without minification, so that they can be read."""
    assert len(own.files["panel.js"]) <= 12 * KB
    assert len(own.files["passkeys.js"]) <= 3 * KB


def test_a_style_sheet_refers_only_to_existing_files(whole: StaticFiles):
    sheets = [name for name in whole.files if name.endswith(".css") and "swagger" not in name]
    named = {
        found
        for sheet in sheets
        for found in re.findall(rb"url\(['\"]?([^'\")]+)", whole.files[sheet])
    }

    assert named <= {name.encode() for name in whole.files}


def test_colours_are_defined_in_the_tokens_alone(own: StaticFiles):
    """The dark theme would miss a second place. Pictures and paper have their own colours."""
    rest = re.sub(r"@media print \{.*", "", own.files["panel.css"].decode(), flags=re.DOTALL)
    lines = [line for line in rest.splitlines() if PAINT.search(line)]

    assert [line for line in lines if not line.startswith(".door .art")] == []


def test_both_dark_themes_are_identical(own: StaticFiles):
    """The system's and the user's choice are written twice, because no selector covers both."""
    text = own.files["tokens.css"].decode()
    declared = [
        set(re.findall(r"--[\w-]+: [^;]+", block))
        for block in re.findall(r":root(?:\[data-theme=\"dark\"\]|:not\([^)]+\)) \{([^}]*)\}", text)
    ]
    dark = [block for block in declared if block]

    assert len(dark) == 2
    assert dark[0] == dark[1]


def test_each_icon_is_in_the_sprite_once(own: StaticFiles):
    names = re.findall(r'<symbol id="([\w-]+)"', own.files["icons.svg"].decode())

    assert len(names) == len(set(names)) >= 60


@pytest.mark.parametrize("name", ["panel.js", "passkeys.js"])
def test_a_script_contains_no_text_for_users(name: str, own: StaticFiles):
    """Texts come from the page in its language: no string of the script has two words."""
    code = re.sub(r"^\s*//.*$|\s// .*$", "", own.files[name].decode(), flags=re.MULTILINE)
    strings = re.findall(r'"([^"\n]*)"', code)

    spoken = [text for text in strings if re.search(r"[a-zà-ú]{3,} [a-zà-ú]{3,}", text)]
    assert [text for text in spoken if not re.search(r"[\[\]().,#:]", text)] == []


def test_compression_keeps_the_content(own: StaticFiles):
    page = own.pages[own.address("panel.css")]

    answer = page.reply("br, gzip;q=0.8")

    assert gzip.decompress(answer.body) == page.body
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"] == "Accept-Encoding"


async def test_a_missing_file_is_404_and_not_cached(own: StaticFiles):
    """A page of the previous version has another digest: the browser must not cache the 404."""
    async with on_stage(surface(route()), pages=own.pages) as client:
        found = await client.ask("GET", own.address("panel.css"))
        others = [
            await client.ask("GET", path)
            for path in (
                "/panel/static/0123456789abcdef/panel.css",
                own.address("panel.css") + "x",
                own.address("panel.css").replace("panel.css", "../vendor.toml"),
                "/panel/static/",
            )
        ]

    assert found[0] == 200
    assert [each[0] for each in others] == [404] * 4
    assert {each[1]["Cache-Control"] for each in others} == {"no-store"}
