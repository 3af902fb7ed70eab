"""Templates, rendered in a language; loaded when somebody first looks at a page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from aiohttp import web

from gateway.domain.kernel.money import Sum
from gateway.http.panel.pages import formats, refusals
from gateway.http.panel.pages.visit import Language, address
from gateway.http.panel.pages.words import words_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

FOLDER: Final = Path(__file__).parents[3] / "panel" / "templates"

_FILTERS: Final[Mapping[str, Callable[..., object]]] = {
    "money_text": formats.money,
    "is_negative": formats.is_negative,
    "centavos": Sum,
    "is_nonzero": formats.is_nonzero,
    "number": formats.number,
    "percent": formats.percent,
    "seconds": formats.seconds,
    "local": formats.local,
    "universal": formats.universal,
    "machine": formats.machine,
    "tax_number": formats.tax_number,
    "browser": formats.browser,
    "visible": formats.visible,
    "visible_values": formats.visible_values,
    "milliseconds": formats.milliseconds,
    "told_amount": formats.told_amount,
    "wrong": refusals.wrong,
    "means": refusals.means,
    "epoch_ms": formats.epoch_ms,
    "time_left": formats.time_left,
    "days_left": formats.days_left,
}


class Templates:
    """
    The templates of every language.

    Loading takes half a second of one core, so it happens once, in a thread, when a
    page is first asked for: a gateway whose panel nobody opens does not pay for it.
    """

    def __init__(self, static: Callable[[str], str]) -> None:
        """Write addresses of static files by ``static``."""
        self._static = static
        self._loaded: dict[Language, Environment] = {}
        self._loading = asyncio.Lock()

    @property
    def is_loaded(self) -> bool:
        """Say whether ``render`` can be called."""
        return bool(self._loaded)

    async def loaded(self) -> None:
        """Wait until ``render`` can be called."""
        async with self._loading:
            if not self._loaded:
                self._loaded = await asyncio.to_thread(self._load)

    def render(self, template: str, language: Language, data: Mapping[str, object]) -> bytes:
        """Write a page; a lone surrogate, which no page may hold, becomes a question mark."""
        text = self._loaded[language].get_template(template).render(data)
        return text.encode("utf-8", "replace")

    def _load(self) -> dict[Language, Environment]:
        """Make the environment of each language; they share compiled templates."""
        return {language: self._environment(language) for language in Language}

    def _environment(self, language: Language) -> Environment:
        """Make an environment whose words are those of a language."""
        import aiohttp_jinja2  # noqa: PLC0415 - half a second, see the class
        from jinja2 import FileSystemLoader, StrictUndefined, pass_context  # noqa: PLC0415

        from gateway.http.panel.pages.compilation import compile_with_words  # noqa: PLC0415

        made = aiohttp_jinja2.setup(
            web.Application(),
            loader=FileSystemLoader(FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            extensions=["jinja2.ext.i18n"],
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            default_helpers=False,
        )
        words = words_of(language)
        made.install_gettext_translations(words, newstyle=True)  # type: ignore[attr-defined]
        plural = cast("Callable[..., str]", made.globals["ngettext"])

        @pass_context
        def counted(context: Context, one: str, many: str, count: int) -> str:
            """Write a count with its noun: ``1.234 payouts``."""
            return plural(context, one, many, count, num=formats.number(count))

        made.globals["ngettext"] = counted
        made.filters.update(_FILTERS)
        made.globals.update(static=self._static, address=address, language=language)
        compile_with_words(made, words.gettext, self._static)
        return made
