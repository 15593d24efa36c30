"""The verify command in this process, and fake cluster programs that run jobs on this machine."""

import stat

from command import click_runner

from kerascheck.cli.verify import verify

SSH = """\
#!/bin/sh
# Runs the command in another folder of this machine, as a login there would.
echo "$@" >> {log}
while [ "${{1#-}}" != "$1" ]; do case "$1" in -o|-p) shift 2;; *) shift;; esac; done
host=$1; shift
case "$host" in *nowhere*) echo "ssh: Could not resolve hostname nowhere" >&2; exit 255;; esac
echo "Welcome to $host"
case "$host" in *dropped*)
  # Closes the connection once the other side speaks, or after a while without a word.
  (cd {home} && sh -c "$*" | head -n 1; sleep "${{host#dropped}}")
  echo "Connection to $host closed by remote host." >&2; exit 255;;
esac
cd {home} && exec sh -c "$*"
"""


def invoke(*arguments):
    """Run ``kerascheck verify ARGUMENTS`` in this process and return the result; re-raises its exceptions."""
    result = click_runner().invoke(verify, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


def program(folder, name, text):
    """Create an executable called ``name`` in ``folder``; returns its path."""
    path = folder / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def with_ssh(folder, monkeypatch):
    """Put an ``ssh`` on the path that "logs in" to a folder below ``folder``; returns the log of its calls."""
    import os

    (folder / "bin").mkdir()
    (folder / "home").mkdir()
    log = folder / "ssh.log"
    program(folder / "bin", "ssh", SSH.format(log=log, home=folder / "home"))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    # The remote side unpacks here, which shows the files that it leaves.
    (folder / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "scratch"))
    return log


SBATCH = """\
#!/bin/sh
# Runs the script at once, on this machine, and answers as Slurm does.
cat "$1" > {folder}/submitted
grep -q refused "$1" && {{ echo "sbatch: error: invalid partition specified: refused" >&2; exit 1; }}
job=4711; until mkdir {folder}/job.$job 2> /dev/null; do job=$((job + 1)); done
SLURM_JOB_ID=$job setsid sh "$1" > /dev/null 2>&1 &
echo $! > {folder}/job.$job/pid
echo "Submitted batch job $job"
"""
SRUN = """\
#!/bin/sh
out=/dev/null; err=/dev/null
while [ "${1#-}" != "$1" ]; do case "$1" in --output) out=$2; shift 2;; --error) err=$2; shift 2;; *) shift;; esac; done
out=$(echo "$out" | sed "s/%j/$SLURM_JOB_ID/; s/%t/0/"); err=$(echo "$err" | sed "s/%j/$SLURM_JOB_ID/; s/%t/0/")
export SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=1 SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0
exec "$@" > "$out" 2> "$err"
"""
SACCT = """\
#!/bin/sh
[ "$1" = --noheader ] && {{ cat {folder}/accounting 2> /dev/null; exit 0; }}
echo "JobID|State|NodeList"
for job in $(echo "$@" | grep -o '47[0-9][0-9]'); do
  if kill -0 "$(cat {folder}/job.$job/pid)" 2> /dev/null; then echo "$job|RUNNING|n1"; else echo "$job|COMPLETED|n1"; fi
done
"""
SQUEUE = """\
#!/bin/sh
# Says what lies in the file "state", or else whether the job still runs.
echo asked >> {folder}/squeue
if [ -e {folder}/state ]; then cat {folder}/state; exit 0; fi
job=$(echo "$@" | grep -o '47[0-9][0-9]')
if kill -0 "$(cat {folder}/job.$job/pid)" 2> /dev/null; then echo "RUNNING|None"; else echo "COMPLETED|None"; fi
"""
SCANCEL = """\
#!/bin/sh
touch {folder}/cancelled
kill -TERM -"$(cat {folder}/job.$(echo "$@" | grep -o '47[0-9][0-9]')/pid)"
"""


def with_slurm(folder, monkeypatch):
    """Put the programs of a Slurm cluster on the path, with this machine as only node; returns their trace folder."""
    import os

    # Importing submitit sets up logging, which closes all handlers. The handler of absl, which TensorFlow installs,
    # then closes its stream unless that is standard error. In click's test runner it is not.
    import submitit  # noqa: F401

    (folder / "bin").mkdir(exist_ok=True)
    traces = folder / "slurm"
    traces.mkdir()
    for name, text in (("sbatch", SBATCH), ("sacct", SACCT), ("squeue", SQUEUE), ("scancel", SCANCEL)):
        program(folder / "bin", name, text.format(folder=traces))
    program(folder / "bin", "srun", SRUN)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return traces
