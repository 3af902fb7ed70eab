"""The settings of the panel's sessions."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Session(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The panel's sessions in browsers; their absolute end is ``identity.refresh_s``.

    Attributes:
        idle_s: Without a call of the panel, a session ends.
        renew_s: How often the cookie is renewed, beside each rise of privilege.
        insecure_dev: Names the cookie ``pixgate-dev`` and gives it without
            ``Secure``, for plain HTTP on one machine; production refuses it.
    """

    idle_s: Annotated[float, Meta(ge=60, le=3_600)] = 900.0
    renew_s: Annotated[float, Meta(ge=60, le=28_800)] = 3_600.0
    insecure_dev: bool = False
