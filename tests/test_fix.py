"""compose, apply_fixes and write_atomically."""

import itertools
import os
import re
import stat
import tempfile
from dataclasses import dataclass, replace

import pytest

from kerascheck.finding import Applicability, Edit, Finding, Fix, Location, Severity
from kerascheck.fix import apply_fixes, compose, write_atomically

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def fix(*edits, applicability=SAFE, message=""):
    return Fix(applicability, message, tuple(Edit(*edit) for edit in edits))


@dataclass(frozen=True)
class Text:
    text: str

    def with_text(self, text):
        return replace(self, text=text)


def finding(start, fix=None):
    return Finding("KC101", "name", Severity.WARNING, Location("a.py", None, 1, start + 1, 1, start + 2), "", fix=fix)


def by_pattern(*rewrites, applicability=SAFE):
    """A ``find`` with one finding per match of a pattern, whose fix is the replacement."""

    def find(source):
        return [
            finding(match.start(), fix((match.start(), match.end(), match.expand(new)), applicability=applicability))
            for pattern, new in rewrites
            for match in re.finditer(pattern, source.text)
        ]

    return find


class TestCompose:
    @pytest.mark.parametrize(
        ("text", "fixes", "expected", "count"),
        [
            ("abc", [], "abc", 0),
            ("abc", [fix()], "abc", 0),
            ("abc", [fix((0, 1, "X"), (2, 3, "Z"))], "XbZ", 1),
            ("abcdef", [fix((0, 1, "X")), fix((4, 5, "Y"))], "XbcdYf", 2),
            # Around an edit of another fix.
            ("abcdef", [fix((0, 1, "X"), (5, 6, "Z")), fix((2, 3, "Y"))], "XbYdeZ", 2),
            # Overlap: the first in the text wins, and the other is left out whole.
            ("abcdef", [fix((2, 4, "Y"), (5, 6, "Z")), fix((0, 3, "X"))], "Xdef", 1),
            # Touching edits of two fixes are a conflict, of one fix are not.
            ("abcdef", [fix((0, 2, "X")), fix((2, 4, "Y"))], "Xcdef", 1),
            ("abcdef", [fix((0, 2, "X"), (2, 4, "Y"))], "XYef", 1),
            ("abcdef", [fix((0, 2, "X")), fix((2, 2, "Y"))], "Xcdef", 1),
            ("abcdef", [fix((1, 1, "X")), fix((1, 3, "Y"))], "aXbcdef", 1),
            ("abcdef", [fix((0, 4, "X")), fix((2, 2, "Y"))], "Xef", 1),
            # The same insertion twice, and different insertions at one place.
            ("abc", [fix((0, 0, "I"), (1, 1, "X")), fix((0, 0, "I"), (2, 2, "Y"))], "IaXbYc", 2),
            ("abc", [fix((0, 0, "I")), fix((0, 0, "J"))], "Iabc", 1),
            ("abc", [fix((0, 0, "I"), (0, 0, "J"))], "IJabc", 1),
            ("abc", [fix((0, 0, "J"), (0, 0, "I"))], "JIabc", 1),
            ("abc", [fix((0, 0, "I"), (2, 2, "X"), (0, 0, "I"))], "IabXc", 1),
            # A second insertion after a shared one has no agreed order.
            ("abc", [fix((0, 0, "I"), (1, 1, "X")), fix((0, 0, "I"), (0, 0, "J"), (2, 2, "Y"))], "IaXbc", 1),
            # Two findings with one and the same fix.
            ("abc", [fix((0, 1, "X")), fix((0, 1, "X"))], "Xbc", 2),
            # The same replacement in different fixes is no agreement.
            ("abcd", [fix((0, 1, "X")), fix((0, 1, "X"), (3, 4, "Y"))], "Xbcd", 1),
            # Faulty fixes: they overlap themselves or leave the text.
            ("abc", [fix((0, 2, "X"), (1, 3, "Y"))], "abc", 0),
            ("abc", [fix((2, 9, "X"))], "abc", 0),
            ("abc", [fix((2, 1, "X"))], "abc", 0),
            ("abc", [fix((3, 3, "X"))], "abcX", 1),
        ],
    )
    def test_result(self, text, fixes, expected, count):
        new_text, applied = compose(text, fixes)
        assert new_text == expected
        assert len(applied) == count

    def test_order_of_fixes_does_not_matter(self):
        fixes = [fix((0, 3, "X")), fix((2, 5, "Y")), fix((4, 6, "Z")), fix((8, 8, "I")), fix((8, 8, "J"))]
        results = {compose("abcdefghij", order)[0] for order in itertools.permutations(fixes)}
        assert results == {"XdZghIij"}

    def test_conflicts_agree_with_brute_force(self):
        text = "abcdef"
        ranges = [(s, e) for s in range(6) for e in range(s, 7)]
        for one, two in itertools.product(ranges, ranges):
            _, applied = compose(text, [fix((*one, "1")), fix((*two, "2"))])
            apart = one[1] < two[0] or two[1] < one[0]
            assert len(applied) == (2 if apart else 1), (one, two)

    @pytest.mark.parametrize("text", ["a\r\nb\rc\n\x0cd\te \u2028\ufeff", "'\U0001f600é'\r\n"])
    def test_rest_is_kept(self, text):
        assert compose(text, [fix((1, 1, "X"))])[0] == text[:1] + "X" + text[1:]


