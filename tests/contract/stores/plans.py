"""Asks a database how it would do a statement, with the parameters that it would be sent."""

from typing import Any

from sqlalchemy import Select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement, Executable


class Explained(Executable, ClauseElement):
    """The plan of a statement, as rows of text."""

    inherit_cache = False

    def __init__(self, statement: Select[Any]) -> None:
        self.statement = statement


@compiles(Explained)
def _explain(asked: Explained, compiler: SQLCompiler, **given: object) -> str:
    word = "EXPLAIN" if compiler.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
    return f"{word} {compiler.process(asked.statement, **given)}"
