# Runs on the machine that ssh reaches, sent as text: "exec"ed by whatever Python 3 is there, so its syntax is old.
# Standard input: this text as one line of JSON, a line of JSON with "size", an archive of that size, and then
# nothing until the other side lets go of it: then the run is ended. What was uploaded is removed in any case.
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading

PATIENCE = 15


def say(**message):
    sys.stdout.write("@kerascheck " + json.dumps(message) + "\n")
    sys.stdout.flush()


def refuse(reason):
    say(event="refused", reason=reason)
    sys.exit(0)


def how(status):
    """How a process ended, for people."""
    if status >= 0:
        return "the run ended with status %d" % status
    hint = " (out of memory?)" if -status == signal.SIGKILL else ""
    return "the run was ended by signal %d%s" % (-status, hint)


class Limited:
    """The first ``size`` bytes of a stream."""

    def __init__(self, stream, size):
        self.stream, self.left = stream, size

    def read(self, size=-1):
        data = self.stream.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        return data


def unpack(stream, size, folder):
    limited = Limited(stream, size)
    archive = tarfile.open(fileobj=limited, mode="r|gz")  # type: ignore[call-overload]  # only read is called
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:
        archive.extractall(folder)
    while limited.read(65536):
        pass


def end(process):
    """End the run: kindly, so that it removes its own scratch folders, then surely."""
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except OSError:
            pass
        try:
            process.wait(PATIENCE)
            return
        except subprocess.TimeoutExpired:
            continue


def stop(number, frame):
    sys.exit(128 + number)


def host():
    stream = sys.stdin.buffer
    order = json.loads(stream.readline().decode("utf-8"))
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, stop)
    say(event="started")
    process = None
    folder = tempfile.mkdtemp(prefix="kerascheck-")
    try:
        try:
            unpack(stream, order["size"], folder)
        except (OSError, EOFError, tarfile.TarError) as problem:
            refuse("the project could not be unpacked: %s" % problem)
        start = os.path.join(folder, "code", "start.py")
        process = subprocess.Popen(
            [sys.executable, "-B", start, folder], stdin=subprocess.DEVNULL, start_new_session=True
        )

        def watch():
            stream.read(1)
            end(process)

        watcher = threading.Thread(target=watch)
        watcher.daemon = True
        watcher.start()
        status = process.wait()
        if status:
            say(event="ended", how=how(status))
    finally:
        if process is not None:
            end(process)
        shutil.rmtree(folder, ignore_errors=True)
    # The watcher may hold the lock of standard input, on which an orderly end would wait.
    sys.stdout.flush()
    os._exit(0)


host()
