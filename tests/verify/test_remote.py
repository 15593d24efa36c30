"""``verify --on``, with another folder of this machine as the remote machine."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from verify.made_up import ended, gone, with_torch
from verify.stand_ins import invoke, program, with_slurm, with_ssh

from kerascheck.runtime.plain import plain, restored
from kerascheck.runtime.verify.budget import Budget, TrainingSelector
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.messages import parse_facts
from kerascheck.runtime.verify.process import Script
from kerascheck.runtime.verify.remote import pack, run, slurm, talk
from kerascheck.runtime.verify.remote.messages import Answer, Job
from kerascheck.runtime.verify.remote.target import BadTarget, Target, parse
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.variants import Variant
from kerascheck.runtime.verify.verdict import Status, Verdict

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


needs_submitit = pytest.mark.skipif(
    find_spec("submitit") is None, reason="submitit is not installed: pip install kerascheck[slurm]"
)
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install kerascheck[ray]")


# Targets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, target",
    [
        ("ssh://gpu1", Target("ssh", "gpu1")),
        ("ssh://me@gpu1.lab.org:2222/scratch/data/", Target("ssh", "gpu1.lab.org", "me", 2222, "/scratch/data")),
        ("ssh://[::1]:22", Target("ssh", "::1", port=22)),
        ("slurm", Target("slurm")),
        ("slurm:gpu,gpus=1,cpus=8,minutes=90", Target("slurm", partition="gpu", gpus=1, cpus=8, minutes=90)),
        ("ray", Target("ray")),
        ("ray://head", Target("ray", "head", port=8265)),
        ("ray://head:80,gpus=2", Target("ray", "head", port=80, gpus=2)),
    ],
)
def test_targets(text, target):
    assert parse(text) == target


@pytest.mark.parametrize(
    "text",
    ["gpu1", "ssh://", "ssh://-oProxyCommand=x", "ssh://a@-x", "ssh://me:secret@gpu1", "ssh://gpu1:port", "ssh://gpu1,gpus=1", "slurm:",
     "slurm:a b", "slurm:gpu,gpu=1", "slurm:gpu,gpus=x", "ray,minutes=5", "ray://head/folder", "http://head", ""],
)  # fmt: skip
def test_an_invalid_target_is_refused_in_one_line(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadTarget) as problem:
        parse(text)
    assert text in str(problem.value) and "\n" not in str(problem.value)


def test_evidence_names_the_machine_but_no_user():
    assert [parse(text).label for text in ("ssh://me@gpu1:22/data", "slurm:gpu,gpus=1", "slurm", "ray", "ray://head:80")] == [
        "ssh://gpu1", "slurm:gpu", "slurm", "ray", "ray://head",
    ]  # fmt: skip


# Uploaded files ---------------------------------------------------------------------------------------------------


def git(folder, *arguments):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with a script in a folder, as the working directory."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    git(tmp_path, "init", "-q", str(folder))
    (folder / "src" / "train.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.chdir(folder)
    return folder


JOB = Job(Script("src/train.py", {}), (), Budget(), ())


def packed(folder, script="src/train.py", **options):
    path = str(folder / script)
    return pack.of_project(path, [path], **options)


def test_files_tracked_by_git_are_uploaded(project):
    for name in ("data.npz", "tracked.pem", "notes.txt", "new.txt", ".env", "src/old.py", "src/.kerascheck/a.json"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(name)
    (project / ".gitignore").write_text("data.npz\nignored/\nsrc/train.py\n")
    (project / "ignored").mkdir()
    (project / "ignored" / "x").write_text("")
    git(project, "add", ".gitignore", "tracked.pem", "notes.txt", "src/old.py", "src/.kerascheck/a.json")
    (project / "src" / "old.py").unlink()
    (project / "out").symlink_to("/etc/passwd")
    (project / "inside").symlink_to(project / "notes.txt")
    (project / "folder").symlink_to("src")
    git(project, "add", "out", "inside", "folder")
    upload = packed(project)
    # The script itself is always uploaded.
    assert set(upload.files) == {".gitignore", "tracked.pem", "notes.txt", "src/train.py", "inside", "folder"}
    assert upload.left_out == {".env": "named like a secret, .env*", "out": "a link out of the project"}
    assert (upload.suspicious, upload.untracked) == ({"tracked.pem": "named like a secret, *.pem"}, 1)
    assert upload.root == str(project)


def test_an_archive_can_be_unpacked_elsewhere(project, tmp_path):
    (project / "data").mkdir()
    (project / "data" / "notes.txt").write_text("notes")
    (project / "inside").symlink_to(project / "data" / "notes.txt")
    (project / "folder").symlink_to("data")
    git(project, "add", ".")
    upload = packed(project)
    slurm.unpack(upload, JOB, tmp_path / "there")
    there = tmp_path / "there" / "project"
    assert os.readlink(there / "inside") == "data/notes.txt" and (there / "folder" / "notes.txt").read_text() == "notes"
    assert (tmp_path / "there" / "code" / "kerascheck" / "runtime" / "verify" / "compare.py").is_file()
    assert not list((tmp_path / "there" / "code").rglob("slow.py"))


def test_control_characters_in_names_are_escaped(project):
    (project / "a\x1b[31m\udcff").write_text("")
    git(project, "add", ".")
    shown = "".join(run.shown(Target("ssh", "gpu1"), packed(project)))
    assert "\x1b" not in shown and "\udcff" not in shown and "a\\x1b[31m" in shown


def test_submodules_are_uploaded(project, tmp_path):
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "lib.py").write_text("")
    git(other, "add", ".")
    git(other, "commit", "-qm", "x")
    git(project, "submodule", "add", "-q", str(other), "vendor")
    assert "vendor/lib.py" in packed(project).files


def test_without_git_the_script_and_included_files_are_uploaded(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # hides git
    for name in ("train.py", "pkg/a.py", ".cache/b", "env/pyvenv.cfg", "env/c.py", "pkg/__pycache__/d.pyc", "key.pem"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    upload = packed(tmp_path, "train.py")
    assert (set(upload.files), upload.git, upload.left_out) == ({"train.py"}, False, {})
    upload = packed(tmp_path, "train.py", include=["*"])
    assert set(upload.files) == {"train.py", "pkg/a.py"}
    assert upload.left_out == {"key.pem": "named like a secret, *.pem"}


@pytest.mark.parametrize(
    "include, files",
    [
        (["data.csv"], {"data.csv", "sub/data.csv"}),
        (["/data.csv"], {"data.csv"}),
        (["./data.csv"], {"data.csv"}),
        (["sub/"], {"sub/data.csv", "sub/x.npz"}),
        (["*.npz"], {"sub/x.npz", "ignored.npz"}),
        (["*.npz", "!ignored.npz"], {"sub/x.npz"}),
        (["*.cfg"], set()),
        ([".hidden.cfg"], {".hidden.cfg"}),
        ([".hidden/*"], {".hidden/a.cfg"}),
        (["nothing", "../project", "../outside"], set()),
    ],
)
def test_untracked_files_are_uploaded_if_a_pattern_matches(project, include, files):
    for name in ("data.csv", "sub/data.csv", "sub/x.npz", "ignored.npz", ".hidden.cfg", ".hidden/a.cfg", "../outside"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
    (project / ".git" / "info" / "exclude").write_text("ignored.npz\n")
    assert set(packed(project, include=include).files) == {"src/train.py"} | files


def test_a_pattern_without_a_match_is_named_before_the_prompt(project, ssh):
    for name in ("data.csv", ".hidden.cfg", "key.pem", "sub/x.npz"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
    given = ["*.csv", "*.cfg", "nothing/", "*.pem", "!data.csv", "/sub/x.npz", "train.py", ".hidden.*"]
    assert packed(project, include=given).unmatched == ["*.cfg", "nothing/"]
    result = invoke("src/train.py", "--on", "ssh://nowhere", "--yes", "--include", "*.zip", "--include", "*.csv")
    assert "  nothing matches --include *.zip (" in result.stderr and result.stderr.count("nothing matches") == 1


def test_a_file_behind_a_link_is_not_uploaded(project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.npz").write_text("")
    (project / "data").symlink_to(tmp_path / "elsewhere")
    assert set(packed(project, include=["data/x.npz", "data/"]).files) == {"src/train.py"}


SECRETS = [
    ".git-credentials", ".pypirc", ".netrc", "_netrc", "id_rsa", "ID_ED25519", "deploy/id_github", "server.pem", "Server.PEM",
    "tls/site.key", "putty.ppk", "store.p12", "cert.PFX", "debug.jks", ".env", ".env.local", ".Envrc", "prod.env", "secrets.toml",
    "conf/Secrets.YAML", "secrets/db.txt", "credentials", "credentials.json", "service-account-prod.json", "client_secret_1.json",
    "token.json", "kaggle.json", ".ssh/config", ".aws/config", ".Azure/profile", ".config/gcloud/x.db", ".docker/config.json",
    ".kube/config", "server.pem.bak", "id_rsa~", "api_key.txt", "apikey.json", "wandb_api_key", ".hf_token", "passwords.yml",
    "local_secrets.toml", "my_secret.json", "secret.txt", ".secret", "aws_credentials", "google-credentials.json", "sa-key.json",
    "terraform.tfstate.backup", "prod.tfvars", ".terraformrc", "vault.yml", ".Renviron", "auth.json", ".cdsapirc", "cookies.txt",
]  # fmt: skip
KEY = "-----BEGIN {}PRIVATE KEY-----\nMIIB\n"
CONTENTS = {
    "notes.txt": KEY.format("RSA "), "a/b.cfg": "\n\n" + KEY.format("OPENSSH "), "c.json": '{"k": "' + KEY.format("") + '"}',
    "d.asc": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n", "putty.txt": "PuTTY-User-Key-File-3: ssh-ed25519\n",
    "wide.txt": KEY.format("EC ").encode("utf-16"),
}  # fmt: skip


@pytest.fixture
def planted(project):
    """Create secrets in the project and return their names."""
    for name in SECRETS:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("hunter2")
    for name, content in CONTENTS.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return [*SECRETS, *CONTENTS]


@pytest.mark.parametrize("include", [[], ["*", ".*", "**/.*"], [".ssh", ".config/", "secrets", "*.pem"]])
@pytest.mark.parametrize("with_git", [True, False], ids=["git", "no git"])
def test_no_secret_is_uploaded(project, planted, tmp_path, include, with_git):
    if not with_git:
        shutil.rmtree(project / ".git")
        (project / "train.py").write_text("")
    (project / "data.csv").write_text("")
    upload = packed(project, "src/train.py" if with_git else "train.py", include=include)
    assert not set(upload.files) & set(planted) and upload.suspicious == {}
    assert ("data.csv" in upload.files) == ("*" in include)
    if "*" in include:
        assert set(planted) <= set(upload.left_out)
    slurm.unpack(upload, JOB, tmp_path / "there")
    assert not [
        path
        for path in (tmp_path / "there" / "project").rglob("*")
        if path.is_file() and b"hunter2" in path.read_bytes()
    ]


def test_each_secret_is_named_before_the_prompt(project, planted, ssh):
    result = invoke("src/train.py", "--on", "ssh://nowhere", "--yes", "--include", "*", "--include", ".*")
    for name in planted:
        assert f"stays here: {name} (" in result.stderr
    # If no pattern names the file, its name alone decides.
    result = invoke("src/train.py", "--on", "ssh://nowhere", "--yes")
    for name in SECRETS:
        assert f"stays here: {name} (named like a secret" in result.stderr
    assert f"files that git does not track, {len(CONTENTS)} of them" in result.stderr


def test_a_secret_is_uploaded_only_if_named_exactly(project, planted, ssh):
    assert set(packed(project, include=["id_rsa", "./a/b.cfg", "/tls/site.key"]).suspicious) == {
        "id_rsa", "a/b.cfg", "tls/site.key",
    }  # fmt: skip
    result = invoke("src/train.py", "--on", "ssh://nowhere", "--yes", "--include", ".env")
    assert "UPLOADS, though it looks like a secret: .env (named like a secret, .env*)" in result.stderr


def test_tracked_secrets_are_uploaded_and_named_even_with_yes(project, planted, ssh):
    git(project, "add", "--force", ".")
    upload = packed(project)
    assert set(upload.suspicious) == set(planted) and set(planted) <= set(upload.files)
    result = invoke("src/train.py", "--on", "ssh://nowhere", "--yes")
    for name in planted:
        assert f"UPLOADS, though it looks like a secret: {name} (" in result.stderr


def test_an_imported_module_that_looks_like_a_secret_needs_approval(project, ssh):
    (project / "src" / "train.py").write_text("import secrets\nimport model\nprint(secrets.PASSWORD)\n")
    (project / "src" / "secrets.py").write_text("PASSWORD = 'hunter2'\n")
    (project / "src" / "model.py").write_text("")
    needed = [str(project / "src" / name) for name in ("train.py", "secrets.py", "model.py")]
    with pytest.raises(pack.NeedsSecret, match="imports src/secrets.py, .* --include src/secrets.py uploads it"):
        pack.of_project(needed[0], needed)
    upload = pack.of_project(needed[0], needed, include=["src/secrets.py"])
    assert set(upload.files) == {"src/train.py", "src/secrets.py", "src/model.py"}
    result = invoke("src/train.py", "--on", "ssh://gpu1", "--yes")
    assert (result.return_value, ssh.exists()) == (2, False)
    assert "imports src/secrets.py" in result.stderr.splitlines()[-1]


def test_the_job_contains_no_text_of_excluded_files(project, tmp_path):
    (tmp_path / "other.py").write_text("PASSWORD = 'hunter2'\n")
    script = str(project / "src" / "train.py")
    texts = {script: "import other", str(tmp_path / "other.py"): "PASSWORD = 'hunter2'"}
    upload = pack.of_project(script, texts)
    order = talk.job(upload, Script(script, texts), [Variant("v", texts)], Budget()).to_json()
    assert b"import other" in order and b"hunter2" not in order


@pytest.mark.parametrize(
    "options, words",
    [(["--include", "*"], "--include is for --on"), (["--on", "ssh://gpu1", "--include", "!"], "matches nothing")],
)
def test_a_useless_include_is_an_error(project, options, words):
    import click

    with pytest.raises(click.UsageError, match=words):
        invoke("src/train.py", *options)


def test_a_large_upload_is_refused_and_its_largest_parts_are_named(project, monkeypatch):
    monkeypatch.setattr(pack, "LARGEST_BYTES", 1000)
    (project / "large.bin").write_bytes(bytes(2000))
    git(project, "add", ".")
    with pytest.raises(pack.TooLarge, match=r"such as large.bin \(2 kB\)"):
        packed(project)


# Messages between the two sides -----------------------------------------------------------------------------------


def comparison():
    verdict = Verdict(
        "KC101 serial-map train.py:4", Status.CONFIRMED, "steps are 1.90 times faster", Ratio(1.9, 1.8, 2.0), (0.2, 0.1),
        losses=([1.0, float("inf")], [1.0, 2.0]), ticks=([0.1], [0.2]),
    )  # fmt: skip
    scout = ended(versions={"tensorflow": "2.21.0"}, losses=[1.0])
    from kerascheck.runtime.verify.analysis import Analysis, Stage

    analysis = Analysis(
        "fit",
        0.2,
        ceiling_seconds=0.1,
        input_bound=0.5,
        largest_input_gain=2.0,
        stages=[Stage("Map", ("/a.py", 4), 0.1, 1.0, 1.0)],
        facts=parse_facts({"backend": "tensorflow"}),
    )
    return Comparison("/a.py", scout, [scout], [analysis], [verdict], notes=["validation was skipped"], seconds=3.0)


def test_a_comparison_survives_serialisation():
    there = comparison()
    assert restored(Comparison, json.loads(json.dumps(plain(there)))) == there


@pytest.mark.parametrize(
    "value",
    [
        Budget(3.0, None, training=TrainingSelector(path="a.py", line=3)),
        Variant("v", {"/a.py": "x"}, None, (("/a.py", 1, 2),), True),
        Script("/a", {"/a": ""}, ("--x",)),
    ],
)
def test_jobs_survive_serialisation(value):
    back = restored(type(value), json.loads(json.dumps(plain(value))))
    assert plain(back) == plain(value) and type(back) is type(value)


def test_the_remote_side_needs_only_the_standard_library():
    code = "import kerascheck.runtime.verify.scaling, kerascheck.runtime.verify.remote.far, kerascheck.runtime.plain, kerascheck.runtime.doctor.nvidia"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


def test_a_result_with_a_lost_line_is_refused():
    conversation = talk.Conversation(lambda text, left: None)
    conversation.hear('@kerascheck {"event": "part", "data": "abc"}')
    with pytest.raises(talk.Refused, match="incomplete: 3 of 9"):
        conversation.hear('@kerascheck {"event": "result", "project": "/x", "length": 9}')


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"event": "part"}', '{"event": "result", "project": "/x", "length": 0}']
)
def test_an_invalid_message_is_reported_in_one_line(line):
    with pytest.raises(talk.Refused, match="^what it says cannot be understood") as problem:
        talk.Conversation(lambda text, left: None).hear("@kerascheck " + line)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "received", [{}, {"comparison": []}, {"comparison": {"script": "a.py"}}, {"comparison": {"verdict": 1}}]
)
def test_an_invalid_result_is_reported_in_one_line(received):
    with pytest.raises(talk.Refused, match="^its result cannot be understood"):
        run._understood(Answer, json.dumps(received))


def test_frameworks_needed_by_a_script():
    assert talk.needs(
        ["import tensorflow.keras as k, os", "from jax import numpy", "from . import torch", "def f(:"]
    ) == {"tensorflow", "jax"}


# ssh --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """Install an ``ssh`` whose hosts are folders of this machine; returns its log."""
    return with_ssh(tmp_path, monkeypatch)


@pytest.fixture
def traces(tmp_path, monkeypatch):
    """Install a Slurm cluster on this machine; returns its traces."""
    return with_slurm(tmp_path, monkeypatch)


def left_behind(tmp_path):
    return [name for name in os.listdir(tmp_path / "scratch") if name.startswith(("kerascheck-", "kc-"))]


def test_a_remote_run_has_the_same_report_as_a_local_one(project, ssh, tmp_path):
    (project / "src" / "train.py").write_text(
        "import os, sys\nprint(os.getcwd(), os.listdir(), sys.argv[1:])\nsys.exit(3)\n"
    )
    result = invoke(
        "src/train.py", "--on", "ssh://me@gpu1:2222", "--python", sys.executable, "--yes", "--", "--epochs", "3"
    )
    assert result.return_value == 2
    assert "the script called sys.exit() with '3' before any training step" in result.stdout
    assert f"{project} ['src'] ['--epochs', '3']" in result.stdout
    assert (
        f"UPLOADS to ssh://gpu1: 1 files of {project} (tracked by git, or named)" in result.stderr
        and "train.py" in result.stderr
    )
    assert "-p 2222 me@gpu1" in ssh.read_text()
    assert left_behind(tmp_path) == []


def test_nothing_is_uploaded_without_a_yes(project, ssh):
    result = invoke("src/train.py", "--on", "ssh://gpu1")
    assert result.return_value == 2
    assert result.stderr.strip().count("\n") == 0 and "--yes" in result.stderr
    assert not ssh.exists()


def test_ignored_files_read_by_the_script_are_linked(project, ssh, tmp_path):
    (project / "src" / "train.py").write_text(
        "import sys\nsys.exit(open('data/x/numbers').read() + open('src/own').read())\n"
    )
    (project / "src" / "own").write_text(" uploaded")
    git(project, "add", "src/own")
    (tmp_path / "far" / "data" / "x").mkdir(parents=True)
    (tmp_path / "far" / "src").mkdir()
    (tmp_path / "far" / "src" / "own").write_text("not this one")
    (tmp_path / "far" / "data" / "x" / "numbers").write_text("one two three")
    result = invoke("src/train.py", "--on", f"ssh://gpu1{tmp_path / 'far'}", "--python", sys.executable, "--yes")
    assert "'one two three uploaded'" in result.stdout
    assert (tmp_path / "far" / "data" / "x" / "numbers").exists()


@pytest.mark.parametrize(
    "where, python, words",
    [
        (
            "ssh://nowhere",
            sys.executable,
            "ssh://nowhere: ssh cannot reach nowhere: ssh: Could not resolve hostname nowhere",
        ),
        (
            "ssh://gpu1",
            "/nowhere/python",
            "/nowhere/python could not be started on gpu1 (name another one with --python)",
        ),
    ],
)
def test_a_missing_connection_or_interpreter_is_reported_in_one_line(project, ssh, where, python, words):
    result = invoke("src/train.py", "--on", where, "--python", python, "--yes")
    assert result.return_value == 2
    assert words in result.stderr.splitlines()[-1]
    assert result.stdout == ""


@pytest.mark.parametrize("seconds", ["0", "1"])
def test_a_broken_connection_is_reported(project, ssh, seconds):
    host = f"dropped{seconds}"
    result = invoke("src/train.py", "--on", f"ssh://{host}", "--python", sys.executable, "--yes")
    assert result.return_value == 2
    last = result.stderr.splitlines()[-1]
    assert last == f"ssh://{host}: the connection to {host} broke: Connection to {host} closed by remote host."


def test_a_killed_remote_run_is_not_reported_as_a_missing_interpreter(project, ssh, tmp_path):
    # Kill the run itself, as the kernel does when memory is short.
    (project / "src" / "train.py").write_text(
        "import os, signal\nparent = os.getppid()\nos.kill(parent, signal.SIGKILL)\n"
    )
    result = invoke("src/train.py", "--on", "ssh://gpu1", "--python", sys.executable, "--yes")
    assert "the run was ended by SIGKILL (out of memory?) on gpu1" in result.stderr.splitlines()[-1]


PARENT = """\
import os, signal, subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
with open({file!r}, "w") as stream:
    stream.write(str(helper.pid))
