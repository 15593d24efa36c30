"""Complete sessions over standard input and output, with pytest-lsp's client as the editor."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
import pytest_lsp
from command import kerascheck
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled
from pytest_lsp import ClientServerConfig, LanguageClient
from server.session import BATCHED, COMMAND, SLOW, Editor, an_editor, applied

from kerascheck.lint import pipeline
from kerascheck.project.config import Configuration, Settings
from kerascheck.project.discovery import File
from kerascheck.runtime.verify import memory
from kerascheck.runtime.verify.machine_class import machine
from kerascheck.source import read

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
_SEVERITIES = {"error": 1, "warning": 2, "info": 4}

pytestmark = pytest.mark.asyncio


@pytest_lsp.fixture(config=ClientServerConfig(server_command=COMMAND, client_factory=an_editor))
async def client(started: LanguageClient):
    yield
    await started.shutdown_session()


@pytest.fixture
def editor(client, tmp_path):
    return Editor(client, tmp_path)


def codes(diagnostics):
    return [diagnostic.code for diagnostic in diagnostics]


def only(code, diagnostics):
    (found,) = (each for each in diagnostics if each.code == code)
    return found


def edited(action, text):
    (after,) = applied(action.edit, {each.text_document.uri: text for each in action.edit.document_changes}).values()
    return after


@pytest.mark.slow
async def test_findings_equal_those_of_the_command_line(editor, monkeypatch):
    shutil.copytree(FIXTURES, editor.folder, dirs_exist_ok=True)
    monkeypatch.chdir(editor.folder)
    wanted = {}
    for each in json.loads(kerascheck("--output-format", "json", ".").out)["findings"]:
        key = (each["line"], each["column"], each["end_line"], each["end_column"], each["code"], each["severity"])
        said = "\n".join(filter(None, (each["message"], each["because"])))
        wanted.setdefault((each["path"], each["cell"]), []).append((*key, said))
    assert any(cell is not None for _, cell in wanted) and len(wanted) >= 10
    await editor.start()
    seen = {}
    for path in sorted(editor.folder.rglob("*.*")):
        name = str(path.relative_to(editor.folder))
        if name.endswith(".py"):
            seen[name, None] = editor.open(name, path.read_text(encoding="utf-8"))
        elif name.endswith(".ipynb"):
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            texts = [("".join(cell["source"]), cell["cell_type"]) for cell in cells]
            for index, uri in enumerate(editor.open_notebook(name, texts)):
                seen[name, index] = uri
    names = {number: word for word, number in _SEVERITIES.items()}

    def found(uri):
        for each in editor.client.diagnostics[uri]:
            start, end = each.range.start, each.range.end
            place = (start.line + 1, start.character + 1, end.line + 1, end.character + 1)
            yield *place, each.code, names[each.severity], each.message

    for key, uri in seen.items():
        await editor.shown(uri, 1)
        expected = sorted(wanted.pop(key, []))
        # Cross-file findings appear later.
        await editor.until(lambda: sorted(found(uri)) == expected)
    assert not wanted


async def test_unsaved_text_is_checked(editor):
    (editor.folder / "train.py").write_text(SLOW)
    await editor.start()
    # Form feeds do not end lines, and each emoji is two UTF-16 units.
    faces = SLOW.replace("ds = ds.map", "\f# 😀\nds, _ = ds, '😀😀'; ds = ds.map", 1)
    uri = editor.open("train.py", faces)
    where = only("KC101", await editor.shown(uri)).range
    assert (where.start.line, where.start.character) == (4, len("ds, _ = ds, '1234'; ds = ds."))
    start = types.Position(4, where.end.character - 1)
    text = ", num_parallel_calls=tf.data.AUTOTUNE"
    editor.change(uri, types.TextDocumentContentChangePartial(types.Range(start, start), text))
    assert "KC101" not in codes(await editor.shown(uri))
    end = types.Position(4, start.character + len(text))
    editor.change(uri, types.TextDocumentContentChangePartial(types.Range(start, end), ""))
    assert "KC101" in codes(await editor.shown(uri))
    assert (editor.folder / "train.py").read_text() == SLOW
    editor.close(uri)
    await editor.until(lambda: not editor.client.diagnostics[uri])


@pytest.mark.slow
async def test_only_the_last_of_quick_edits_is_published(editor):
    await editor.start()
    uri = editor.open("train.py", SLOW)
    await editor.shown(uri)
    for number in range(20):
        editor.rewrite(uri, "\n" * number + SLOW)
    assert only("KC101", await editor.shown(uri)).range.start.line == 3 + 19
    versions = [version for each, version in editor.client.published if each == uri]
    assert versions[0] == 1 and versions[-1] == 21 and len(versions) <= 4


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_use_the_negotiated_encoding(editor, encoding):
    await editor.start(encodings=[encoding])
    assert editor.answer.capabilities.position_encoding == encoding
    uri = editor.open("train.py", SLOW.replace("ds = ds.map", "'é😀'; ds = ds.map"))
    units = {"utf-8": 6, "utf-16": 3, "utf-32": 2}[encoding]
    where = only("KC101", await editor.shown(uri)).range
    assert where.start.character == len("''; ds = ds.") + units
    assert await editor.hover(uri, where.start.line, where.start.character)
    assert await editor.hover(uri, where.start.line, where.start.character - 1) is None


async def test_fixes(editor):
    await editor.start()
    uri = editor.open("train.py", BATCHED)
    found = await editor.shown(uri)
    place = only("KC103", found).range.start
    assert {each.severity for each in found} == {types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Hint}
    actions = await editor.actions(uri, (place.line, place.character))
    titles = [action.title for action in actions]
    assert titles == [
        "kerascheck (KC103): Batch first, then map",
        "kerascheck (KC103): Suppress map-before-batch here",
        "kerascheck: Fix all safe findings",
    ]
    assert [action.is_preferred for action in actions] == [True, None, None]
    assert "dataset.batch(256).map(scale)" in edited(actions[0], BATCHED)
    data = only("KC103", found).data
    assert data["applicability"] == "safe" and {each["uri"] for each in data["edits"]} == {uri}
    line = edited(actions[1], BATCHED).splitlines()[place.line]
    assert line == "dataset = dataset.map(scale).batch(256)  # kerascheck: ignore[map-before-batch]"
    editor.rewrite(uri, edited(actions[1], BATCHED))
    assert "KC103" not in codes(await editor.shown(uri))
    editor.rewrite(uri, SLOW)
    (unsafe, comment) = await editor.actions(uri, (3, 10), only=["quickfix"])
    assert unsafe.title == "kerascheck (KC101): Add num_parallel_calls=tf.data.AUTOTUNE (unsafe)"
    assert not unsafe.is_preferred and "ignore[serial-map]" in edited(comment, SLOW)
    assert await editor.actions(uri, (0, 0)) == []


@pytest.mark.slow
async def test_fix_all_on_save_uses_the_latest_text(editor, tmp_path):
    (editor.folder / "train.py").write_text(BATCHED)
    wanted = kerascheck("--diff", "-q", tmp_path / "train.py").out
    await editor.start()
    uri = editor.open("train.py", SLOW)
    editor.rewrite(uri, BATCHED)
    (action,) = await editor.actions(uri, (0, 0), only=["source.fixAll"])
    assert action.kind == "source.fixAll.kerascheck" and action.edit is None
    action = await editor.resolve(action)
    assert [change.text_document.version for change in action.edit.document_changes] == [2]
    after = edited(action, BATCHED)
    added = [line for line in after.splitlines() if line not in BATCHED.splitlines()]
    assert added and added == [line[1:] for line in wanted.splitlines() if line.startswith("+") and line[:3] != "+++"]


@pytest.mark.slow
async def test_simple_editor_gets_complete_actions(editor):
    await editor.start(simple=True)
    uri = editor.open("train.py", BATCHED)
    fix, comment, everything = await editor.actions(uri, (10, 20))
    for action in (fix, comment, everything):
        assert list(action.edit.changes) == [uri] and action.edit.document_changes is None
    assert everything.kind == "source.fixAll.kerascheck"


@pytest.mark.slow
async def test_each_workspace_folder_has_separate_exclusions(editor, tmp_path):
    folders = [tmp_path / "one", tmp_path / "build" / "two"]
    for folder in folders:
        folder.mkdir(parents=True)
    await editor.start(folders=folders)
    # Folders above a workspace folder do not exclude it.
    for name in ("one/train.py", "build/two/train.py"):
        assert codes(await editor.shown(editor.open(name, SLOW))) == ["KC101", "KC306"], name
    for name in ("one/build/train.py", "build/two/build/train.py"):
        assert await editor.shown(editor.open(name, SLOW)) == [], name


@pytest.mark.slow
async def test_hover_shows_the_page_and_the_measurement(editor, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "train.py"
    path.write_text(SLOW)
    await editor.start()
    uri = editor.open("train.py", SLOW)
    await editor.shown(uri)
    page = (await editor.hover(uri, 3, 10)).contents.value
    assert page.startswith("This map runs one call at a time;")
    assert "# serial-map (KC101)" in page and "```diff" in page and "Measured:" not in page
    assert await editor.hover(uri, 0, 3) is None
    remember_that_it_pays(path)
    editor.changed_on_disk(".kerascheck/evidence.json")
    await editor.until(lambda: "Measured: confirmed" in only("KC101", editor.client.diagnostics[uri]).message)
    assert "**Measured:** confirmed here: x1.90 [1.80-2.00]" in (await editor.hover(uri, 3, 10)).contents.value


def remember_that_it_pays(path):
    """Store a measurement of the first finding of a script in its project."""
    source = read(path)
    outcome = pipeline.lint([File(str(path), Settings())], Configuration(isolated=True))
    here = machine().as_dict()
    identity, state = memory.key(outcome.findings[0], source)
    entry = {
        "rule": "KC101",
        "state": state,
        "status": "confirmed",
        "reason": "faster",
        "ratio": 1.9,
        "low": 1.8,
        "high": 2.0,
        "no_effect": 0.05,
        "date": "2026-11-01",
        "versions": memory.installed_versions(),
        "machine": here,
    }
    (path.parent / ".kerascheck").mkdir()
    document = {"version": memory._SCHEMA, "evidence": {memory._on(identity, here): entry}}
    (path.parent / ".kerascheck" / "evidence.json").write_text(json.dumps(document))


async def test_notebooks(editor):
    await editor.start()
    lines = SLOW.splitlines(keepends=True)
    cells = ["# 😀 intro", "%pip install x\n" + "".join(lines[:2]), "".join(lines[2:]).rstrip()]
    markdown, imports, code = editor.open_notebook(
        "train.ipynb", [(cells[0], "markdown"), (cells[1], "code"), (cells[2], "code")]
    )
    found = await editor.shown(code, 1)
    assert only("KC101", found).range.start == types.Position(1, 8)
    assert await editor.shown(imports, 1) == [] and await editor.shown(markdown, 1) == []
    growth = next(each for each in await editor.actions(code, (3, 8)) if "KC306" in each.title)
    changed = applied(growth.edit, {markdown: cells[0], imports: cells[1], code: cells[2]})
    assert changed[code].startswith("\nfor gpu in tf.config") and changed[code].endswith("\n\n" + cells[2])
    assert (changed[markdown], changed[imports]) == (cells[0], cells[1])
    assert "# serial-map" in (await editor.hover(code, 1, 8)).contents.value
    end = len("ds = ds.map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64)")
    at = types.Position(1, end)
    partial = types.TextDocumentContentChangePartial(types.Range(at, at), ", num_parallel_calls=2")
    editor.change_cell("train.ipynb", code, partial)
    assert "KC101" not in codes(await editor.shown(code, 2))
    # A broken cell gets an error, and the other cells are checked.
    editor.insert_cell("train.ipynb", 1, "def (")
    broken = editor.cell("train.ipynb", 1)
    assert codes(await editor.shown(broken, 1)) == ["KC999"]
    assert codes(await editor.shown(code, 2)) == ["KC306"]
    editor.close_notebook("train.ipynb")
    await editor.until(lambda: not editor.client.diagnostics[code] and not editor.client.diagnostics[broken])


@pytest.mark.slow
async def test_fix_all_of_a_notebook_changes_every_cell(editor):
    await editor.start()
    lines = BATCHED.splitlines(keepends=True)
    first, second = editor.open_notebook("t.ipynb", [("".join(lines[:9]), "code"), ("".join(lines[9:]), "code")])
    await editor.shown(second, 1)
    (action,) = await editor.actions(first, (0, 0), only=["notebook.source.fixAll"])
    action = await editor.resolve(action)
    texts = {first: "".join(lines[:9]), second: "".join(lines[9:])}
    assert "dataset.batch(256).map(scale)" in applied(action.edit, texts)[second]


TWICE = """\
one = tf.data.Dataset.from_tensor_slices((columns, clicks)).map(scale).batch(256)
%time print(1)
two = tf.data.Dataset.from_tensor_slices((columns, clicks)).map(scale).batch(256)
!ls
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(one, epochs=3)
model.fit(two, epochs=3)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["train.ipynb", "train.py"])
async def test_fix_all_keeps_ipython_commands(editor, name):
    texts = [BATCHED[: BATCHED.index("dataset =")], TWICE.rstrip("\n")]
    await editor.start()
    if name == "train.py":
        texts = ["".join(texts)]
        (editor.folder / name).write_text(texts[0])
        uris = [editor.open(name, texts[0])]
    else:
        cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in texts]
        (editor.folder / name).write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
        uris = editor.open_notebook(name, [(text, "code") for text in texts])
    assert codes(await editor.shown(uris[-1], 1)).count("KC103") == 2
    kind = "source.fixAll" if name == "train.py" else "notebook.source.fixAll"
    (action,) = await editor.actions(uris[0], (0, 0), only=[kind])
    after = applied((await editor.resolve(action)).edit, dict(zip(uris, texts)))
    assert after[uris[-1]].count("batch(256).map(scale)") == 2 and "%time print(1)\n" in after[uris[-1]]
    assert kerascheck("-q", "--fix", editor.folder / name).code == 0
    written = (editor.folder / name).read_text()
    fixed = [written] if name == "train.py" else [cell["source"] for cell in json.loads(written)["cells"]]
    assert [after[uri] for uri in uris] == ["".join(text) for text in fixed]


