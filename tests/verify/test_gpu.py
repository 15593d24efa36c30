"""The GPU sampler with a fake NVML."""

import os
import shutil
import subprocess
import sys
import time
import types

import pytest
from verify.made_up import ended

from kerascheck.runtime.verify import gpu
from kerascheck.runtime.verify.compare import Comparison
from kerascheck.runtime.verify.gpu import Sampler
from kerascheck.runtime.verify.gpu_summary import GpuSummary
from kerascheck.runtime.verify.stats import Ratio
from kerascheck.runtime.verify.verdict import Status, Verdict


def nvml(count=1, **broken):
    module = types.SimpleNamespace(
        NVML_CLOCK_SM=1,
        nvmlInit=lambda: None,
        nvmlSystemGetDriverVersion=lambda: b"570.86.15",
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda handle: b"Made Up 9000",
        nvmlDeviceGetUUID=lambda handle: f"GPU-{handle}{handle}aa",
        nvmlDeviceGetMigMode=lambda handle: [0, 0],
        nvmlDeviceGetUtilizationRates=lambda handle: types.SimpleNamespace(gpu=50),
        nvmlDeviceGetMemoryInfo=lambda handle: types.SimpleNamespace(used=7, total=70),
        nvmlDeviceGetPowerUsage=lambda handle: 300_000,
        nvmlDeviceGetClockInfo=lambda handle, kind: 1500,
        nvmlDeviceGetCurrentClocksEventReasons=lambda handle: 0x1,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [],
        nvmlDeviceGetProcessUtilization=fail,
    )
    vars(module).update(broken)
    return module


def fail(*_):
    raise RuntimeError("not supported")


def sample(module, monkeypatch, count=3):
    monkeypatch.setattr("kerascheck.runtime.verify.gpu._INTERVAL_SECONDS", 0.001)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with Sampler(module) as sampler:
        deadline = time.monotonic() + 5
        while sampler._thread and any(len(d.samples) < count for d in sampler._devices) and time.monotonic() < deadline:
            time.sleep(0.001)
    return sampler.summary()


MEDIANS = {"name": "Made Up 9000", "utilisation": 0.5, "memory_bytes": 7, "watts": 300, "megahertz": 1500}


def test_medians_are_reported(monkeypatch):
    summary = sample(nvml(), monkeypatch)
    assert summary.samples >= 1
    assert {key: getattr(summary, key) for key in MEDIANS} == MEDIANS
    assert (summary.driver, summary.trouble) == ("570.86.15", None)
    (line,) = gpu.lines(summary)
    assert line.startswith("Made Up 9000: 50% busy, 7e-09 GB of memory, 300 W, 1500 MHz (medians of ")


@pytest.mark.parametrize(
    "broken", [{"count": 0}, {"nvmlInit": fail}, {"nvmlDeviceGetCount": fail}], ids=lambda broken: next(iter(broken))
)
def test_without_a_usable_gpu_there_is_nothing(broken, monkeypatch):
    assert sample(nvml(**broken), monkeypatch) is None


def test_unsupported_queries_leave_only_their_fields_empty(monkeypatch):
    summary = sample(nvml(nvmlDeviceGetPowerUsage=fail), monkeypatch)
    assert {key: getattr(summary, key) for key in MEDIANS} == {**MEDIANS, "watts": None}
    assert "W" not in next(gpu.lines(summary)).partition("(")[0].split()


def test_every_gpu_has_a_line_and_a_series(monkeypatch):
    rates = {0: 90, 1: 0}
    summary = sample(
        nvml(2, nvmlDeviceGetUtilizationRates=lambda handle: types.SimpleNamespace(gpu=rates[handle])), monkeypatch
    )
    first, second = summary.devices
    assert (first.used, second.used) == (True, False)
    assert first.time.utilisation[:3] == [0.9] * 3 and first.time.seconds == sorted(first.time.seconds)
    assert first.memory_total_bytes == 70
    lines = list(gpu.lines(summary))
    assert lines[0].startswith("Made Up 9000 (0): 90% busy") and lines[1] == "Made Up 9000 (1): not used"


def test_a_long_series_is_thinned_out(monkeypatch):
    monkeypatch.setattr("kerascheck.runtime.verify.gpu._MOST_POINTS", 10)
    summary = sample(nvml(), monkeypatch, count=50)
    assert 5 <= len(summary.devices[0].time.watts) <= 10


@pytest.mark.parametrize(
    "mask, slowed, trouble",
    [
        (0x0, set(), None),
        (0x1, set(), None),  # idle
        (0x4, {"power limit"}, None),  # normal for a busy GPU
        (0x24, {"power limit", "temperature"}, "the GPU lowered its clocks (temperature) 100% of the time"),
        (0x48, {"hardware slowdown", "overheating"}, "100% of the time"),
        (0x100, set(), None),  # set by a display
    ],
)
@pytest.mark.parametrize("name", ["Event", "Throttle"])
def test_reasons_for_low_clocks_come_from_the_bits(mask, slowed, trouble, name, monkeypatch):
    questions = {f"nvmlDeviceGetCurrentClocks{each}Reasons": fail for each in ("Event", "Throttle")}
    questions[f"nvmlDeviceGetCurrentClocks{name}Reasons"] = lambda handle: mask
    summary = sample(nvml(**questions), monkeypatch)
    assert set(summary.devices[0].slowed) == slowed
    assert (trouble is None and summary.trouble is None) or trouble in summary.trouble


