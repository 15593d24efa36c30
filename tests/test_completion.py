"""Shell completion, through the protocol of the scripts and in real shells."""

import os
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import kerascheck

from kerascheck.catalog import registry
from kerascheck.project.config import SETTINGS

ROOT = Path(__file__).resolve().parent.parent


def offered(monkeypatch, *words, shell="bash"):
    """Completions of the last of ``words``: pairs of type and value."""
    line = shlex.join(("kerascheck", *words[:-1])) + f" {words[-1]}"
    monkeypatch.setenv("_KERASCHECK_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words)))
    ran = kerascheck()
    assert (ran.code, ran.err) == (0, "")
    lines = [line for line in ran.out.splitlines() if line]
    if shell == "zsh":
        return list(zip(lines[::3], lines[1::3]))
    return [tuple(line.partition("\t")[0].split(",", 1)) for line in lines]


def words(monkeypatch, *typed, shell="bash"):
    return [value for kind, value in offered(monkeypatch, *typed, shell=shell) if kind == "plain"]


def test_commands_paths_and_check_options_are_completed_first(monkeypatch):
    first = offered(monkeypatch, "")
    assert first[-1] == ("file", "") and {("plain", "check"), ("plain", "verify"), ("plain", "server")} <= set(first)
    assert offered(monkeypatch, "src/tr") == [("file", "src/tr")]
    assert words(monkeypatch, "--ex") == [
        "--extend-select", "--extend-ignore", "--exit-non-zero-on-fix", "--exclude", "--extend-exclude", "--explain-silence", "--exit-zero",
    ]  # fmt: skip
    assert "--version" in words(monkeypatch, "--ver") and words(monkeypatch, "--help") == ["--help"]
    assert words(monkeypatch, "check", "--output-f") == words(monkeypatch, "--fix", "--output-f")
    assert offered(monkeypatch, "--fix", "s") == offered(monkeypatch, "check", "--fix", "s") == [("file", "s")]


@pytest.mark.parametrize("typed", [("--select",), ("verify", "--ignore"), ("check", "--fix", "--extend-ignore")])
def test_rules_are_completed_after_commas(monkeypatch, typed):
    codes = [spec.code for spec in registry.rule_specs()]
    assert words(monkeypatch, *typed, "KC") == codes
    assert words(monkeypatch, *typed, "serial-m") == ["serial-map"]
    assert words(monkeypatch, *typed, "KC101,al") == [] and words(monkeypatch, *typed, "KC101,AL") == ["KC101,ALL"]
    assert words(monkeypatch, *typed, "KC102,serial-map,KC10") == [
        f"KC102,serial-map,{code}" for code in codes if code.startswith("KC10") and code != "KC102"
    ]


def test_option_values_are_completed_by_type(monkeypatch):
    assert words(monkeypatch, "--output-format", "j") == ["json", "json-lines", "junit"]
    assert words(monkeypatch, "rule", "serial-m") == ["serial-map"] and "ALL" not in words(monkeypatch, "rule", "")
    assert words(monkeypatch, "verify", "--rule", "KC101") == ["KC101"] == words(monkeypatch, "evidence", "KC101")
    assert words(monkeypatch, "completion", "") == ["bash", "zsh", "fish"]
    assert words(monkeypatch, "config", "") == list(SETTINGS)
    for typed in (("--config",), ("why",), ("why", "a.py", "--"), ("doctor", "--script"), ("clean",), ("--exclude",)):
        assert offered(monkeypatch, *typed, "sr") == [("file", "sr")], typed
    assert offered(monkeypatch, "--rules", "sr") == [("dir", "sr")] == offered(monkeypatch, "--cache-dir", "sr")


def test_values_after_an_equals_sign_are_completed(monkeypatch):
    """bash treats it as a separate word, the other shells as a part of the option."""
    assert words(monkeypatch, "--output-format", "=", "sa") == words(monkeypatch, "check", "--output-format", "=", "sa")
    assert words(monkeypatch, "--output-format", "=", "sa") == ["sarif"]
    for shell in ("zsh", "fish"):
        assert words(monkeypatch, "--output-format=sa", shell=shell) == ["--output-format=sarif"]
        assert words(monkeypatch, "--select=KC101,KC102", shell=shell) == ["--select=KC101,KC102"]
        assert words(monkeypatch, "--select=ch", shell=shell) == []


def test_rules_of_a_folder_are_completed_without_execution(monkeypatch, tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "kerascheck", "new-rule", "layers/print-in-step", "--rules", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert made.returncode == 0
    (rule,) = tmp_path.rglob("rule.py")
    rule.write_text(rule.read_text() + "\nraise SystemExit('it was run')\n")
    assert words(monkeypatch, "--rules", str(tmp_path), "--select", "print-in") == ["print-in-step"]
    rule.write_text(rule.read_text().replace("print-in-step", "serial-map"))
    registry.use_folders([])
    # Two rules with one name are an error, but completion must not print a message.
    assert words(monkeypatch, "--rules", str(tmp_path), "--select", "") == ["ALL"]
    registry.use_folders([])


def test_completion_imports_neither_libcst_nor_rules():
    code = (
        "import sys\nfrom kerascheck.cli.main import main\n"
        "try:\n    main([])\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith(('libcst', 'kerascheck.rules', 'kerascheck.lint.pipeline'))])"
    )
    environment = {
        "_KERASCHECK_COMPLETE": "bash_complete",
        "COMP_WORDS": "kerascheck rule serial-ma",
        "COMP_CWORD": "2",
    }
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, cwd=ROOT
    )
    assert (ran.stdout, ran.stderr) == ("plain,serial-map\n[]\n", "")


def test_unsupported_shell_is_rejected():
    ran = kerascheck("completion", "tcsh")
    assert ran.code == 2 and "'bash', 'zsh', 'fish'" in ran.err and "Traceback" not in ran.err


# --- in the shells -----------------------------------------------------------------------------------

_START = {
    "bash": (["bash", "--norc", "-i"], 'bind "set enable-bracketed-paste off"; eval "$(kerascheck completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -u -D; eval "$(kerascheck completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "kerascheck completion fish | source"),
}


class Terminal:
    """An interactive shell."""

    def __init__(self, command, folder, environment):
        import pty

        self._pid, self._file = pty.fork()
        if not self._pid:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self._read = ""

    def type(self, text):
        os.write(self._file, text.encode())

    def wait_for(self, text, seconds=60):
        """Output up to the next occurrence of ``text``."""
        end = time.monotonic() + seconds
        while text not in self._read:
            if time.monotonic() > end:
                raise TimeoutError(self._read)
            if select.select([self._file], [], [], 0.1)[0]:
                self._read += os.read(self._file, 65536).decode(errors="replace")
                self._answer()
        seen, _, self._read = self._read.partition(text)
        return seen

    def _answer(self):
        # fish asks for the terminal's type and waits.
        if "\x1b[0c" in self._read or "\x1b[c" in self._read:
            self._read = self._read.replace("\x1b[0c", "").replace("\x1b[c", "")
            self.type("\x1b[?6c")

    def close(self):
        os.close(self._file)
        os.waitpid(self._pid, 0)


@pytest.fixture(params=sorted(_START))
def shell(request, tmp_path):
    command, set_up = _START[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    program = programs / "kerascheck"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m kerascheck "$@"\n')
    program.chmod(0o755)
    for name in ("my train.py", "data_a.py", "scripts/x.py"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("")
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb" if request.param == "bash" else "xterm",
        "LANG": "C.UTF-8", "PS1": "", "COLUMNS": "200", "LINES": "50",
    }  # fmt: skip
    terminal = Terminal(command, work, environment)
    terminal.type(f"{set_up}; echo re''ady\r")
    terminal.wait_for("ready")
    yield terminal
    terminal.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_tab_key_completes_in_each_shell(shell, tmp_path):
    for typed, *completed in (
        ("--output-format sa", "--output-format", "sarif"),
        ("check --select KC101,serial-m", "check", "--select", "KC101,serial-map"),
        ("--output-format=sa", "--output-format=sarif"),
        ("rule map-before-b", "rule", "map-before-batch"),
        ("my", "my train.py"),
        ("--fix scr", "--fix", "scripts/"),
        ("--config data", "--config", "data_a.py"),
        ("comple", "completion"),
        ("--stat", "--statistics"),
    ):
        # Print the words of the completed line, one per line, instead of running it.
        shell.type(f"kerascheck {typed}\t\x01printf '%s\\n' \x05 > {tmp_path}/out; echo do''ne\r")
        shell.wait_for("done")
        # zsh removes the slash when another word follows.
        written = (tmp_path / "out").read_text().replace("scripts\n", "scripts/\n").splitlines()
        assert written == ["kerascheck", *completed]
