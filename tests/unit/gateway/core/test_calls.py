"""A call on its way in shares nothing with the next one."""

from gateway.core.calls import Call, Input, RawRequest


def test_what_one_call_gathers_is_not_the_next_one_s():
    one, other = (Call(asked=RawRequest(path={}), needs=None, quota="read") for _ in range(2))

    one.headers["RateLimit"] = "x"

    assert other.headers == {}


def test_a_call_begins_without_a_principal_and_an_account():
    """Only the policy that establishes one fills it in."""
    call = Call(asked=RawRequest(path={}), needs=None, quota="read")

    assert (call.principal, call.account) == (None, None)


def test_an_input_without_parameters_has_no_body_and_refuses_nothing():
    taken = Input(read=lambda asked: asked.path)

    assert (taken.parameters, taken.body, taken.refuses) == ((), None, ())
    assert taken.read(RawRequest(path={"reference": "x"})) == {"reference": "x"}
