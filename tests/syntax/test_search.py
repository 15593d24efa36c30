"""Patterns are found by every search strategy."""

import re

import pytest

from kerascheck.syntax.search import Searched, parts_of

TEXTS = [
    "",
    "import gym\nenv = gym.make('x')\n",
    "from keras import objectives\n",
    "GAN = 1",
    "CycleGan()",
    "organ began",
    "tf.data.Dataset",
    "x | y",
    "a]b",
    "fp16 AMP",
    "ſet",
    "aa",
    "abab",
    "Session(graph=g)",
    "tf.app.run()",
    "import pdf.app",
    "tf.app_name, atf.applications",
    "tensorflow.data",
    "éamp",
    "İamp amp·x",
    "x.amp",
    "a\0b c\0",
]
PATTERNS = [
    r"^\s*(?:from|import)\s+(?:gym|tf_agents|rl)\b|\b[Aa]ctor_?[Cc]ritic",
    r"(?<!OR)GAN(?![a-z])|(?<![A-Za-z])(?:c|[Cc]ycle)?[Gg]an(?![a-z])",
    r"(?m)^from keras import\b.*objectives|nothing",
    r"[|]|dataset",
    r"[]|]b|[^]|]zz",
    r"\|",
    r"(a|b)\1|(ab)\2",
    r"(?:data){2}|set(?:_x)?",
    r"(?i:gan)x|amp",
    r"\bSession\(\s*graph\s*=\s*(\w+)",
    r"",
    r"a|",
    r"\b(?:tf|tensorflow)\.(?:app|data)\b",
    r"\bamp\b",
    r"amp\b|\bx\.",
    r"\b\.amp",
    r"b c|a\x00b",
    r"(?a)\bamp",
    r"[.]\b(?:amp|data|[ab]pp)\b",
    r"(?:[abc][abc][abc][abc][abc])amp|\b(?:(?:x|y)\.amp)",
]


@pytest.mark.parametrize("flags", [0, re.I, re.M, re.I | re.S])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_results_equal_those_of_a_full_search(pattern, flags):
    compiled = re.compile(pattern, flags)
    assert [Searched(text).holds(compiled) for text in TEXTS] == [compiled.search(text) is not None for text in TEXTS]


def test_words_are_searched_first():
    pattern = re.compile(r"^\s*(?:from|import)\s+(?:gymnasium|pettingzoo)\b|\b[Rr]eplay(?:Buffer|Memory)|rl|ab?")
    words = [found for found, _ in parts_of(pattern)]
    replay = {f"\0{word}{what}" for word in ("Replay", "replay") for what in ("Buffer", "Memory")}
    assert words == [{"gymnasium\0", "pettingzoo\0"}, replay, None]


def test_names_match_as_wholes():
    """Check which patterns the search for words excludes."""
    (part,) = parts_of(re.compile(r"\b(?:tf|tensorflow)\.(?:app|data)\b|\b(?:amp|half)\b"))[:1]
    assert part[0] == {f"\0{module}.{name}\0" for module in ("tf", "tensorflow") for name in ("app", "data")}
    text = Searched("example = pdf.append(half_done, 'tf.append')")
    asked = {"\0half\0": False, "half": True, "tf.app": True, "\0tf.append\0": True, "\0append(": True, "\0end(": False}
    assert {word: text.has(word) for word in asked} == asked


@pytest.mark.parametrize("text", TEXTS)
def test_has_characters(text):
    words = [
        "",
        "a",
        "amp",
        "app",
        ".amp",
        "Session(",
        "tf.",
        ".",
        "organ",
        "a]",
        "é",
        "İ",
        "·",
        "x | y",
        "(graph=",
        "keras import",
    ]
    assert [Searched(text).has(word) for word in words] == [word in text for word in words]