class TestApplyFixes:
    def test_repeats_until_nothing_changes(self):
        result = apply_fixes(Text("one = 1\n"), by_pattern(("one", "two")), False)
        assert result.text == "two = 1\n"
        chain = by_pattern(("a1", "a2"), ("a2", "a3"), ("a3", "b"))
        result = apply_fixes(Text("a1 = 1\n"), chain, False)
        assert (result.text, len(result.applied), result.remaining, result.skipped) == ("b = 1\n", 3, [], [])

    def test_nothing_to_do(self):
        source = Text("a = 1\n")
        other = finding(0)
        result = apply_fixes(source, lambda _: [other], False)
        assert (result.text, result.applied, result.remaining, result.skipped) == ("a = 1\n", [], [other], [])

    def test_unsafe_only_when_asked(self):
        find = by_pattern(("slow", "fast"), applicability=UNSAFE)
        kept = apply_fixes(Text("slow\n"), find, False)
        assert (kept.text, len(kept.remaining), kept.skipped) == ("slow\n", 1, [])
        assert apply_fixes(Text("slow\n"), find, True).text == "fast\n"

    def test_conflicting_fixes_take_two_rounds(self):
        result = apply_fixes(Text("aabb\n"), by_pattern(("aa", "x"), ("(?<=x|a)bb", "y")), False)
        assert (result.text, len(result.applied)) == ("xy\n", 2)

    def test_same_import_once(self):
        def find(source):
            new_import = () if "import tf" in source.text else ((0, 0, "import tf\n"),)
            return [
                finding(m.start(), fix(*new_import, (m.start(), m.end(), "tf.y")))
                for m in re.finditer(r"\bx\b", source.text)
            ]

        assert apply_fixes(Text("x\nx\nx\n"), find, False).text == "import tf\ntf.y\ntf.y\ntf.y\n"

    @pytest.mark.parametrize("bad", ["f(", "f(a=1, a=2)", "return", "x = = 1"])
    def test_breaking_fix_is_dropped_and_the_others_are_applied(self, bad):
        find = by_pattern(("bad", bad), (r"slow(\d)", r"fast\1"))
        result = apply_fixes(Text("slow1\nslow2\nbad\nslow3\nslow4\n"), find, False)
        assert result.text == "fast1\nfast2\nbad\nfast3\nfast4\n"
        assert len(result.applied) == 4
        assert result.skipped == result.remaining
        assert len(result.skipped) == 1

    def test_breaking_fix_does_not_starve_one_that_it_conflicts_with(self):
        find = by_pattern((r"a\+b", "("), ("b", "c"))
        assert apply_fixes(Text("a+b\n"), find, False).text == "a+c\n"

    def test_fixes_that_break_only_together(self):
        find = by_pattern(("one", "x"), ("two", "x"))
        result = apply_fixes(Text("f(one=1, two=2)\n"), find, False)
        assert (result.text, len(result.applied), len(result.skipped)) == ("f(x=1, two=2)\n", 1, 1)

    def test_original_that_does_not_compile_is_held_to_the_parser_only(self):
        # As the text of a newer Python would: libcst accepts it, compile does not.
        result = apply_fixes(Text("return\nslow\n"), by_pattern(("slow", "fast")), False)
        assert result.text == "return\nfast\n"
        assert apply_fixes(Text("return\nslow\n"), by_pattern(("slow", "(")), False).text == "return\nslow\n"

    def test_top_level_await_of_notebooks(self):
        assert apply_fixes(Text("await slow\n"), by_pattern(("slow", "fast")), False).text == "await fast\n"
        broken = apply_fixes(Text("await slow\n"), by_pattern(("slow", "f(a=1, a=2)")), False)
        assert broken.text == "await slow\n"

    def test_cycle_ends(self):
        calls = []

        def find(source):
            calls.append(source.text)
            return by_pattern(("ping", "pong"))(source) or by_pattern(("pong", "ping"))(source)

        result = apply_fixes(Text("ping\n"), find, False)
        assert calls == ["ping\n", "pong\n"]
        assert (result.text, len(result.applied), len(result.skipped)) == ("pong\n", 1, 1)

    def test_endless_growth_ends(self):
        result = apply_fixes(Text("x\n"), by_pattern((r"x\b", "xx")), False)
        assert (result.text, len(result.applied), len(result.skipped)) == ("x" * 11 + "\n", 10, 1)
        # Found in the last text, not in the one before.
        assert [f.location.column for f in result.remaining] == [11]

    def test_remaining_belongs_to_the_new_text(self):
        def find(source):
            return [*by_pattern(("long_name", "n"))(source), finding(source.text.index("!"))]

        result = apply_fixes(Text("long_name # !\n"), find, False)
        assert [f.location.column for f in result.remaining] == [result.text.index("!") + 1]

    def test_line_endings_and_odd_characters_stay(self):
        text = "# é\x0c\r\n\x0c\r\nif a:\r\n\tslow # \u2028 ü\r\n"
        assert apply_fixes(Text(text), by_pattern(("slow", "fast")), False).text == text.replace("slow", "fast")


