"""Banks of API Pix as simulated banks: the shared books in the dress of the standard."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from provider_adapters.apipix.callbacks import step_of
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.testing.apipix import efi, inter, standard
from provider_adapters.testing.apipix.access import Doors
from provider_adapters.testing.bank.dialect import Callback, Dialect, Row
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.kernel.books import BankIdentity, Books
from provider_adapters.testing.bank.kernel.listeners import Event, Listener
from provider_adapters.testing.bank.messages import Document
from provider_adapters.testing.bank.simulator import BankAddress, Simulator


def _callback(
    tell: Callable[[Books, Event], Document | None],
    below: str,
    books: Books,
    event: Event,
    to: Listener,
) -> Callback | None:
    """
    Write a callback; what came back of a payout is told by no document.

    A listener with a secret is one that was registered by nobody through the interface: it
    gets the step that proves the address, and what the bank adds ``below`` such a step.
    """
    told = tell(books, event)
    if told is None:
        return None
    step = f"/{step_of(bytes.fromhex(to.secret))}{below}" if to.secret else "/pix"
    return Callback(url=to.url + step, body=json.dumps({"pix": [told]}).encode(), headers={})


def _settings(profile: Name, address: BankAddress) -> Mapping[str, object]:
    """Name the bank at its address, and where its tokens are given if that is elsewhere."""
    named = {"profile": profile.value, "base_url": address.url}
    if not PROFILES[profile].token_urls:
        return named
    return {**named, "token_url": address.token_url or address.url}


def _dialect(
    profile: Name, identity: BankIdentity, doors: Doors, rows: Sequence[Row] = ()
) -> Dialect:
    """Dress the books as a bank that offers the standard, and what else ``rows`` are."""
    known = PROFILES[profile]
    token = Row(
        "POST",
        known.token.path,
        "access",
        doors.give_token,
        is_open=True,
        at_token_host=bool(known.token_urls),
    )
    return Dialect(
        identity=identity,
        rows=(token, *standard.rows_below(known.pix, known.charges), *rows),
        authenticate=doors.authenticate,
        refusal=standard.refusal,
        payout=inter.payout,
        callback=partial(_callback, standard.told, known.secret_address.adds),
        admit=doors.admit,
        # The worst that a bank can do: an order that is sent twice would be paid twice.
        payout_kind=PayoutKind.NONE,
        client_certificates=True,
    )


EFI: Final = dataclasses.replace(
    _dialect(
        Name.EFI,
        BankIdentity(name="Efi S.A.", ispb="09089356", compe="364", host="pix.efi.example"),
        Doors(body="json"),
        efi.ROWS,
    ),
    refusal=efi.refusal,
    payout=efi.sent,
    callback=partial(_callback, efi.told, PROFILES[Name.EFI].secret_address.adds),
    payout_kind=PayoutKind.DUP,
)
INTER: Final = _dialect(
    Name.INTER,
    BankIdentity(name="Banco Inter S.A.", ispb="00416968", compe="077", host="pix.inter.example"),
    Doors(
        proof="body",
        more={"account": lambda _, held: held.number.replace("-", "")},
        headers={"x-conta-corrente": "account"},
    ),
    inter.ROWS,
)
SICOOB: Final = _dialect(
    Name.SICOOB,
    BankIdentity(name="Bancoob S.A.", ispb="02038232", compe="756", host="pix.sicoob.example"),
    Doors(proof="body", secret=False, headers={"client_id": "client_id"}),
)
BB: Final = _dialect(
    Name.BB,
    BankIdentity(name="Banco do Brasil S.A.", ispb="00000000", compe="001", host="pix.bb.example"),
    Doors(
        more={"app_key": lambda books, _: books.random_hex(16)}, query={"gw-dev-app-key": "app_key"}
    ),
)
SICREDI: Final = _dialect(
    Name.SICREDI,
    BankIdentity(
        name="Banco Sicredi S.A.", ispb="01181521", compe="748", host="pix.sicredi.example"
    ),
    Doors(),
)
_DIALECTS: Final = {
    Name.EFI: EFI,
    Name.INTER: INTER,
    Name.SICOOB: SICOOB,
    Name.BB: BB,
    Name.SICREDI: SICREDI,
}
SIMULATORS: Final = {
    name.value: Simulator(
        adapter="apipix",
        dialect=dialect,
        settings=partial(_settings, name),
        tells_returns=False,
    )
    for name, dialect in _DIALECTS.items()
}
