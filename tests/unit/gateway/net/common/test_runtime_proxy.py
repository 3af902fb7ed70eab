"""The proxy on the way to one provider."""

from gateway.net.common.runtime import Proxy, Runtime

AUTHORIZATION = "Basic dXM6c2VjcmV0"


def test_the_proxy_s_credentials_are_not_printed():
    proxy = Proxy(host="proxy.example", port=3128, authorization=AUTHORIZATION)

    assert "dXM6" not in repr(proxy)
    assert "dXM6" not in repr(Runtime(proxy=proxy))
