"""Addresses of the rules' pages in reports."""

import json
import os
import re
import subprocess
import sys

import pytest
from command import kerascheck

from kerascheck.cache.folder import Folder
from kerascheck.catalog import pages, registry
from kerascheck.cli.rule_pages import local_addresses
from kerascheck.lint.session import Session
from kerascheck.project.config import Configuration, overrides_from
from kerascheck.source import Source

SLOW = "import tensorflow as tf\nds = tf.data.Dataset.range(3)\nds = ds.map(lambda x: tf.random.uniform([]))\ntf.keras.Sequential().fit(ds)\n"
SITE = "https://example.org/docs"
PAGE = f"{SITE}/rules/serial-map/"
ONLY = ("--select", "KC101")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERASCHECK_DOCS_URL", raising=False)
    (tmp_path / "train.py").write_text(SLOW)
    (tmp_path / "pyproject.toml").write_text(f'[tool.kerascheck]\ndocs-url = "{SITE}"\n')
    return tmp_path


def found(*arguments):
    (finding,) = json.loads(kerascheck(*ONLY, "--output-format", "json", *arguments, "train.py").out)["findings"]
    return finding


def test_json_contains_the_page_address(project, monkeypatch):
    assert found()["url"] == PAGE
    assert found("--isolated")["url"] is None
    # The second run uses the cache, which must not return the old address.
    monkeypatch.setenv("KERASCHECK_DOCS_URL", "https://other.example/")
    assert found()["url"] == found()["url"] == "https://other.example/rules/serial-map/"


def test_sarif_contains_the_page_address_if_there_is_one(project):
    def rules(*arguments):
        (run,) = json.loads(kerascheck(*ONLY, "--output-format", "sarif", *arguments, "train.py").out)["runs"]
        return run["tool"]["driver"]["rules"]

    assert [rule["helpUri"] for rule in rules()] == [PAGE]
    assert ["helpUri" in rule for rule in rules("--isolated")] == [False]


def test_files_and_pipes_have_no_hyperlinks(project):
    for arguments in ((), ("--color", "always"), ("--color", "always", "-o", "report")):
        assert "]8;" not in kerascheck(*ONLY, *arguments, "train.py").out
    assert "]8;" not in (project / "report").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("arguments", "variables", "linked"),
    [
        ((), {}, True),
        (("--color", "never"), {}, False),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"TERM": "dumb"}, False),
        (("--isolated", "--no-cache"), {}, False),
    ],
)
def test_code_is_a_hyperlink_on_a_color_terminal(project, arguments, variables, linked):
    import pty

    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "kerascheck", *ONLY, *arguments, "train.py"]
    subprocess.run(command, stdout=theirs, env={**environment, **variables})
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    assert ("]8;;" in shown) is linked
    if linked:
        assert f"\x1b]8;;{PAGE}\x1b\\\x1b[1mKC101\x1b[0m\x1b]8;;\x1b\\ serial-map" in shown


def test_hints_are_hyperlinks(project, monkeypatch):
    (project / "train.py").write_text("import ray\n" + SLOW.replace("(ds)", "(ds.batch(2))"))
    monkeypatch.setattr("kerascheck.cli.terminal.takes_links", lambda color, *, to_file, err: True)
    hint = next(each for each in found_all() if each["severity"] == "info")
    assert f"\x1b]8;;{hint['url']}\x1b\\\x1b[1m{hint['code']}" in kerascheck("--color", "always", "train.py").out


@pytest.fixture
def on_terminal(project, monkeypatch):
    """The links of a report on a terminal, by code."""
    monkeypatch.setattr("kerascheck.cli.terminal.takes_links", lambda color, *, to_file, err: True)
    monkeypatch.setattr("socket.gethostname", lambda: "host")

    def shown(*arguments, stdin=b""):
        out = kerascheck("--isolated", *ONLY, "--color", "always", *arguments, stdin=stdin).out
        return re.findall("\x1b]8;;(.+?)\x1b", out)

    return shown


def test_code_links_to_a_local_page_without_a_site(project, on_terminal):
    cache = project / "kept"
    (link,) = on_terminal("--cache-dir", cache, "train.py")
    assert link == (cache / "KC101.txt").as_uri().replace("file://", "file://host")
    text = (cache / "KC101.txt").read_text(encoding="utf-8")
    assert (
        text.startswith("# serial-map (KC101)\n")
        and "## Fix safety" in text
        and max(map(len, text.splitlines())) <= 120
    )


def test_local_page_is_replaced_if_it_differs_and_removed_by_clean(project, on_terminal):
    page = project / "kept" / "KC101.txt"
    on_terminal("--cache-dir", page.parent, "train.py")
    text = page.read_text(encoding="utf-8")
    page.write_text("old")
    on_terminal("--cache-dir", page.parent, "train.py", "--sort", "path", "--fix")
    assert page.read_text(encoding="utf-8") == text
    page.unlink()
    assert len(on_terminal("--cache-dir", page.parent, "train.py")) == 1 and page.is_file()
    assert kerascheck("clean", "--cache-dir", page.parent).code == 0
    assert not page.parent.exists()


@pytest.mark.parametrize(
    "arguments",
    [("--no-cache", "train.py"), ("--output-format", "concise", "train.py"), ("--output-format", "json", "train.py")],
)
def test_other_reports_write_no_local_page(project, on_terminal, arguments):
    assert on_terminal("--cache-dir", project / "kept", *arguments) == []
    assert not (project / "kept" / "KC101.txt").exists()


def test_page_of_an_earlier_run_is_reused(tmp_path):
    folder = Folder(str(tmp_path))
    (finding,) = (
        Session(Configuration(overrides_from({"select": ONLY[1:]}), isolated=True)).lint(Source("a.py", SLOW)).findings
    )
    (tmp_path / "KC101.txt").write_text("of an earlier run")
    assert local_addresses([finding], folder, are_current=True)
    assert (tmp_path / "KC101.txt").read_text() == "of an earlier run"
    assert local_addresses([finding], folder, are_current=False)
    assert (tmp_path / "KC101.txt").read_text(encoding="utf-8").startswith("# serial-map")


def test_pages_do_not_evict_results(tmp_path):
    folder = Folder(str(tmp_path))
    folder.write({f"{0:032x}.json": 1})
    for number in range(100, 200):
        assert folder.write_text(f"KC{number}.txt", "page")
    for name in (f"{1:032x}.json", f"{2:032x}.json"):
        os.utime(tmp_path / f"{0:032x}.json", (0, 0))
        folder.write({name: 2})
    assert folder.read(f"{0:032x}.json") == 1 and len(list(tmp_path.glob("KC*.txt"))) == 100


def test_standard_input_has_no_local_page(project, on_terminal):
    assert on_terminal("--cache-dir", project / "kept", "-", stdin=SLOW.encode()) == []


def test_unwritable_folder_means_no_link(project, on_terminal):
    (project / "kept").write_text("a file")
    assert on_terminal("--cache-dir", project / "kept", "train.py", "--fix") == []


def found_all():
    return json.loads(kerascheck("--output-format", "json", "train.py").out)["findings"]


def test_third_party_rules_have_no_page():
    assert pages.address(SITE, "KCX101", "acme") is None
    assert pages.address(SITE + "/", "KC101", "serial-map") == PAGE
    assert len({pages.path(spec.name) for spec in registry.rule_specs()}) == len(registry.rule_specs())
