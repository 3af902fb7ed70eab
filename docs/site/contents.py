"""The pages of the site: their names, files and sections; what is not a page of `docs` too."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ENGLISH, PORTUGUESE = "en", "pt"
COLLECTION: Final = "pixgate.postman_collection.json"
"""Beside the pages of the API reference."""
DOCUMENTS: Final = {
    "banking": "/openapi.json",
    "events": "/events/v1/openapi.json",
    "sandbox": "/sandbox/v1/openapi.json",
    "identity": "/iam/v1/openapi.json",
    "backoffice": "/backoffice/v1/openapi.json",
}
"""Of each page of the API reference, where a gateway serves its OpenAPI document."""
_REFERENCE: Final = ("reference/index.md", *(f"reference/{name}.md" for name in DOCUMENTS))


def _docs(*names: str) -> dict[str, str]:
    return {f"{name}.md": f"docs/{name}.md" for name in names}


SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Partners": {
        **_docs("partner-guide", "events", "errors"),
        "clients/python.md": "clients/python/README.md",
        "clients/typescript.md": "clients/typescript/README.md",
        "adapters/sandbox.md": "provider_adapters/sandbox/README.md",
        **_docs("contract", "decisions", "versioning", "glossary"),
        "changelog.md": "CHANGELOG.md",
    },
    "API reference": dict.fromkeys(_REFERENCE, ""),
    "Operations": {
        **_docs("operations", "database", "archive", "cells", "keys", "controls", "log"),
        **_docs("metrics", "runbook", "upgrading", "people", "single-sign-on", "panel"),
        **_docs("notifications", "batches", "outflow"),
        **_docs("reliability", "performance", "scale", "known-limits"),
        "security.md": "SECURITY.md",
    },
    "Adapters": {
        **_docs("providers/matrix", "providers/writing-an-adapter", "providers/capabilities"),
        **_docs("providers/outcomes", "providers/accounts", "providers/callbacks"),
        **_docs("providers/testing", "providers/verification", "providers/simulators"),
        **_docs("providers/stability"),
        **{
            f"adapters/{name}.md": f"provider_adapters/{name}/README.md"
            for name in ("apipix", "asaas", "starkbank", "woovi")
        },
    },
}
"""The navigation: pages of each section by name, with the file of each; none if it is made here."""
HOME: Final = {"index.md": "docs/site/index.md"}
PAGES: Final = HOME | {name: path for each in SECTIONS.values() for name, path in each.items()}
TRANSLATED: Final = {
    "index.md": "docs/site/inicio.md",
    "partner-guide.md": "docs/pt/guia-do-parceiro.md",
    "events.md": "docs/pt/eventos.md",
}
"""The Portuguese ones; of every other page the English one is shown."""
LEFT_OUT: Final = frozenset({"README.md", "architecture.md", "dependencies.md"})
"""Pages for developers, who have the checkout, as are the records of decisions."""


@dataclass(frozen=True, slots=True)
class Place:
    """A page of one language."""

    language: str
    name: str

    def to(self, target: Place, *, as_html: bool) -> str:
        """
        Return the address of another page, as links write it.

        MkDocs knows the pages of one language alone: others it leads to as HTML.
        """
        if target.language == self.language or not as_html:
            return posixpath.relpath(target.published, posixpath.dirname(self.published) or ".")
        here = self.published.removesuffix("index.md").removesuffix(".md") or "."
        there = target.published.removesuffix("index.md").removesuffix(".md") or "."
        return f"{posixpath.relpath(there, here)}/"

    @property
    def published(self) -> str:
        """The file below the site's root, as Markdown."""
        return self.name if self.language == ENGLISH else f"{self.language}/{self.name}"


PLACES: Final = {
    **{path: Place(ENGLISH, name) for name, path in PAGES.items() if path},
    **{path: Place(PORTUGUESE, name) for name, path in TRANSLATED.items()},
}
"""The page that a file of the project is."""
