"""Finding the newest profile below a folder."""

import os
import socket
import threading

import pytest

from kerascheck.runtime.why import profile_files
from kerascheck.runtime.why.profile_files import NoProfile, find_profile


def recording(folder, name, *hosts, time=0):
    run = folder / "plugins" / "profile" / name
    run.mkdir(parents=True)
    for host in hosts or ("host",):
        (run / f"{host}.xplane.pb").write_bytes(b"")
    os.utime(run, (time, time))


def test_the_newest_recording_is_taken(tmp_path):
    recording(tmp_path, "2026_01_01", time=0)
    recording(tmp_path, "2026_01_02", time=1)
    found = find_profile(str(tmp_path))
    assert (found.path.parent.name, found.host, found.hosts, found.searched_all) == ("2026_01_02", "host", 1, True)


def test_the_first_host_of_several_is_taken_and_one_can_be_named(tmp_path):
    recording(tmp_path, "run", "worker1", "worker0", "worker2")
    recording(tmp_path, "before", "worker3", time=-1)
    found = find_profile(str(tmp_path))
    assert (found.host, found.hosts) == ("worker0", 3)
    named = find_profile(str(found.path.with_name("worker2.xplane.pb")))
    assert (named.host, named.hosts) == ("worker2", 1)


def test_folders_without_a_profile_say_what_is_missing(tmp_path):
    with pytest.raises(NoProfile, match="no such file or folder"):
        find_profile(str(tmp_path / "nope"))
    with pytest.raises(NoProfile, match=r"no \.xplane\.pb in it\. TensorBoard keeps them"):
        find_profile(str(tmp_path))
    (tmp_path / "a.trace.json.gz").write_bytes(b"")
    with pytest.raises(NoProfile, match="only a .trace.json.gz"):
        find_profile(str(tmp_path))


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "a.xplane.pb"
    with path.open("wb") as file:
        file.truncate((100 << 20) + 1)
    with pytest.raises(NoProfile, match="larger than 100 MiB"):
        find_profile(str(path))


def test_pipes_sockets_and_devices_are_named_and_never_opened(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.xplane.pb")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("socket")
    said = {}

    def look(path):
        try:
            said[path] = find_profile(path)
        except NoProfile as problem:
            said[path] = str(problem)

    paths = ("pipe.xplane.pb", "socket", os.devnull, ".")
    for path in paths:
        thread = threading.Thread(target=look, args=[path], daemon=True)
        thread.start()
        thread.join(60)
    listening.close()
    assert [said[path] for path in paths] == [
        "pipe.xplane.pb: a named pipe holds no profile; name a folder or a .xplane.pb file",
        "socket: a socket holds no profile; name a folder or a .xplane.pb file",
        f"{os.devnull}: a device holds no profile; name a folder or a .xplane.pb file",
        ".: no .xplane.pb in it. TensorBoard keeps them in LOGDIR/plugins/profile/RUN",
    ]


def test_a_link_to_itself_is_an_error_in_one_line(tmp_path):
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(NoProfile, match="link: Too many levels of symbolic links"):
        find_profile(str(tmp_path / "link"))


def test_links_to_folders_are_followed_once(tmp_path):
    recording(tmp_path / "elsewhere", "run")
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "train").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere" / "back").symlink_to(logs, target_is_directory=True)
    found = find_profile(str(logs))
    assert (found.hosts, found.searched_all) == (1, True)
    assert len(list(profile_files._Search(str(logs)).files())) == 1


def test_entries_that_cannot_be_looked_at_are_left_out(tmp_path):
    recording(tmp_path, "run")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a.xplane.pb").symlink_to("a.xplane.pb")
    os.mkfifo(tmp_path / "pipe.xplane.pb")
    (tmp_path / "gone").symlink_to("nowhere")
    assert find_profile(str(tmp_path)).path.parent.name == "run"


def test_the_search_is_bounded_by_entries(tmp_path, monkeypatch):
    monkeypatch.setattr(profile_files, "_MOST_ENTRIES", 20)
    recording(tmp_path, "run")
    for number in range(30):
        (tmp_path / "plugins" / "profile" / f"{number:03}.txt").write_bytes(b"")
    (tmp_path / "wide").mkdir()
    for number in range(30):
        (tmp_path / "wide" / f"{number:03}.txt").write_bytes(b"")
    with pytest.raises(
        NoProfile, match=r"no \.xplane\.pb in its first 20 entries, 12 folders deep\. TensorBoard keeps"
    ):
        find_profile(str(tmp_path / "wide"))
    monkeypatch.setattr(profile_files, "_MOST_ENTRIES", 40)
    found = find_profile(str(tmp_path / "plugins"))
    assert (found.host, found.searched_all) == ("host", True)
    (tmp_path / "plugins" / "profile" / "run" / "later").mkdir()
    for number in range(30):
        (tmp_path / "plugins" / "profile" / "run" / "later" / f"{number:03}.txt").write_bytes(b"")
    assert not find_profile(str(tmp_path / "plugins")).searched_all


def test_the_search_is_bounded_by_depth(tmp_path):
    recording(tmp_path.joinpath(*"abcdefghi"), "run")
    recording(tmp_path.joinpath(*"abcdefghijkl"), "deep", time=1)
    found = find_profile(str(tmp_path))
    assert (found.path.parent.name, found.searched_all) == ("run", False)
