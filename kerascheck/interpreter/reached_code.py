"""The code of a program that may run: without functions, classes and imports that it never names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kerascheck.interpreter.values import ModuleLike

_DEFINITION = re.compile(
    r"^(?P<decorators>(?:@[^\n]*\n)*)(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+).*?(?=^[^\s)\]}]|\Z)", re.M | re.S
)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n;(]+)|import[ \t]+(?P<modules>[^\n;(]+))$",
    re.M,
)
# These decorators do not pass a function on to code that is not visible.
_PLAIN_DECORATOR = re.compile(
    r"@(?:tf\.function|tf\.autograph|functools|dataclass|dataclasses|property|staticmethod|jax\.jit)\b"
)
# Such code finds functions and classes by names that it computes.
_FINDS_BY_NAME = re.compile(
    r"\b(?:globals|locals|eval|exec|__import__|import_module|getmembers|__subclasses__|instantiate)\(|"
    r"\bgetattr\((?![^()]*,\s*[\"'])|\bfire\.Fire\(\s*\)"
)
_WORD = re.compile(r"\w+")
# A name or attribute that gets a number, a truth value or None; not a keyword argument on a line of its own.
_SETTING = re.compile(
    r"(?<![(,\[{]\n)^[ \t]*(?:\w+\.)*(\w+)[ \t]*(?::[^\n=]*)?=[ \t]*(?:True|False|None|[\d.]+)$(?!\n[ \t]*[)\],])", re.M
)
_TRAILING = re.compile(r"[ \t\r]+$", re.M)
# Such code reads all attributes of an object or all variables of a module.
_READS_ALL = re.compile(r"\*\*\s*(?:vars\(|[\w.]+\.__dict__|(?:dataclasses\.)?asdict\(|[\w.]+\._asdict\()")


def reached_code(modules: Sequence[ModuleLike]) -> list[str]:
    """The code of each module that may run in a program, comments and docstrings blanked out.

    All functions and classes of the first module count: others may import it. One of another module counts if reached
    code mentions its name, in strings too; an imported name counts likewise. If the program looks names up at run time,
    all code counts.
    """
    if any(module.mentions(_FINDS_BY_NAME) for module in modules):
        return [module.code for module in modules]
    waiting: dict[str, list[tuple[int, str]]] = {}
    reached: list[list[str]] = []
    for number, module in enumerate(modules):
        rest = module.code
        for found in _DEFINITION.finditer(module.code) if number else ():
            if all(map(_PLAIN_DECORATOR.match, found["decorators"].splitlines())):
                waiting.setdefault(found["name"], []).append((number, found[0]))
                rest = rest.replace(found[0], "", 1)
        for statement, single in _imports(rest):
            rest = rest.replace(statement, "", 1)
            for name, text in single.items():
                waiting.setdefault(name, []).append((number, text))
        reached.append([rest])
    new = [(number, text) for number, texts in enumerate(reached) for text in texts]
    while new:
        words = {word for _, text in new for word in _WORD.findall(text)}
        new = [each for word in words & waiting.keys() for each in waiting.pop(word)]
        for number, text in new:
            reached[number].append(text)
    return ["\n".join(texts) for texts in reached]


def _imports(code: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the text of each import statement, and an import of a single name for each name that it binds."""
    for found in _IMPORT.finditer(code):
        start = f"from {found['base']} import " if found["names"] else "import "
        parts = [part.split() for part in (found["names"] or found["modules"]).strip("( )").split(",")]
        bound = {words[-1].partition(".")[0] if len(words) < 3 else words[2]: words for words in parts if words}
        if "*" not in bound:
            yield found[0], {name: start + " ".join(words) for name, words in bound.items()}


def without_unread_settings(texts: Sequence[str]) -> list[str]:
    """The code without assignments of plain values to names that occur nowhere else in it."""
    if any(map(_READS_ALL.search, texts)):
        return list(texts)
    texts = [_TRAILING.sub("", text) for text in texts]
    assigned = [found[1] for text in texts for found in _SETTING.finditer(text)]
    counts = {name: sum(len(re.findall(rf"\b{name}\b", text)) for text in texts) for name in set(assigned)}
    unread = {name for name, count in counts.items() if count == assigned.count(name)}
    return [_SETTING.sub(lambda found: "" if found[1] in unread else found[0], text) for text in texts]
