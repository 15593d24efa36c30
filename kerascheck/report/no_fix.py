"""Why a finding has no fix, in the words of its rule's page."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kerascheck.catalog import registry
from kerascheck.finding import Finding

_SECTION = re.compile(r"^## Fix safety\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ABOUT_NONE = re.compile(r"\bno (?:automatic )?fix\b|\b(?:has|have|also) none\b|\b(?:a fix|available) only if\b")
_LEAD = re.compile(r"There is no (?:automatic )?fix(?:: |, because |\. | (?=(?:after|for|if|in|unless) ))")
_ALONE = re.compile(r"There is no (?:automatic )?fix\.")
_NEXT_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z`])")


def reason(spec: registry.RuleSpec) -> str:
    """The sentences under "Fix safety" that say when and why the rule offers no fix; empty if it always offers one."""
    section = _SECTION.search(spec.documentation)
    lines = section[1].splitlines() if section is not None else ()
    sentences = _NEXT_SENTENCE.split(" ".join(line.strip().removeprefix("- ") for line in lines if line))
    said = [
        f"{sentence} {following}".strip() if _ALONE.fullmatch(sentence) else sentence
        for sentence, following in zip(sentences, (*sentences[1:], ""))
        if _ABOUT_NONE.search(sentence)
    ]
    return _LEAD.sub("", " ".join(said), count=1)


def reasons(findings: Iterable[Finding]) -> dict[str, str]:
    """By code, the :func:`reason` of the findings without a fix."""
    return {code: reason(registry.find(code)) for code in {each.code for each in findings if each.fix is None}}