def test_a_partitioned_gpu_gets_no_verdict(monkeypatch):
    summary = sample(nvml(nvmlDeviceGetMigMode=lambda handle: [1, 1], nvmlDeviceGetUtilizationRates=fail), monkeypatch)
    assert "partitioned (MIG)" in summary.trouble
    assert list(gpu.lines(summary))[-1].startswith("No verdict: the GPU is partitioned (MIG)")


def used(shares):
    """Answers of NVML about processes, {pid: percent}, each newer than the last."""
    stamps = iter(range(1, 10**6))

    def answer(handle, last):
        stamp = next(stamps)
        return [types.SimpleNamespace(pid=pid, timeStamp=stamp, smUtil=percent) for pid, percent in shares.items()]

    return answer


@pytest.fixture
def other_process():
    """A process that does not descend from this one."""
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    pid = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    yield pid
    os.kill(pid, 9)


def test_work_of_other_processes_is_separated(other_process, monkeypatch):
    summary = sample(nvml(nvmlDeviceGetProcessUtilization=used({os.getpid(): 60, other_process: 30})), monkeypatch)
    (device,) = summary.devices
    assert (device.own, device.others) == (0.6, 0.3)
    assert summary.trouble == "other processes used 30% of the GPU meanwhile"
    idle = sample(nvml(nvmlDeviceGetProcessUtilization=used({os.getpid(): 60, other_process: 1})), monkeypatch)
    assert idle.trouble is None


def test_process_ids_from_outside_a_container_are_not_attributed_to_others(other_process, monkeypatch):
    # None of them exists here, except by chance as an unrelated process.
    assert (
        sample(nvml(nvmlDeviceGetProcessUtilization=used({2**22 + 1: 60, other_process: 30})), monkeypatch).trouble
        is None
    )
    before = {"nvmlDeviceGetComputeRunningProcesses": lambda handle: [types.SimpleNamespace(pid=2**22 + 1)]}
    busy = sample(nvml(nvmlDeviceGetProcessUtilization=used({2**22 + 1: 60, 2**22 + 2: 30}), **before), monkeypatch)
    assert busy.trouble == "other processes used 60% of the GPU meanwhile"


def test_work_of_others_on_an_unused_gpu_is_ignored(other_process, monkeypatch):
    shares = {0: used({os.getpid(): 60}), 1: used({other_process: 100})}
    summary = sample(
        nvml(2, nvmlDeviceGetProcessUtilization=lambda handle, last: shares[handle](handle, last)), monkeypatch
    )
    assert [device.used for device in summary.devices] == [True, False]
    assert summary.trouble is None


@pytest.mark.parametrize(
    "named, visible",
    [(None, [True, True]), ("", [False, False]), ("-1", [False, False]), ("1", [False, True]), ("1,0", [True, True]), ("0,-1,1", [True, False]),
     ("GPU-11", [False, True]), ("MIG-abc", [True, True])],
)  # fmt: skip
def test_gpus_visible_to_the_script(named, visible):
    assert [gpu.is_visible(index, f"GPU-{index}{index}aa", named) for index in (0, 1)] == visible


def test_a_gpu_in_trouble_withdraws_verdicts_on_speed():
    def compared(gpus):
        verdicts = [
            Verdict(status.value, status, "", Ratio(2, 1.9, 2.1))
            for status in (Status.CONFIRMED, Status.NO_EFFECT, Status.CHANGES_RESULTS, Status.NOT_RUN)
        ]
        return Comparison("a.py", ended(gpus=gpus or []), verdicts=verdicts)

    summary = GpuSummary(trouble="other processes used 30% of the GPU meanwhile")
    doubted = gpu.doubted(compared(["Made Up 9000"]), summary)
    assert [v.status for v in doubted.verdicts] == [
        Status.INCONCLUSIVE,
        Status.INCONCLUSIVE,
        Status.CHANGES_RESULTS,
        Status.NOT_RUN,
    ]
    assert doubted.verdicts[0].reason == "no verdict: other processes used 30% of the GPU meanwhile"
    for unharmed in (
        gpu.doubted(compared([]), summary),
        gpu.doubted(compared(["x"]), GpuSummary()),
        gpu.doubted(compared(["x"]), None),
    ):
        assert unharmed.verdicts[0].status is Status.CONFIRMED
    assert "was not watched" in gpu.doubted(compared(["x"]), None).notes[0]
    assert not gpu.doubted(compared([]), None).notes and not gpu.doubted(compared(["x"]), GpuSummary()).notes


