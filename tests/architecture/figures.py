"""The size and shape of the product's code, as docs/architecture.md compares it with others'."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from tests.architecture.mirror import excused, found_tests
from tests.world.tree import ROOT, modules

OTHERS = {
    "modules": "– | – | – | – | – | 360",
    "file, largest": "2,543 | 454 | 1,613 | 1,042 | 913 | ≤ 400",
    "file, median": "89 | 52 | 278 | 40 | 54 | ≤ 120",
    "function, 90 of 100": "36 | – | – | 32 | 28 | ≤ 30",
    "comments, reasons below constants": "7.9% | 9.1% | 7.6% | 3.6% | 3.7% | 2–5%",
    "docstrings": "8% | – | – | 20% | 27–37% | 15–27%",
    "return types": "23% | Go | none | 71% | 93–96% | 100%",
    "test at the same path, or excused by name": "71% | 88% | 96% | 86% | by topic | 100%",
    "modules in the largest folder": "– | – | – | – | – | ≤ 12",
}
"""Other projects and our goal: warehouse, oathkeeper, active_merchant, procrastinate, stamina."""
NONE = "– | – | – | – | – | –"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def figures() -> dict[str, str]:
    """Return every figure by its name, as shown on the page."""
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in modules()}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = sorted(len(text.splitlines()) for text in texts.values())
    functions = [each for tree in trees.values() for each in _functions(tree)]
    lengths = sorted((each.end_lineno or 0) - each.lineno + 1 for each in functions)
    filled = sum(1 for text in texts.values() for line in text.splitlines() if line.strip())
    reasons = sum(_lines(_reasons(tree)) for tree in trees.values())
    comments = sum(_comments(text) for text in texts.values()) + reasons
    documented = sum(_lines(_strings(tree)) for tree in trees.values()) - reasons
    typed = sum(each.returns is not None for each in functions if each.name != "__init__")
    named = sum(each.name != "__init__" for each in functions)
    tested = [path for path in modules() if found_tests(path) or excused(path)]
    folders = Counter(path.parent for path in modules())
    return {
        "modules": str(len(lines)),
        "lines": f"{sum(lines):,}",
        "file, median": str(_at(lines, 0.5)),
        "file, largest": str(lines[-1]),
        "function, median": str(_at(lengths, 0.5)),
        "function, 90 of 100": str(_at(lengths, 0.9)),
        "comments, reasons below constants": f"{comments / filled:.1%}",
        "docstrings": f"{documented / filled:.1%}",
        "return types": f"{typed / named:.0%}",
        "test at the same path, or excused by name": f"{len(tested) / len(lines):.0%}",
        "modules in the largest folder": str(max(folders.values())),
    }


def table() -> str:
    """Write our figures beside the goals and those of others, as the page shows them."""
    ours = figures()
    rows = (f"| {name} | {OTHERS.get(name, NONE)} | {value} |" for name, value in ours.items())
    head = "| Point | warehouse | oathkeeper | active_merchant | procrastinate"
    head += " | stamina, structlog | goal | **ours** |"
    return "\n".join([head, "| --- | --- | --- | --- | --- | --- | --- | --- |", *rows])


def _at(numbers: Sequence[int], share: float) -> int:
    return numbers[min(int(len(numbers) * share), len(numbers) - 1)]


def _functions(tree: ast.Module) -> Iterator[Function]:
    return (each for each in ast.walk(tree) if isinstance(each, Function))


def _comments(text: str) -> int:
    """Count the lines with a comment; what is for a linter alone explains nothing."""
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    said = (each for each in found if each.type == tokenize.COMMENT)
    reasons = (each for each in said if not each.string.startswith(("# fmt:", "# type:")))
    return sum(1 for _ in groupby(reasons, key=lambda each: each.start[0]))


def _strings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Find free-standing strings: docstrings, and reasons below an assignment."""
    return (each for each in ast.walk(tree) if isinstance(each, ast.Expr) and _is_text(each))


def _reasons(tree: ast.AST) -> Iterator[ast.Expr]:
    """Find the strings below an assignment, which give the reason for a constant."""
    for each in ast.walk(tree):
        body = each.body if isinstance(each, ast.Module | ast.ClassDef) else []
        for before, below in pairwise(body):
            assigned = isinstance(before, ast.Assign | ast.AnnAssign)
            if assigned and isinstance(below, ast.Expr) and _is_text(below):
                yield below


def _is_text(each: ast.Expr) -> bool:
    return isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)


def _lines(strings: Iterable[ast.Expr]) -> int:
    return sum((each.end_lineno or each.lineno) - each.lineno + 1 for each in strings)
