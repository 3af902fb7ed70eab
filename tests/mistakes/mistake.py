"""A mistake that may be planted, and what is left of a file with it."""

from __future__ import annotations

from dataclasses import dataclass


class NotPlantable(Exception):
    """The text is not in the file exactly once; the row must follow the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """
    One change of the product that breaks one promise.

    Attributes:
        name: Short, unique; `make mistakes ONLY=name` runs it alone.
        promise: What no longer holds, as a rule that does.
        source: Where the promise is made: a part of the contract, a decision, a page.
        file: The product's file, relative to the root.
        right: The text that is replaced; it stands in the file exactly once.
        wrong: What a tired engineer would write in its place.
        tests: Files or functions of which at least one must fail.
    """

    name: str
    promise: str
    source: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]

    def planted_in(self, text: str) -> str:
        """
        Return the file's text with the mistake in it.

        Raises:
            NotPlantable: the right text stands there never or several times.
        """
        if text.count(self.right) != 1:
            problem = f"{self.name}: {text.count(self.right)} times in {self.file}: {self.right!r}"
            raise NotPlantable(problem)
        return text.replace(self.right, self.wrong)
