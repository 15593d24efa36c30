"""Real programs: headless Neovim, and python-lsp-server, which runs flake8 for JupyterLab and others."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from server.session import BATCHED, COMMAND, SLOW, Plain

pytestmark = pytest.mark.slow

README = Path(__file__).resolve().parents[2] / "README.md"
_SESSION = """\
local function wait(what, ready)
  assert(vim.wait(60000, ready, 20), 'waited in vain for ' .. what)
end
local function found(code)
  local all = vim.tbl_filter(function(each) return each.code == code end, vim.diagnostic.get(0))
  assert(#all < 2, 'shown twice')
  return all[1]
end
vim.cmd.edit('train.py')
wait('diagnostics', function() return found('KC103') end)
local place = found('KC103')
print(('%d:%d %s'):format(place.lnum + 1, place.col + 1, vim.diagnostic.severity[place.severity]))
print(vim.diagnostic.severity[found('KC306').severity])
vim.api.nvim_win_set_cursor(0, { place.lnum + 1, place.col })
local client = vim.lsp.get_clients({ bufnr = 0 })[1]
local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
local hover = client:request_sync('textDocument/hover', position, 60000, 0)
print(hover.result.contents.value:match('# map[^\\n]*'))
vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# é 😀' })
vim.lsp.buf.code_action({ apply = true, context = { only = { 'source.fixAll.kerascheck' }, diagnostics = {} } })
wait('the fix', function() return vim.fn.search('batch(256).map(scale)', 'nw') > 0 end)
wait('the end of the finding', function() return not found('KC103') end)
vim.cmd.write()
vim.cmd.quitall()
"""


def neovim() -> tuple[int, int]:
    """The version of Neovim on this machine; (0, 0) without one. Debian 12 has 0.7, without ``vim.lsp.config``."""
    if shutil.which("nvim") is None:
        return (0, 0)
    said = subprocess.run(["nvim", "--version"], capture_output=True, text=True, timeout=60).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@pytest.mark.skipif(neovim() < (0, 11), reason="needs Neovim 0.11")
def test_neovim(tmp_path):
    (configuration,) = re.findall(r"^```lua\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    here = configuration.replace("'kerascheck', 'server'", ", ".join(map(repr, COMMAND)))
    assert here != configuration
    for name, text in (
        ("train.py", BATCHED),
        ("init.lua", here),
        ("session.lua", _SESSION),
        ("pyproject.toml", ""),
    ):
        (tmp_path / name).write_text(text)
    command = ["nvim", "--headless", "--clean", "-u", "init.lua", "-l", "session.lua"]
    # Keep the user's Neovim state out of the test.
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200)
    said = ran.stderr + ran.stdout
    line = next(number for number, text in enumerate(BATCHED.splitlines(), 1) if ".map(" in text)
    assert f"{line}:19 WARN" in said and "HINT" in said and "# map-before-batch (KC103)" in said, said
    after = (tmp_path / "train.py").read_text()
    assert after.startswith("# é 😀\n") and "dataset.batch(256).map(scale)" in after


@pytest.mark.skipif(find_spec("pylsp") is None, reason="needs python-lsp-server")
def test_python_lsp_server_shows_flake8_findings(tmp_path):
    plugins = {"flake8": {"enabled": True}, "pycodestyle": {"enabled": False}, "pyflakes": {"enabled": False}}
    command = [sys.executable, "-m", "pylsp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as server:
        plain = Plain(server)
        plain.ask("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
        plain.notify("initialized", {})
        plain.notify("workspace/didChangeConfiguration", {"settings": {"pylsp": {"plugins": plugins}}})
        (tmp_path / "train.py").write_text(SLOW)
        plain.open((tmp_path / "train.py").as_uri(), SLOW)
        (found,) = (each for each in plain.diagnostics()["diagnostics"] if each["code"] == "KC101")
        assert (found["source"], found["range"]["start"]["line"]) == ("flake8", 3)
        assert "one call at a time" in found["message"]
        plain.ask("shutdown", None)
        plain.notify("exit", None)
