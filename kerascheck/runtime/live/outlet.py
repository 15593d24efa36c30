"""Where the reports of the callback go: the terminal, files and TensorBoard."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kerascheck.runtime.live.ranks import this_process
from kerascheck.runtime.live.report import Report, difference, write


def publish(reports: Sequence[Report], options: Mapping[str, Any], *, in_epoch: bool = False) -> None:
    """Print the newest report and write it to the files in ``options``; of several processes only the first one prints.

    Of later trainings, only the difference to the first one is printed.

    Args:
        options: the arguments of the callback.
        in_epoch: whether a progress bar is on the current line.
    """
    report, rank, number = reports[-1], this_process(), len(reports)
    suffix = rank.suffix + (f"-training{number}" if number > 1 else "")
    written = []
    for kind, text in (("json", report.json), ("html", report.html)):
        if options[kind] is not None:
            written.append(write(os.fspath(options[kind]), text(), suffix))
    lines = [report.text if number == 1 else difference(number, reports[0], report)]
    if options["log_dir"] is not None:
        lines += _to_tensorboard(os.fspath(options["log_dir"]), report.text, number)
    if options["verbose"] and rank.number == 0:
        if number == 1 and report.diagnosis is not None and _is_notebook():
            from IPython.display import display

            display(report)
            lines = lines[1:]
        if lines := [*lines, *(f"Written to {path}" for path in written)]:
            print("\n" * in_epoch + "\n".join(lines), flush=True)


def _is_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _to_tensorboard(folder: str, text: str, number: int) -> list[str]:
    """Write ``text`` as an event of TensorBoard; returns lines about a failure."""
    tf = sys.modules.get("tensorflow")
    if tf is None:
        return [f"Not written to {folder}: TensorBoard's files need TensorFlow, which this training has not imported"]
    # tf.summary.text needs the package tensorboard; its plugin reads string tensors with this metadata.
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "text"
    writer = tf.summary.create_file_writer(os.path.join(folder, "kerascheck"))
    with writer.as_default():
        shown = "\n".join(f"    {line}" for line in text.splitlines())
        tf.summary.write("kerascheck/why", tf.constant(shown), step=number, metadata=metadata)
    writer.close()
    return []