@pytest.mark.slow
async def test_changed_configuration_is_read_again(editor):
    configuration = editor.folder / "pyproject.toml"
    configuration.write_text('[tool.kerascheck]\nignore = ["KC306"]\n')
    await editor.start()
    uri = editor.open("train.py", SLOW)
    assert codes(await editor.shown(uri)) == ["KC101"]
    assert [each.method for each in editor.client.registered] == [
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES, types.WORKSPACE_DID_CHANGE_CONFIGURATION
    ]  # fmt: skip
    # A configuration may extend a file of any name.
    watchers = editor.client.registered[0].register_options["watchers"]
    assert any("*.toml" in watcher["globPattern"] for watcher in watchers)
    configuration.write_text('[tool.kerascheck]\nignore = ["KC306", "serial-map"]\n')
    editor.changed_on_disk("pyproject.toml")
    await editor.until(lambda: not editor.client.diagnostics[uri])
    configuration.write_text('[tool.kerascheck]\nignor = ["KC306"]\n')
    editor.changed_on_disk("pyproject.toml")
    (diagnostic,) = await editor.until(lambda: editor.client.diagnostics[uri] or False)
    assert diagnostic.code == "KC999" and "'ignor'; did you mean" in diagnostic.message
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    configuration.write_text('[tool.kerascheck]\nextend = "base.toml"\n')
    (editor.folder / "base.toml").write_text('ignore = ["KC306"]\n')
    editor.changed_on_disk("pyproject.toml")
    await editor.until(lambda: codes(editor.client.diagnostics[uri]) == ["KC101"])
    (editor.folder / "base.toml").write_text('ignore = ["KC101"]\n')
    editor.changed_on_disk("base.toml")
    await editor.until(lambda: codes(editor.client.diagnostics[uri]) == ["KC306"])
    configuration.unlink()
    editor.changed_on_disk("pyproject.toml")
    await editor.until(lambda: "KC101" in codes(editor.client.diagnostics[uri]))


