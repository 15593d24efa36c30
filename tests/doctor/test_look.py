"""Snapshots of a machine and its interpreter."""

import ast
import os
import platform
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from doctor.machines import RTX_4090

from kerascheck.runtime.doctor import Status, diagnose, look, take_snapshot
from kerascheck.runtime.doctor.snapshot import Snapshot

GIB = 1 << 30
MEMINFO = "MemTotal:       33554432 kB\nMemAvailable:   16777216 kB\nSwapTotal:       2097152 kB\nSwapFree:        1048576 kB\n"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs TensorFlow")
def test_this_machine():
    snapshot = take_snapshot()
    assert snapshot.python.failure is None
    assert snapshot.python.version == platform.python_version()
    assert snapshot.python.tensorflow.error is None
    assert snapshot.python.keras.backend
    assert snapshot.cpu.usable >= 1
    assert Snapshot.from_json(snapshot.to_json()) == snapshot
    names = {result.name for result in diagnose(snapshot) if result.status is Status.OK}
    assert {"tensorflow-installed", "keras-installed"} <= names
    document = snapshot.to_json()
    for private in (str(Path.home()), os.getcwd(), platform.node(), sys.prefix):
        assert private not in document


def files(root, texts):
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("texts", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2.0),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        # The tightest limit of all enclosing groups counts.
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/cpu.max": "50000 100000\n",
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
            },
            0.5,
        ),
        # In a container the path is that of the host.
        ({"proc/self/cgroup": "0::/docker/f00\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/x\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            3.0,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
    ],
)
def test_the_quota_of_the_control_group(texts, quota, tmp_path):
    assert look.cpu(files(tmp_path, texts)).quota == quota


def test_the_instructions_of_the_processor(tmp_path):
    assert look.cpu(tmp_path).amx is None
    assert look.cpu(files(tmp_path, {"proc/cpuinfo": "flags\t\t: fpu avx2\n"})).amx is False
    assert look.cpu(files(tmp_path, {"proc/cpuinfo": "flags\t\t: fpu avx2 amx_bf16 amx_tile\n"})).amx is True


@pytest.mark.parametrize(
    ("texts", "limit"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{4 * GIB}\n"}, 4 * GIB),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, None),
        ({"proc/self/cgroup": "5:memory:/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n"}, 2 * GIB),
        # The value that version 1 reports without a limit.
        (
            {"proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"},
            None,
        ),
    ],
)
def test_the_limit_of_the_control_group(texts, limit, tmp_path):
    found = look.memory(files(tmp_path, {"proc/meminfo": MEMINFO, **texts}))
    assert (found.total, found.available, found.swap_used, found.limit) == (32 * GIB, 16 * GIB, GIB, limit)


@pytest.mark.parametrize(
    ("texts", "contained"),
    [
        ({}, False),
        ({".dockerenv": ""}, True),
        ({"run/.containerenv": ""}, True),
        ({"proc/1/cgroup": "0::/kubepods/x\n"}, True),
        ({"proc/1/cgroup": "0::/init.scope\n"}, False),
    ],
)
def test_containers_are_detected(texts, contained, tmp_path, monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert look.system(files(tmp_path, texts)).container is contained


@pytest.mark.parametrize(
    ("variable", "hosted"), [("COLAB_RELEASE_TAG", "colab"), ("KAGGLE_KERNEL_RUN_TYPE", "kaggle"), ("SHELL", None)]
)
def test_hosted_notebooks_are_detected_by_their_variables(variable, hosted, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, "x")
    assert look.system(tmp_path).hosted == hosted


def test_wsl_is_detected_by_its_kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "release", lambda: "5.15.153.1-microsoft-standard-WSL2")
    assert look.system(tmp_path).wsl is True


