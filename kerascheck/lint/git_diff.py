"""The lines that changed since a git revision.

git lists the changed files and their old names. This module compares the lines, since kerascheck numbers them
differently: in notebooks, only lines of code count; in scripts, lines count after decoding.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections import Counter
from collections.abc import Mapping, Sequence

from kerascheck.finding import Finding, Location
from kerascheck.lint.session import is_on_disk
from kerascheck.project import git
from kerascheck.project.config import ConfigError
from kerascheck.source import Source, Unreadable, decode, read
from kerascheck.source.text import NEWLINE

_MANY_PAIRS = 2_000_000
"""Above this many pairs of equal lines, difflib ignores frequent lines: each pair costs it several microseconds."""
_REGULAR, _SUBMODULE = "100", "160000"
"""The prefix of the modes of regular files, and the mode of a submodule."""

Ranges = tuple[tuple[int, int], ...]
"""The changed ranges of a text, bounds included: 2n is line n; 2n + 1 marks a deletion below line n."""
_ALL: Ranges = ((0, 1 << 62),)


class ChangedLines:
    """The lines that changed since the merge base of HEAD and a revision, uncommitted changes included.

    Args:
        revision: a revision in git's notation.
        paths: files and folders in repositories that have the revision.

    Raises:
        ConfigError: there is no git, no repository, or no such revision.
    """

    def __init__(self, revision: str, paths: Sequence[str]):
        self.revision = revision
        self._repositories: dict[str, _Repository] = {}
        for path in paths:
            folder = os.path.realpath(path)
            top = _top(folder if os.path.isdir(folder) else os.path.dirname(folder))
            if top is None:
                raise ConfigError(f"--diff-base: {path} is in no git repository")
            if top not in self._repositories:
                self._repositories[top] = _Repository(top, _base(top, revision))
        self._compared: dict[str, tuple[Source, Ranges]] = {}
        self._source_at = functools.cache(_source_at)

    def touched(self, findings: Sequence[Finding], sources: Mapping[str, Source]) -> list[Finding]:
        """Select the findings with a change in their lines, in their statement, or in related lines."""
        return [finding for finding in findings if self._touches(finding, sources)]

    def _touches(self, finding: Finding, sources: Mapping[str, Source]) -> bool:
        place = finding.location
        first, last = finding.statement_lines if finding.statement_lines[0] else (place.line, place.end_line)
        places = [
            (place, min(place.line, first), max(place.end_line, last)),
            *((each.location, each.location.line, each.location.end_line) for each in finding.related),
        ]
        return any(self._has_changed(place, first, last, sources) for place, first, last in places)

    def _has_changed(self, place: Location, first: int, last: int, sources: Mapping[str, Source]) -> bool:
        source = sources.get(place.path) or self._source_at(place.path)
        if source is None:
            return False
        above = source.lines_above(place.cell)
        begin, end = 2 * (first + above), 2 * (last + above)
        return any(start <= end and begin <= stop for start, stop in self._ranges(source))

    def _ranges(self, source: Source) -> Ranges:
        known = self._compared.get(source.path)
        if known is None or known[0] is not source:
            known = self._compared[source.path] = source, self._compare(source)
        return known[1]

    def _compare(self, source: Source) -> Ranges:
        path = os.path.realpath(source.path)
        repository = self._repository_of(os.path.dirname(path))
        if repository is None:
            return _ALL
        name = os.path.relpath(path, repository.top).replace(os.sep, "/")
        if repository.has_unchanged(name) and is_on_disk(source):
            return ()
        try:
            before = decode(source.path, repository.before(name))
        except (FileNotFoundError, Unreadable):
            return _ALL
        return changed(NEWLINE.split(before.written), NEWLINE.split(source.written))

    def _repository_of(self, folder: str) -> _Repository | None:
        """The repository that contains a folder, if any."""
        top = _top(folder)
        if top is None:
            return None
        if top not in self._repositories:
            outer = self._repository_of(os.path.dirname(top))
            base = None if outer is None else outer.submodule(os.path.relpath(top, outer.top).replace(os.sep, "/"))
            self._repositories[top] = _Repository(top, base)
        return self._repositories[top]


class _Repository:
    """The state of one repository in a commit.

    Args:
        top: its folder.
        base: the commit; None if the whole repository is new.
    """

    def __init__(self, top: str, base: str | None):
        self.top, self._base = top, base

    def has_unchanged(self, path: str) -> bool:
        """Whether git lists a file as unchanged."""
        return self._base is not None and path not in self._changed and path in self._tracked

    def before(self, path: str) -> bytes:
        """The old content of a file; raises FileNotFoundError if it is new."""
        blob = f"{self._base}:{path}" if self.has_unchanged(path) else self._base and self._changed.get(path)
        if blob is None:
            raise FileNotFoundError
        return _git(self.top, "cat-file", "blob", blob)

    def submodule(self, path: str) -> str | None:
        """The commit of the submodule in a folder, if there was one."""
        if self._base is None:
            return None
        listed = _git(self.top, "ls-tree", "-z", self._base, "--", path).split(b"\t")[0].decode().split()
        return listed[2] if listed and listed[0] == _SUBMODULE else None

    @functools.cached_property
    def _changed(self) -> dict[str, str | None]:
        """The old blobs of changed and renamed files; None for new files."""
        listed = _git(self.top, "diff-index", "--raw", "-z", "-M", "--ignore-submodules", str(self._base), "--")
        words = iter(listed.split(b"\0"))
        found: dict[str, str | None] = {}
        for word in words:
            if not word.startswith(b":"):
                continue
            mode, _, blob, _, status = word[1:].decode().split()
            path = next(words)
            if status[0] in "RC":
                path = next(words)
            found.setdefault(os.fsdecode(path), blob if mode.startswith(_REGULAR) else None)
        return found

    @functools.cached_property
    def _tracked(self) -> frozenset[str]:
        return frozenset(map(os.fsdecode, _git(self.top, "ls-files", "-z").split(b"\0")))


def changed(old: Sequence[str], new: Sequence[str]) -> Ranges:
    """Compare the lines of two texts; returns the changed ranges of the new one."""
    start, end = 0, 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    counts = Counter(before)
    is_large = sum(counts[line] for line in after) > _MANY_PAIRS
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=is_large)
    return tuple(
        # Lines count from 1; a deletion is marked below the line above it.
        (2 * (start + first + 1), 2 * (start + last)) if first < last else (2 * (start + first) + 1,) * 2
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag != "equal"
    )


def _source_at(path: str) -> Source | None:
    try:
        return read(path)
    except Unreadable:
        return None


def _top(folder: str) -> str | None:
    """The top folder of the repository that contains a folder, if any."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _base(top: str, revision: str) -> str:
    """The merge base of HEAD and a revision."""
    commit = b""
    if revision and not revision.startswith("-") and "\0" not in revision:
        commit = _git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", fails_with=1).strip()
    if not commit:
        raise ConfigError(f"--diff-base: '{revision}' is no revision of the git repository {top}{_if_shallow(top)}")
    common = _git(top, "merge-base", "HEAD", commit.decode(), fails_with=1).split()
    if not common:
        raise ConfigError(f"--diff-base: '{revision}' and HEAD have no commit in common{_if_shallow(top)}")
    return common[0].decode()


def _if_shallow(top: str) -> str:
    is_shallow = _git(top, "rev-parse", "--is-shallow-repository").strip() == b"true"
    return "; the clone is shallow: fetch its history first, in GitHub Actions by 'fetch-depth: 0'" * is_shallow


def _git(top: str, *arguments: str, fails_with: int = 0) -> bytes:
    """The output of a git command; raises ConfigError for exit codes other than 0 and ``fails_with``."""
    try:
        return git.ask(top, *arguments, fails_with=fails_with)
    except git.GitFailed as problem:
        raise ConfigError(f"--diff-base: {problem}") from None
