# Runs on the remote machine. ssh sends it as text, and any Python 3 may "exec" it, so its syntax is old.
# Standard input: this text as one line of JSON, a line of JSON with "size", and an archive of that size.
# When the input ends, the local side has closed the connection, and the run is ended. The upload is always removed.
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


class Refused(Exception):
    """Nothing is measured; ``str()`` gives the reason."""


def how(status):
    """Describe the end of a process. A status above 128 is a signal that the process caught."""
    number = -status if status < 0 else status - 128
    names = {int(each): each.name for each in signal.Signals}
    if number not in names:
        return "the run ended with status %d" % status
    hint = " (out of memory?)" if number == signal.SIGKILL else ""
    return "the run was ended by %s%s" % (names[number], hint)


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
    """Terminate the run so that it can remove its scratch folders, then kill it."""
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


def upload(stream, size):
    """Unpack the project into a new folder."""
    folder = None
    try:
        folder = tempfile.mkdtemp(prefix="kerascheck-")
        unpack(stream, size, folder)
    except BaseException as problem:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(problem, (OSError, EOFError, tarfile.TarError)):
            raise Refused("the project could not be unpacked: %s" % problem) from None
        raise
    return folder


def run(stream, folder):
    """Run the job and wait for its end; returns its exit status."""
    start = os.path.join(folder, "code", "start.py")
    # The pipe is a lease: the run ends itself once this process, the only holder of the other end, is gone.
    process = subprocess.Popen([sys.executable, "-B", start, folder], stdin=subprocess.PIPE, start_new_session=True)

    def watch():
        stream.read(1)
        end(process)

    watcher = threading.Thread(target=watch)
    watcher.daemon = True
    try:
        watcher.start()
        return process.wait()
    finally:
        end(process)


def host():
    stream = sys.stdin.buffer
    order = json.loads(stream.readline().decode("utf-8"))
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, stop)
    folder = None
    try:
        say(event="started")
        folder = upload(stream, order["size"])
        status = run(stream, folder)
        if status:
            say(event="ended", how=how(status))
    except Refused as problem:
        say(event="refused", reason=str(problem))
    except SystemExit as stopped:
        say(event="ended", how=how(stopped.code))
    except Exception as problem:  # reported to the local side, which has the terminal
        say(event="refused", reason="%s: %s" % (type(problem).__name__, problem))
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        # The watcher may hold the lock of standard input, which would block a normal exit.
        os._exit(0)


host()
