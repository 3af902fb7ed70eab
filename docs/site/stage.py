"""
The pages of the documentation site, as MkDocs reads them: `python docs/site/stage.py FOLDER`.

Pages of `docs`, READMEs of adapters, one page for each error code and for each OpenAPI document;
beside them the same pages as Markdown for readers, the index for programs, and MkDocs' navigation.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import code_pages
import postman
import programs
import reference
from contents import COLLECTION, DOCUMENTS, ENGLISH, HOME, LEFT_OUT, PLACES, SECTIONS
from links import linked

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Sandbox, Settings
from gateway.http.documents import openapi_pages
from gateway.http.openapi.examples import DAY

ROOT: Final = Path(__file__).parents[2]


def write(folder: Path) -> None:
    """Write everything that the site is made of into ``folder``, which is replaced."""
    missing = {path.relative_to(ROOT).as_posix() for path in _candidates()} - set(PLACES)
    if missing:
        sys.exit(f"enter them in docs/site/contents.py: {', '.join(sorted(missing))}")
    shutil.rmtree(folder, ignore_errors=True)
    source, markdown = folder / "source", folder / "markdown"
    put_source, put_markdown = _putting(source), _putting(markdown)
    described = _documents()
    titles: dict[str, str] = {}
    for path, place in PLACES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        titles[place.published] = text.partition("\n")[0].removeprefix("# ")
        for put, name, as_html in (
            (put_source, f"{place.language}/{place.name}", True),
            (put_markdown, place.published, False),
        ):
            made = linked(text, Path(path), place, as_html=as_html)
            put(name, code_pages.with_links(made) if place.name == "errors.md" else made)
    for name, text in (*code_pages.pages(described), *reference.pages(described)):
        titles[name] = text.partition("\n")[0].removeprefix("# ")
        put_source(f"{ENGLISH}/{name}", text)
        put_markdown(name, text)
    for name, document in described.items():
        put_source(f"{ENGLISH}/reference/{name}.openapi.json", _json(document))
    collection = postman.collection(described["banking"])
    put_source(f"{ENGLISH}/reference/{COLLECTION}", _json(collection))
    put_markdown("llms.txt", programs.index(titles))
    shutil.copytree(ROOT / "docs/screens", source / ENGLISH / "screens")
    put_source("assets/stylesheets/extra.css", (ROOT / "docs/site/extra.css").read_text())
    _putting(folder)("mkdocs.yml", _json(_configuration(folder)))


def _candidates() -> Iterator[Path]:
    """Return the pages of `docs` that the site is to have."""
    for path in (ROOT / "docs").rglob("*.md"):
        if path.parent.name not in {"adr", "old"} and path.name not in LEFT_OUT:
            yield path


def _documents() -> Mapping[str, Any]:
    """Return the OpenAPI documents by the name of their page; their server is no real one."""
    served = openapi_pages(described_surfaces(Settings(sandbox=Sandbox(open=True))), lambda: DAY)
    return {name: json.loads(served[path].body) for name, path in DOCUMENTS.items()}


def _putting(folder: Path) -> Callable[[str, str], None]:
    def put(name: str, text: str) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

    return put


def _configuration(folder: Path) -> Mapping[str, Any]:
    """Add to `mkdocs.yml` what depends on the folder, and the navigation; JSON is YAML."""
    navigation: Sequence[Any] = [
        *HOME,
        *({section: list(pages)} for section, pages in SECTIONS.items()),
    ]
    here = Path(__file__).parent
    return {
        "INHERIT": str(here / "mkdocs.yml"),
        "docs_dir": "source",
        "site_dir": str(folder.resolve().parent / "site"),
        "hooks": [str(here / "hooks.py")],
        "nav": navigation,
    }


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
