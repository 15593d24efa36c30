"""compose and apply_fixes."""

import itertools
import re

import pytest

from kerascheck.finding import Applicability, Edit, FileError, Finding, Fix, Location, Severity
from kerascheck.fixes.apply import apply_fixes, compose
from kerascheck.source import Source

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def fix(*edits, applicability=SAFE, message=""):
    return Fix(applicability, message, tuple(Edit(*edit) for edit in edits))


def Text(text):
    return Source("a.py", text)


def finding(start, fix=None, message="", *, length=1, severity=Severity.WARNING, code="KC101"):
    place = Location("a.py", None, 1, start + 1, 1, start + 1 + length)
    return Finding(code, "name", severity, place, message, fix=fix)


def by_pattern(*rewrites, applicability=SAFE):
    """A ``find`` with one finding per match of a pattern, whose fix is the replacement."""

    def find(source):
        return [
            finding(
                match.start(),
                fix((match.start(), match.end(), match.expand(new)), applicability=applicability),
                match[0],
                length=len(match[0]),
            )
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
    def test_composes_compatible_fixes(self, text, fixes, expected, count):
        new_text, applied = compose(text, fixes)
        assert new_text == expected
        assert len(applied) == count

    def test_order_of_fixes_does_not_matter(self):
        fixes = [fix((0, 3, "X")), fix((2, 5, "Y")), fix((4, 6, "Z")), fix((8, 8, "I")), fix((8, 8, "J"))]
        results = {compose("abcdefghij", order)[0] for order in itertools.permutations(fixes)}
        assert results == {"XdZghIij"}

    def test_conflicts_equal_brute_force(self):
        text = "abcdef"
        ranges = [(s, e) for s in range(6) for e in range(s, 7)]
        for one, two in itertools.product(ranges, ranges):
            _, applied = compose(text, [fix((*one, "1")), fix((*two, "2"))])
            apart = one[1] < two[0] or two[1] < one[0]
            assert len(applied) == (2 if apart else 1), (one, two)

    @pytest.mark.parametrize("text", ["a\r\nb\rc\n\x0cd\te \u2028\ufeff", "'\U0001f600é'\r\n"])
    def test_unrelated_text_is_kept(self, text):
        assert compose(text, [fix((1, 1, "X"))])[0] == text[:1] + "X" + text[1:]


class TestApplyFixes:
    def test_repeats_until_fixpoint(self):
        result = apply_fixes(Text("one = 1\n"), by_pattern(("one", "two")), False)
        assert result.text == "two = 1\n"
        chain = by_pattern(("a1", "a2"), ("a2", "a3"), ("a3", "b"))
        result = apply_fixes(Text("a1 = 1\n"), chain, False)
        assert (result.text, len(result.applied), result.remaining, result.skipped) == ("b = 1\n", 3, [], {})

    def test_no_fixes_change_nothing(self):
        source = Text("a = 1\n")
        other = finding(0)
        result = apply_fixes(source, lambda _: [other], False)
        assert (result.text, result.applied, result.remaining, result.skipped) == ("a = 1\n", [], [other], {})

    def test_unsafe_fixes_need_the_option(self):
        find = by_pattern(("slow", "fast"), applicability=UNSAFE)
        kept = apply_fixes(Text("slow\n"), find, False)
        assert (kept.text, len(kept.remaining), kept.skipped) == ("slow\n", 1, {})
        assert apply_fixes(Text("slow\n"), find, True).text == "fast\n"

    def test_conflicting_fixes_take_two_rounds(self):
        result = apply_fixes(Text("aabb\n"), by_pattern(("aa", "x"), ("(?<=x|a)bb", "y")), False)
        assert (result.text, len(result.applied)) == ("xy\n", 2)

    def test_same_import_is_added_once(self):
        def find(source):
            new_import = () if "import tf" in source.text else ((0, 0, "import tf\n"),)
            return [
                finding(m.start(), fix(*new_import, (m.start(), m.end(), "tf.y")))
                for m in re.finditer(r"\bx\b", source.text)
            ]

        assert apply_fixes(Text("x\nx\nx\n"), find, False).text == "import tf\ntf.y\ntf.y\ntf.y\n"

    @pytest.mark.parametrize("bad", ["f(", "f(a=1, a=2)", "return", "x = = 1"])
    def test_breaking_fix_is_dropped_and_others_are_applied(self, bad):
        find = by_pattern(("bad", bad), (r"slow(\d)", r"fast\1"))
        result = apply_fixes(Text("slow1\nslow2\nbad\nslow3\nslow4\n"), find, False)
        assert result.text == "fast1\nfast2\nbad\nfast3\nfast4\n"
        assert len(result.applied) == 4
        assert result.skipped == dict.fromkeys(result.remaining, "breaks the program")
        assert len(result.skipped) == 1

    def test_breaking_fix_does_not_block_a_conflicting_fix(self):
        find = by_pattern((r"a\+b", "("), ("b", "c"))
        assert apply_fixes(Text("a+b\n"), find, False).text == "a+c\n"

    def test_fixes_that_break_only_together_are_separated(self):
        find = by_pattern(("one", "x"), ("two", "x"))
        result = apply_fixes(Text("f(one=1, two=2)\n"), find, False)
        assert (result.text, len(result.applied), len(result.skipped)) == ("f(x=1, two=2)\n", 1, 1)

    def test_uncompilable_original_needs_only_the_parser(self):
        # Like the syntax of a newer Python: libcst accepts it, compile does not.
        result = apply_fixes(Text("return\nslow\n"), by_pattern(("slow", "fast")), False)
        assert result.text == "return\nfast\n"
        assert apply_fixes(Text("return\nslow\n"), by_pattern(("slow", "(")), False).text == "return\nslow\n"

    def test_mixed_indentation_needs_only_python(self):
        text = "if a:\n\tif b:\n        \tslow\n"
        assert apply_fixes(Text(text), by_pattern(("slow", "fast")), False).text == text.replace("slow", "fast")
        assert apply_fixes(Text(text), by_pattern(("slow", "(")), False).text == text

    def test_top_level_await_in_notebooks_is_accepted(self):
        assert apply_fixes(Text("await slow\n"), by_pattern(("slow", "fast")), False).text == "await fast\n"
        broken = apply_fixes(Text("await slow\n"), by_pattern(("slow", "f(a=1, a=2)")), False)
        assert broken.text == "await slow\n"

    @pytest.mark.parametrize("text", ["ping\n", "pong\n"])
    def test_mutually_undoing_fixes_are_dropped(self, text):
        calls = []

        def find(source):
            calls.append(source.text)
            return by_pattern(("ping", "pong"), ("pong", "ping"))(source)

        result = apply_fixes(Text(text), find, False)
        assert len(calls) == len(set(calls)) == 2
        assert (result.text, result.applied, list(result.skipped)) == (text, [], result.remaining)
        assert list(result.skipped.values()) == ["undoes another fix"]

    def test_fix_is_applied_beside_mutually_undoing_fixes(self):
        find = by_pattern(("ping", "pong"), ("pong", "ping"), ("slow", "fast"))
        result = apply_fixes(Text("ping + slow\n"), find, False)
        assert result.text.endswith("fast\n")
        assert apply_fixes(Text(result.text), find, False).text == result.text

    def test_rule_with_endless_fixes_is_skipped(self):
        def find(source):
            first, second = map(int, source.text.split("+"))
            places = (0, str(first)), (source.text.index("+") + 1, str(second))
            fixes = (fix((start, start + len(old), str(int(old) + 1))) for start, old in places)
            return [
                finding(0, next(fixes), str(first), code="KC101"),
                *[finding(1, each, str(second), code="KC102") for each in fixes if second < 5],
            ]

        result = apply_fixes(Text("1+1"), find, False)
        assert (result.text, len(result.applied)) == ("1+5", 4)
        assert list(result.skipped.values()) == ["never comes to an end"]

    def test_fix_that_leaves_its_finding_is_dropped(self):
        # The fix moves another statement.
        find = by_pattern((r"slow(\d)", r"fast\1"))

        def broken(source):
            start = source.text.index("fault")
            other = source.text.index("x = 1;")
            moved = fix((0, 0, "x = 1;"), (other, other + 6, "")) if other else fix((0, 0, "x;"))
            return [*find(source), finding(start, moved, "fault", length=5)]

        text = "y = slow1;x = 1;fault;slow2\n"
        result = apply_fixes(Text(text), broken, False)
        assert result.text == "y = fast1;x = 1;fault;fast2\n"
        assert len(result.applied) == 2
        assert [finding.message for finding in result.remaining] == ["fault"]
        assert result.skipped == {result.remaining[0]: "leaves its finding"}
        again = apply_fixes(Text(result.text), broken, False)
        assert (again.text, again.applied, again.skipped) == (result.text, [], result.skipped)

    def test_fix_that_moves_its_finding_is_dropped(self):
        def find(source):
            start = source.text.index("late")
            edits = ((0, 0, "late;"), (start, start + 5, "")) if start else ()
            return [finding(start, fix(*edits), "late", length=4)]

        result = apply_fixes(Text("a;late;b\n"), find, False)
        assert (result.text, list(result.skipped.values())) == ("a;late;b\n", ["leaves its finding"])

    def test_moved_statement_may_keep_an_unfixed_finding(self):
        def find(source):
            if source.text.startswith("("):
                return [finding(1, None, "slow", length=4)]
            moved = fix((0, 0, "(slow);"), (0, 4, "fast"), (5, 12, ""))
            return [finding(0, moved, "slow", length=4), finding(6, None, "slow", length=4)]

        result = apply_fixes(Text("slow;(slow);\n"), find, False)
        assert (result.text, len(result.applied), result.skipped) == ("(slow);fast;\n", 1, {})

    def test_fix_that_wraps_its_finding_is_dropped(self):
        def find(source):
            wrapped = () if source.text.startswith("g") else ((0, 0, "g("), (3, 3, ")"))
            return [finding(0, fix(*wrapped), "call", length=len(source.text) - 1)]

        result = apply_fixes(Text("f()\n"), find, False)
        assert (result.text, list(result.skipped.values())) == ("f()\n", ["leaves its finding"])

    def test_fix_that_extends_its_finding_is_dropped(self):
        def find(source):
            end = source.text.index(")")
            return [finding(0, fix((end, end, "1,")), "call", length=end + 1)]

        result = apply_fixes(Text("f()\n"), find, False)
        assert (result.text, list(result.skipped.values())) == ("f()\n", ["leaves its finding"])

    def test_equal_finding_at_the_next_call_is_another_finding(self):
        # The first fix succeeded: the new finding is at another call, although in the same edit.
        def find(source):
            found = re.search(r"^(.*)(map\(\w\)).batch(.*)", source.text)
            swapped = found and fix((0, found.end(), f"{found[1]}batch.{found[2]}{found[3]}"))
            return [finding(found.start(2), swapped, "swap", length=6)] if found else []

        result = apply_fixes(Text("map(f).map(g).batch\n"), find, False)
        assert (result.text, len(result.applied), result.skipped) == ("batch.map(f).map(g)\n", 2, {})

    def test_one_of_equal_findings_may_stay(self):
        def find(source):
            found = re.finditer("slow(!?)", source.text)
            return [
                finding(m.start(), None if m[1] else fix((m.start(), m.end(), "fast")), "slow", length=4) for m in found
            ]

        # Not Python, so nothing is parsed.
        result = apply_fixes(Text("slow slow! slow slow!\n"), find, False, is_python=False)
        assert (result.text, len(result.applied), len(result.remaining)) == ("fast slow! fast slow!\n", 2, 2)

    def test_dropped_fix_is_retried_after_others(self):
        # The fix of "late" works once "early" is gone; without a retry, the next run would still change the file.
        def find(source):
            late = source.text.find("late")
            early = by_pattern(("early", "on_time"))(source)
            new = "late" if early else "good"
            return [*early, *([finding(late, fix((late, late + 4, new)), "late", length=4)] if late >= 0 else [])]

        result = apply_fixes(Text("early;late\n"), find, False)
        assert (result.text, len(result.applied), result.skipped) == ("on_time;good\n", 2, {})

    @pytest.mark.parametrize("where", ["finding", "file"])
    def test_fix_that_causes_an_error_is_dropped(self, where):
        rewrite = by_pattern((r"slow(\d)", r"fast\1"))

        def find(source):
            found = [finding(0, None, "was there", severity=Severity.ERROR, code="KC2")]
            if "fast3" in source.text:
                place = source.text.index("fast3")
                error = finding(place, None, "shapes do not match", severity=Severity.ERROR, code="KC3")
                found.append(error if where == "finding" else FileError("KC998", error.location, "a rule failed"))
            return [*rewrite(source), *found]

        text = "x;slow1;slow2;slow3;slow4\n"
        result = apply_fixes(Text(text), find, False)
        assert result.text == "x;fast1;fast2;slow3;fast4\n"
        assert len(result.applied) == 3
        assert list(result.skipped.values()) == ["causes an error that was not there"]

    def test_moved_error_is_not_new(self):
        def find(source):
            error = finding(source.text.index("!"), None, "!", severity=Severity.ERROR)
            return [*by_pattern(("long_name", "n"))(source), error, FileError("KC999", error.location, "cell")]

        assert apply_fixes(Text("long_name # !\n"), find, False).text == "n # !\n"

    def test_unselected_findings_are_not_fixed_but_may_be_errors(self):
        def find(source):
            error = finding(0, None, "", severity=Severity.ERROR, code="KC2")
            return [*by_pattern(("slow", "fast"))(source), *([error] if "fast1" in source.text else [])]

        def keep_reported(source, findings):
            return [each for each in findings if each.location.column < 12 and each.code != "KC2"]

        result = apply_fixes(Text("slow0;slow1;slow2\n"), find, False, keep_reported=keep_reported)
        assert (result.text, len(result.remaining), len(result.skipped)) == ("fast0;slow1;slow2\n", 1, 1)

    def test_remaining_findings_refer_to_the_new_text(self):
        def find(source):
            return [*by_pattern(("long_name", "n"))(source), finding(source.text.index("!"))]

        result = apply_fixes(Text("long_name # !\n"), find, False)
        assert [f.location.column for f in result.remaining] == [result.text.index("!") + 1]

    def test_line_endings_and_unusual_characters_are_kept(self):
        text = "# é\x0c\r\n\x0c\r\nif a:\r\n\tslow # \u2028 ü\r\n"
        assert apply_fixes(Text(text), by_pattern(("slow", "fast")), False).text == text.replace("slow", "fast")