def test_cuda_libraries_are_listed_with_full_version(tmp_path):
    first, second = tmp_path / "alice" / "cuda-11", tmp_path / "cuda-12"
    files(first, {"libcudnn.so.8.7.0": "", "libcublas.so.11": "", "libssl.so.3": "", "libcudnn.so": ""})
    files(second, {"libcudnn.so.8": "", "libcublas.so.12": ""})
    (first / "libcudnn.so.8").symlink_to(first / "libcudnn.so.8.7.0")
    (first / "libcudart.so.11").symlink_to(files(tmp_path, {"alice.so": ""}) / "alice.so")
    folders = os.pathsep.join(map(str, (first, tmp_path / "missing", second)))
    assert look.library_path({"LD_LIBRARY_PATH": folders}) == (
        "libcublas.so.11",
        "libcudart.so.11",
        "libcudnn.so.8.7.0",
        "libcublas.so.12",
    )


def test_only_harmless_values_of_variables_are_stored(monkeypatch):
    for name in look.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c",
        "TF_DETERMINISTIC_OPS": "1",
        "OMP_NUM_THREADS": "4",
        "SECRET": "x",
    }.items():
        monkeypatch.setenv(name, value)
    assert take_snapshot(None).variables == {
        "CUDA_VISIBLE_DEVICES": look.SET,
        "TF_DETERMINISTIC_OPS": "1",
        "OMP_NUM_THREADS": "4",
    }


# Interpreters with fake packages.

