""".gitignore patterns: bad ones are skipped, and all match quickly."""

import random

import pathspec
import pytest

from kerascheck.source.patterns import BadPattern, compiled, spec


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[z-a]", "'[z-a]', which matches nothing"),
        ("\\", "'\\', which matches nothing"),
        ("x" * 5000, "a pattern of 5000 characters"),
        ("**/a/**/b/**/c/**/d/**/e", "which has too many wildcards"),
    ],
)
def test_a_bad_line_is_reported_and_others_apply(line, told):
    read, ((index, what),) = compiled(["# comment", "", line, "*.log"])
    assert index == 2 and told in what
    assert read.match_file("a.log") and not read.match_file("a.py")
    with pytest.raises(BadPattern):
        spec(line)


def test_many_stars_are_matched_without_backtracking():
    # With backtracking, neither would terminate.
    assert not spec("a*" * 60 + "b").match_file("a" * 250)
    assert spec("a*" * 60 + "b").match_file("a" * 250 + "b")


def test_patterns_match_like_pathspec():
    chance = random.Random(0)
    compared = 0
    for _ in range(3000):
        line = "".join(chance.choices(["a", "b", "*", "?", "/", "**/", "[ab]", "c", "!", "."], k=chance.randint(1, 8)))
        try:
            old = pathspec.GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        new, refused = compiled([line])
        for _ in range(0 if refused else 6):
            path = "/".join(chance.choices(["a", "b", "c", "a.b", "ab", "abc"], k=chance.randint(1, 5)))
            assert new.check_file(path).include == old.check_file(path).include, (line, path)
            compared += 1
    assert compared > 10_000
