"""Pages of rules in the cache folder: codes on a terminal link to them if no site has the page."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerascheck.cache.folder import Folder
    from kerascheck.finding import Finding

_WIDTH = 100
"""Columns of a page."""


def local_addresses(findings: Iterable[Finding], folder: Folder, *, are_current: bool) -> dict[Finding, str]:
    """Write the pages of the findings' rules; returns their addresses by finding, without those that cannot be written.

    Args:
        are_current: whether pages that are there are up to date.
    """
    found: dict[str, str | None] = {}
    for code in {finding.code for finding in findings}:
        name = f"{code}.txt"
        path = os.path.join(folder.path, name)
        if are_current and os.path.isfile(path) or folder.write_text(name, _page(code)):
            found[code] = _address(path)
    return {finding: address for finding in findings if (address := found.get(finding.code)) is not None}


def _page(code: str) -> str:
    from kerascheck.catalog import registry
    from kerascheck.report import rule_page

    return rule_page.fitted(rule_page.as_text(registry.find(code)), _WIDTH) + "\n"


def _address(path: str) -> str:
    """The URI of a file; with the host, as the terminal may run on another one."""
    import socket

    address = Path(path).as_uri()
    return address if os.name == "nt" else address.replace("file://", f"file://{socket.gethostname()}", 1)
