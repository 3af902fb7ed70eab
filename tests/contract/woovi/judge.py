"""Woovi's official document as a judge of every request and of every answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import jsonpatch
from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest, MockResponse
from werkzeug.datastructures import ImmutableMultiDict

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.transport import HttpTransport

DOCUMENTS = Path("tests/vectors/documents/openpix")
HOST = "https://api.openpix.com.br"
NOT_IN_THE_DOCUMENT = frozenset({401, 403, 404, 429, 500})
"""Statuses that the bank's pages have, and the document for some calls alone."""


def corrected(*patches: str) -> Mapping[str, object]:
    """Read the official document, with patches of ours."""
    found = json.loads((DOCUMENTS / "openpix-f416b4d.json").read_text(encoding="utf-8"))
    for name in patches:
        patch = json.loads((DOCUMENTS / f"{name}.rfc6902.json").read_text(encoding="utf-8"))
        found = jsonpatch.apply_patch(found, patch)
    # A colon in a path means nothing in the document's language.
    found["paths"].pop("/api/v1/dispute/:id/evidence")
    made: Mapping[str, object] = found
    return made


@cache
def document() -> OpenAPI:
    """Load the corrected document; the specification check is off, for it does not pass that."""
    found = corrected("corrections", "contradictions")
    return OpenAPI.from_dict(dict(found), config=Config(spec_validator_cls=None))


@dataclass
class Judge:
    """What was wrong, and what was asked at all."""

    problems: list[str] = field(default_factory=list)
    asked: set[tuple[str, str]] = field(default_factory=set)
    statuses: set[int] = field(default_factory=set)

    def request(self, request: ProviderRequest) -> None:
        self.asked.add((request.method, request.template))
        for problem in document().iter_request_errors(mocked(request)):
            self.problems.append(f"{request!r}: {told(problem)}")

    def answer(self, request: ProviderRequest, answer: ProviderAnswer) -> None:
        self.statuses.add(answer.status)
        response = MockResponse(answer.body, answer.status, content_type="application/json")
        for problem in document().iter_response_errors(mocked(request), response):
            if answer.status in NOT_IN_THE_DOCUMENT and "Unknown response" in str(problem):
                continue
            self.problems.append(f"{request!r}: {answer.status}: {told(problem)}")


def mocked(request: ProviderRequest) -> MockRequest:
    path, _, query = request.path.partition("?")
    return MockRequest(
        HOST,
        request.method.lower(),
        path,
        args=ImmutableMultiDict(parse_qsl(query, keep_blank_values=True)),
        headers=dict(request.headers),
        data=request.body or None,
        content_type="application/json",
    )


def told(problem: BaseException) -> str:
    """Report a violation, with its causes."""
    below = problem.__cause__ or problem.__context__
    more = [str(each) for each in getattr(below, "schema_errors", ())]
    return "; ".join([str(problem), *([str(below)] if below else []), *more])


def judged(judge: Judge) -> type[HttpTransport]:
    class Judged(HttpTransport):
        async def call(
            self, request: ProviderRequest, progress: SendProgress, limit_s: float
        ) -> ProviderAnswer:
            judge.request(request)
            answer = await super().call(request, progress, limit_s)
            judge.answer(request, answer)
            return answer

    return Judged