def test_a_lost_gpu_does_not_hide_the_others(monkeypatch):
    def handle(index):
        if index == 0:
            raise RuntimeError("GPU is lost")
        return index

    summary = sample(nvml(2, nvmlDeviceGetHandleByIndex=handle), monkeypatch)
    assert [device.index for device in summary.devices] == [1]


# The installed NVML, in a separate process -------------------------------------------------------------------------


WORKING = """\
import types
class Rates: gpu = 50
class Memory: used, total = 7, 70
def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlSystemGetDriverVersion(): return b"570.86.15"
def nvmlDeviceGetCount(): return 1
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetName(handle): return b"Made Up 9000"
def nvmlDeviceGetUtilizationRates(handle): return Rates
def nvmlDeviceGetMemoryInfo(handle): return Memory
def nvmlDeviceGetProcessUtilization(handle, since):
    return [types.SimpleNamespace(pid={pid}, timeStamp=since + 1, smUtil=40)]
"""
HANGS, CRASHES = "import time\nwhile True:\n    time.sleep(60)\n", "import os\nos.abort()\n"


def in_init(text):
    return "def nvmlInit():\n" + "".join(f"    {line}\n" for line in text.splitlines())


def in_a_look(text, mark):
    looks = in_init(f"open({str(mark)!r}, 'w').close()\n{text}").replace(
        "nvmlInit()", "nvmlDeviceGetPowerUsage(handle)"
    )
    return WORKING.format(pid=1) + looks


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a module as ``pynvml``."""

    def install(text):
        (tmp_path / "packages").mkdir()
        (tmp_path / "packages" / "pynvml.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path / "packages")
        monkeypatch.delitem(sys.modules, "pynvml", raising=False)

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("kerascheck.runtime.verify.gpu._PATIENCE_SECONDS", 30.0)
    return install


def watched(until=lambda sampler: True):
    with Sampler() as sampler:
        deadline = time.monotonic() + 30
        while not until(sampler) and time.monotonic() < deadline:
            time.sleep(0.01)
    return sampler


def has_samples(sampler):
    return sampler._devices and sampler._devices[0].samples


def test_the_installed_nvml_runs_in_another_process(installed):
    installed(WORKING.format(pid=os.getpid()))
    sampler = watched(has_samples)
    summary = sampler.summary()
    assert (summary.name, summary.driver, summary.utilisation) == ("Made Up 9000", "570.86.15", 0.5)
    # The scripts descend from this process, not from the one that queries NVML.
    assert (summary.devices[0].own, summary.devices[0].others) == (0.4, 0)
    assert sampler.failure is None and "pynvml" not in sys.modules


def test_a_missing_driver_is_not_a_failure(installed):
    installed(in_init("raise RuntimeError('no driver')"))
    sampler = watched()
    assert (sampler.summary(), sampler.failure) == (None, None)


@pytest.mark.parametrize("text", [HANGS, in_init(HANGS)], ids=["import", "init"])
def test_a_hanging_driver_is_abandoned(installed, monkeypatch, text):
    installed(text)
    monkeypatch.setattr("kerascheck.runtime.verify.gpu._PATIENCE_SECONDS", 1.0)
    sampler = watched()
    assert sampler.failure == "the NVIDIA driver did not answer within 1 s: the GPU was not watched"
    assert sampler.summary() is None


@pytest.mark.parametrize("text", [CRASHES, in_init(CRASHES)], ids=["import", "init"])
def test_a_crashing_driver_does_not_affect_the_run(installed, text):
    installed(text)
    sampler = watched()
    assert "(NVML) crashed" in sampler.failure and sampler.summary() is None


@pytest.mark.parametrize("text, words", [(HANGS, "stopped answering"), (CRASHES, "(NVML) crashed")])
def test_a_later_driver_failure_is_reported(installed, monkeypatch, text, words, tmp_path):
    installed(in_a_look(text, tmp_path / "mark"))
    monkeypatch.setattr("kerascheck.runtime.verify.gpu._SECONDS_TO_END", 1.0)
    assert words in watched(lambda sampler: (tmp_path / "mark").exists()).failure


def test_verify_ends_and_says_that_the_driver_did_not_answer(installed, monkeypatch, tmp_path):
    from verify.made_up import with_torch
    from verify.stand_ins import invoke

    installed(in_init(HANGS))
    monkeypatch.setattr("kerascheck.runtime.verify.gpu._PATIENCE_SECONDS", 1.0)
    with_torch(tmp_path)
    script = tmp_path / "train.py"
    script.write_text("import sys\nsys.exit(3)\n")
    result = invoke(str(script))
    assert "before any training step" in result.stdout
    assert "the NVIDIA driver did not answer within 1 s" in result.stdout + result.stderr


@pytest.mark.gpu
def test_a_real_card_is_sampled():
    if shutil.which("nvidia-smi") is None or subprocess.run(["nvidia-smi"], capture_output=True).returncode:
        pytest.skip("no GPU")
    pytest.importorskip("pynvml")
    with Sampler() as sampler:
        time.sleep(2)
    summary = sampler.summary()
    assert summary.driver and summary.devices[0].memory_total_bytes > 0
    assert summary.devices[0].time.watts