BROKEN = "raise ImportError('/home/alice/venv/lib/libfoo.so: undefined symbol: bar')\n"
LOADS = """\
import ctypes, sys, types
__version__ = "2.21.0"
ctypes.CDLL("libm.so.6")
for name in ("libcudnn.so.9", "libcublas.so.12"):
    try:
        ctypes.CDLL(name)
    except OSError:
        sys.stderr.write("W0000 00:00:17 1 gpu_device.cc:2342] Cannot dlopen some GPU libraries. See /opt/x\\n")
def get_build_info():
    return {"is_cuda_build": True, "cuda_version": "12.5.1", "cudnn_version": "9", "cuda_compute_capabilities": ["sm_60", "compute_90"]}
sysconfig = types.SimpleNamespace(get_build_info=get_build_info)
def list_physical_devices(kind=None):
    return []
config = types.SimpleNamespace(list_physical_devices=list_physical_devices)
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    def install(**modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.delenv("KERAS_BACKEND", raising=False)
        monkeypatch.setenv("KERAS_HOME", str(tmp_path))
        monkeypatch.setattr(look, "nvidia", lambda nvml, time_limit: (None, (RTX_4090,)))

    return install


def test_import_errors_are_reported_without_paths(packages):
    packages(tensorflow=BROKEN, keras=BROKEN)
    python = take_snapshot().python
    assert python.tensorflow.error == python.keras.error == "ImportError: libfoo.so: undefined symbol: bar"
    assert python.failure is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the loader's log is that of Linux")
def test_libraries_that_fail_to_load_are_named(packages):
    packages(tensorflow=LOADS, keras="__version__ = '3.12.0'\n")
    snapshot = take_snapshot()
    assert snapshot.python.tensorflow.missing == ("libcudnn.so.9", "libcublas.so.12")
    assert snapshot.python.tensorflow.log == ("Cannot dlopen some GPU libraries. See x",)
    assert snapshot.python.tensorflow.architectures == ("sm_60", "compute_90")


@pytest.mark.skipif(not hasattr(os, "kill"), reason="needs signals")
@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n", "signal SIGILL"),
        ("import os\nos._exit(3)\n", "it ended with 3"),
        (
            "import sys, os\nsys.stderr.write('first\\nFatal Python error in /opt/alice/x.so')\nsys.stderr.flush()\nos._exit(1)\n",
            "Fatal Python error in x.so",
        ),
    ],
)
def test_a_crash_keeps_what_was_found_before(code, failure, packages):
    packages(tensorflow=code, keras=BROKEN)
    python = take_snapshot().python
    assert (python.failure, python.during, python.version) == (failure, "tensorflow", platform.python_version())
    assert python.packages is not None


@pytest.mark.slow
def test_a_hanging_import_is_killed(packages, tmp_path):
    packages(
        tensorflow=f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    python = take_snapshot(time_limit=2).python
    assert (python.failure, python.during) == ("timeout", "tensorflow")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_other_backends_than_tensorflow_are_examined(packages, monkeypatch):
    jax = "__version__ = '0.7.0'\nclass Device:\n    platform = 'gpu'\ndef devices():\n    return [Device()]\n"
    keras = "import types\n__version__ = '3.12.0'\nbackend = types.SimpleNamespace(backend=lambda: 'jax')\n"
    packages(tensorflow=BROKEN, keras=keras, jax=jax)
    assert take_snapshot().python.jax is None
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    python = take_snapshot().python
    assert (python.jax.version, python.jax.gpus) == ("0.7.0", 1)
    assert (python.keras.backend, python.keras.backend_from) == ("jax", "KERAS_BACKEND")


def test_the_configuration_of_keras_chooses_a_backend(packages, tmp_path):
    packages(tensorflow=BROKEN, keras="__version__ = '3.12.0'\n")
    (tmp_path / "keras.json").write_text('{"backend": "torch"}')
    python = take_snapshot().python
    assert (python.keras.backend, python.keras.backend_from) == ("torch", "keras.json")


def test_modules_in_the_current_folder_are_not_packages(packages, tmp_path, monkeypatch):
    packages(tensorflow=BROKEN, keras="__version__ = '3.12.0'\n")
    files(tmp_path, {"here/keras.py": "raise SystemExit(9)\n"})
    monkeypatch.chdir(tmp_path / "here")
    assert take_snapshot().python.keras.version == "3.12.0"


def test_an_invalid_interpreter():
    assert take_snapshot("missing/python").python.failure == "cannot be started: No such file or directory"


def test_without_an_interpreter_none_is_started(monkeypatch):
    monkeypatch.setattr(look, "_ask", None)
    assert take_snapshot(None).python is None


def test_the_child_is_written_for_old_interpreters():
    text = Path(look.__file__).with_name("child.py").read_text(encoding="utf-8")
    compile(ast.parse(text, feature_version=(3, 6)), "child.py", "exec")


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("cannot open /home/alice/my-venv/lib/libfoo.so.1: no", "cannot open libfoo.so.1: no"),
        ('File "/home/alice/x.py", line 3', 'File "x.py", line 3'),
        ("(/home/alice/lib/x.so)", "(x.so)"),
        ("from 'C:\\\\Users\\\\Alice\\\\x.dll'".replace("\\\\", "\\"), "from 'x.dll'"),
        ("in alice/project/lib/x.so and ~/alice/x.so and ../alice/lib/y.so", "in x.so and x.so and y.so"),
        ("CUDA/cuDNN and/or TF 2.21", "CUDA/cuDNN and/or TF 2.21"),
        ("two\nlines", "two lines"),
    ],
)
def test_texts_are_stored_without_folders(text, public):
    assert look._public(text) == public


def test_private_packages_are_not_stored(packages, tmp_path):
    packages(tensorflow=BROKEN)
    for name in ("keras_acme_internal", "tensorflow_acme", "torch", "nvidia_cudnn_cu12"):
        files(
            tmp_path,
            {
                f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
            },
        )
    found = take_snapshot().python.packages
    assert {"torch", "nvidia-cudnn-cu12"} <= found.keys()
    assert not [name for name in found if "acme" in name]


LOADER_LOG = """\
      1234:\tfind library=libcudnn.so.9 [0]; searching
      1234:\t search path=/opt/lib
      1234:\t  trying file=/opt/lib/libcudnn.so.9
      1234:\tfind library=libcublas.so.12 [0]; searching
      1234:\t  trying file=/usr/lib/libcublas.so.12
      1234:\tcalling init: /usr/lib/libcublas.so.12
      1234:\tfind library=libssl.so.3 [0]; searching
      1234:\tfind library=libcuda.so.1 [0]; searching
      1234:\tfind library=libcudnn.so.9 [0]; searching
"""


def test_the_loader_log_names_missing_libraries():
    assert look.missing_libraries(LOADER_LOG) == ("libcudnn.so.9", "libcuda.so.1")
    assert look.missing_libraries("") == ()
