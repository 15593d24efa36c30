"""The documents match the code."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.integrations import flake8_plugin
from kerascheck.project import config, toml

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_documented_settings_are_complete_and_valid(tmp_path):
    (block,) = blocks(CONFIGURATION, "toml")
    table = toml.parse_toml(block)["tool"]["kerascheck"]
    assert set(table) == set(config.SETTINGS)
    assert config.from_table(table, str(tmp_path / "pyproject.toml")).keras == "3"


def test_editor_configurations_are_those_of_the_server():
    replies = pytest.importorskip("kerascheck.lsp.replies", reason="needs pygls: pip install kerascheck[server]")
    (vs_code,) = (json.loads(block) for block in blocks(README, "json"))
    (helix,) = (toml.parse_toml(block) for block in blocks(README, "toml"))
    assert vs_code == {
        "editor.codeActionsOnSave": {replies.FIX_ALL: "explicit"},
        "notebook.codeActionsOnSave": {replies.NOTEBOOK_FIX_ALL: "explicit"},
    }
    server = helix["language-server"]["kerascheck"]
    assert [server["command"], *server["args"]] == ["kerascheck", "server"]
    assert kerascheck("server", "--help").code == 0
    assert "kerascheck" in helix["language"][0]["language-servers"]


def test_every_settings_field_has_a_key():
    names = {field.name.replace("_", "-") for field in fields(config.Settings)} - {
        "origin",
        "selections",
        "stated-in",
        "machine",
        "obeys-comments",
    }
    assert names | set(config._SELECTION_KEYS) == set(config.SETTINGS)


def test_documented_options_exist():
    known = "".join(
        kerascheck(*command, "--help").out for command in (["check"], ["verify"], ["doctor"], ["why"], ["evidence"], [])
    )
    known += "".join(f"--kerascheck-{name}" for name in flake8_plugin._OPTIONS)
    named = {option for page in PAGES for option in re.findall(r"`(--[a-z0-9-]+)", page.read_text(encoding="utf-8"))}
    assert named and not {option for option in named if option not in known}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_resolve(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


@pytest.mark.parametrize("module, page", [("rule_api", "rule-api.md"), ("gallery", "gallery.md")])
def test_generated_page_is_up_to_date(module, page):
    written = subprocess.run(
        [sys.executable, "-c", f"import {module}, sys; sys.stdout.buffer.write({module}.page().encode())"],
        cwd=ROOT / "docs",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    ).stdout
    assert written.decode() == (ROOT / "docs" / page).read_text(encoding="utf-8"), f"run python docs/{module}.py"


def test_gallery_has_ten_pairs_with_a_confirmed_gain():
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    ratios = [float(ratio) for ratio in re.findall(r"^confirmed x([\d.]+) \[", gallery, re.MULTILINE)]
    assert len(ratios) == len(blocks(gallery, "diff")) == 10 and min(ratios) >= 1.2
    assert "# KC" not in gallery


def test_rule_example_equals_the_rule():
    example = blocks(CONTRIBUTING, "python")[0]
    header, body = example.split("\n", 1)
    path = re.search(r"`(rules/\S+/rule\.py)`", CONTRIBUTING)[1]
    rule = (ROOT / path).read_text(encoding="utf-8")
    assert header in rule
    assert rule.endswith(body)


def test_documented_suppressions_work(tmp_path):
    code = blocks(CONFIGURATION, "python")[0].replace("KC306", "KC999")
    script = tmp_path / "train.py"
    for line in code.splitlines()[:2]:
        text = "import tensorflow as tf\nds = tf.data.Dataset.range(3)\nds = ds.map(lambda x: tf.random.uniform([]))\n"
        text += "import keras\nkeras.Sequential().fit(ds)\n"
        script.write_text(text)
        assert kerascheck("--select", "KC101", "--isolated", script).code == 1
        script.write_text(text.replace("uniform([]))", "uniform([]))" + line.removeprefix("ds = ds.map(f)")))
        assert kerascheck("--select", "KC101", "--isolated", script).code == 0


def test_first_readme_command_finds_problems_in_fixtures():
    command = blocks(README, "sh")[0].strip()
    assert command.count("\n") == 0
    *_, arguments = command.partition(".venv/bin/kerascheck ")
    ran = kerascheck(*(str(ROOT / argument) for argument in arguments.split()))
    assert (ran.code, "Found" in ran.out) == (1, True)


@pytest.mark.skipif(not (ROOT / ".ci" / "run").exists(), reason="not a checkout")
def test_ci_runs_the_readme_command(tmp_path):
    command = blocks(README, "sh")[1]
    assert command.count("\n") == 1 and command.endswith("-m pytest -n auto --dist worksteal\n")
    for relative, text in (
        ("README.md", README.replace(command, "echo ran in $(basename $PWD) && exit 7\n")),
        (".ci/run", None),
    ):
        path = tmp_path / relative
        path.parent.mkdir(exist_ok=True)
        path.write_text(text or (ROOT / relative).read_text(encoding="utf-8"))
    done = subprocess.run(["bash", str(tmp_path / ".ci" / "run")], capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines()[-1].startswith("ran in ")
    assert done.stdout.splitlines()[-1] != f"ran in {tmp_path.name}"
