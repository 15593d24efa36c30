"""Addresses of the rule pages on the web: one site with a folder for each rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kerascheck.finding import Finding

_OWN = re.compile(r"KC\d{3}")
"""The codes of kerascheck's own rules; the site has no pages for third-party rules."""


def path(name: str) -> str:
    """The path of a rule's page on the site.

    Example:
        >>> path("serial-map")
        'rules/serial-map/'
    """
    return f"rules/{name}/"


def address(site: str, code: str, name: str) -> str | None:
    """The address of a rule's page; None without a site, and for rules that kerascheck does not ship.

    Args:
        site: the setting ``docs-url``; empty if there is no site.
        code: the code of the rule.
        name: the name of the rule.

    Example:
        >>> address("https://example.org/docs", "KC101", "serial-map")
        'https://example.org/docs/rules/serial-map/'
    """
    if not site or not _OWN.fullmatch(code):
        return None
    return f"{site.rstrip('/')}/{path(name)}"


def addresses(findings: Iterable[Finding], sites: Mapping[str, str]) -> dict[Finding, str]:
    """The addresses of rule pages, by finding; findings without a page are left out.

    Args:
        sites: the setting ``docs-url`` of every path.
    """
    found = ((each, address(sites.get(each.location.path, ""), each.code, each.name)) for each in findings)
    return {finding: where for finding, where in found if where is not None}
