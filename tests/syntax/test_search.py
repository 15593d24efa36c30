"""Patterns are found whichever way they are looked for."""

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
]


@pytest.mark.parametrize("flags", [0, re.I, re.M, re.I | re.S])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_a_search_of_the_whole_text_finds_is_found(pattern, flags):
    compiled = re.compile(pattern, flags)
    assert [Searched(text).holds(compiled) for text in TEXTS] == [compiled.search(text) is not None for text in TEXTS]


def test_words_are_looked_for_first():
    pattern = re.compile(r"^\s*(?:from|import)\s+(?:gymnasium|pettingzoo)\b|\b[Rr]eplay(?:Buffer|Memory)|rl|ab?")
    words = [found for found, _ in parts_of(pattern)]
    assert words == [{"gymnasium", "pettingzoo"}, {"Replay", "replay"}, None]
