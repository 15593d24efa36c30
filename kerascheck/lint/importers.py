"""Import graphs of a run: checking a file may give findings in the files it imports."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence

from kerascheck.cache.memo import Memo
from kerascheck.catalog import registry
from kerascheck.lint.triage import Candidate
from kerascheck.project.config import Configuration
from kerascheck.project.discovery import File
from kerascheck.project.import_graph import ImportGraph, project_root
from kerascheck.project.requirements import kind_of


def is_in_graph(file: File) -> bool:
    """Whether a file is code on disk and so belongs to an import graph."""
    return kind_of(file.path) is None and file.content is None


def import_graphs(
    candidates: Iterable[File], configuration: Configuration, memo: Memo | None, known: Mapping[str, ImportGraph] = {}
) -> dict[str, ImportGraph]:
    """The import graphs of the projects of ``candidates``, by root; reuses those in ``known``."""
    folders = {os.path.dirname(file.path): file.path for file in candidates}
    roots = dict.fromkeys(map(project_root, folders.values()))
    remember = None if memo is None else lambda name, compute: memo.once(name, list[str], compute)
    return {root: known[root] if root in known else ImportGraph(root, configuration, remember) for root in roots}


def importers(candidates: Iterable[File], graphs: Mapping[str, ImportGraph]) -> list[File]:
    """The importers of ``candidates`` that are not among them; checking them may give findings in the candidates."""
    known = {os.path.abspath(file.path) for file in candidates}
    roots: dict[str, list[str]] = {}
    root_of = functools.cache(lambda folder: project_root(os.path.join(folder, "any.py")))
    for file in candidates:
        roots.setdefault(root_of(os.path.dirname(file.path)), []).append(file.path)
    found: dict[str, File] = {}
    for root, paths in roots.items():
        for importer in graphs[root].importers(paths):
            path = os.path.abspath(importer.path)
            if path not in known:
                registry.validate(importer.settings)
                found[path] = importer
    return list(found.values())


def concerning(
    part: Iterable[File], candidates: Sequence[Candidate], graphs: Mapping[str, ImportGraph]
) -> list[Candidate]:
    """Select the candidates whose check may give findings in ``part``.

    These are the files of ``part``, their importers, and all files outside the graphs.
    """
    reaching = {os.path.abspath(file.path) for file in part}
    size = -1
    # An import may cross from one project into another.
    while size != len(reaching):
        size = len(reaching)
        reaching = reaching.union(*(graph.reaching(reaching) for graph in graphs.values()))
    known = {path for graph in graphs.values() for path in graph.paths}
    others = {os.path.abspath(file.path) for file, _ in candidates} & (known - reaching)
    return [each for each in candidates if os.path.abspath(each[0].path) not in others]
