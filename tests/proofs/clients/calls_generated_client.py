"""
Run by the interpreter of the client of openapi-generator, never by ours.

Reads an order as JSON from standard input, and writes its result to standard output.
"""

import importlib
import json
import sys


def main() -> None:
    """Pay to a PIX key, as the types of the client have it."""
    asked = json.load(sys.stdin)
    sys.path.insert(0, asked["folder"])
    client = importlib.import_module(asked["package"])
    client_id, _, client_secret = asked["pair"].partition(":")
    settings = client.Configuration(
        host=asked["base_url"], username=client_id, password=client_secret
    )
    body = client.PayoutRequest(client.PixPayoutRequest.from_dict(asked["payout"]))
    with client.ApiClient(settings) as caller:
        payouts = client.PayoutsApi(caller)
        said = payouts.banking_payout_create(asked["account_id"], payout_request=body)
    document = json.loads(said.actual_instance.to_json())
    json.dump({"document": document}, sys.stdout)


main()
