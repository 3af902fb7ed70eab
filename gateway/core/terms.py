"""Search terms of lists: an amount, or a part of a name, a reference or an id."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.money import MAX_CENTAVOS, Money, Sum

_BRAZILIAN: Final = r"\d{1,3}(?:\.\d{3}){1,4}(?:,\d\d)?|\d{1,13},\d\d"
_ENGLISH: Final = r"\d{1,3}(?:,\d{3}){1,4}\.\d\d|\d{1,13}\.\d\d"
_AMOUNT: Final = re.compile(
    rf"-?\s*(R\$)?\s*(?:({_BRAZILIAN})|({_ENGLISH})|(\d{{1,13}}))", re.ASCII
)


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """
    A search term.

    Attributes:
        text: Folded; empty fits everything. Its words need not touch.
        centavos: The amount that it is; None for another text.
    """

    text: str
    centavos: int | None

    @property
    def words(self) -> Sequence[str]:
        """Words that must all occur, in any order; none matches everything."""
        return self.text.split()

    def fits(self, amounts: Iterable[Money | Sum], *texts: str) -> bool:
        """Return whether an amount is the term's, or one of the texts holds every word."""
        if any(each.centavos == self.centavos for each in amounts):
            return True
        return not self.words or any(self._held(folded(each)) for each in texts)

    def _held(self, text: str) -> bool:
        return all(word in text for word in self.words)


def search_term(text: str) -> SearchTerm:
    """
    Parse the typed term.

    ``203,81``, ``203.81`` and ``R$ 1.234,56`` are amounts; digits alone are one behind ``R$``,
    and ``1.234`` is not.
    """
    return SearchTerm(folded(text.strip()), _centavos(text.strip().upper()))


def folded(text: str) -> str:
    """Return a text without accents, in lower case."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in plain if not unicodedata.combining(each))


def _centavos(text: str) -> int | None:
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    marked, brazilian, english, whole = found.groups()
    if brazilian and not (marked or "," in brazilian):
        return None
    if whole and not marked:
        return None
    number = brazilian or english or whole
    digits = int(re.sub(r"\D", "", number))
    is_exact = bool(english) or "," in (brazilian or "")
    centavos = digits if is_exact else digits * 100
    return centavos if centavos <= MAX_CENTAVOS else None