run = os.getppid()
with open(f"/proc/{{run}}/stat") as stream:
    host = int(stream.read().rpartition(")")[2].split()[1])
os.kill({victim}, signal.{signal})
time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds what a run leaves in /proc alone")
@pytest.mark.parametrize(
    "victim, number, words",
    [
        ("run", "SIGKILL", "the run was ended by SIGKILL (out of memory?) on gpu1"),
        ("run", "SIGTERM", "the run was ended by SIGTERM on gpu1"),
        ("host", "SIGKILL", "the run lost the process that started it and ended on gpu1"),
        ("host", "SIGTERM", "the run was ended by SIGTERM on gpu1"),
    ],
)
def test_nothing_remains_whatever_is_killed_remotely(project, ssh, tmp_path, victim, number, words):
    text = PARENT.format(file=str(tmp_path / "pid"), victim=victim, signal=number)
    (project / "src" / "train.py").write_text(text)
    result = invoke("src/train.py", "--on", "ssh://gpu1", "--python", sys.executable, "--yes")
    assert (result.return_value, result.stderr.splitlines()[-1]) == (2, f"ssh://gpu1: {words}")
    assert gone(int((tmp_path / "pid").read_text()), 30)
    deadline = time.monotonic() + 20
    while left_behind(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left_behind(tmp_path) == []


def test_an_unreadable_remote_folder_is_named(project, ssh):
    result = invoke("src/train.py", "--on", "ssh://gpu1/no/such", "--python", sys.executable, "--yes")
    assert result.stderr.splitlines()[-1] == (
        "ssh://gpu1: /no/such there cannot be linked into the project: No such file or directory"
    )


def test_an_environment_without_the_frameworks_is_named(project, ssh, tmp_path):
    (project / "src" / "train.py").write_text("import tensorflow\n")
    bare = program(tmp_path, "bare", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -E -S "$@"\n')
    starter = tmp_path / "python"
    # The interpreter itself starts the remote run, without its packages.
    starter.write_text(f"import sys; sys.executable = {str(bare)!r}\n")
    python = program(
        tmp_path, "python3", f'#!/bin/sh\nshift; exec {shlex.quote(sys.executable)} -c "$(cat {starter}); $1"\n'
    )
    result = invoke("src/train.py", "--on", "ssh://gpu1", "--python", str(python), "--yes")
    assert result.return_value == 2
    assert (
        "has none of the packages that the script needs: tensorflow; name another one with --python"
        in result.stderr.splitlines()[-1]
    )
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("where", ["ssh://gpu1", pytest.param("slurm", marks=needs_submitit)])
def test_an_old_interpreter_is_named(project, ssh, traces, tmp_path, where):
    site = tmp_path / "old"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import sys\nsys.version_info = (3, 8, 18)\n")
    old = program(tmp_path, "old-python", f'#!/bin/sh\nPYTHONPATH={site} exec {shlex.quote(sys.executable)} "$@"\n')
    result = invoke("src/train.py", "--on", where, "--python", str(old), "--yes")
    assert "is Python 3.8, and kerascheck needs 3.10; name another one with --python" in result.stderr.splitlines()[-1]
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_signal_ends_the_remote_run_and_removes_the_upload(project, ssh, tmp_path, number):
    script = project / "src" / "train.py"
    script.write_text(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    code = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom kerascheck.cli.verify import verify\n"
    code += f"verify.main(['src/train.py', '--on', 'ssh://gpu1', '--yes', '--python', {sys.executable!r}], standalone_mode=False)"
    here = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    pid = wait_for(tmp_path / "pid")
    assert left_behind(tmp_path)
    here.send_signal(number)
    here.communicate(timeout=60)
    assert here.returncode != 0
    assert gone(pid)
    assert left_behind(tmp_path) == []


def wait_for(path, seconds=60):
    """Wait for a process id in the file ``path``, and return it."""
    deadline = time.monotonic() + seconds
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return int(path.read_text())


def test_a_lost_connection_ends_the_remote_run(project, ssh, tmp_path):
    (project / "src" / "train.py").write_text(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    code = "from kerascheck.cli.verify import verify\n"
    code += f"verify.main(['src/train.py', '--on', 'ssh://gpu1', '--yes', '--python', {sys.executable!r}], standalone_mode=False)"
    here = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    pid = wait_for(tmp_path / "pid")
    here.kill()
    here.communicate()
    assert gone(pid, 30)
    deadline = time.monotonic() + 20
    while left_behind(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left_behind(tmp_path) == []


# A recorded run: a program with prepared results is the remote side -----------------------------------------------


PROJECT = """\
import tensorflow as tf

ds = tf.data.Dataset.range(10000).batch(32).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse", optimizer="sgd")
model.fit(ds, epochs=3)
"""
RECORDED = """\
#!{python}
import json, sys, tarfile, io
sys.path.insert(0, {root!r})
from kerascheck.runtime.verify.remote import far
stream = sys.stdin.buffer
stream.readline()
size = json.loads(stream.readline())["size"]
archive = tarfile.open(fileobj=io.BytesIO(stream.read(size)))
names = archive.getnames()
job = json.load(archive.extractfile("job.json"))
assert "project/" + job["script"]["path"] in names, names
comparison = json.loads({comparison!r})
comparison["verdicts"] = [dict(comparison["verdicts"][0], name=v["name"]) for v in job["variants"]]
comparison["script"] = "/far/project/train.py"
comparison["notes"] = ["it wrote /far/project/log"]
machine = {{"system": "Linux", "processor": "x86_64", "cores": 64}}
far._tell({{"comparison": comparison, "machine": machine, "gpu": None}}, "/far/project")
"""


@pytest.fixture
def recorded(project, ssh, tmp_path):
    """A project with one finding, and an interpreter that "measures" it immediately."""
    (project / "train.py").write_text(PROJECT)
    text = RECORDED.format(python=sys.executable, root=str(ROOT), comparison=json.dumps(plain(comparison())))
    return str(program(tmp_path, "recorded", text))


def test_the_report_is_the_same_and_names_the_machine(project, recorded):
    result = invoke("train.py", "--on", "ssh://gpu1", "--python", recorded, "--yes", "--select", "KC407")
    assert result.return_value == 1
    assert "confirmed       x1.90 [1.80-2.00]" in result.stdout
    assert f"it wrote {project}/log" in result.stdout
    assert "64 cores x86_64 on ssh://gpu1" in result.stdout
    html = invoke(
        "train.py", "--on", "ssh://gpu1", "--python", recorded, "--yes", "--select", "KC407", "--output-format", "html"
    )
    assert "64 cores x86_64 on ssh://gpu1" in html.stdout
    dictionary = json.loads(
        invoke("train.py", "--on", "ssh://gpu1", "--python", recorded, "--yes", "--output-format", "json").stdout
    )
    assert dictionary["machine"]["on"] == "ssh://gpu1"


def test_evidence_is_stored_under_the_remote_machine(project, recorded):
    from command import kerascheck

    for host in ("gpu1", "gpu2", "gpu1"):
        invoke("train.py", "--on", f"ssh://{host}", "--python", recorded, "--yes", "--select", "KC407")
    entries = json.loads((project / ".kerascheck" / "evidence.json").read_text())["evidence"]
    assert sorted(entry["machine"]["on"] for entry in entries.values()) == ["ssh://gpu1", "ssh://gpu2"]
    shown = kerascheck("train.py", "--verbose").out
    assert "confirmed here" not in shown and "but on ssh://gpu2: measure again" in shown
    assert kerascheck("train.py", "--gate", "confirmed").code == 0


@pytest.mark.slow
def test_a_real_remote_training_end_to_end(project, ssh, tmp_path):
    with_torch(project / "src")
    (project / "src" / "train.py").write_text(
        "import time, torch\nfrom torch.optim.optimizer import SGD\noptimizer = SGD()\nwhile True:\n    time.sleep(0.002)\n    optimizer.step()\n"
    )
    result = invoke("src/train.py", "--on", "ssh://gpu1", "--python", sys.executable, "--yes", "--budget", "5")
    assert result.return_value == 0
    assert (
        "Training (optimizer loop" in result.stdout
        and "per step" in result.stdout
        and "on ssh://gpu1, torch 0.0" in result.stdout
    )
    assert left_behind(tmp_path) == []


# A real sshd ------------------------------------------------------------------------------------------------------


def sshd():
    found = (
        os.environ.get("KERASCHECK_SSHD")
        or shutil.which("sshd")
        or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    )
    return found if found and shutil.which("ssh") and shutil.which("ssh-keygen") else None


@pytest.fixture
def real_ssh(tmp_path, monkeypatch):
    """The port of this user's sshd on localhost; ``ssh`` on the path knows its key."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text())
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path / 'host'}\nAuthorizedKeysFile {tmp_path / 'authorized'}\n"
        f"PidFile {tmp_path / 'sshd.pid'}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nSetEnv TMPDIR={scratch}\n"
    )
    (tmp_path / "ssh_config").write_text(
        f"IdentityFile {tmp_path / 'user'}\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile {tmp_path / 'known'}\n"
    )
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path / "ssh_config"} "$@"\n')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    server = subprocess.Popen([sshd(), "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    if server.poll() is not None:
        pytest.skip(f"sshd does not start here: {server.stderr.read().decode().strip()[-200:]}")
    yield port
    server.terminate()
    server.wait()


@pytest.mark.skipif(sshd() is None, reason="no sshd on this machine")
def test_over_a_real_connection(project, real_ssh, tmp_path):
    (project / "src" / "train.py").write_text(
        "import os, sys\nsys.exit('there' if 'SSH_CONNECTION' in os.environ else 'here')\n"
    )
    result = invoke("src/train.py", "--on", f"ssh://127.0.0.1:{real_ssh}", "--python", sys.executable, "--yes")
    assert "with 'there' before any training step" in result.stdout, result.stderr
    assert left_behind(tmp_path) == []


@pytest.mark.skipif(sshd() is None, reason="no sshd on this machine")
def test_an_interrupt_over_a_real_connection(project, real_ssh, tmp_path):
    (project / "src" / "train.py").write_text(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    code = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom kerascheck.cli.verify import verify\n"
    code += f"verify.main(['src/train.py', '--on', 'ssh://127.0.0.1:{real_ssh}', '--yes', '--python', {sys.executable!r}], standalone_mode=False)"
    here = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    pid = wait_for(tmp_path / "pid")
    os.killpg(here.pid, signal.SIGINT)  # as a terminal does, so ssh receives it too
    here.communicate(timeout=60)
    assert gone(pid)
    assert left_behind(tmp_path) == []


# Slurm ------------------------------------------------------------------------------------------------------------


@needs_submitit
def test_a_job_of_slurm(project, traces, tmp_path):
    (project / ".gitignore").write_text("data\n")
    (project / "data").write_text("ignored by git")
    (project / "src" / "train.py").write_text(
        "import os, sys\nsys.exit(open('data').read() + os.environ['SLURM_JOB_ID'])\n"
    )
    result = invoke("src/train.py", "--on", "slurm:gpu,gpus=2,cpus=4,minutes=7", "--yes")
    assert "with 'ignored by git4711' before any training step" in result.stdout, result.stderr
    batch = (traces / "submitted").read_text()
    assert {
        "#SBATCH --partition=gpu",
        "#SBATCH --gpus-per-node=2",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --time=7",
        "#SBATCH --no-requeue",
    } <= set(batch.splitlines())
    assert not (project / ".kerascheck").exists()
    assert (project / "data").read_text() == "ignored by git"


@needs_submitit
def test_a_job_that_slurm_refuses(project, traces):
    result = invoke("src/train.py", "--on", "slurm:refused", "--yes")
    assert result.return_value == 2
    assert result.stderr.splitlines()[-1] == (
        "slurm:refused: slurm does not take the job: invalid partition specified: refused"
    )
    assert not (project / ".kerascheck").exists()


@needs_submitit
def test_a_job_that_dies(project, traces):
    result = invoke("src/train.py", "--on", "slurm", "--python", "/bin/false", "--yes")
    assert result.return_value == 2
    assert result.stderr.splitlines()[-1].startswith("slurm: /bin/false could not be started on the node")


class FakeJob:
    """A job of submitit, modelled on its documentation."""

    job_id = "4711"

    def __init__(self, folder, log=""):
        import types

        self.log, self.cancelled = log, False
        self.paths = types.SimpleNamespace(result_pickle=folder / "result")

    def stderr(self):
        return self.log

    def cancel(self, check=True):
        self.cancelled = True


@pytest.fixture
def followed(traces, tmp_path, monkeypatch):
    """Follow a job whose state is a line of squeue; returns the error and the reported waiting."""
    monkeypatch.setattr(slurm, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(slurm, "_LOOK_SECONDS", 0.0)

    def follow(state, log="", accounting="", then=None, messages='@kerascheck {"event": "started"}\n'):
        (traces / "state").write_text(state + "\n")
        (traces / "accounting").write_text(accounting + "\n")
        (tmp_path / "messages").write_text(messages)
        (tmp_path / "lease").touch()
        os.utime(tmp_path / "lease", (0, 0))
        job, shown = FakeJob(tmp_path, log), []

        def progress(text, left):
            shown.append(text)
            if then:
                (traces / "state").write_text(then + "\n")

        with pytest.raises(talk.Refused) as refused:
            slurm._follow(slurm._Scheduler(job, "slurm"), tmp_path / "messages", talk.Conversation(progress), 1)
        assert (tmp_path / "lease").stat().st_mtime > 0, "it renews the lease"
        return str(refused.value), shown, job

    return follow


STEPD = "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-12-01T10:00:00{} ***"
TIME_LIMIT = "the job reached its time limit of 1 min: ask for more, as in slurm,minutes=2"


@pytest.mark.parametrize(
    "state, log, accounting, words",
    [
        ("TIMEOUT|TimeLimit", "", "", TIME_LIMIT),
        ("FAILED|NonZeroExitCode", STEPD.format(" DUE TO TIME LIMIT"), "", TIME_LIMIT),
        ("CANCELLED|None", "", "", "the job was cancelled"),
        ("FAILED|None", STEPD.format(""), "", "the job was cancelled"),
        ("OUT_OF_MEMORY|OutOfMemory", "", "", "the job ran out of memory"),
        (
            "FAILED|NonZeroExitCode",
            "a\nTypeError: b\nsrun: error: n1: task 0: Exited with exit code 1\n",
            "",
            "the job ended without a result (FAILED): TypeError: b",
        ),
    ],
)
def test_the_end_of_a_job_is_described(followed, state, log, accounting, words):
    said, _, job = followed(state, log, accounting)
    assert (said, job.cancelled) == (words, False)


def test_a_job_whose_interpreter_does_not_start_is_reported(followed):
    log = "Traceback (most recent call last):\n  raise x\nFileNotFoundError: [Errno 2] No such file\n\n"
    log += "The above exception was the direct cause of the following exception:\n\n  raise FailedJobError(x)\n"
    log += "submitit.core.utils.FailedJobError\nsrun: error: n1: task 0: Exited with exit code 1\n"
    said, _, _ = followed("FAILED|NonZeroExitCode", log, messages="")
    assert said.startswith("python could not be started on the node (name another one with --python): FileNotFound")


def test_a_job_whose_run_is_killed_is_reported(followed):
    ended = '@kerascheck {"event": "started"}\n@kerascheck {"event": "ended", "how": "the run was killed"}\n'
    said, _, _ = followed("FAILED|NonZeroExitCode", "srun: error: n1: task 0: Exited\n", messages=ended)
    assert said == "the run was killed"


def far_run(project, tmp_path, folder, **order):
    """Start the remote side with a modified job; returns its process and that of its script, which sleeps."""
    script = str(project / "src" / "train.py")
    text = f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    Path(script).write_text(text)
    upload = pack.of_project(script, [script])
    slurm.unpack(upload, replace(talk.job(upload, Script(script, {script: text}), [], Budget()), **order), folder)
    far = subprocess.Popen(
        [sys.executable, "-B", "code/start.py", "."], cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True
    )
    return far, wait_for(tmp_path / "pid")


def test_a_job_ends_and_removes_the_upload_once_nobody_renews_its_lease(project, tmp_path):
    folder = project / ".kerascheck" / "slurm" / "job-x"
    far, pid = far_run(project, tmp_path, folder, lease=2)
    far.wait(60)
    assert gone(pid, 30)
    assert not (project / ".kerascheck").exists()


def test_a_job_forgotten_by_slurm_has_ended(followed, traces, monkeypatch):
    def invalidate(self):
        if self.state == "RUNNING":
            (traces / "state").write_text("")
        return ""

    monkeypatch.setattr(slurm._Scheduler, "why_waiting", invalidate)
    assert followed("RUNNING|None", accounting="CANCELLED by 1000")[0] == "the job was cancelled"


def test_a_job_that_waits_shows_the_reason_once(followed, capsys):
    said, shown, _ = followed("PENDING|Resources", then="CANCELLED|None")
    assert (said, shown[:1]) == ("the job was cancelled", ["job 4711 waits: Slurm says Resources"])
    # A log has no progress line.
    assert capsys.readouterr().err == "job 4711 waits: Slurm says Resources\n"


@pytest.mark.slow
def test_a_job_that_cannot_start_is_cancelled_and_reported(followed):
    said, _, job = followed("PENDING|PartitionTimeLimit")
    assert (said, job.cancelled) == ("the job cannot start: Slurm says PartitionTimeLimit", True)


def test_no_signal_is_sent_before_the_limit():
    # With a limit of one minute, Slurm would send it immediately.
    assert slurm.parameters(Target("slurm", minutes=1), 1, "slurm")["slurm_signal_delay_s"] == 0


@needs_submitit
def test_an_interrupt_cancels_the_job_and_removes_the_upload(project, traces, tmp_path):
    interrupted(project, tmp_path, "slurm")
    assert (traces / "cancelled").exists()
    assert not (project / ".kerascheck").exists()


def interrupted(project, tmp_path, where):
    """Interrupt a run while its script runs, and wait for the script to end."""
    text = f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    (project / "src" / "train.py").write_text(text)
    code = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\nfrom kerascheck.cli.verify import verify\n"
    code += f"verify.main(['src/train.py', '--on', {where!r}, '--yes', '--python', {sys.executable!r}], standalone_mode=False)"
    here = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
    )
    pid = wait_for(tmp_path / "pid")
    here.send_signal(signal.SIGINT)
    here.communicate(timeout=90)
    assert here.returncode != 0
    assert gone(pid, 30)


@needs_submitit
def test_the_executor_on_this_machine(project):
    """Use submitit's own local executor instead of Slurm."""
    script = str(project / "src" / "train.py")
    upload = pack.of_project(script, [script])
    order = talk.job(upload, Script(script, {script: Path(script).read_text()}), [], Budget())
    conversation = talk.Conversation(lambda text, left: None)
    conversation.expect(upload.root)
    slurm.run(Target("slurm"), sys.executable, upload, replace(order, minutes=5), conversation, cluster="local")
    assert "sys.exit" in conversation.result or '"exit"' in conversation.result


# Ray --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ray_cluster():
    """Start a Ray cluster on this machine; returns the address of its dashboard and its folder."""
    import tempfile

    import ray

    # Short, because Ray creates sockets in it.
    folder = tempfile.mkdtemp(prefix="r")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")  # avoids a token in the home folder
        started = ray.init(num_cpus=2, include_dashboard=True, dashboard_port=0, _temp_dir=folder, log_to_driver=False)
        yield started.dashboard_url, Path(folder)
        ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


def kept_by_ray(ray_cluster):
    """Jobs and uploads that the cluster still stores."""
    from ray.job_submission import JobSubmissionClient

    address, folder = ray_cluster
    jobs = [job for job in JobSubmissionClient(f"http://{address}").list_jobs() if job.submission_id]
    return jobs, list(folder.rglob("start.py")), list(folder.rglob("train.py"))


@needs_ray
def test_a_job_of_ray(project, ray_cluster, tmp_path):
    (project / "src" / "train.py").write_text(
        "import os, sys\nprint(os.getcwd())\nsys.exit(str(any(k.startswith('RAY_') for k in os.environ)))\n"
    )
    result = invoke("src/train.py", "--on", f"ray://{ray_cluster[0]}", "--python", sys.executable, "--yes")
    assert "with 'True' before any training step" in result.stdout, result.stderr
    assert str(project) in result.stdout
    assert kept_by_ray(ray_cluster) == ([], [], [])


@needs_ray
def test_an_interrupt_stops_the_job_of_ray(project, ray_cluster, tmp_path):
    interrupted(project, tmp_path, f"ray://{ray_cluster[0]}")
    assert kept_by_ray(ray_cluster) == ([], [], [])


@needs_ray
def test_a_job_of_ray_that_dies(project, ray_cluster):
    result = invoke("src/train.py", "--on", f"ray://{ray_cluster[0]}", "--python", "/bin/false", "--yes")
    assert (
        (result.stderr.splitlines()[-1].partition(": ")[2])
        == "/bin/false could not be started on the node (name another one with --python)"
    )


@needs_ray
def test_a_missing_cluster_is_reported_in_one_line(project):
    result = invoke("src/train.py", "--on", "ray://127.0.0.1:9", "--yes")
    assert result.return_value == 2
    assert "no Ray cluster answers at http://127.0.0.1:9" in result.stderr.splitlines()[-1]


class FakeCluster:
    """A client of Ray's Jobs API, modelled on its documentation."""

    def __init__(self, states, message=None, nodes=({"CPU": 8.0},), log=""):
        self.log = log
        self.states, self.message, self.nodes, self.calls = list(states), message, nodes, []

    def submit_job(self, **asked):
        self.calls.append("submit")
        if isinstance(self.states[0], Exception):
            raise self.states[0]
        return "raysubmit_1"

    def get_job_status(self, name):
        import types

        if "delete" in self.calls:
            raise RuntimeError("no such job")
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(state, Exception):
            raise state
        return types.SimpleNamespace(value=state)

    def get_job_logs(self, name):
        return self.log

    def get_job_info(self, name):
        import types

        return types.SimpleNamespace(message=self.message)

    def get_address(self):
        return "http://head:8265"

    def stop_job(self, name):
        self.calls.append("stop")
        self.states = ["STOPPED"]

    def delete_job(self, name):
        self.calls.append("delete")


def refused_by_ray(cluster, monkeypatch, project, target="ray://head,gpus=4"):
    import types

    from kerascheck.runtime.verify.remote import ray_jobs

    modules = {
        "ray": types.SimpleNamespace(),
        "ray.job_submission": types.SimpleNamespace(JobSubmissionClient=lambda address: cluster),
        "ray.util": types.SimpleNamespace(),
        "ray.util.state": types.SimpleNamespace(
            list_nodes=lambda **_: [
                types.SimpleNamespace(state="ALIVE", resources_total=node) for node in cluster.nodes
            ]
        ),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(ray_jobs, "_POLL_SECONDS", 0.0)
    monkeypatch.setattr(ray_jobs, "_SECONDS_TO_GROW", -1.0)
    monkeypatch.setattr(ray_jobs, "_SECONDS_TO_START", 0.0)
    with pytest.raises(talk.Refused) as refused:
        ray_jobs.run(parse(target), "python", packed(project), JOB, talk.Conversation(lambda text, left: None))
    return str(refused.value)


def test_a_ray_job_that_no_node_can_run_is_reported(project, monkeypatch):
    cluster = FakeCluster(["PENDING"], nodes=[{"CPU": 8.0}, {"CPU": 8.0, "GPU": 2.0}])
    assert refused_by_ray(cluster, monkeypatch, project) == ("the job cannot start: no node of the cluster has 4 GPUs")
    assert cluster.calls == ["submit", "stop", "delete"]


def test_a_waiting_job_that_ray_does_not_stop_is_named(project, monkeypatch, capsys):
    cluster = FakeCluster(["PENDING"], nodes=[{"CPU": 8.0}])
    cluster.stop_job = lambda name: cluster.calls.append("stop")
    assert refused_by_ray(cluster, monkeypatch, project) == "the job cannot start: no node of the cluster has 4 GPUs"
    assert cluster.calls == ["submit", "stop"]
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Ray stops no job that waits: kerascheck_") and "15 minutes after" in last


def test_a_ray_job_that_a_node_can_run_is_awaited(project, monkeypatch):
    message = "Job supervisor actor failed to start within 900.0 seconds."
    cluster = FakeCluster(["PENDING", "PENDING", "FAILED"], message, nodes=[{"CPU": 8.0, "GPU": 4.0}])
    assert refused_by_ray(cluster, monkeypatch, project) == f"the job ended without a result (FAILED): {message}"


@pytest.mark.parametrize(
    "states, words",
    [
        (["RUNNING", ConnectionError("no route")], "the connection to the Ray cluster broke: ConnectionError"),
        ([RuntimeError("Request failed\nwith status code 500")], "Ray does not take the job: with status code 500"),
    ],
)
def test_ray_errors_are_reported_in_one_line(project, monkeypatch, states, words):
    assert refused_by_ray(FakeCluster(states), monkeypatch, project) == words


STARTED = '@kerascheck {"event": "started"}\n'
RAYS_LINE = "Running entrypoint for job raysubmit_1: python -B code/start.py .\n"


def test_an_interpreter_that_ends_silently_is_named(project, monkeypatch):
    message = f"Job entrypoint command failed with exit code 1, last available logs:\n{RAYS_LINE}"
    assert refused_by_ray(FakeCluster(["FAILED"], message), monkeypatch, project) == (
        "python could not be started on the node (name another one with --python)"
    )


@pytest.mark.parametrize(
    "state, log, words",
    [
        ("STOPPED", STARTED, "the job was stopped on the cluster"),
        ("FAILED", RAYS_LINE + "sh: 1: python: not found\n",
         "python could not be started on the node (name another one with --python): sh: 1: python: not found"),
        ("FAILED", RAYS_LINE + STARTED + '@kerascheck {"event": "ended", "how": "the run was killed"}\nKilled\n',
         "the run was killed"),
        ("FAILED", RAYS_LINE + STARTED, "the job ended without a result (FAILED): exit code 1"),
    ],
)  # fmt: skip
def test_the_end_of_a_ray_job_is_described(project, monkeypatch, state, log, words):
    assert refused_by_ray(FakeCluster([state], "exit code 1", log=log), monkeypatch, project) == words


def test_an_interrupt_before_ray_answers_leaves_no_job(project, monkeypatch):
    def interrupted(**asked):
        cluster.calls.append("submit")
        raise KeyboardInterrupt

    cluster = FakeCluster(["RUNNING"])
    cluster.submit_job = interrupted
    with pytest.raises(KeyboardInterrupt):
        refused_by_ray(cluster, monkeypatch, project)
    assert cluster.calls == ["submit", "stop", "delete"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_the_shell_of_a_ray_job_removes_the_upload(project, tmp_path, number):
    from kerascheck.runtime.verify.remote import ray_jobs

    folder = tmp_path / "unpacked"
    slurm.unpack(packed(project), JOB, folder)
    python = program(tmp_path, "python", f"#!/bin/sh\necho $$ > {tmp_path / 'pid'}\nexec sleep 600\n")
    shell = subprocess.Popen(
        ["sh", "-c", ray_jobs._entrypoint(str(python))], cwd=folder, stdout=subprocess.PIPE, start_new_session=True
    )
    pid = wait_for(tmp_path / "pid")
    if number == signal.SIGTERM:
        os.killpg(shell.pid, number)  # as Ray does to stop a job
    else:
        os.kill(pid, number)  # as the kernel does when memory is short
    said = shell.communicate(timeout=30)[0].decode()
    assert (os.listdir(folder), "the run was killed" in said) == ([], number == signal.SIGKILL)


@pytest.mark.parametrize("python, status", [("/nowhere/python", 127), ("false", 1)])
def test_the_upload_on_ray_is_removed_if_no_interpreter_starts(project, tmp_path, python, status):
    from kerascheck.runtime.verify.remote import ray_jobs

    folder = tmp_path / "unpacked"
    slurm.unpack(packed(project), JOB, folder)
    ran = subprocess.run(["sh", "-c", ray_jobs._entrypoint(python)], cwd=folder, stderr=subprocess.DEVNULL)
    assert (ran.returncode, os.listdir(folder)) == (status, [])
    # In other folders it removes nothing.
    (project / "code").mkdir()
    subprocess.run(["sh", "-c", ray_jobs._entrypoint(python)], cwd=project, stderr=subprocess.DEVNULL)
    assert (project / "code").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
def test_the_upload_on_ray_is_removed_whatever_ends_the_run(project, tmp_path, number):
    folder = tmp_path / "unpacked"
    far, pid = far_run(project, tmp_path, folder, clean=True)
    os.killpg(far.pid, number)
    far.wait(60)
    deadline = time.monotonic() + 30
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not folder.exists()
    assert gone(pid, 30)


@pytest.mark.parametrize("where, package", [("slurm", "submitit"), ("ray", "ray")])
def test_a_missing_engine_is_named(project, where, package, monkeypatch):
    for name in (package, "ray.job_submission"):
        monkeypatch.setitem(sys.modules, name, None)
    result = invoke("src/train.py", "--on", where, "--yes")
    assert result.return_value == 2
    assert f"pip install 'kerascheck[{where}]'" in result.stderr.splitlines()[-1]
