"""Pieces of HTML that the sections of the page share. All are escaped."""

from __future__ import annotations

from typing import Protocol

from kerascheck.report.html import escape
from kerascheck.runtime.verify.analysis import typical
from kerascheck.runtime.why.lines import Lines

NO_DIRECTION = frozenset({"metric", "optimizer"})
"""Roles whose operations belong neither to the forward nor to the backward pass."""


class _Timed(Protocol):
    @property
    def role(self) -> str: ...
    @property
    def forward_seconds(self) -> float: ...
    @property
    def backward_seconds(self) -> float: ...


def duration(seconds: float) -> str:
    """Such as "3.1 ms"."""
    return typical([seconds]) if seconds >= 1e-6 else "&lt;1 µs"


def times(part: _Timed) -> str:
    """Such as "3.1 ms forward, 6 ms backward"."""
    if part.role in NO_DIRECTION:
        return duration(part.forward_seconds + part.backward_seconds)
    return f"{duration(part.forward_seconds)} forward, {duration(part.backward_seconds)} backward"


def percent(share: float) -> str:
    """A share, 0 to 1, such as "31%"."""
    return "&lt;1%" if 0 < share < 0.005 else f"{share:.0%}"


def source_line(known: Lines, path: str, line: int) -> str:
    """The text of a line; empty if the file does not belong to the script."""
    text = known.text(path, line)
    return f'<code class="line">{escape(text)}</code>' if text else ""


def bar_row(share: float, kind: str, text: str) -> str:
    """An item of a list with the class "bars".

    Args:
        share: length of its bar, 0 to 1.
        kind: class of its bar, which gives the colour.
        text: HTML beside the bar.
    """
    width = max(0.0, min(1.0, share))
    return (
        f'<li><div><span>{percent(share)}</span><div class="meter"><span class="{kind}" style="width:{width:.1%}"></span></div></div>'
        f"<div>{text}</div></li>"
    )
