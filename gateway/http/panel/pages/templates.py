"""Templates by language; loaded on the first page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from aiohttp import web

from gateway.core.money import Sum
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
    "milliseconds": formats.milliseconds,
    "detail_amount": formats.detail_amount,
    "wrong": refusals.wrong,
    "means": refusals.means,
    "why": refusals.why,
    "epoch_ms": formats.epoch_ms,
    "time_left": formats.time_left,
    "days_left": formats.days_left,
}


_KEYS: Final[Mapping[Language, web.AppKey[Environment]]] = {
    language: web.AppKey(f"templates_{language.name.lower()}") for language in Language
}


class Uncompiled(Exception):
    """A page needs an uncompiled template, whose compilation would block other calls."""


class Templates:
    """
    The templates of every language, on the application that serves their pages.

    Loading takes half a second of one core, so it happens once, in a thread, with the first page: a
    gateway whose panel is not used does not load any. All that refusals need is compiled by then.
    Each other template is compiled in a thread when it is first shown: together they take four
    seconds, and one page up to a third of one. Jinja locks its cache, which both threads share.
    """

    def __init__(self, static: Callable[[str], str]) -> None:
        """Write addresses of static files by ``static``."""
        self._static = static
        self._application = web.Application()  # until ``set_up``
        self._is_loaded = False
        self._loading = asyncio.Lock()

    def set_up(self, application: web.Application) -> None:
        """Set aiohttp-jinja2 up on an application that is not started yet: once per language."""
        import aiohttp_jinja2  # noqa: PLC0415 - the extra `panel`
        from jinja2 import FileSystemLoader, StrictUndefined  # noqa: PLC0415

        class Apart(FileSystemLoader):
            """Loads templates outside of the event loop only."""

            def get_source(self, environment: Environment, template: str) -> _Source:
                if _in_loop():
                    raise Uncompiled
                return super().get_source(environment, template)

        self._application = application
        for key in _KEYS.values():
            aiohttp_jinja2.setup(
                application,
                app_key=key,
                loader=Apart(FOLDER),
                autoescape=True,
                undefined=StrictUndefined,
                extensions=["jinja2.ext.i18n"],
                trim_blocks=True,
                lstrip_blocks=True,
                auto_reload=False,
                default_helpers=False,
            )

    async def loaded(self) -> None:
        """Wait until ``render`` can be called."""
        if not self._is_loaded:
            async with self._loading:
                if not self._is_loaded:
                    await asyncio.to_thread(self._load)

    async def render(self, template: str, language: Language, data: Mapping[str, object]) -> bytes:
        """Render a page, in a thread if a template must be compiled first."""
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
        if not self._is_loaded:
            raise Uncompiled
        text = self.environment(language).get_template(template).render(data)
        return text.encode("utf-8", "replace")

    def environment(self, language: Language) -> Environment:
        """
        Return the environment of a language, as aiohttp-jinja2 keeps it.

        Raises:
            RuntimeError: ``set_up`` was not called.
        """
        import aiohttp_jinja2  # noqa: PLC0415 - the extra `panel`

        return aiohttp_jinja2.get_env(self._application, app_key=_KEYS[language])

    def _load(self) -> None:
        """Give each environment the words of its language, and compile the refusals' templates."""
        for language in Language:
            self._teach(self.environment(language), language)
        self._is_loaded = True

    def _teach(self, made: Environment, language: Language) -> None:
        from jinja2 import pass_context  # noqa: PLC0415 - the extra `panel`

        from gateway.http.panel.pages.compilation import compile_with_words  # noqa: PLC0415

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


def _in_loop() -> bool:
    """Return whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
