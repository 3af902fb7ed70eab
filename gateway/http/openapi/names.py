"""The names of components: a promise to generated clients, whatever our classes are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_PROMISED: Final = MappingProxyType(
    {
        "EntryDocument": "StatementEntry",
        "IncomingDocument": "IncomingPayment",
        "KeyBody": "PixKeyRequest",
        "Meter": "PageMeta",
        "RequestDocument": "LoggedRequest",
        "RequestList": "LoggedRequestList",
        "Role": "RoleName",
        "Total": "ListMeta",
        "TransactionDocument": "PixTransaction",
    }
)
"""Where the rule alone would give a word that says nothing outside."""

_ENDINGS: Final = {"Document": "", "Body": "Request"}


def public_name(component: str) -> str:
    """Return the name of a shape by its class: a document's own word, a body's as a request."""
    word = component.rpartition(".")[2]
    if word in _PROMISED:
        return _PROMISED[word]
    for ending, public in _ENDINGS.items():
        if word.endswith(ending) and word != ending:
            return word.removesuffix(ending) + public
    return word


def public_names(components: Iterable[str]) -> Mapping[str, str]:
    """
    Return the public name of each component.

    Raises:
        ValueError: Two components would have one name; rename one of the classes.
    """
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    for component in components:
        name = public_name(component)
        if name in taken:
            problem = f"{taken[name]} and {component} would both be named {name}"
            raise ValueError(problem)
        taken[name] = component
        names[component] = name
    return names
