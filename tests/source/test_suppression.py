"""Suppression comments, and similar comments."""

import pytest

from kerascheck.project.suppression import Comments, suppressions
from kerascheck.source import Source


def silenced(text, line=1, *, noqa=True, code="KC101", name="serial-map"):
    return bool(suppressions(Source("a.py", text), noqa=noqa).silencing(code, name, {line}))


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#: # noqa",
        "# NOQA : why",
        "# noqa: KC101",
        "# noqa:E501,KC101",
        "# noqa: E501 KC1",
        "# noqa: kc101",
        "# kerascheck: ignore",
        "# kerascheck: ignore[KC101]",
        "# kerascheck: ignore[serial-map]",
        "# kerascheck:ignore[missing-prefetch, serial-map] because it is tiny",
        "# type: ignore  # kerascheck: ignore[serial-map]",
    ],
)
def test_a_comment_suppresses_only_its_line(comment):
    text = f"x = 1  {comment}\ny = 2\n"
    assert silenced(text, 1)
    assert not silenced(text, 2)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa: F401\n",
        "x = '# noqa'\n",
        '"""\n# kerascheck: ignore-file\n"""\n',
        "x = 1  # kerascheck: ignore[KC102]\n",
        "x = 1  # kerascheck: ignored\n",
        "x = 1  # kerascheck: ignore-files\n",
        "x = 1  # see kerascheck\n",
        "x = 1\n",
    ],
)
def test_similar_comments_do_not_suppress(text):
    assert not silenced(text)


@pytest.mark.parametrize(
    ("comment", "others"),
    [
        ("# kerascheck: ignore-file", True),
        ("# kerascheck: ignore-file[serial-map]", False),
        ("# kerascheck: ignore-file[KC101]", False),
        ("# flake8: noqa", True),
        ("# flake8: noqa: KC101", False),
    ],
)
def test_file_wide_forms(comment, others):
    text = f"x = 1\n{comment}\n"
    assert silenced(text, 1)
    assert silenced(text, 1, code="KC102", name="missing-prefetch") is others


def test_a_dockerfile_comment_also_covers_the_next_line():
    def lines(text):
        found = suppressions(Source("Dockerfile", text))
        return [line for line in range(1, 5) if found.silencing("KC701", "cpu-only-requirement", {line})]

    assert lines("FROM a\n# noqa: KC701\nRUN pip install b\nRUN c\n") == [2, 3]
    assert lines("FROM a\nRUN pip install b  # noqa\nRUN pip install c#noqa\n") == [2]
    assert lines("# kerascheck: ignore-file[cpu-only-requirement]\nFROM (\n") == [1, 2, 3, 4]


def test_noqa_can_be_disabled_alone():
    assert not silenced("x = 1  # noqa\n", noqa=False)
    assert not silenced("# flake8: noqa\nx = 1\n", noqa=False)
    assert silenced("x = 1  # kerascheck: ignore\n", noqa=False)


def test_comments_suppress_even_if_later_code_does_not_tokenize():
    assert silenced("x = 1  # noqa\ny = (\n")
    assert silenced("x = 1\r\ny = 2  # noqa\r\n", 2)
    assert silenced("x = 1\ry = 2  # noqa\r", 2)


def test_silencing_does_not_scan_all_entries(monkeypatch):
    listed = [*(f"X{number}" for number in range(3000)), "KC2", "serial-map", "kc30", "MISSING"]
    source = Source("a.py", "".join(f"f()  # kerascheck: ignore[{each}]\n" for each in listed[-4:]))
    source = source.with_text(f"# kerascheck: ignore-file[{', '.join(listed)}]\n{source.text}g()  # noqa\n")
    found = suppressions(source)
    wanted = {}
    for code, name in (("KC101", "serial-map"), ("KC201", "b"), ("KC301", "c"), ("KC401", "missing"), ("KC111", "d")):
        near = [each for each in found.directives if not set(each.lines).isdisjoint(range(2, 7)) or not each.lines]
        wanted[code, name] = [each for each in near if each.silences(code, name)]
    monkeypatch.setattr("kerascheck.project.suppression.means", None)
    assert {each: found.silencing(*each, range(2, 7)) for each in wanted} == wanted
    assert [len(each) for each in wanted.values()] == [3, 3, 3, 1, 1]


def test_each_entry_looks_up_rules_once():
    class Rules(list):
        looks = 0

        def __iter__(self):
            self.looks += 1
            return super().__iter__()

    rules = Rules()
    comments = Comments(Source("a.py", ""), (), {}, (), rules)
    for _ in range(10):
        assert comments.meant_by("KC1") == [] and comments.nearest("serial") == ""
    assert rules.looks == 2
