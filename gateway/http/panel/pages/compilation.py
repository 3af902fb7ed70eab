"""
Compilation of templates: words and static addresses are inlined.

A page of fifty rows would look up a thousand words and as many addresses of icons, each by three
calls. Every language has its own templates, so words and static addresses are known at compile
time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jinja2 import Environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Call, Const, Expr, Name, Template, TemplateData
from jinja2.runtime import Context, Macro
from jinja2.visitor import NodeTransformer

Word = Callable[[str], str]

_OF_JINJA: Final = ("_block_vars", "_loop_vars")
"""What compiled templates pass along for functions that want the context; macros do not."""


def compile_with_words(environment: Environment, word: Word, static: Word) -> None:
    """Inline words translated by ``word``, and addresses written by ``static``."""

    class WithWords(CodeGenerator):
        def visit_Template(  # noqa: N802 - the visitor's name for it
            self, node: Template, frame: Frame | None = None
        ) -> None:
            known = _WrittenIn(word, static).visit(node)
            super().visit_Template(known, frame)

    environment.code_generator_class = WithWords
    environment.context_class = QuickCalls


class _WrittenIn(NodeTransformer):
    """Replaces ``_('…')`` and ``static('…')`` by their results."""

    def __init__(self, word: Word, static: Word) -> None:
        self._word, self._static = word, static

    def visit_Call(self, node: Call) -> Expr:  # noqa: N802 - the visitor's name for it
        """Replace a call with its text; a call with something else in it stays."""
        self.generic_visit(node)
        given = _only_text(node)
        if given is None or not isinstance(node.node, Name):
            return node
        if node.node.name == "static":
            return Const(self._static(given), lineno=node.lineno)
        if node.node.name == "_":
            return TemplateData(self._word(given) % {}, lineno=node.lineno)
        return node


def _only_text(node: Call) -> str | None:
    """Return the single text argument of a call; None for other arguments."""
    if len(node.args) != 1 or node.kwargs or node.dyn_args or node.dyn_kwargs:
        return None
    only = node.args[0]
    return only.value if isinstance(only, Const) and isinstance(only.value, str) else None


class QuickCalls(Context):
    """Calls macros at once; most calls of a page are of macros."""

    def call(self, called: Callable[..., object], /, *args: object, **kwargs: object) -> object:
        """Call something from a template."""
        if type(called) is not Macro:
            return super().call(called, *args, **kwargs)
        for name in _OF_JINJA:
            kwargs.pop(name, None)
        return called(self.eval_ctx, *args, **kwargs)