@pytest.mark.slow
async def test_baseline_findings_are_not_shown(editor, monkeypatch):
    (editor.folder / "pyproject.toml").write_text('[tool.kerascheck]\nselect = ["KC101"]\nbaseline = "known.json"\n')
    (editor.folder / "train.py").write_text(SLOW)
    monkeypatch.chdir(editor.folder)
    assert kerascheck(".", "--write-baseline", "known.json").code == 0
    await editor.start()
    uri = editor.open("train.py", SLOW)
    assert codes(await editor.shown(uri)) == []
    editor.rewrite(
        uri,
        SLOW.replace("ds.batch(2)", "ds.map(lambda x: x * tf.random.uniform([], maxval=9, dtype=tf.int64)).batch(2)"),
    )
    (found,) = await editor.until(lambda: editor.client.diagnostics[uri] or False)
    assert (found.code, found.range.start.line) == ("KC101", 5)


@pytest.mark.slow
async def test_baseline_findings_are_not_fixed(editor, monkeypatch):
    (editor.folder / "pyproject.toml").write_text('[tool.kerascheck]\nselect = ["KC103"]\nbaseline = "known.json"\n')
    (editor.folder / "train.py").write_text(BATCHED)
    monkeypatch.chdir(editor.folder)
    assert kerascheck(".", "--write-baseline", "known.json").code == 0
    await editor.start()
    more = "more = tf.data.Dataset.from_tensor_slices((columns, clicks)).map(scale).batch(128)\n"
    text = BATCHED.replace("model = ", f"{more}model = ") + "model.fit(more, epochs=3)\n"
    uri = editor.open("train.py", text)
    assert len(await editor.shown(uri)) == 1
    (action,) = await editor.actions(uri, (0, 0), only=["source.fixAll"])
    after = edited(await editor.resolve(action), text)
    assert "dataset.map(scale).batch(256)" in after and "batch(128).map(scale)" in after


