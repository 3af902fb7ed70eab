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

_Source = tuple[str, str, Callable[[], bool]]
"""As ``jinja2.BaseLoader.get_source`` returns it: the text, its file, whether it is of today."""

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


class Uncompiled(Exception):
    """A page needs a template that is not compiled yet, and other calls would wait for that."""


class Templates:
    """
    The templates of every language.

    Loading takes half a second of one core, so it happens once, in a thread, when a
    page is first asked for: a gateway whose panel nobody opens does not pay for it.
    All that refusals need is compiled by then. Each other template is compiled in a thread
    when it is first shown: together they take four seconds, and one page up to a third of one.
    Jinja locks what both threads share, its cache.
    """

    def __init__(self, static: Callable[[str], str]) -> None:
        """Write addresses of static files by ``static``."""
        self._static = static
        self._loaded: dict[Language, Environment] = {}
        self._loading = asyncio.Lock()

    async def loaded(self) -> None:
        """Wait until ``render`` can be called."""
        if not self._loaded:
            async with self._loading:
                self._loaded = self._loaded or await asyncio.to_thread(self._load)

    async def render(self, template: str, language: Language, data: Mapping[str, object]) -> bytes:
        """Write a page, in a thread where a template is first compiled for it."""
        try:
            return self.render_compiled(template, language, data)
        except Uncompiled:
            async with self._loading:
                return await asyncio.to_thread(self.render_compiled, template, language, data)

    def render_compiled(
        self, template: str, language: Language, data: Mapping[str, object]
    ) -> bytes:
        """
        Write a page; a lone surrogate, which no page may hold, becomes a question mark.

        Raises:
            Uncompiled: a template is still to be loaded or compiled, and this is the event loop.
        """
        if not self._loaded:
            raise Uncompiled
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

        class Apart(FileSystemLoader):
            """Reads what is compiled then; not in the event loop."""

            def get_source(self, environment: Environment, template: str) -> _Source:
                if _in_loop():
                    raise Uncompiled
                return super().get_source(environment, template)

        made = aiohttp_jinja2.setup(
            web.Application(),
            loader=Apart(FOLDER),
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
        for name in made.list_templates(filter_func=lambda name: "/" not in name):
            made.get_template(name)
        return made


def _in_loop() -> bool:
    """Say whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
