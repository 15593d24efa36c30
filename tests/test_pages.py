"""Addresses of the rules' pages in reports."""

import json
import os
import subprocess
import sys

import pytest
from command import kerascheck

from kerascheck.catalog import pages, registry

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
        (("--isolated",), {}, False),
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


def found_all():
    return json.loads(kerascheck("--output-format", "json", "train.py").out)["findings"]


def test_third_party_rules_have_no_page():
    assert pages.address(SITE, "KCX101", "acme") is None
    assert pages.address(SITE + "/", "KC101", "serial-map") == PAGE
    assert len({pages.path(spec.name) for spec in registry.rule_specs()}) == len(registry.rule_specs())
