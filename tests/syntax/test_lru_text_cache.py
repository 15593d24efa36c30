"""The cache of results for the most recently used texts."""

import pytest

from kerascheck.syntax.lru_text_cache import LRUTextCache


def test_the_last_texts_are_kept():
    made = []
    cache = LRUTextCache(lambda text: made.append(text) or [text], 6)
    first = cache("abc")
    assert cache("abc") is first and cache("def") == ["def"] and cache("abc") is first
    cache("g")  # goes beyond six characters: "def" was asked for before "abc"
    assert cache("abc") is first and made == ["abc", "def", "g"]
    cache("def")
    assert made == ["abc", "def", "g", "def"]


def test_a_text_longer_than_the_limit_is_kept_until_the_next():
    cache = LRUTextCache(lambda text: [text], 2)
    assert cache("abc") is cache("abc") is not None
    before = cache("abc")
    cache("d")
    assert cache("abc") is not before


def test_nothing_is_kept_where_it_fails():
    cache = LRUTextCache(lambda text: [int(text)], 3)
    with pytest.raises(ValueError):
        cache("a" * 9)
    one, other = cache("1"), cache("23")
    assert cache("1") is one and cache("23") is other
