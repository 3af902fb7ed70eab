"""URLs of one server, of a Cluster and of Sentinels."""

import pytest

from gateway.config.redis_url import Kind, RedisUrl, parse


def test_redis_urls_are_parsed():
    found = {
        url: parse(url)
        for url in (
            "redis://cache",
            "rediss://user:p%40ss@cache:6380/2",
            "redis+cluster://:word@a:7000,[::1],c/",
            "rediss+sentinel://a,b:26380/my-pix.1/3",
        )
    }

    assert [*found.values()] == [
        RedisUrl(Kind.SERVER, False, "", "", (("cache", 6379),), 0, ""),
        RedisUrl(Kind.SERVER, True, "user", "p@ss", (("cache", 6380),), 2, ""),
        RedisUrl(Kind.CLUSTER, False, "", "word", (("a", 7000), ("::1", 6379), ("c", 6379)), 0, ""),
        RedisUrl(Kind.SENTINEL, True, "", "", (("a", 26379), ("b", 26380)), 3, "my-pix.1"),
    ]


@pytest.mark.parametrize(
    "url",
    [
        *("", "http://cache", "redis://", "redis+other://cache", "redis:cache"),
        *("redis://cache:x", "redis://cache:70000", "redis://cache/name", "redis://cache/-1"),
        *("redis://cache?db=1", "redis://cache/0#1", "redis://a,b", "redis://a@b@c"),
        *("redis+cluster://a/1", "redis+cluster://a,,b", "redis+cluster://a/name"),
        *("redis+sentinel://a", "redis+sentinel://a/", "redis+sentinel://a/b c"),
        *("redis+sentinel://a/pix/name", "redis+sentinel://a/pix/0/1"),
    ],
)
def test_invalid_redis_urls_are_refused(url: str):
    with pytest.raises(ValueError, match=r".*"):
        parse(url)
