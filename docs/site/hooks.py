"""Called by MkDocs for each page: what the theme and the plugin of languages do otherwise."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, Final

from mkdocs.utils import get_relative_url

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


def on_post_page(output: str, *, page: Any, config: Any) -> str:  # noqa: ANN401 - of MkDocs
    """
    Change the theme's page.

    - Inline scripts become files, loaded at the same place: a content policy can refuse others.
    - Without ``rel=alternate`` the theme's script looks for no sitemap below each page.
    - The dialog of the search has a name.
    """

    def move(found: re.Match[str]) -> str:
        content = found[1].encode()
        name = f"{_SCRIPTS}/inline.{sha256(content).hexdigest()[:8]}.js"
        file = Path(config["site_dir"]) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return f'<script src="{get_relative_url(name, page.url)}"></script>'

    search = f'{_SEARCH} aria-label="{_SEARCH_NAMES[config["theme"]["language"]]}"'
    return _INLINE.sub(move, _ALTERNATE.sub("", output)).replace(_SEARCH, search)
