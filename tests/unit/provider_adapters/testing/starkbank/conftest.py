"""The books of the simulated bank, and a customer's project at Stark Bank in front of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import pytest
from ellipticcurve import Ecdsa, PrivateKey
from multidict import CIMultiDict, CIMultiDictProxy, MultiDict
from yarl import URL

from provider_adapters.testing.bank.dialect import BankRequest
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Fields
from provider_adapters.testing.bank.pix import keys
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.starkbank.dialect import STARKBANK
from tests.unit.provider_adapters.testing.bank.conftest import (
    account,
    balanced_in_the_end,
    books,
    open_account,
    wall,
)

__all__ = ["account", "balanced_in_the_end", "books", "open_account", "wall"]

Ask = Callable[..., tuple[int, Mapping[str, object]]]


@pytest.fixture
def credentials(books, open_account) -> Mapping[str, str]:
    """Those of a workspace with money and a key."""
    admitted = STARKBANK.admit(books, SimpleNamespace(id="ws_1"), Fields({}))
    open_account("ws_1", payout_kind=PayoutKind.DUP, token=admitted.token)
    keys.add(books, "ws_1", NewKey(type="email", key="loja@example.com"))
    return admitted.credentials


@pytest.fixture
def ask(books, wall, credentials) -> Ask:
    """Ask the bank something, signed by its own library."""

    def asked(method: str, target: str, document: object = None, **wrong: str):
        body = "" if document is None else json.dumps(document)
        who, at = credentials["access_id"], str(wall().timestamp())
        key = PrivateKey.fromPem(credentials["private_key"])
        signed = {
            "Access-Id": who,
            "Access-Time": at,
            "Access-Signature": Ecdsa.sign(f"{who}:{at}:{body}", key).toBase64(),
        }
        url = URL(target, encoded=True)
        row, path = found(method, url.path)
        request = BankRequest(
            books=books,
            method=method,
            target=target,
            path=path,
            query=MultiDict(url.query),
            headers=CIMultiDictProxy(CIMultiDict(signed | wrong)),
            raw=wrong.pop("body", body).encode(),
        )
        try:
            who_asks = STARKBANK.authenticate(request)
            answer = row.answer(BankRequest(**{**fields(request), "signed_in": who_asks}))
        except Refusal as problem:
            answer = STARKBANK.refusal(problem)
        return answer.status, answer.document

    return asked


def fields(request: BankRequest) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}


def found(method: str, path: str):
    """Find the row of a path, and the steps that its template names."""
    asked = path.split("/")
    for row in STARKBANK.rows:
        template = row.path.replace(":[^/]+", "").split("/")
        if row.method != method or len(template) != len(asked):
            continue
        steps = dict(zip(template, asked, strict=True))
        if all(name == step or name.startswith("{") for name, step in steps.items()):
            named = {name.strip("{}"): step for name, step in steps.items() if "{" in name}
            return row, named
    raise AssertionError(path)
