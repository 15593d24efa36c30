import re

from kerascheck import registry
from kerascheck.finding import Applicability, Edit, Fix, Severity
from kerascheck.rule import Rule
from kerascheck.source.suppression import Comments, Directive, means

_CODE = re.compile(r"KC\d{0,3}", re.IGNORECASE)
_NAME = re.compile(r"[a-z][\w-]*", re.IGNORECASE)


class UnusedSuppression(Rule):
    """A comment silences findings that are not there.

    ## What it does

    Reports the entries of `# noqa: KC...`, `# flake8: noqa: KC...` and `# kerascheck: ignore...` that silenced nothing in this run, and
    those that name no rule. Entries are judged one by one: in `# noqa: KC101, KC102` one of the two may be left over.

    ## Why it costs

    It costs no time. A comment that is left over hides the next finding on its line, which may be a real one, and tells readers of a
    problem that is no longer there.

    ## What the runtime does by itself

    Nothing: comments are for people and linters. Which findings there are depends on the TensorFlow that the code is checked for
    (`target-tensorflow`): a comment may be needed for one version and not for another.

    ## When it stays silent

    - `# noqa` without codes, and codes of other tools: other linters read them.
    - Rules that did not run, because they are not selected or off: whether something is to be silenced is not known. A prefix such as
      `KC1`, and a comment that silences everything, are judged where every rule ran that is on by default.
    - Files that could not be checked as a whole, and notebooks with a cell that cannot be parsed.
    - `# noqa: KC101, KC900`, for a comment that is there on purpose.

    ## Use instead

    Take the entry, or the whole comment, away.

    ## Fix safety

    Safe: what other tools read in the comment, and what it says beside, stays.

    ## References

    - ruff: "unused-noqa (RUF100)", a rule of the same purpose
    - flake8: "Selecting and Ignoring Violations"
    """

    code = "KC900"
    name = "unused-suppression"
    summary = "comment silences nothing"
    severity = Severity.WARNING
    reads = "comments"
    triggers = ("noqa", "kerascheck")

    def check(self, comments: Comments):
        for directive in comments.directives:
            unused = [entry for entry in directive.entries if _is_unused(entry, directive, comments)]
            if unused:
                because = " ".join(dict.fromkeys(_reason(entry) for entry in unused))
            elif directive.ours and not directive.entries and not comments.silenced[directive] and all(_ran("", comments)):
                because = "No rule that ran found something there."
            else:
                continue
            several = len(unused) > 1
            yield self.finding(
                comments.at(directive),
                f"{' and '.join(unused) or 'This comment'} silence{'s' * (not several)} nothing; "
                f"take {'them' if several else 'it'} away before {'they hide' if several else 'it hides'} the next finding.",
                because=because,
                fix=Fix(Applicability.SAFE, "Take away what silences nothing", (_without(unused, directive, comments),)),
            )


def _is_unused(entry: str, directive: Directive, comments: Comments) -> bool:
    code = _CODE.fullmatch(entry)
    if not code and not (directive.ours and _NAME.fullmatch(entry)):
        return False
    if any(means(entry, silenced, comments.ran[silenced]) for silenced in comments.silenced[directive] if silenced in comments.ran):
        return False
    ran = _ran(entry, comments)
    return not means(entry, UnusedSuppression.code, UnusedSuppression.name) and all(ran) and (bool(ran) or not _meant(entry))


def _meant(entry: str) -> list[registry.Room]:
    return [room for room in registry.rooms() if means(entry, room.code, room.name)]


def _ran(entry: str, comments: Comments) -> list[bool]:
    """Whether each rule ran that an entry means and that is to be expected to run."""
    return [room.code in comments.ran for room in _meant(entry) if room.on_by_default or room.code in comments.ran]


def _reason(entry: str) -> str:
    meant = _meant(entry)
    return f"{entry} found nothing there." if meant else f"There is no rule {entry}."


def _without(unused: list[str], directive: Directive, comments: Comments) -> Edit:
    text = comments.source.text
    if len(unused) < len(directive.entries):
        return Edit(*directive.listed, ", ".join(entry for entry in directive.entries if entry not in unused))
    rest = re.compile(r"[^\r\n]*").match(text, directive.end)
    if not rest[0].strip():
        before = text[: directive.start].rstrip(" \t")
        if not before or before.endswith(("\n", "\r")):
            return Edit(len(before), re.compile(r"\r?\n?").match(text, rest.end()).end(), "")
        return Edit(len(before), rest.end(), "")
    # What a person wrote beside it stays.
    words = rest[0].lstrip(" \t,:;-")
    return Edit(directive.start, rest.end(), words if words.startswith("#") else f"# {words}")
