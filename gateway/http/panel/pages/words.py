"""
The panel's words: English in templates and code, Portuguese in catalogues.

The English text is the message id, so English is complete by itself; a test holds
the Portuguese catalogues complete. A catalogue is a folder of ``.po`` files, one for
each part of the panel.
"""

from __future__ import annotations

from gettext import NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

from gateway.http.panel.pages.visit import Language

CATALOGUES: Final = Path(__file__).parents[3] / "panel" / "locale"
_FOLDERS: Final = {Language.PORTUGUESE: "pt_BR"}


def _(word: str) -> str:
    return word


def words_of(language: Language) -> NullTranslations:
    """Read the catalogue of a language; takes some 100 ms."""
    # Half a second, which a process that shows no page need not spend.
    from babel.messages.catalog import Catalog  # noqa: PLC0415
    from babel.messages.mofile import write_mo  # noqa: PLC0415
    from babel.messages.pofile import read_po  # noqa: PLC0415
    from babel.support import Translations  # noqa: PLC0415

    folder = _FOLDERS.get(language)
    if folder is None:
        return NullTranslations()
    whole = Catalog(locale=folder)
    # Brazilians write "0 pagamentos"; the locale's own rule makes it singular.
    whole.mime_headers = [("Plural-Forms", "nplurals=2; plural=(n != 1);")]
    for file in sorted((CATALOGUES / folder).glob("*.po")):
        with file.open(encoding="utf-8") as text:
            for message in read_po(text, locale=folder):
                if message.id:
                    whole[message.id] = message
    compiled = BytesIO()
    write_mo(compiled, whole)
    compiled.seek(0)
    return Translations(compiled)