@pytest.mark.slow
async def test_changed_requirements_are_read_again(editor):
    script = BATCHED.replace("epochs=3", "epochs=3, workers=2")
    (editor.folder / "requirements.txt").write_text("tensorflow==2.10.0\n")
    await editor.start()
    uri = editor.open("train.py", script)
    assert "KC414" not in codes(await editor.shown(uri))
    # Applying fixes reads them too.
    (action,) = await editor.actions(uri, (0, 0), only=["source.fixAll"])
    assert (await editor.resolve(action)).edit
    (editor.folder / "requirements.txt").write_text("tensorflow==2.21.0\n")
    editor.changed_on_disk("requirements.txt")
    await editor.until(lambda: "KC414" in codes(editor.client.diagnostics[uri]))


@pytest.mark.slow
async def test_unsaved_importers_affect_findings(editor):
    data = "import tensorflow as tf\n\n\ndef make(paths):\n    return tf.data.TFRecordDataset(paths).batch(8)\n"
    train = "import keras\nfrom data import make\n\nmodel = keras.Sequential()\nmodel.fit(make(['a']))\n"
    (editor.folder / "data.py").write_text(data)
    (editor.folder / "train.py").write_text("import keras\n")
    await editor.start(options={"pedantic": True})
    train_uri = editor.open("train.py", "import keras\n")
    uri = editor.open("data.py", data)
    assert "KC102" not in codes(await editor.shown(uri))
    (editor.folder / "train.py").write_text(train)
    editor.rewrite(train_uri, train)
    editor.save(train_uri)
    await editor.until(lambda: "KC102" in codes(editor.client.diagnostics[uri]))
    # An unsaved edit in one file affects the other.
    editor.rewrite(train_uri, train.replace("make(['a'])", "make(['a']).prefetch(2)"))
    await editor.shown(train_uri)
    editor.rewrite(uri, data + "\n")
    assert "KC102" in codes(await editor.shown(uri)), "until the other file has been asked again"
    await editor.until(lambda: "KC102" not in codes(editor.client.diagnostics[uri]))


