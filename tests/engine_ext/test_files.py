"""engine_ext/files.py: a file is whole or not there, whatever happens while it is written."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from engine_ext.files import decoded, read_file, read_text, whole_file

WRITER = """
import sys, time
from engine_ext.files import whole_file
with whole_file(sys.argv[1]) as file:
    file.write(b"new" * 100_000)
    file.flush()
    print("half", flush=True)
    time.sleep(600)
"""

RESTLESS = """
import sys
from engine_ext.files import whole_file
print("on", flush=True)
n = 0
while True:
    n += 1
    with whole_file(sys.argv[1]) as file:
        for _ in range(50):
            file.write(str(n % 10).encode() * 1000)
"""


def test_it_is_replaced_at_the_end_with_the_mode_of_any_new_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    other = tmp_path / "other"
    other.write_bytes(b"")
    assert path.stat().st_mode == other.stat().st_mode
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.write("new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_in_the_middle_leaves_the_old_file(tmp_path, number):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    writing = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writing.stdout is not None
    assert writing.stdout.readline() == "half\n"
    writing.send_signal(number)
    writing.wait()
    assert path.read_bytes() == b"old"


def test_kills_at_any_time_leave_one_file_or_the_other(tmp_path):
    """A writer that writes as fast as it can, killed again and again."""
    path = tmp_path / "file"
    path.write_bytes(b"0" * 50_000)
    for delay_ms in range(0, 40, 5):
        writing = subprocess.Popen([sys.executable, "-c", RESTLESS, str(path)], stdout=subprocess.PIPE, text=True)
        assert writing.stdout is not None
        writing.stdout.readline()
        time.sleep(delay_ms / 1000)
        writing.kill()
        writing.wait()
        content = path.read_bytes()
        assert len(content) == 50_000
        assert len(set(content)) == 1


def test_a_disk_that_is_full_is_told_and_the_old_file_stays(tmp_path):
    """A limit on the size of files stands in for the disk: writing fails part of the way."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as told, whole_file(path) as file:
            file.write(bytes(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert told.value.errno == errno.EFBIG
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_devices_and_missing_folders_are_refused(tmp_path):
    for path, kind in ((tmp_path, IsADirectoryError), (tmp_path / "none" / "file", FileNotFoundError)):
        with pytest.raises(kind), whole_file(path):
            pass
    device = tmp_path / "device"
    os.mkfifo(device)
    with pytest.raises(OSError, match="Not an ordinary file"), whole_file(device):
        pass
    assert device.is_fifo()


def test_only_what_has_an_end_is_read(tmp_path):
    path, device = tmp_path / "file", tmp_path / "device"
    path.write_bytes(b"content")
    os.mkfifo(device)
    assert read_file(path) == b"content"
    for other, kind in ((tmp_path, IsADirectoryError), (tmp_path / "none", FileNotFoundError)):
        with pytest.raises(kind):
            read_file(other)
    for endless in (device, "/dev/zero"):
        with pytest.raises(OSError, match="Not an ordinary file"):
            read_file(endless)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_must_not_be_written_to_is_not(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError), whole_file(path):
        pass
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError), whole_file(path):
            pass
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == b"old"


def test_links_are_followed(tmp_path):
    there = tmp_path / "there"
    there.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(there)
    with whole_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert there.read_bytes() == b"new"


def hidden(folder):
    return sorted(path for path in folder.iterdir() if path.name.startswith("."))


def begun_writer(path):
    """A process that has written half of a file."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    return process


def test_what_a_kill_has_left_goes_when_the_same_path_is_written_next(tmp_path):
    """What somebody is still writing stays, as does whatever only looks like it, and what belongs to other paths."""
    path = tmp_path / "file"
    killed = begun_writer(path)
    killed.kill()
    killed.wait()
    left = hidden(tmp_path)
    assert len(left) == 1
    living = begun_writer(path)  # which has removed it
    try:
        mine = [each for each in hidden(tmp_path) if each not in left]
        assert hidden(tmp_path) == mine
        others = [".file.part", ".file.0123456789ab", ".file.0123456789xy.part", ".other.0123456789ab.part"]
        for name in others:
            (tmp_path / name).write_bytes(b"mine")
        (tmp_path / ".file.00112233aabb.part").mkdir()
        (tmp_path / ".file.00112233aacc.part").symlink_to(tmp_path / others[0])
        with whole_file(path) as file:
            file.write(b"new")
        assert path.read_bytes() == b"new"
        stays = {*others, mine[0].name, ".file.00112233aabb.part", ".file.00112233aacc.part"}
        assert {each.name for each in hidden(tmp_path)} == stays
    finally:
        living.kill()
        living.wait()
    with whole_file(path) as file:
        file.write(b"newer")
    assert mine[0] not in hidden(tmp_path)
    assert path.read_bytes() == b"newer"


def test_without_locks_nothing_is_taken_for_left_over(tmp_path, monkeypatch):
    path = tmp_path / "file"
    left = tmp_path / ".file.00112233aabb.part"
    left.write_bytes(b"half")

    def unsupported(handle, how):
        raise OSError(errno.EOPNOTSUPP, "no locks here")

    monkeypatch.setattr("fcntl.flock", unsupported)
    with whole_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert hidden(tmp_path) == [left]


def test_text_is_read_with_or_without_a_byte_order_mark_and_with_any_line_ends(tmp_path):
    path = tmp_path / "x.toml"
    for raw in (b"a = 1\nb = 2\n", b"\xef\xbb\xbfa = 1\r\nb = 2\r\n"):
        path.write_bytes(raw)
        assert read_text(path) == "a = 1\nb = 2\n"


def test_what_is_no_utf8_is_refused_by_line_and_byte():
    with pytest.raises(ValueError, match=r"must be UTF-8 text, and byte 9 \(0xe9, in line 2\)"):
        decoded(b"a = 1\nb \xe9")
