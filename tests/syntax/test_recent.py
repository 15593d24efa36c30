"""What was made of the texts that were asked for last."""

import pytest

from kerascheck.syntax.recent import Recent


def test_the_last_texts_are_kept():
    made = []
    recent = Recent(lambda text: made.append(text) or [text], 6)
    first = recent("abc")
    assert recent("abc") is first and recent("def") == ["def"] and recent("abc") is first
    recent("g")  # goes beyond six characters: "def" was asked for before "abc"
    assert recent("abc") is first and made == ["abc", "def", "g"]
    recent("def")
    assert made == ["abc", "def", "g", "def"]


def test_a_text_that_is_longer_than_the_room_is_kept_until_the_next():
    recent = Recent(lambda text: [text], 2)
    assert recent("abc") is recent("abc") is not None
    before = recent("abc")
    recent("d")
    assert recent("abc") is not before


def test_nothing_is_kept_where_it_fails():
    recent = Recent(lambda text: [int(text)], 3)
    with pytest.raises(ValueError):
        recent("a" * 9)
    one, other = recent("1"), recent("23")
    assert recent("1") is one and recent("23") is other