class TestWriteAtomically:
    def test_bytes_and_permissions(self, tmp_path):
        path = tmp_path / "a.py"
        path.write_bytes(b"old")
        path.chmod(0o754)
        write_atomically(path, b"\xef\xbb\xbfnew\r\n")
        assert path.read_bytes() == b"\xef\xbb\xbfnew\r\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o754
        assert os.listdir(tmp_path) == ["a.py"]

    def test_owner(self, tmp_path):
        if not hasattr(os, "chown") or os.geteuid() != 0:
            pytest.skip("only the superuser can give files away")
        path = tmp_path / "a.py"
        path.write_bytes(b"old")
        os.chown(path, 4321, 4322)
        write_atomically(path, b"new")
        assert (path.stat().st_uid, path.stat().st_gid) == (4321, 4322)

    def test_link_stays(self, tmp_path):
        (tmp_path / "far").mkdir()
        target, link = tmp_path / "far" / "a.py", tmp_path / "link.py"
        target.write_bytes(b"old")
        link.symlink_to(target)
        write_atomically(str(link), b"new")
        assert link.is_symlink()
        assert target.read_bytes() == b"new"
        assert sorted(os.listdir(tmp_path)) == ["far", "link.py"]

    def test_missing_file(self, tmp_path):
        with pytest.raises(FileNotFoundError) as caught:
            write_atomically(tmp_path / "none.py", b"")
        assert caught.value.filename == str(tmp_path / "none.py")

    @pytest.mark.parametrize("function", ["replace", "fsync", "chmod"])
    def test_failure_leaves_the_old_file_alone(self, tmp_path, monkeypatch, function):
        path = tmp_path / "a.py"
        path.write_bytes(b"old")

        def fail(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, function, fail)
        with pytest.raises(OSError, match="No space") as caught:
            write_atomically(path, b"new")
        assert caught.value.filename == str(path)
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["a.py"]

    def test_read_only_file(self, tmp_path, monkeypatch):
        path = tmp_path / "a.py"
        path.write_bytes(b"old")
        # Not by permissions: the superuser may write anywhere.
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(PermissionError, match="read-only"):
            write_atomically(path, b"new")
        assert path.read_bytes() == b"old"

    def test_read_only_directory(self, tmp_path, monkeypatch):
        path = tmp_path / "a.py"
        path.write_bytes(b"old")

        def refuse(*_, **__):
            raise PermissionError(13, "Permission denied", str(tmp_path / ".a.py.x1y2"))

        monkeypatch.setattr(tempfile, "mkstemp", refuse)
        with pytest.raises(PermissionError) as caught:
            write_atomically(path, b"new")
        assert caught.value.filename == str(path)
        assert path.read_bytes() == b"old"
