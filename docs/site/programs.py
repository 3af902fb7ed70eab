"""The index of the site for programs, `llms.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from contents import PORTUGUESE, SECTIONS, TRANSLATED

_PREFIX: Final = "/docs/"
_SUMMARY: Final = (
    "> API gateway and backend-for-frontend in front of Brazilian PIX banks: balances, statements,"
    " charges and payouts for partners' servers. Every page is Markdown at the address below;"
    " with a slash in place of `.md` it is HTML."
)


def index(titles: Mapping[str, str]) -> str:
    """Write `llms.txt`: every page as Markdown, by section."""
    parts = ["# pixgate", _SUMMARY]
    for section, pages in SECTIONS.items():
        rows = [f"- [{titles[name]}]({_PREFIX}{name})" for name in pages]
        parts += [f"## {section}", "\n".join(rows)]
    translated = [
        f"- [{titles[f'{PORTUGUESE}/{name}']}]({_PREFIX}{PORTUGUESE}/{name})" for name in TRANSLATED
    ]
    parts += ["## Em português", "\n".join(translated)]
    parts += ["## Error codes", f"- One page for each code: {_PREFIX}errors/CODE.md"]
    return "\n\n".join(parts) + "\n"
