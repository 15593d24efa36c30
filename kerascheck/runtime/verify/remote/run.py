"""Workflow around a remote run: show the upload, ask for consent, measure, and read the result."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import click

from kerascheck.report.common import plain
from kerascheck.runtime.plain import restored
from kerascheck.runtime.verify.budget import Budget, Progress
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.machine_class import MachineClass
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.remote import pack, talk
from kerascheck.runtime.verify.remote.messages import Answer, Job
from kerascheck.runtime.verify.remote.target import Target
from kerascheck.runtime.verify.variants import Variant

if TYPE_CHECKING:
    from kerascheck.runtime.verify.scaling import Scaling

_T = TypeVar("_T")
_SHOWN = 8
_MINUTES = 60
"""Minimum time limit, in minutes, to request from a scheduler."""

Run = Callable[[Target, str, pack.Upload, Job, talk.Conversation], None]


class NotAgreed(Exception):
    """Nothing was uploaded; ``str()`` gives the reason."""


def agree(target: Target, python: str, uploads: Iterable[pack.Upload], commands: Sequence[str], *, yes: bool) -> None:
    """Show the uploads and commands, and ask for consent; raises NotAgreed."""
    if not yes and not sys.stdin.isatty():
        raise NotAgreed("nothing was uploaded: there is no terminal to ask on; --yes agrees to the upload")
    for upload in uploads:
        for line in shown(target, upload):
            click.echo(line, err=True)
    click.echo(f"  and executes there, with {python}: {plain('; '.join(commands[:_SHOWN]))}{_more(commands)}", err=True)
    if not yes and not click.confirm("Upload and run?", err=True):
        raise NotAgreed("nothing was uploaded")


def shown(target: Target, upload: pack.Upload) -> Iterable[str]:
    """Describe the upload, for display."""
    seen = (
        "tracked by git, or named" if upload.git else "without git: the script, its modules, and what --include names"
    )
    ours = sum(path.stat().st_size for path in pack.own_code())
    yield (
        f"kerascheck verify UPLOADS to {target.label}: {len(upload.files)} files of {upload.root} ({seen}), "
        f"{pack.size(upload.size)}, and its own code, {pack.size(ours)}"
    )
    largest = sorted(upload.files, key=upload.files.__getitem__, reverse=True)
    yield (
        "  " + ", ".join(f"{plain(name)} {pack.size(upload.files[name])}" for name in largest[:_SHOWN]) + _more(largest)
    )
    # List every suspicious file: nobody can consent to a secret hidden behind "and more".
    for name, why in upload.suspicious.items():
        yield click.style(f"  UPLOADS, though it looks like a secret: {plain(name)} ({why})", bold=True)
    for name, why in upload.left_out.items():
        yield f"  stays here: {plain(name)} ({why})"
    for pattern in upload.unmatched:
        yield f"  nothing matches --include {plain(pattern)} (relative to {upload.root}; hidden files need its dot)"
    if upload.untracked:
        yield f"  stays here: files that git does not track, {upload.untracked} of them; --include PATTERN uploads some"


def _more(names: Sequence[str]) -> str:
    return f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""


def measure(
    target: Target,
    python: str,
    upload: pack.Upload,
    script: Script,
    budget: Budget,
    progress: Progress,
    variants: Sequence[Variant],
    stop: threading.Event | None = None,
) -> tuple[Comparison, MachineClass, GpuSummary | None]:
    """Run ``compare`` on ``target``; returns the comparison, the machine and its GPUs.

    ``stop``: set it in another thread to end the run. Raises talk.Refused if nothing was measured.
    """
    job = talk.job(upload, script, variants, budget)
    answer = _understood(Answer, _ask(target, python, upload, job, progress, stop))
    answer.comparison.script = script.path
    return answer.comparison, replace(answer.machine, on=target.label), answer.gpu


def measure_scaling(
    target: Target, python: str, upload: pack.Upload, script: Script, budget: Budget, progress: Progress, command: str
) -> Scaling:
    """Run ``scaling.measure`` on the GPUs of ``target``; raises talk.Refused if nothing was measured."""
    from kerascheck.runtime.verify.scaling import Scaling

    job = replace(talk.job(upload, script, (), budget), scaling=command)
    result = _understood(Scaling, _ask(target, python, upload, job, progress))
    result.script, result.machine = script.path, replace(result.machine, on=target.label)
    return result


def _ask(
    target: Target,
    python: str,
    upload: pack.Upload,
    job: Job,
    progress: Progress,
    stop: threading.Event | None = None,
) -> str:
    """Run ``job`` on ``target``; its result as JSON. Raises talk.Refused."""
    budget, variants = job.budget, len(job.variants)
    conversation = talk.Conversation(progress, stop, budget.seconds * (variants + 1))
    conversation.expect(upload.root)
    conversation.waiting(f"uploading to {target.label}")
    minutes = target.minutes or max(_MINUTES, math.ceil(seconds_of(budget, variants) / 60))
    job = replace(job, link_from=target.folder, minutes=minutes)
    _engine(target)(target, python, upload, job, conversation)
    if conversation.result is None:
        raise talk.Refused("it ended without a result")
    return conversation.result


def _understood(kind: type[_T], answer: str) -> _T:
    try:
        result: _T = restored(kind, json.loads(answer), "the result")
        return result
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise talk.Refused(f"its result cannot be understood: {type(problem).__name__}: {problem}") from None


def _engine(target: Target) -> Run:
    if target.kind == "ssh":
        from kerascheck.runtime.verify.remote.ssh import run
    elif target.kind == "slurm":
        from kerascheck.runtime.verify.remote.slurm import run
    else:
        from kerascheck.runtime.verify.remote.ray_jobs import run
    return run


def seconds_of(budget: Budget, variants: int) -> float:
    """Upper estimate of a run's seconds for schedulers: it restarts for each group of variants and each probe."""
    return 2 * budget.start_limit + 3 * budget.seconds * (variants + 2)
