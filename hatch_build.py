"""Build hook of hatchling: the addresses in the package's metadata, and a description that works on an index.

The only place for addresses is ``kerascheck/__init__.py``. While they are empty, the metadata has none, and the
description is README.md as it is.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<is_image>!?)(?P<text>\[[^\]]*\])\((?![a-z]+:)(?P<path>[^)\s]+)\)")
_PLACEHOLDER = "<the address of this repository>"


class AddressHook(MetadataHookInterface):
    """Adds ``readme`` and ``urls``."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        stated = constants((root / "kerascheck" / "__init__.py").read_text(encoding="utf-8"))
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, stated)}
        metadata["urls"] = urls(stated)


def constants(module: str) -> dict[str, str]:
    """The strings that a module assigns at top level, by name."""
    return {
        node.targets[0].id: node.value.value
        for node in ast.parse(module).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def urls(stated: dict[str, str]) -> dict[str, str]:
    """The project's addresses by label; only those that are known."""
    repository, site = stated["REPOSITORY"], stated["SITE"]
    found = {}
    if repository:
        found |= {"Source": repository, "Issues": f"{repository}/issues", "Changelog": f"{_files(stated)}/CHANGELOG.md"}
    if site:
        found["Documentation"] = site
    return found


def described(readme: str, stated: dict[str, str]) -> str:
    """README.md with absolute links to the files of the release; unchanged without an address of the repository."""
    if not stated["REPOSITORY"]:
        return readme

    def absolute(link: re.Match[str]) -> str:
        # An index gives headings no anchors.
        path = f"README.md{link['path']}" if link["path"].startswith("#") else link["path"]
        # "blob" is a page that shows the picture, "raw" the picture.
        view = "raw" if link["is_image"] else "blob"
        return f"{link['is_image']}{link['text']}({_files(stated, view)}/{path})"

    return _LINK.sub(absolute, readme).replace(_PLACEHOLDER, stated["REPOSITORY"])


def _files(stated: dict[str, str], view: str = "blob") -> str:
    return f"{stated['REPOSITORY']}/{view}/v{stated['__version__']}"