@pytest.mark.slow
async def test_related_locations_are_independent_of_the_servers_folder(editor):
    shutil.copytree(FIXTURES / "modules", editor.folder, dirs_exist_ok=True)
    await editor.start()
    uri = editor.open("train.py", (editor.folder / "train.py").read_text())
    related = [each.location.uri for found in await editor.shown(uri) for each in found.related_information or ()]
    assert editor.uri("model.py") in related and {*related} <= {uri, editor.uri("model.py")}


@pytest.mark.slow
async def test_excluded_files_have_no_diagnostics(editor):
    (editor.folder / "pyproject.toml").write_text('[tool.kerascheck]\nextend-exclude = ["old/"]\n')
    (editor.folder / ".gitignore").write_text("made/\n")
    (editor.folder / ".git").mkdir()
    await editor.start()
    for name in ("old/train.py", "made/train.py", ".venv/lib/train.py", "tests/train.py"):
        assert await editor.shown(editor.open(name, SLOW)) == [], name
    assert codes(await editor.shown(editor.open("new/train.py", SLOW))) == ["KC101", "KC306"]
    # Exclusions do not apply to unnamed documents.
    assert codes(await editor.shown(editor.open("untitled:Untitled-1", SLOW))) == ["KC101", "KC306"]
    other = editor.open("notes.txt", SLOW, language="plaintext")
    assert await editor.actions(other, (3, 10)) == [] and other not in editor.client.diagnostics


