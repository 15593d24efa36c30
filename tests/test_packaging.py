"""Archives: the wheel contains the rules, the source archive everything for its tests."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from importlib.util import find_spec
from pathlib import Path

import pytest

import kerascheck
from kerascheck.project.config import DOCS_URL
from kerascheck.project.toml import parse_toml

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install kerascheck[test]")

ROOT = Path(__file__).resolve().parent.parent
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")

pytestmark = pytest.mark.skipif(
    None in map(find_spec, ("build", "hatchling", "twine")),
    reason="needs build and twine: pip install kerascheck[test]",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Both archives; the wheel is built from the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


def test_installed_wheel_finds_its_rules(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"kerascheck-{kerascheck.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    code = "import json, kerascheck.catalog.registry as r; print(json.dumps([str(spec.folder) for spec in r.rule_specs()]))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    folders = [Path(folder) for folder in json.loads(done.stdout)]
    assert [folder.relative_to(tmp_path).parts[:2] for folder in folders] == [("kerascheck", "rules")] * len(folders)
    assert len(folders) == len(list(ROOT.glob("rules/*/*/rule.py")))
    assert all((folder / "slow.py").is_file() or any((folder / "slow").iterdir()) for folder in folders)
    # Only tests read these.
    assert not [
        path for pattern in ("cases.md", "quiet*") for path in (tmp_path / "kerascheck" / "rules").rglob(pattern)
    ]


def test_wheel_has_only_our_top_level_packages(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {
            "kerascheck", f"kerascheck-{kerascheck.__version__}.dist-info"
        }  # fmt: skip
        metadata = archive.read(f"kerascheck-{kerascheck.__version__}.dist-info/METADATA").decode()
        assert "kerascheck/py.typed" in archive.namelist()
    headers = HeaderParser().parsestr(metadata)
    assert headers["License-File"] == "LICENSE" and headers["Author"] == "The kerascheck authors"
    assert "Typing :: Typed" in headers.get_all("Classifier")


def test_index_can_render_the_description(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_source_archive_equals_git_files(built):
    # Include new files that git does not ignore, such as a rule before its first commit.
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        packed = {member.name.partition("/")[2] for member in opened if not member.isdir()}
    assert packed - {"PKG-INFO"} == {name for name in listed if (ROOT / name).is_file()}


@pytest.mark.slow
def test_source_archive_installs_and_passes_its_tests(built, tmp_path):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    subprocess.run([sys.executable, "-I", "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    installed = subprocess.run([python, "-m", "pip", "install", "-q", str(archive), "pytest"], capture_output=True)
    if installed.returncode:
        pytest.skip("pip cannot reach a package registry")
    # In an empty folder, only the installed package can be imported.
    empty = tmp_path / "empty"
    empty.mkdir()
    version = subprocess.run([python.with_name("kerascheck"), "--version"], cwd=empty, capture_output=True, text=True)
    assert version.stdout == f"kerascheck {kerascheck.__version__}\n"
    tests = ["tests/test_registry.py", "tests/test_fixtures.py", "tests/source", "tests/report/test_reports.py"]
    done = subprocess.run(
        [python, "-m", "pytest", "-q", *tests],
        cwd=source,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["pyproject.toml", "CITATION.cff", "action.yml", "README.md", "SECURITY.md"])
def test_version_is_stated_in_one_place(name):
    assert kerascheck.__version__ not in (ROOT / name).read_text(encoding="utf-8")


def test_citation_matches_package_metadata():
    project = parse_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation) and "version" not in citation
    assert (citation["license"], citation["authors"]) == (project["license"], project["authors"])


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_issue_forms_are_valid(form):
    """https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-issue-forms"""
    content = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert set(content) == {"name", "description", "title", "body"}
    assert all(set(field) <= {"type", "id", "attributes", "validations"} for field in content["body"])
    assert {field["type"] for field in content["body"]} <= {"input", "textarea", "dropdown", "checkboxes", "markdown"}
    assert all(field["attributes"]["label"] for field in content["body"] if field["type"] != "markdown")
    names = [field["id"] for field in content["body"]]
    assert len(names) == len(set(names)) and any(
        field.get("validations", {}).get("required") for field in content["body"]
    )


STATED = {"REPOSITORY": "https://example.org/owner/name", "SITE": "https://example.org/site", "__version__": "1.2.3"}


def test_addresses_reach_the_metadata():
    import hatch_build

    stated = hatch_build.constants((ROOT / "kerascheck" / "__init__.py").read_text(encoding="utf-8"))
    assert stated == {name: getattr(kerascheck, name) for name in STATED}
    files = "https://example.org/owner/name/blob/v1.2.3"
    assert hatch_build.urls(STATED) == {
        "Source": "https://example.org/owner/name",
        "Issues": "https://example.org/owner/name/issues",
        "Changelog": f"{files}/CHANGELOG.md",
        "Documentation": "https://example.org/site",
    }
    assert hatch_build.urls({**STATED, "REPOSITORY": "", "SITE": ""}) == {}


def test_links_of_the_description_work_on_an_index():
    import hatch_build

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    described = hatch_build.described(readme, STATED)
    files = "https://example.org/owner/name/blob/v1.2.3/"
    links = re.findall(r"\]\(([^)]*)\)", described)
    assert len(links) > 20 and all(link.startswith("https://") for link in links)
    own = [link.removeprefix(files).partition("#")[0] for link in links if link.startswith(files)]
    assert own and all((ROOT / path).exists() for path in own)
    shown = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", described)
    assert shown and all(link.startswith("https://example.org/owner/name/raw/v1.2.3/docs/images/") for link in shown)
    assert "<the address of this repository>" in readme and "<the address" not in described
    assert hatch_build.described(readme, {**STATED, "REPOSITORY": ""}) == readme


def test_addresses_are_stated_in_one_place():
    project = parse_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "urls" not in project and "readme" not in project
    assert '\nsite_url: ""\n' in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "repository" not in json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert bool(DOCS_URL) == bool(kerascheck.SITE) and DOCS_URL.startswith(kerascheck.SITE)
    for address in filter(None, (kerascheck.REPOSITORY, kerascheck.SITE)):
        command = ["git", "grep", "--files-with-matches", "--fixed-strings", address]
        spelled = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()
        assert spelled == ["kerascheck/__init__.py"]


def test_release_trusts_no_password_and_pins_its_actions():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in used)
    assert "secrets." not in text and "password" not in text
    assert workflow["permissions"] == {"contents": "read"}
    writing = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert writing == {
        "attest": {"attestations": "write", "id-token": "write"},
        "publish": {"id-token": "write"},
        "docs": {"contents": "write"},
    }


@pytest.mark.parametrize(("tag", "complaint"), [("v0.0.0", "is not the version"), (None, "states no addresses")])
def test_release_checks_the_tag_and_the_addresses(tag, complaint):
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    (step,) = (each for each in workflow["jobs"]["build"]["steps"] if each.get("name", "").startswith("Check the tag"))
    program = step["run"].split("<<'PROGRAM'\n")[1].removesuffix("PROGRAM\n")
    environment = {**os.environ, "TAG": tag or f"v{kerascheck.__version__}"}
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    published = tag is None and kerascheck.REPOSITORY and kerascheck.SITE
    assert (ran.returncode == 0) if published else (ran.returncode == 1 and complaint in ran.stderr), ran.stderr
