"""Git queries start no program that the repository configures."""

import subprocess

import pytest

from kerascheck.project import git

PROGRAMS = "filter.x.clean filter.x.smudge filter.x.process diff.x.command diff.external core.fsmonitor core.sshCommand"


@pytest.fixture
def repository(tmp_path):
    """A repository with a renamed and changed file, and a configuration with a program for every event."""
    folder = tmp_path / "tree"
    folder.mkdir()

    def run(*arguments):
        return subprocess.run(
            ["git", "-C", folder, *arguments], check=True, capture_output=True, text=True, timeout=60
        ).stdout

    run("init", "-q")
    run("config", "user.email", "a@b.example")
    run("config", "user.name", "a")
    (folder / "a.py").write_text("x = 1\n" * 20)
    run("add", ".")
    run("commit", "-qm", "one")
    run("mv", "a.py", "b.py")
    (folder / "b.py").write_text("x = 1\n" * 20 + "y = 2\n")
    (folder / ".gitattributes").write_text("*.py filter=x diff=x\n")
    for name in PROGRAMS.split():
        run("config", name, f"sh -c 'touch {tmp_path}/started-{name}; exit 1'")
    run("config", "filter.x.required", "true")
    # The name of a repository is memoised.
    git._without_filters.cache_clear()
    return folder, run, lambda: sorted(each.name for each in tmp_path.glob("started-*"))


def test_comparing_a_renamed_file_starts_no_filter(repository):
    folder, _, started = repository
    told = git.ask(str(folder), "diff-index", "--raw", "-z", "-M", "HEAD", "--")
    assert b"b.py" in told and started() == []


def test_a_missing_object_is_not_fetched(repository):
    folder, run, started = repository
    blob = run("rev-parse", "HEAD:a.py").strip()
    for name, value in {
        "remote.origin.url": str(folder),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"sh -c 'touch {folder.parent}/started-uploadpack; exit 1'",
        "extensions.partialClone": "origin",
        "core.repositoryformatversion": "1",
    }.items():
        run("config", name, value)
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(git.GitFailed, match="cat-file failed"):
        git.ask(str(folder), "cat-file", "blob", blob)
    assert started() == []


def test_without_git_the_reason_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    git._without_filters.cache_clear()
    with pytest.raises(git.GitFailed, match="git cannot be run"):
        git.ask(str(tmp_path), "rev-parse")
