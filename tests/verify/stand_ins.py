"""Programs of clusters that do their work on this machine."""

import stat

SSH = """\
#!/bin/sh
# Runs the command in another folder of this machine, as a login there would.
echo "$@" >> {log}
while [ "${{1#-}}" != "$1" ]; do case "$1" in -o|-p) shift 2;; *) shift;; esac; done
host=$1; shift
case "$host" in *nowhere*) echo "ssh: Could not resolve hostname nowhere" >&2; exit 255;; esac
echo "Welcome to $host"
cd {home} && exec sh -c "$*"
"""


def program(folder, name, text):
    """An executable ``name`` in ``folder``; its path."""
    path = folder / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def with_ssh(folder, monkeypatch):
    """Put an ``ssh`` on the path that "logs in" to a folder of ``folder``; returns the file that its calls are logged in."""
    import os

    (folder / "bin").mkdir()
    (folder / "home").mkdir()
    log = folder / "ssh.log"
    program(folder / "bin", "ssh", SSH.format(log=log, home=folder / "home"))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    # Where the other side unpacks, to see what it leaves.
    (folder / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "scratch"))
    return log
