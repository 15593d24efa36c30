"""Fixes of requirement files."""

from __future__ import annotations

from kerascheck.finding import Edit, Fix
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import SAME_OUTPUT
from kerascheck.knowledge import packages
from kerascheck.meaning.program.gpu_packages import newest_tensorflow
from kerascheck.project.requirements import Requirement


def install_with_cuda(requirement: Requirement) -> Fix | None:
    """Request ``tensorflow[and-cuda]`` from pip.

    Returns None if no allowed release has that extra, or the requirement names extras.
    """
    newest = newest_tensorflow(requirement)
    if requirement.by != "pip" or requirement.extras or newest is None or newest < packages.CUDA_EXTRA_SINCE:
        return None
    name = f"{packages.TENSORFLOW}[{packages.CUDA_EXTRA}]"
    return offer(
        f"Install {name}",
        lambda: (Edit(requirement.start, requirement.name_end, name),),
        [SAME_OUTPUT.unless("it installs several GB, and the program then runs on the GPU")],
    )
