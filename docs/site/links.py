"""Links between pages of `docs`, as they are on the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

from contents import PLACES, PORTUGUESE, TRANSLATED, Place

_LINK: Final = re.compile(r"(!?)\[([^\[\]]*)\]\((?!https?:|mailto:|/)([^)#\s]*)(#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def linked(text: str, source: Path, place: Place, *, as_html: bool) -> str:
    """Lead links to pages of the site; a link to another file becomes its words."""

    def lead(found: re.Match[str]) -> str:
        is_image, words, path, anchor = found[1], found[2], found[3], found[4] or ""
        if not path:
            return found[0]
        file = Path(posixpath.normpath((source.parent / path).as_posix()))
        if is_image:
            image = posixpath.relpath(f"screens/{file.name}", posixpath.dirname(place.name) or ".")
            return f"![{words}]({image})"
        target = PLACES.get(file.as_posix())
        if target is None:
            return words
        if as_html and place.language == PORTUGUESE and target.name not in TRANSLATED:
            target = Place(PORTUGUESE, target.name)  # the English text, among Portuguese menus
        return f"[{words}]({place.to(target, as_html=as_html)}{anchor})"

    parts = _FENCE.split(text)
    return "".join(part if n % 2 else _LINK.sub(lead, part) for n, part in enumerate(parts))
