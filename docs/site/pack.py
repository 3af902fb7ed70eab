"""
The built site, as the gateway and the wheel have it: `pack.py MARKDOWN BUILT PACKED`.

Every page as Markdown is put beside its HTML in BUILT, the files that nobody asks for are removed,
and each file is compressed into PACKED, which is replaced.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from pathlib import Path
from typing import Final

_UNUSED: Final = ("sitemap.xml", "sitemap.xml.gz", "pt/404.html", "assets/**/*.map")
"""For a site with a server of its own, and for developers of the theme's scripts."""
_WORDS: Final = "assets/javascripts/lunr"
_SEARCHED: Final = ("lunr.pt.min.js", "lunr.multi.min.js", "lunr.stemmer.support.min.js")
"""Of the search's files for single languages; English is in its own script."""
_LEVEL: Final = 9


def pack(markdown: Path, built: Path, packed: Path) -> None:
    """Complete ``built``, and compress it into ``packed``; the same bytes each time."""
    shutil.copytree(markdown, built, dirs_exist_ok=True)
    unused = [path for pattern in _UNUSED for path in built.glob(pattern)]
    words = [path for path in (built / _WORDS).rglob("*.js") if path.name not in _SEARCHED]
    for path in (*unused, *words):
        path.unlink()
    shutil.rmtree(packed, ignore_errors=True)
    for path in sorted(built.rglob("*")):
        if path.is_file():
            target = packed / f"{path.relative_to(built)}.gz"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(gzip.compress(path.read_bytes(), _LEVEL, mtime=0))


if __name__ == "__main__":
    pack(*map(Path, sys.argv[1:]))