@pytest.mark.slow
async def test_unreadable_text_is_one_diagnostic(editor):
    await editor.start()
    uri = editor.open("train.py", SLOW + "x = '\0'\n")
    (diagnostic,) = await editor.shown(uri)
    assert (diagnostic.code, diagnostic.range.start.line) == ("KC999", 6) and "null byte" in diagnostic.message
    editor.rewrite(uri, SLOW + "def f(:\n")
    (diagnostic,) = await editor.shown(uri)
    assert (diagnostic.code, diagnostic.range.start.line) == ("KC999", 6) and diagnostic.message.startswith(
        "does not parse"
    )
    editor.rewrite(uri, SLOW + "x = '\ud800'\n")
    assert await editor.shown(uri)
    editor.rewrite(uri, SLOW + "x = " + "[" * 5000 + "]" * 5000)
    assert codes(await editor.shown(uri)) == ["KC999"]
    editor.rewrite(uri, SLOW)
    assert codes(await editor.shown(uri)) == ["KC101", "KC306"]


@pytest.mark.slow
async def test_options_of_the_editor_apply(editor):
    await editor.start(options={"min-severity": "warning", "extend-select": ["KC1"]})
    assert codes(await editor.shown(editor.open("train.py", SLOW))) == ["KC101"]


@pytest.mark.slow
async def test_invalid_option_is_named(editor):
    await editor.start(options={"min_severity": "warning"})
    (diagnostic,) = await editor.shown(editor.open("train.py", SLOW))
    assert diagnostic.message == "the settings of the editor: no setting 'min_severity'; did you mean 'min-severity'?"


@pytest.mark.slow
async def test_changed_editor_settings_apply(editor):
    await editor.start(options={"min-severity": "warning"})
    uri = editor.open("train.py", SLOW)
    assert codes(await editor.shown(uri)) == ["KC101"]
    editor.configured({"kerascheck": {"select": ["KC306"]}, "python": {}})
    await editor.until(lambda: codes(editor.client.diagnostics[uri]) == ["KC306"])
    # VS Code only reports the change, and the server requests the settings.
    editor.client.set_configuration({"ignore": ["KC306"]}, section="kerascheck")
    editor.configured(None)
    await editor.until(lambda: codes(editor.client.diagnostics[uri]) == ["KC101"])
    # An editor without settings changes nothing.
    editor.client.set_configuration(None, section="kerascheck")
    count = len(editor.client.published)
    editor.configured(None)
    await editor.until(lambda: len(editor.client.published) > count)
    assert codes(editor.client.diagnostics[uri]) == ["KC101"]


@pytest.mark.slow
async def test_pulled_diagnostics_are_not_pushed(editor):
    await editor.start(pulls=True)
    provider = editor.answer.capabilities.diagnostic_provider
    assert (provider.identifier, provider.inter_file_dependencies, provider.workspace_diagnostics) == (
        "kerascheck", True, False
    )  # fmt: skip
    uri = editor.open("train.py", SLOW)
    assert codes(await editor.pull(uri)) == ["KC101", "KC306"]
    editor.rewrite(uri, SLOW.replace("dtype=tf.int64)", "dtype=tf.int64), num_parallel_calls=2"))
    assert codes(await editor.pull(uri)) == ["KC306"]
    (editor.folder / "pyproject.toml").write_text('[tool.kerascheck]\nignore = ["KC306"]\n')
    editor.changed_on_disk("pyproject.toml")
    await editor.until(lambda: editor.client.diagnostic_refresh_count > 0)
    assert await editor.pull(uri) == []
    assert await editor.pull(editor.open("notes.txt", SLOW, language="plaintext")) == []
    assert editor.client.published == []
    # Diagnostics of cells are pushed, but may be pulled too.
    lines = SLOW.splitlines(keepends=True)
    first, second = editor.open_notebook("n.ipynb", [(lines[0], "code"), ("".join(lines[1:]), "code")])
    assert codes(await editor.shown(second, 1)) == ["KC101"] and await editor.pull(second) == []


@pytest.mark.slow
async def test_outdated_request_is_cancelled(editor):
    await editor.start(pulls=True)
    uri = editor.open("train.py", SLOW)
    asked = asyncio.ensure_future(editor.pull(uri))
    await asyncio.sleep(0)
    (number,) = editor.client.protocol._request_futures
    editor.client.cancel_request(types.CancelParams(number))
    with pytest.raises(JsonRpcRequestCancelled):
        await asked
    assert codes(await editor.pull(uri)) == ["KC101", "KC306"]


@pytest.mark.slow
async def test_code_links_to_the_page_of_its_rule(editor):
    await editor.start(options={"docs-url": "https://example.org/docs/", "extend-select": ["KC1"]})
    diagnostic = only("KC101", await editor.shown(editor.open("train.py", SLOW)))
    assert diagnostic.code_description.href == "https://example.org/docs/rules/serial-map/"
