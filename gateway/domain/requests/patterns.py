"""
The forms of ``strict`` as patterns of JSON Schema, for descriptions of the interface alone.

They are written for every reader there is: no look-ahead, and no short class for digits, which
stands for more than ten of them elsewhere. A test holds each against its strict reader.
"""

from __future__ import annotations

from typing import Final

_CONTROL: Final = r"\u0000-\u001f\u007f-\u009f"

PLAIN_TEXT: Final = f"^[^{_CONTROL}]*$"
"""Without control characters; its length is told apart."""

REFERENCE: Final = rf"^([^.{_CONTROL}]|\.[^.{_CONTROL}]|\.\.[^{_CONTROL}])[^{_CONTROL}]*$"
"""Plain, not empty, and neither ``.`` nor ``..``."""

NAME: Final = rf"^[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*$"
"""Plain, and more than spaces."""

TAX_NUMBER: Final = "^[0-9A-Z./ -]+$"
"""The characters of a CPF or CNPJ; its check digits can be told by no pattern."""

BANK_NUMBER: Final = "^([0-9]{3}|[0-9]{8})$"
BRANCH: Final = "^[0-9]{1,4}$"
ACCOUNT: Final = "^[0-9]{1,20}(-[0-9A-Za-z])?$"
