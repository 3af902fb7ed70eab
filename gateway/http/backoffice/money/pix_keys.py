"""Rows of PIX keys (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.domain.accounts.permissions import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.http.backoffice import represent
from gateway.http.backoffice.callers import Office, as_actor, as_caller
from gateway.http.backoffice.failures import CHANGES, CREATED, PLAIN, READS, WITH_BODY, bank_fails
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.resources import represent as resources
from gateway.http.route import Row, route
from policies.validation.backoffice.orders import order_inputs
from policies.validation.inputs import KEY_ID, NOTHING

_READ: Final = Right(Area.PIX_KEY, Action.READ)
_WRITE: Final = Right(Area.PIX_KEY, Action.WRITE)

_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE)
_ONE_FAILS: Final = bank_fails(errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND)


def key_reading_rows(does: BackOfficeOperations) -> Sequence[Row[Office]]:
    """Return the rows that read keys."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/pix/keys",
            name="backoffice.pix_keys",
            summary="List the account's PIX keys.",
            needs=_READ,
            limits=PLAIN,
            takes=NOTHING,
            runs=as_caller(does.pix_keys.list),
            shows=resources.pix_keys,
            fails=_FAILS,
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/pix/keys/{key_id}",
            name="backoffice.pix_key",
            summary="Read one PIX key.",
            needs=_READ,
            limits=PLAIN,
            takes=KEY_ID,
            runs=as_caller(does.pix_keys.read),
            shows=resources.pix_key,
            fails=_ONE_FAILS,
            raises=READS,
        ),
    )


def key_acting_rows(does: BackOfficeOperations) -> Sequence[Row[Office]]:
    """Return the rows that change keys, or show whose one is: that is recorded too."""
    takes = order_inputs(alphanumeric_cnpj=does.alphanumeric_cnpj)
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/keys",
            name="backoffice.pix_key_create",
            summary="Register a PIX key; the bank draws a random one.",
            needs=_WRITE,
            limits=WITH_BODY,
            takes=takes.key,
            runs=as_actor(does.key_orders.create),
            shows=resources.pix_key,
            fails=_FAILS,
            raises=CHANGES,
            status=CREATED,
        ),
        route(
            "DELETE",
            "/accounts/{account_id}/pix/keys/{key_id}",
            name="backoffice.pix_key_cancel",
            summary="Give a PIX key up; answers the key with status canceled.",
            needs=_WRITE,
            limits=PLAIN,
            takes=KEY_ID,
            runs=as_actor(does.key_orders.cancel),
            shows=resources.pix_key,
            fails=_ONE_FAILS,
            raises=CHANGES,
        ),
        route(
            "POST",
            "/accounts/{account_id}/pix/keys/lookup",
            name="backoffice.pix_key_owner",
            summary="Ask who is behind a PIX key of any bank, before paying; recorded.",
            needs=_READ,
            limits=WITH_BODY,
            takes=takes.lookup,
            runs=as_actor(does.key_orders.look_up),
            shows=represent.key_owner,
            fails=_ONE_FAILS,
            raises=(*READS, errors.BANK_REFUSED, errors.ALREADY_IN_USE),
        ),
    )
