import re
from collections.abc import Collection

from kerascheck.api import Comments, CommentsRule, Directive, Edit, Severity, proofs

_CODE = re.compile(r"KC\d{0,3}", re.IGNORECASE)


class UnusedSuppression(CommentsRule):
    """A comment suppresses findings that do not exist.

    ## What it does

    Reports the entries of `# noqa: KC...`, `# flake8: noqa: KC...` and `# kerascheck: ignore...` that suppressed
    nothing in this run, and entries that name no rule. The rule checks entries one by one: in `# noqa: KC101, KC102`,
    one of the two may be unused.

    ## Why it costs

    It costs no time. An unused comment hides the next finding on its line, which may be a real one. It also points
    readers to a problem that no longer exists.

    ## What the runtime does by itself

    Nothing: comments are for people and linters. The findings depend on the target version of TensorFlow
    (`target-tensorflow`). The code may need a comment for one version and not for another.

    ## When it stays silent

    - `# noqa` without codes, and codes of other tools: other linters read them.
    - Entries for rules that did not run, because they are not selected or are off: their findings are unknown. If all
      default rules run, this rule also checks prefixes such as `KC1` and comments that suppress everything.
    - Files that kerascheck could not check completely, and notebooks with a cell that it cannot parse.
    - An unused comment with `KC900`, as in `# noqa: KC101, KC900`, which is there on purpose.

    ## Use instead

    Remove the entry, or the whole comment.

    ## Fix safety

    Safe: codes of other tools and any other text in the comment stay.

    There is no fix for a misspelled rule name, such as `serial-mop`: its author meant to suppress something, so you
    have to correct it.

    ## References

    - ruff: "unused-noqa (RUF100)", a rule with the same purpose
    - flake8: "Selecting and Ignoring Violations"
    """

    code = "KC900"
    name = "unused-suppression"
    summary = "comment silences nothing"
    severity = Severity.WARNING
    speed = False
    triggers = ("noqa", "kerascheck")
    proves = ("only-comments",)

    def check(self, comments: Comments):
        for directive in comments.directives:
            unknown = [
                entry
                for entry in directive.entries
                if not comments.meant_by(entry) and (directive.ours or _CODE.fullmatch(entry))
            ]
            idle = [entry for entry in directive.entries if _is_idle(entry, comments.silenced[directive], comments)]
            everything = (
                directive.ours
                and not directive.entries
                and not comments.silenced[directive]
                and all(_ran("", comments))
            )
            if not (unknown or idle or everything):
                continue
            said = [_silences_nothing(idle)] if idle or everything else []
            # An entry close to a rule's name was meant to silence it.
            unused = [*idle, *(entry for entry in unknown if not _nearest(entry, comments))]
            fix = proofs.offer(
                "Remove what silences nothing",
                lambda: (_without(unused, directive, comments),),
                [proofs.ONLY_COMMENTS.unless(None)],
            )
            yield self.finding(
                comments.at(directive),
                " ".join((*said, *(_no_rule(entry, comments) for entry in unknown))),
                because=" ".join(f"{entry} found nothing here." for entry in idle)
                or "No rule that ran found anything here." * everything
                or None,
                fix=fix if unused or everything else None,
            )


def _silences_nothing(entries: list[str]) -> str:
    several = len(entries) > 1
    return (
        f"{' and '.join(entries) or 'This comment'} silence{'s' * (not several)} nothing; "
        f"remove {'them' if several else 'it'} before {'they hide' if several else 'it hides'} the next finding."
    )


def _no_rule(entry: str, comments: Comments) -> str:
    named = f"No rule has the code {entry}" if _CODE.fullmatch(entry) else f"No rule is called '{entry}'"
    return named + (_nearest(entry, comments) or "; remove it.")


def _nearest(entry: str, comments: Comments) -> str:
    """The most similar rule name, as a question; codes differ too little for that."""
    return "" if _CODE.fullmatch(entry) else comments.nearest(entry)


def _is_idle(entry: str, silenced: Collection[str], comments: Comments) -> bool:
    meant = comments.meant_by(entry)
    if any(rule.code in silenced and rule.code in comments.ran for rule in meant):
        return False
    ran = _ran(entry, comments)
    return not any(rule.code == UnusedSuppression.code for rule in meant) and bool(ran) and all(ran)


def _ran(entry: str, comments: Comments) -> list[bool]:
    """Whether each expected rule of an entry ran."""
    return [
        rule.code in comments.ran
        for rule in comments.meant_by(entry)
        if rule.on_by_default or rule.code in comments.ran
    ]


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
    # Other text in the comment stays.
    words = rest[0].lstrip(" \t,:;-")
    return Edit(directive.start, rest.end(), words if words.startswith("#") else f"# {words}")
