"""
All reason words of refusals.

They are ``reason`` in refusals of identity, back office and panel, so that a page can say them in
its own language, and ``reason_id`` in the log. A word keeps its meaning for ever; its sentence may
be reworded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Final


class Unsigned(StrEnum):
    """Why a payout whose secret is right is not signed as its credential demands."""

    MISSING = "signature_missing"
    FORM = "signature_form"
    COVERAGE = "signature_coverage"
    TIME = "signature_time"
    KEY = "signature_key"
    SIGNATURE = "signature_wrong"
    DIGEST = "digest_wrong"


_FORMS: Final = {
    "missing": "{field} is missing; null and the empty text count as missing.",
    "owner_differs": (
        "{field} is missing: the tax number is not that of the key's owner as the bank names them."
    ),
    "missing_for_pix": "{field} is missing: method pix requires key_type and key.",
    "missing_for_bank_account": (
        "{field} is missing: method bank_account requires bank_number, branch and account."
    ),
    "json": "The body must be one JSON object in UTF-8, without duplicate names, NaN or Infinity.",
    "media_type": "Content-Type must be application/json, in UTF-8.",
    "content_coding": "Content-Encoding must be absent.",
    "wrong_type": "{field} has the wrong JSON type.",
    "form": "{field} does not have the documented form.",
    "not_one_of": "{field} must be one of the documented words.",
    "length": "{field} is too short or too long.",
    "not_the_amount": "{field} must be the amount of the order that you decide on.",
    "above_rest": "{field} must not be more than what is left of the payment.",
    "not_the_name": "{field} must be the exact words shown on the page.",
    "not_the_same": "{field} must be the same text as the one before it.",
    "companies_not_chosen": "{field}: tick one at least, or choose every company.",
    "not_chosen": "{field} must be chosen from the list, or be an id.",
    "secret_again": "{field} must be typed once more: no page shows again what is secret.",
    "out_of_range": "{field} is outside the documented range.",
    "object": "{field} must be a JSON object.",
    "cursor_form": "{field} must be the `next` of an answer about this account.",
    "cursor_old": "{field} is older than 30 days: begin without it.",
    "text_form": ("{field} must be a text of at most 1024 characters, without control characters."),
    "account_name_form": (
        "{field} must be a text of at most 1024 characters that are all seen,"
        " without blanks at its beginning or end."
    ),
    "reference_form": (
        "{field} must be a text of 1 to 1024 characters, without control characters,"
        ' other than "." and "..".'
    ),
    "name_form": (
        "{field} must be a text of at most 200 characters, without control characters and"
        " without characters that change the text direction or break a line."
    ),
    "email_form": "{field} must be an e-mail address.",
    "not_here": "{field} cannot be used here; ask an administrator who sees all companies.",
    "network_form": (
        "{field} must be at most 50 networks or addresses such as 203.0.113.0/24, none of which"
        " holds every address."
    ),
    "fingerprint_form": (
        "{field} must be at most 5 SHA-256 fingerprints of certificates, 64 hexadecimal digits"
        " each."
    ),
    "public_key_form": "{field} must be an Ed25519 public key in PEM.",
    "too_many_keys": "{field} would be the sixth public key of the credential; remove one first.",
    "key_unknown": "{field} is not the id of a public key of the credential.",
    "key_known": "{field} is a public key of the credential already.",
    "not_with_anywhere": "{field} goes with no network and no certificate.",
    "limits_missing": "{field}: give a limit per payout and per day, or say that there is none.",
    "not_with_limits": "{field} does not go with a limit per payout and per day.",
    "endpoint_url": (
        "{field} must be an https address with a name, on port 443 or 8443, without user, password"
        " and fragment."
    ),
    "issuer_url": (
        "{field} must be an https address with a name, on port 443 or 8443, without a query."
    ),
    "short_name_form": "{field} must be 1 to 32 small letters, digits and hyphens.",
    "domain_form": "{field} must be names such as loja.example.com, at most 20.",
    "word_form": "{field} must be words without blanks, of at most 200 characters.",
    "mapping_form": "{field} must be lines such as: pix-operators = operator.",
    "sign_on_name_taken": "{field} is another company's already.",
    "break_glass_unknown": "{field} must be people of this company alone.",
    "endpoint_accounts": "{field} must be at most 100 accounts.",
    "past": "{field} must lie in the future.",
    "provider_unknown": "{field} is not the name of a configured provider.",
    "company_unknown": "{field} is not the id of a company that is shown to the caller.",
    "account_unknown": "{field} is not the id of an account that is shown to the caller.",
    "subject_unknown": "{field} is not what the scope names, or it is not shown to the caller.",
    "other_company": "{field} is the id of an account of another company.",
    "bank_credentials_missing": (
        "{field} is missing: the account moves to another bank account; an empty text says that"
        " the provider wants none."
    ),
    "bank_credentials_form": (
        "{field} must be a JSON object: the adapter of the provider names its fields."
    ),
    "bank_credentials_text": "{field} must be one text for this provider.",
    "bank_credentials_unknown": "{field} holds a name that this provider does not ask for.",
    "bank_credentials_environment": "{field} is not of this environment of the bank.",
    "pem_certificate": "{field} must be one or more certificates in PEM, ours first.",
    "pem_key": "{field} must be one private key in PEM, not encrypted.",
    "pem_signing_key": (
        "{field} must be one private key of the curve secp256k1 in PEM, not encrypted."
    ),
    "pem_unusable": (
        "{field} is not accepted by TLS: too short or too long a key, or too old an algorithm."
    ),
    "other_key": "{field} must be the key of the certificate, of the first one if it has several.",
    "bank_account_taken": "{field} is already used by an account of another company.",
    "uuid_form": "{field} must be a UUID with hyphens.",
    "amount_form": (
        "{field} must be a JSON number of reais without exponent, with at most two decimals,"
        " up to 9999999999999.99."
    ),
    "above_most": "{field} is more than R$ 100.000.000,00, the most that is ordered here.",
    "typed_amount": "{field} must be an amount such as 1.234,56, with a comma before the centavos.",
    "balance_limit": "{field} would make the balance larger than an amount can be.",
    "other_amount": "{field} is neither the amount ordered nor the one that the bank shows.",
    "not_positive": "{field} must be above zero.",
    "positive_integer": "{field} must be an integer of at least 1.",
    "date_form": "{field} must be a calendar date in the form YYYY-MM-DD.",
    "amount_two_ways": (
        "{field} can be read in two ways: write 1.234,00 or 1.234,56, or 1,23 with two decimals."
    ),
    "amount_other_mark": "{field} has another decimal mark than the rows above it.",
    "amount_in_file": (
        "{field} must be an amount such as 1.234,56 or 1234.56: two decimals, or none at all."
    ),
    "reference_twice": "{field} is that of a row above: two payouts of one file need two.",
    "reference_of_another": "{field} is that of a payout which somebody else ordered.",
    "row_columns": "The row has more cells than the header has names.",
    "no_destination": "The row names neither a Pix key nor a bank account.",
    "two_destinations": "The row names a Pix key and a bank account: leave one of them empty.",
    "file_large": "The file is larger than 256 KiB: divide it into several.",
    "file_encoding": "The file is neither UTF-8 nor Windows-1252.",
    "file_quotes": "The quotes of the file do not match from this row on.",
    "file_columns": "{field} in the header is no column of the template.",
    "file_column_twice": "{field} is in the header twice.",
    "file_empty": "The file has no row below its header.",
    "file_rows_many": "The file has more than 1,000 payouts: divide it into several.",
    "not_today": "{field} must be today in UTC; payouts cannot be scheduled.",
    "until_early": "{field} must be later than since.",
    "window_backwards": "{field} must not be before init.",
    "window_long": "{field} must be at most 89 days after init: both days count, 90 at most.",
    "repeated": "{field} must be given once.",
    "unknown_field": "{field} is not a field of this operation.",
    "unknown_parameter": "{field} is not a query parameter of this operation.",
    "tax_number_form": (
        "{field} must be a valid CPF (11 digits) or CNPJ (14 characters),"
        " with or without punctuation."
    ),
    "bank_takes_digits": (
        "{field} is a CNPJ with letters, which the bank of this account does not take yet."
    ),
    "payout_method": "{field} must be pix or bank_account; qrcode is not supported.",
    "key_type": "{field} must be cpf, cnpj, email, phone or evp.",
    "cpf_key_form": "{field} must be a valid CPF (11 digits), with or without punctuation.",
    "cnpj_key_form": "{field} must be a valid CNPJ (14 characters), with or without punctuation.",
    "email_key_form": (
        "{field} must be an e-mail address of at most 77 characters, such as maria@example.com."
    ),
    "phone_key_form": (
        "{field} must be a telephone number with +, country and area code, such as +5511999998888."
    ),
    "evp_key_form": "{field} must be a random PIX key: a UUID with hyphens.",
    "key_form": (
        "{field} must be a PIX key: a CPF, CNPJ, e-mail address, telephone number such"
        " as +5511999998888, or a UUID."
    ),
    "key_given": "{field} must be absent: the bank makes the key of type evp.",
    "bank_number_form": "{field} must be a COMPE code (3 digits) or an ISPB (8 digits).",
    "branch_form": "{field} must have 1 to 4 digits.",
    "account_form": (
        "{field} must have 1 to 20 digits, and optionally a hyphen and a check digit."
    ),
    "account_type": "{field} must be checking, savings, salary or payment.",
}
"""What is wrong with what was sent; the message of ``SVC.VAL.*`` is the sentence."""

_CALLERS: Final = {
    "malformed": "The Authorization header is malformed.",
    "wrong_scheme": "The Authorization header is of another scheme.",
    "invalid": "The credential, token or cookie is not valid.",
    "revoked": "It was revoked.",
    "expired": "It has expired.",
    "signature_missing": "The payout is not signed, and the credential has public keys.",
    "signature_form": (
        "Signature-Input, Signature or Content-Digest is not there once and in the documented form."
    ),
    "signature_coverage": (
        "The signature does not cover @method, @path and content-digest, or covers what was not"
        " sent."
    ),
    "signature_time": "The signature is older than 300 seconds, of the future, or has expired.",
    "signature_key": "The keyid is not that of a public key of the credential.",
    "signature_wrong": "The signature is not that of the key over this request.",
    "digest_wrong": "The Content-Digest is not that of the body.",
    "no_caller_rule": "Where the credential may be used is not decided.",
    "network": "The credential may not be used from this address.",
    "certificate": "The credential may not be used without an allowed client certificate.",
    "permission": "The permission or the role is missing.",
    "scope": "The credential is for another account.",
    "not_visible": "The account does not exist or is not shown to the caller.",
    "no_factor": "A second factor must be enrolled first.",
    "factor_old": "The last second factor is older than five minutes.",
    "token": "The CSRF token is missing or not that of the session.",
    "answer_lost": (
        "The answer to an earlier form with a code was lost; that form may have been carried out."
    ),
    "replaced": "The session's cookie was replaced when a code was given.",
    "fetch_site": "The request comes from another site.",
    "origin": "The Origin header is missing or not ours.",
    "content_type": "The Content-Type is not that of our pages.",
    "throttled": "Too many credentials of this caller were refused.",
    "address_blocked": "Far too many credentials of this address were refused.",
    "account_ip": (
        "Too many wrong passwords for this person from this network;"
        " waiting helps, and so does a password reset."
    ),
    "ip": "Too many wrong passwords from this network.",
    "consecutive": (
        "Too many wrong passwords in a row for this person;"
        " a password reset helps, waiting does not."
    ),
    "factor": "Too many wrong codes for this person.",
    "reset_ip": "Too many password resets were asked for from this network.",
    "link": "Too many links were tried from this network.",
    "hashing_busy": "Too many passwords are being checked at this moment.",
    "quota_read": "The credential's quota of reads is used up.",
    "quota_payout": "The credential's quota of payouts is used up.",
    "quota_company": "The company's quota is used up.",
    "waiting_calls": "As many calls of the credential as may wait for events wait already.",
    "sandbox_credentials": (
        "As many credentials as the sandbox gives an address in a day, or all together, are in use."
    ),
    "quota_anonymous": "The quota of this address is used up.",
    "quota_sign_in": "The quota of wrong passwords of this address is used up.",
    "quota_second_factor": "The quota of wrong codes of this address is used up.",
    "quota_recovery": "The quota of links asked for and used of this address is used up.",
    "quota_keys": "The quota of public keys of this address is used up.",
    "quota_person": "The quota of this person is used up.",
    "network_new": "The session is used at a network where no code was given yet.",
    "owner_lookups": "This person has looked up many owners of keys, or CPFs, lately.",
    "owner_mismatches": "Many payouts of the credential named another owner of the key lately.",
    "exports": "This person has taken many files away lately.",
    "exported_rows": "This person has taken many rows away lately.",
    "downloads_of_person": "Two files of this person are being read; one has to end first.",
    "downloads": "Too many files are being read.",
    "in_flight": "Too many requests are being served.",
    "loop_lag": "The process is too busy.",
    "store_wait": "The store is too busy.",
    "store_full": "The store takes no new payouts.",
    "strangers": "Too many requests of unknown callers wait for their bodies.",
    "draining": "The process is shutting down.",
    "unavailable": "The store, or the bank, is not available.",
    "refresh": "The session cannot be renewed now.",
    "no_route": "There is no such path.",
    "method": "The path does not have this method.",
    "declared": "The declared body is too large.",
    "body": "The body was not received as it should be.",
    "caller_gone": "The caller went away.",
    "caller_slow": "The caller took the answer too slowly; it was cut.",
}
"""What is wrong with who calls, or with calling now."""

_RECORDS: Final = {
    "not_possible": "The message says why this is not possible.",
    "taken": "Another record has this name, address or id already.",
    "user": "There is no such person, or they are not shown to the caller.",
    "session": "There is no such session, or it is not shown to the caller.",
    "company": "There is no such company, or it is not shown to the caller.",
    "credential": "There is no such credential, or it is not shown to the caller.",
    "endpoint": "There is no such endpoint, or it is not shown to the caller.",
    "chat": "There is no such chat, or it is not shown to the caller.",
    "subscription": "There is no such browser among the caller's own.",
    "endpoints_full": "The company has 10 endpoints already, as many as it may.",
    "push_off": "Push messages are off here: the operator has set no key for them.",
    "chats_full": "There are 20 chats already, as many as a company or the operators may have.",
    "endpoint_not_paused": "The endpoint is not paused.",
    "endpoint_paused": "The endpoint is paused already.",
    "endpoint_removed": "The endpoint was removed.",
    "delivery": "There is no such delivery, or it is not shown to the caller.",
    "delivery_under_way": "The delivery is being sent at this moment.",
    "stop": "There is no such stop, or it is not shown to the caller.",
    "provider": "There is no such bank.",
    "transaction": "There is no such payment, or its bank does not tell it.",
    "no_account": "There is no such account, or it is not shown to the caller.",
    "no_approval": "There is no such approval, or it is not shown to the caller.",
    "own_record": "You cannot do this to your own user.",
    "not_invited": "The person has accepted an invitation already, or is disabled.",
    "two_secrets": "There are two active secrets already.",
    "bank_shows_paid": "The bank shows that it paid: the payout did not fail.",
    "not_in_review": "The payout is not in review.",
    "ended": "The payout has ended: there is nothing left to ask.",
    "probed": "The bank is being asked about the payout, or was a moment ago.",
    "own_payout": "Who ordered or approved a payout does not review it.",
    "own_stop": "Who had a hand in payouts that led to a stop does not lift it.",
    "own_opinion": "You have said otherwise before: withdraw that opinion first.",
    "no_opinion": "You have given no opinion on this payout.",
    "format_missing": "This installation cannot write PDF: the extra pdf is not installed.",
    "too_many_movements": "There are too many movements; ask for fewer days.",
    "own_order": "You cannot decide on your own order.",
    "own_secret": "Whoever ordered a secret of a credential may not release its held payouts.",
    "own_file": "Whoever approved a file or let it go on may not release its held payouts.",
    "not_held": "The payout is not held any more.",
    "bank_changed": "The account has another bank account than when the payout was ordered.",
    "rules_changed": "Where the credential may be used, or its keys, changed after the order.",
    "stopped_meanwhile": "Payouts were stopped after the payout was ordered.",
    "not_own_order": "Only whoever ordered it may withdraw an order.",
    "closing_day": "A day is closed when it is over, and within 90 days.",
    "closing_signed": "The day is signed already.",
    "closing_not_yours": "A day is locked once, as it was signed, by another person.",
    "debit_not_open": "This debit is explained already, or the payout behind it is known by now.",
    "closing_changed": "The day is not as it was shown: read it again.",
    "chat_sealed": "The chat's address is sealed under a key that is not here: add it again.",
    "days_open": "No account has all days of this period locked.",
    "movements_changed": "The bank shows other movements than were signed.",
    "too_many_accounts": "There are too many accounts; choose one.",
    "decided": "The order was decided already.",
    "over": "The time to decide on the order is over.",
    "void": "The order is void: who ordered it may not order it any more.",
    "under_way": "The order is being carried out.",
    "about_oneself": "Another person has to decide on an order about you.",
    "no_secret": "There is no secret to fetch here.",
    "lacking": "You cannot give a right that you do not have.",
    "meanwhile": "Somebody else decided meanwhile.",
    "waiting": "An order of this reference waits already.",
    "changed_meanwhile": "The record changed meanwhile.",
    "factor_present": "There is a second factor already.",
    "factor_absent": "No second factor was begun.",
    "passkey_known": "This passkey is registered already.",
    "passkeys_full": "There are ten passkeys already.",
    "no_passkeys_here": "Browsers use no passkeys at this address.",
    "password_form": "The password is too long or has control characters.",
    "password_short": "The password is too short.",
    "password_common": "The password is among those that everybody tries first.",
    "link_over": "The link is unknown, was used, or is over.",
    "identity_provider": "The company has no single sign-on.",
    "single_sign_on": "The company has its own sign-in: use that one.",
    "sign_in_again": "Sign in with the company once more, then do it within five minutes.",
    "sign_on_unknown": "No company of this name or e-mail signs in this way.",
    "sign_on_refused": "The sign-in with the company was not in order, or is over: begin again.",
    "sign_on_not_again": "The company did not say that you signed in there just now.",
    "sign_on_no_role": "The company has given you no role here: ask its administrators.",
    "sign_on_no_email": "The company did not name a confirmed e-mail address of its own.",
    "sign_on_taken": "This e-mail address is of another user here: ask an administrator.",
    "sign_on_too_many": "Too many new people of the company signed in today: try again tomorrow.",
    "issuer_unreachable": "The sign-in of the company does not answer now.",
    "logout_token": "The logout token is not in order, or was used already.",
}
"""What is wrong with the records that are to be read or changed."""

_MONEY: Final = {
    "inactive": "The account is not active.",
    "unverified": "The account is not verified.",
    "no_provider": "The account has no bank for this.",
    "no_bank_credentials": "The account lacks the credentials that its bank asks for.",
    "read_only": "The account's bank does not take payouts.",
    "limit_per_payout": "The value is above the credential's limit of one payout.",
    "limit_per_day": "The credential's limit of this UTC day would be passed.",
    "limit_per_payout_at_night": "The value is above the credential's limit of a payout at night.",
    "limit_per_night": "The credential's limit of this night would be passed.",
    "stopped": "Payouts are stopped.",
    "similar": "A payout of the same amount to the same receiver was made just now.",
    "other_content": "The reference is in use with other content.",
    "no_row": "There is no payout of this reference.",
    "no_recipient": "The account has paid nobody by this reference, or the payout is archived.",
    "no_batch": "There is no such file of payouts.",
    "file_known": "The same file was uploaded to this account: it is a draft or under way.",
    "drafts_many": "The company has 20 files that are not approved yet: wait, or discard one.",
    "batch_ended": "The file was carried out or cancelled already.",
    "day_over": "The day of the payouts is over.",
    "final": "A submitted payout is final.",
    "not_sent": "The payout was certainly not sent.",
    "unknown": "It is not known whether the bank carried it out.",
    "rejected": "The bank refused the payout.",
    "insufficient_funds": "The balance is too low.",
    "key_not_found": "There is no such PIX key.",
    "account_invalid": "The account at the bank is not valid.",
    "owner_mismatch": "The receiver is not the owner of the account or the key.",
    "limit_exceeded": "A limit of the account is exceeded.",
    "returned": "The payout came back.",
    "other": "The bank refused for another reason.",
    "above_payment": "The value is above what is left of the payment.",
    "being_made": "A charge of the reference is being made, or its outcome is unknown.",
    "charge_paid": "The charge is paid already.",
    "key_not_owned": "The PIX key is not an active key of the account.",
    "in_use": "The key or the reference is in use at the bank.",
    "not_allowed": "The bank does not allow this to the account.",
    "not_paid": "The charge is not paid.",
    "several_payments": "The charge may have several payments: name one by its end-to-end id.",
    "too_late": "The payment is too old to be given back.",
}
"""What keeps money from moving."""

_BANKS: Final = {
    "breaker_open": "The bank has failed too often; it is spared for a moment.",
    "bulkhead_full": "Too many calls of the bank are under way.",
    "certificate_expired": "Our certificate is not valid now, and the bank asks for one.",
    "certificate_missing": "The bank asks for a certificate, and the account has none.",
    "certificate_refused": "The bank did not accept our certificate.",
    "closed": "The gateway is closing its connections.",
    "connect_failed": "No connection to the bank could be opened.",
    "connect_timeout": "The bank did not accept a connection in time.",
    "deadline_passed": "The request ran out of time.",
    "dns_failed": "The bank's host name could not be resolved.",
    "proxy_refused": "The proxy between us and the bank did not connect us.",
    "tls_failed": "The bank's certificate or the encryption was not accepted.",
    "unsendable": "This bank cannot accept the order in this form.",
    "cancelled": "The call was broken off.",
    "connection_lost": "The connection to the bank was lost.",
    "timeout": "The bank did not answer in time.",
    "answer_cut_short": "The bank's answer ended early.",
    "credentials_refused": "The bank refused the account's credentials.",
    "credentials_unfit": "The account's stored credentials are not what its bank asks for.",
    "not_found": "The bank knows nothing of this.",
    "not_http": "The bank's answer was not HTTP.",
    "not_json": "The bank's answer was not JSON.",
    "not_supported": "The bank does not offer this.",
    "rate_limited": "The bank was asked too often.",
    "redirected": "The bank sent the call elsewhere.",
    "refused": "The bank refused.",
    "server_error": "The bank failed.",
    "too_large": "The bank's answer was too large.",
    "unexpected_status": "The bank's answer had an unexpected status.",
    "wrong_shape": "The bank's answer had another form.",
    "answered": "The bank answered.",
    "duplicate": "The bank had carried this out already.",
    "amount_mismatch": "The bank reported another amount.",
    "e2e_id_malformed": "The bank reported a malformed end-to-end id.",
    "key_mismatch": "The bank reported another key.",
    "destination_mismatch": "The bank reported another recipient.",
    "unknown_status": "The bank reported an unknown status.",
    "adapter_raised": "The adapter of the bank failed.",
    "adapter_answer_invalid": "The adapter of the bank returned what cannot be right.",
    "unlisted_reason": "The adapter of the bank gave a reason that is none of ours.",
}
"""How a call of a bank ended."""

REASONS: Final[Mapping[str, str]] = {**_FORMS, **_CALLERS, **_RECORDS, **_MONEY, **_BANKS}
"""Every word with what it means; ``{field}`` stands for the field that is named beside it."""

UNTOLD: Final[Mapping[str, str]] = {
    "password": "The password was wrong.",
    "code": "The code was wrong, or used already.",
    "passkey": "The passkey was refused, or none of this person's.",
    "challenge_unknown": "No such sign-in was begun, or it was begun in another browser.",
    "challenge_over": "The sign-in took too long, or had too many wrong codes.",
    "challenge_used": "The sign-in was completed already.",
    "person_changed": "The password or the rights of this person have changed since.",
    "person_disabled": "The person is disabled.",
    "session_unknown": "There is no such session.",
    "session_over": "The session has ended.",
    "gone": "The session has ended, or is not known.",
    "used": "The token was used already.",
    "head": "The token is malformed.",
    "alg_or_typ": "The token is of another kind.",
    "kid": "The token names a key that is none of ours.",
    "id": "The token names no person or session.",
    "time": "The times in the token are malformed.",
    "not_yet": "The token is not valid yet.",
    "forged": "The notice is not proven to be the bank's.",
    "unproven": "It could not be checked whether the notice is the bank's.",
    "wire": "The request was refused before it was read to the end.",
}
"""Words that callers are not told, with what they mean to operators."""


def public_word(reason: str) -> str:
    """Return a word as callers see it; empty for internal words."""
    return reason if reason in REASONS else ""


def sentence(reason: str, field: str, words: Collection[str] = ()) -> str:
    """Return the sentence of a word for a field, with what it may be; empty for internal words."""
    known = REASONS.get(reason, "")
    if known and 0 < len(words) <= _MOST_WORDS:
        known = f"{{field}} must be {_either(list(words))}."
    return known.replace("{field}", field or "Something that was sent")


_MOST_WORDS: Final = 20
"""Of a longer list the documents are easier to read than a message."""


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
