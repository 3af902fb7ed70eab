"""Called by MkDocs for each page: what the theme and the plugin of languages do otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, Final

from mkdocs.utils import get_relative_url

_HOME: Final = "/docs/"
"""Where the gateway serves the site; only the page of unknown addresses has to know."""
_ABSENT: Final = "404.html"
_THEIRS: Final = "<h1>404 - Not found</h1>"
_NOT_FOUND: Final = (
    '<h1>404</h1><p lang="en">There is no such page. Look at the'
    f' <a href="{_HOME}">documentation</a> or the list of'
    f' <a href="{_HOME}errors/">error codes</a>.</p>'
    '<p lang="pt-BR">Esta página não existe. Veja a'
    f' <a href="{_HOME}pt/">documentação</a> ou a lista de'
    f' <a href="{_HOME}pt/errors/">códigos de erro</a>.</p>'
)
_INLINE: Final = re.compile(r"<script>(.+?)</script>", re.DOTALL)
_SCRIPTS: Final = "assets/javascripts"
_ALTERNATE: Final = re.compile(r'\s*<link rel="alternate"[^>]*>')
_SEARCH: Final = 'data-md-component="search" role="dialog"'
_SEARCH_NAMES: Final = {"en": "Search", "pt-BR": "Busca"}
_ANCHORED: Final = re.compile(r"\]\(([\w./-]+)\.md(#[^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:  # noqa: ANN401 - of MkDocs
    """Lead anchors in an English page to English pages: a translation has other headings."""
    file = page.file
    if file.locale == file.locale_alternate_of:
        return markdown

    def lead(found: re.Match[str]) -> str:
        name = normpath(join(dirname(file.norm_src_uri), found[1]))
        translated = Path(config["docs_dir"]) / file.locale_alternate_of / f"{name}.md"
        if not translated.exists():
            return found[0]
        return f"]({get_relative_url(f'{name}/', page.url)}{found[2]})"

    return _ANCHORED.sub(lead, markdown)


def on_template_context(context: Any, *, template_name: str, **_: Any) -> Any:  # noqa: ANN401 - of MkDocs
    """Lead from the page of unknown addresses by whole paths: it stands at every one of them."""
    if template_name == _ABSENT:
        context["base_url"] = _HOME
    return context


def on_post_template(output: str, *, template_name: str, config: Any) -> str:  # noqa: ANN401 - of MkDocs
    """Say on the page of unknown addresses where to go on, in both languages."""
    if template_name != _ABSENT:
        return output
    return _changed(output.replace(_THEIRS, _NOT_FOUND), config, lambda name: f"{_HOME}{name}")


def on_post_page(output: str, *, page: Any, config: Any) -> str:  # noqa: ANN401 - of MkDocs
    """
    Change the theme's page.

    - Inline scripts become files, loaded at the same place: a content policy can refuse others.
    - Without ``rel=alternate`` the theme's script looks for no sitemap below each page.
    - The dialog of the search has a name.
    """
    return _changed(output, config, lambda name: get_relative_url(name, page.url))


def _changed(output: str, config: Any, address: Callable[[str], str]) -> str:  # noqa: ANN401 - of MkDocs
    def move(found: re.Match[str]) -> str:
        content = found[1].encode()
        name = f"{_SCRIPTS}/inline.{sha256(content).hexdigest()[:8]}.js"
        file = Path(config["site_dir"]) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return f'<script src="{address(name)}"></script>'

    search = f'{_SEARCH} aria-label="{_SEARCH_NAMES[config["theme"]["language"]]}"'
    return _INLINE.sub(move, _ALTERNATE.sub("", output)).replace(_SEARCH, search)
