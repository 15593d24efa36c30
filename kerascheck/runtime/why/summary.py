"""Summary in ten lines for an issue or a chat, without names of files, folders, people or code."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterator

import kerascheck
from kerascheck.lint.pipeline import processors
from kerascheck.report.common import count
from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.why.diagnosis import Advice, Diagnosis
from kerascheck.runtime.why.step import Part, Step
from kerascheck.runtime.why.wording import seconds_of

_WIDTH = 100
_SHOWN_SHARE = 0.03
_FRAMEWORKS = ("tensorflow", "keras", "tf-keras", "jax", "torch")


def lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Lines of at most 100 columns: machine, versions, shares of the parts, and the first recommendation."""
    step = diagnosis.step
    yield f"kerascheck {kerascheck.__version__}, {platform.system()}, {count(processors(), 'core')}, {_gpus(step)}"
    yield ", ".join(f"{name} {step.facts.versions[name]}" for name in _FRAMEWORKS if step.facts.versions.get(name))
    yield _training(step)
    shown = [part for part in step.ranked if step.share(part) >= _SHOWN_SHARE]
    yield from _wrapped("Time: " + ", ".join(f"{part.value} {step.share(part):.0%}" for part in shown))
    for label, advice in zip(("Do first", "Then"), [one for one in diagnosis.advice if one.part is not None]):
        yield from _wrapped(f"{label}: {_advice(advice)}")
    if diagnosis.warning is not None:
        yield from _wrapped(f"Warning: {diagnosis.warning}")


def _gpus(step: Step) -> str:
    return step.gpus[0] if step.gpus else "no GPU used"


def _training(step: Step) -> str:
    unit = "call" if step.parts.keys() == {Part.PREDICT} else "step"
    rows = f" of {count(step.batch_size, 'row')}" if step.batch_size else ""
    text = f"{step.kind}: {typical([step.seconds])} per {unit}{rows}"
    if step.training_seconds is not None:
        text += f"; {count(step.epochs or 0, 'epoch')} of {count(step.steps_per_epoch or 0, 'step')}, about "
        text += seconds_of(step.training_seconds)
    return text


def _advice(advice: Advice) -> str:
    """The rule and the part, without the message, which may quote code."""
    about = advice.part.value if advice.part is not None else "this machine"
    if advice.is_fact:
        return f"nothing in the code ({about})"
    if advice.leads:
        return f"{advice.findings[0].code} {advice.findings[0].name} ({about})"
    place = f", line {advice.cause.line}" if advice.cause is not None and advice.cause.line else ""
    return f"{about}{place}"


def _wrapped(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
