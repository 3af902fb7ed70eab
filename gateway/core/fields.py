"""
Fields that several nouns share: the type, the meaning and an example of each.

``examples`` stands in the field's schema too, and shows an optional field in the example of its
object; ``example`` is for fields that need neither.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

ID: Final = "6f1c2f0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
CLIENT_ID: Final = "cli_mfrggzdfmztwq2lknnwg"
E2E_ID: Final = "E0000000020261120134011abcdefghi"
TRACE_ID: Final = "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b"
"""Examples that parameters of paths and files show too."""

Account = Annotated[
    str,
    Meta(
        description="Number of the account at its bank, with the check digit after a hyphen.",
        extra_json_schema={"example": "123456-7"},
    ),
]
AccountId = Annotated[
    str,
    Meta(
        description="The account, a UUID; empty where there is none.",
        extra_json_schema={"example": ID},
    ),
]
BankNumber = Annotated[
    str,
    Meta(
        description="COMPE code of the bank, 3 digits; where a payout names one, its ISPB too.",
        extra_json_schema={"example": "341"},
    ),
]
Branch = Annotated[
    str,
    Meta(
        description="Branch, up to 4 digits, without check digit.",
        extra_json_schema={"example": "0001"},
    ),
]
BytesLeft = Annotated[bool, Meta(description="Whether a byte of the request was sent to the bank.")]
ClientId = Annotated[
    str,
    Meta(
        description="The client id of a credential.",
        extra_json_schema={"example": CLIENT_ID},
    ),
]
Companies = Annotated[
    list[str],
    Meta(
        description="Ids of the companies that the user is limited to; none is every company.",
        extra_json_schema={"example": [ID]},
    ),
]
CompanyId = Annotated[
    str,
    Meta(
        description="The company that owns it, a UUID; empty where there is none.",
        extra_json_schema={"example": ID},
    ),
]
CompanyName = Annotated[
    str,
    Meta(
        description="Name, as people know it.", extra_json_schema={"example": "Loja Exemplo Ltda"}
    ),
]
CompanyTaxNumber = Annotated[
    str,
    Meta(
        description="CPF or CNPJ; what is read back may be hidden in part.",
        extra_json_schema={"example": "11222333000181"},
    ),
]
Count = Annotated[int, Meta(description="How many.")]
Description = Annotated[
    str,
    Meta(
        description="A text that the recipient or payer may see; may be empty.",
        extra_json_schema={"example": "Order 1042"},
    ),
]
E2eId = Annotated[
    str,
    Meta(
        description="End-to-end id of the Pix, 32 characters; empty before the bank gives one.",
        extra_json_schema={"example": E2E_ID},
    ),
]
Email = Annotated[
    str,
    Meta(
        description="The user's e-mail address.", extra_json_schema={"example": "ana@example.com"}
    ),
]
ErrorCode = Annotated[
    str,
    Meta(
        description="Code of the error; branch on status and code.",
        extra_json_schema={"example": "SVC.AUT.010"},
    ),
]
HttpStatus = Annotated[
    int,
    Meta(
        description="The bank's HTTP status; absent without an answer.",
        extra_json_schema={"example": 200},
    ),
]
Id = Annotated[
    str,
    Meta(description="Its id.", extra_json_schema={"example": ID}),
]
IpAddress = Annotated[
    str,
    Meta(
        description="The IP address that it came from.",
        extra_json_schema={"example": "203.0.113.7"},
    ),
]
IsPanel = Annotated[bool, Meta(description="Whether it is a session of the panel in a browser.")]
Ispb = Annotated[
    str,
    Meta(
        description="ISPB of the bank, 8 digits; may be empty.",
        extra_json_schema={"example": "60701190"},
    ),
]
NeedsReview = Annotated[
    bool, Meta(description="Whether people decide, since the bank cannot prove what happened.")
]
Number = Annotated[int, Meta(description="Its number, from 1.")]
Permissions = Annotated[
    list[str],
    Meta(
        description="What it may do, such as `balance:read`.",
        extra_json_schema={"example": ["balance:read"]},
    ),
]
PersonName = Annotated[
    str, Meta(description="Name, as people know it.", extra_json_schema={"example": "Maria Silva"})
]
PersonTaxNumber = Annotated[
    str,
    Meta(
        description="CPF or CNPJ; what is read back may be hidden in part.",
        extra_json_schema={"example": "52998224725"},
    ),
]
PixKey = Annotated[
    str, Meta(description="A Pix key.", extra_json_schema={"example": "maria@example.com"})
]
Problem = Annotated[
    str,
    Meta(description="What is wrong; empty where nothing is.", extra_json_schema={"example": ""}),
]
Provider = Annotated[
    str,
    Meta(
        description="Name of the bank in the operator's settings; empty for none.",
        extra_json_schema={"example": "sandbox"},
    ),
]
ProviderAccount = Annotated[
    str,
    Meta(
        description="The bank's own name of the account.",
        extra_json_schema={"example": "0001-123456"},
    ),
]
ProviderCode = Annotated[str, Meta(description="The bank's own code of the error.")]
ProviderId = Annotated[
    str,
    Meta(
        description="The bank's id of the payout; empty before it gives one.",
        extra_json_schema={"example": "trf_0190c4c2"},
    ),
]
ProviderKey = Annotated[
    str,
    Meta(
        description="Under which the bank knows the payout; it makes a repetition safe.",
        extra_json_schema={"example": "0f1e2d3c4b5a69788796a5b4c3d2e1f0"},
    ),
]
Reason = Annotated[
    str,
    Meta(
        description="Why; for people who read it later.",
        extra_json_schema={"example": "asked for by telephone"},
    ),
]
Reference = Annotated[
    str,
    Meta(
        description="Your identifier of it: unique in the account, case-sensitive.",
        extra_json_schema={"example": "order-1042"},
    ),
]
Roles = Annotated[
    list[str], Meta(description="The user's roles.", extra_json_schema={"example": ["viewer"]})
]
SaidBy = Annotated[
    str, Meta(description="Who said it.", extra_json_schema={"example": "user:ana@example.com"})
]
State = Annotated[
    str, Meta(description="The state that it is in.", extra_json_schema={"example": "review"})
]
Subject = Annotated[
    str,
    Meta(
        description="What it is about: the kind and the id.",
        extra_json_schema={"example": ID},
    ),
]
TraceId = Annotated[
    str,
    Meta(
        description="Names the request in every log.",
        extra_json_schema={"example": TRACE_ID},
    ),
]
UserAgent = Annotated[
    str,
    Meta(
        description="The browser, as it names itself.", extra_json_schema={"example": "Mozilla/5.0"}
    ),
]
UserId = Annotated[
    str,
    Meta(
        description="The user, a UUID; empty for none.",
        extra_json_schema={"example": ID},
    ),
]
