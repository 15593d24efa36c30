"""The template of a rule's folder, with "FILL IN" wherever only its author knows the text."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import kerascheck
from kerascheck.catalog import registry
from kerascheck.project.config import ConfigError

_WORDS = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
_PLACE = re.compile(rf"({_WORDS})/({_WORDS})")

_RULE = '''\
from kerascheck.api import Applies, Rule, Severity


class {cls}(Rule):
    """FILL IN: the problem, in one sentence.

    ## What it does

    FILL IN: what it reports.

    ## Why it costs

    FILL IN: what it costs, measured, with the machine and the versions.

    ## What the runtime does by itself

    FILL IN: what TensorFlow or Keras repairs, or "Nothing".

    ## When it stays silent

    - FILL IN: code that looks like the problem and is not; quiet.py has each case.

    ## Use instead

    FILL IN: what to write.

    ## Fix safety

    FILL IN: why the fix is safe, or what may change. Without one: "There is no automatic fix", and why.

    ## References

    - FILL IN: a guide, or the file of the source.
    """

    code = "{code}"
    name = "{name}"
    summary = "FILL IN: what is wrong, in some six words"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    # FILL IN: words of which one stands in every file with the problem; mostly the start of a call.
    triggers = ("fill_in(",)

    def check(self, module):
        for call in module.run.calls:
            if call.attribute == "fill_in":
                yield self.finding(
                    call,
                    "FILL IN: what is wrong; what to write.",
                    because="FILL IN: what it costs here, and why.",
                )
'''
_SCRIPT = '''\
"""FILL IN: {what}"""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(256, 16)).astype("float32")
y = rng.normal(size=(256, 1)).astype("float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
{line}
history = model.fit(x, y, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])
'''
_QUIET = '''\
"""FILL IN: code that looks like the problem and is not, case by case."""
'''
_CASES = """\
# Cases of {name}

## FILL IN: one point, as a sentence

```python
from tensorflow import keras

model = keras.models.load_model("a.keras")
model.fit(x, y)  # {code}
```
"""


def new_rule(place: str, into: str | None = None) -> Iterator[str]:
    """Write the folder of a new rule; returns three lines that say what to do next.

    Args:
        place: its family and name, such as "layers/print-in-step".
        into: a folder of third-party rules; None: the rules of this checkout.

    Raises:
        ConfigError: the name is invalid or taken; nothing is written.
        OSError: the folder cannot be written; its written part is removed.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise ConfigError(f"'{place}' names no rule: write FAMILY/NAME in words of lower case, as layers/print-in-step")
    family, name = match.groups()
    if into is None and registry.rules_folder().parent == Path(kerascheck.__file__).parent:
        raise ConfigError(
            "this kerascheck is installed, not a checkout: name a folder of your own rules by --rules DIR"
        )
    # The registry refuses a folder without rules.
    registry.use_folders([into] if into is not None and any(Path(into).glob("*/*/rule.py")) else [])
    shelf = registry.rules_folder() if into is None else Path(into)
    folder = shelf / family / name.replace("-", "_")
    for spec in registry.rule_specs():
        if spec.name == name or spec.folder == folder.resolve():
            raise ConfigError(f"there is a rule '{spec.name}' already ({spec.code}, {spec.folder})")
    if folder.exists():
        raise ConfigError(f"{folder} is there already")
    code = _next_code(family, _head(shelf) if into is not None else "KC")
    _write(folder, _files(code, name))
    yield f"Wrote {folder}: {code} {name}, with its rule, its examples and its cases."
    yield "Replace every FILL IN: first slow.py and fast.py, which show the problem and its repair, then rule.py."
    if into is None:
        yield f"Its tests say what is left: pytest tests/test_rule_folders.py tests/test_cases.py -k {name}"
    else:
        yield f"Try it: kerascheck check --rules {into} --select {code} {folder / 'slow.py'}"


def _head(shelf: Path) -> str:
    """The prefix of codes in a third-party folder: that of its rules, or one with an unused letter."""
    heads = {spec.folder: spec.code[:-3] for spec in registry.rule_specs() if spec.by is not None}
    own = next((head for folder, head in heads.items() if shelf.resolve() in folder.parents), None)
    free = (f"KC{letter}" for letter in "XYZABCDEFGHIJKLMNOPQRSTUVW" if f"KC{letter}" not in heads.values())
    return own or next(free, "KCX")


def _next_code(family: str, head: str) -> str:
    """The code after the last one of a family; codes of deleted rules are not reused."""
    taken = [int(spec.code[-3:]) for spec in registry.rule_specs() if spec.code[:-3] == head]
    digit = (
        _digit(family, head) or _digit(family, "KC") or min({*range(1, 9)} - {each // 100 for each in taken}, default=0)
    )
    last = max((each for each in taken if each // 100 == digit), default=100 * digit)
    # The last codes of a family are reserved: see registry.
    if not digit or last % 100 >= 97:
        raise ConfigError(f"no code is left for '{family}': each family has a hundred, and there are nine families")
    return f"{head}{last + 1}"


def _digit(family: str, head: str) -> int | None:
    """The most frequent first digit of a family's codes; None for a new family."""
    specs = [spec for spec in registry.rule_specs() if spec.code[:-3] == head and spec.folder.parent.name == family]
    return Counter(int(spec.code[-3]) for spec in specs).most_common(1)[0][0] if specs else None


def _files(code: str, name: str) -> dict[str, str]:
    cls = "".join(map(str.capitalize, name.split("-")))
    return {
        "rule.py": _RULE.format(cls=cls, code=code, name=name),
        "slow.py": _SCRIPT.format(
            what="a small training script that has the problem.", line=f"model.fill_in()  # {code}"
        ),
        "fast.py": _SCRIPT.format(what="the same script, repaired.", line="# FILL IN: what slow.py should do instead."),
        "quiet.py": _QUIET,
        "cases.md": _CASES.format(code=code, name=name),
    }


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    try:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError:
        shutil.rmtree(folder)
        raise
