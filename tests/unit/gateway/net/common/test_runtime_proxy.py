"""The proxy on the way to one provider."""

from gateway.net.common.runtime import Proxy, Runtime

AUTHORIZATION = "Basic dXM6c2VjcmV0"


def test_what_proves_us_to_the_proxy_is_not_printed():
    proxy = Proxy(host="proxy.example", port=3128, authorization=AUTHORIZATION)

    assert "dXM6" not in repr(proxy)
    assert "dXM6" not in repr(Runtime(proxy=proxy))
