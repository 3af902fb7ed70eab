"""Types of fields that several nouns share, each with its description and an example."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta


def meaning(text: str, example: object = UNSET, **bounds: Any) -> Meta:  # noqa: ANN401 - those of Meta
    """
    Describe a field for the OpenAPI documents.

    Args:
        text: One sentence.
        example: Its value in the example of an object that has the field. It does not stand in the
            field's own schema; ``examples`` does.
        bounds: Further arguments of ``Meta``.
    """
    shown = None if example is UNSET else {"example": example}
    return Meta(description=text, extra_json_schema=shown, **bounds)


ID: Final = "6f1c2f0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
CLIENT_ID: Final = "cli_mfrggzdfmztwq2lknnwg"
E2E_ID: Final = "E0000000020261120134011abcdefghi"
TRACE_ID: Final = "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b"
"""Examples that parameters of paths and files show too."""

Account = Annotated[
    str,
    meaning("Number of the account at its bank, with the check digit after a hyphen.", "123456-7"),
]
AccountId = Annotated[str, meaning("The account, a UUID; empty where there is none.", ID)]
BankNumber = Annotated[
    str, meaning("COMPE code of the bank, 3 digits; where a payout names one, its ISPB too.", "341")
]
Branch = Annotated[str, meaning("Branch, up to 4 digits, without check digit.", "0001")]
BytesLeft = Annotated[bool, meaning("Whether a byte of the request was sent to the bank.")]
ClientId = Annotated[str, meaning("The client id of a credential.", CLIENT_ID)]
Companies = Annotated[
    list[str],
    meaning("Ids of the companies that the user is limited to; none is every company.", [ID]),
]
CompanyId = Annotated[
    str, meaning("The company that owns it, a UUID; empty where there is none.", ID)
]
CompanyName = Annotated[str, meaning("Name, as people know it.", "Loja Exemplo Ltda")]
CompanyTaxNumber = Annotated[
    str, meaning("CPF or CNPJ; what is read back may be hidden in part.", "11222333000181")
]
Count = Annotated[int, meaning("How many.")]
Description = Annotated[
    str, meaning("A text that the recipient or payer may see; may be empty.", "Order 1042")
]
E2eId = Annotated[
    str,
    meaning("End-to-end id of the Pix, 32 characters; empty before the bank gives one.", E2E_ID),
]
Email = Annotated[str, meaning("The user's e-mail address.", "ana@example.com")]
ErrorCode = Annotated[str, meaning("Code of the error; branch on status and code.", "SVC.AUT.010")]
HttpStatus = Annotated[int, meaning("The bank's HTTP status; absent without an answer.", 200)]
Id = Annotated[str, meaning("Its id.", ID)]
IpAddress = Annotated[str, meaning("The IP address that it came from.", "203.0.113.7")]
IsPanel = Annotated[bool, meaning("Whether it is a session of the panel in a browser.")]
Ispb = Annotated[str, meaning("ISPB of the bank, 8 digits; may be empty.", "60701190")]
NeedsReview = Annotated[
    bool, meaning("Whether people decide, since the bank cannot prove what happened.")
]
Number = Annotated[int, meaning("Its number, from 1.")]
Permissions = Annotated[
    list[str], meaning("What it may do, such as `balance:read`.", ["balance:read"])
]
PersonName = Annotated[str, meaning("Name, as people know it.", "Maria Silva")]
PersonTaxNumber = Annotated[
    str, meaning("CPF or CNPJ; what is read back may be hidden in part.", "52998224725")
]
PixKey = Annotated[str, meaning("A Pix key.", "maria@example.com")]
Problem = Annotated[str, meaning("What is wrong; empty where nothing is.", "")]
Provider = Annotated[
    str, meaning("Name of the bank in the operator's settings; empty for none.", "sandbox")
]
ProviderAccount = Annotated[str, meaning("The bank's own name of the account.", "0001-123456")]
ProviderCode = Annotated[str, meaning("The bank's own code of the error.")]
ProviderId = Annotated[
    str, meaning("The bank's id of the payout; empty before it gives one.", "trf_0190c4c2")
]
ProviderKey = Annotated[
    str,
    meaning(
        "Under which the bank knows the payout; it makes a repetition safe.",
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    ),
]
Reason = Annotated[str, meaning("Why; for people who read it later.", "asked for by telephone")]
Reference = Annotated[
    str, meaning("Your identifier of it: unique in the account, case-sensitive.", "order-1042")
]
Roles = Annotated[list[str], meaning("The user's roles.", ["viewer"])]
SaidBy = Annotated[str, meaning("Who said it.", "user:ana@example.com")]
State = Annotated[str, meaning("The state that it is in.", "review")]
Subject = Annotated[str, meaning("What it is about: the kind and the id.", ID)]
TraceId = Annotated[str, meaning("Names the request in every log.", TRACE_ID)]
UserAgent = Annotated[str, meaning("The browser, as it names itself.", "Mozilla/5.0")]
UserId = Annotated[str, meaning("The user, a UUID; empty for none.", ID)]
