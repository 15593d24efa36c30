"""The driver and its GPUs, with a fake NVML and documents in the form that nvidia-smi prints."""

import os
import shutil
import sys
import types

import pytest

from kerascheck.knowledge.cards import capability_of
from kerascheck.runtime.doctor import nvidia as room
from kerascheck.runtime.doctor.nvidia import nvidia, parse_smi
from kerascheck.runtime.doctor.snapshot import Driver, Gpu, Link


class NVMLError(Exception):
    def __init__(self, value):
        self.value = value


def fail(value):
    def raises(*_):
        raise NVMLError(value)

    return raises


def nvml(count=1, **changes):
    given = types.SimpleNamespace
    module = given(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlSystemGetDriverVersion=lambda: b"535.104.05",
        nvmlSystemGetCudaDriverVersion_v2=lambda: 12020,
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda handle: "Tesla T4",
        nvmlDeviceGetCudaComputeCapability=lambda handle: (7, 5),
        nvmlDeviceGetMemoryInfo=lambda handle: given(total=16 << 30, used=1 << 30),
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [given(pid=-1)],
        nvmlDeviceGetUtilizationRates=lambda handle: given(gpu=40),
        nvmlDeviceGetEnforcedPowerLimit=lambda handle: 60_000,
        nvmlDeviceGetPowerManagementDefaultLimit=lambda handle: 70_000,
        nvmlDeviceGetCurrentClocksEventReasons=lambda handle: 0x4 | 0x20 | 0x80,
        nvmlDeviceGetCurrPcieLinkGeneration=lambda handle: 1,
        nvmlDeviceGetCurrPcieLinkWidth=lambda handle: 8,
        nvmlDeviceGetMaxPcieLinkGeneration=lambda handle: 3,
        nvmlDeviceGetMaxPcieLinkWidth=lambda handle: 16,
        nvmlDeviceGetPersistenceMode=lambda handle: 1,
        nvmlDeviceGetDisplayActive=lambda handle: 0,
        nvmlDeviceGetMigMode=lambda handle: [0, 0],
    )
    vars(module).update(changes)
    return module


T4 = Gpu(
    "Tesla T4", (7, 5), 16 << 30, 1 << 30, 1, 0.4, 60.0, 70.0, ("temperature", "power brake"), Link(1, 8), Link(3, 16), persistent=True, display=False
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_nvidia_smi(monkeypatch):
    monkeypatch.setattr(room, "_smi", lambda *_, **__: "")


def test_all_answers_of_nvml_are_stored(tmp_path):
    assert nvidia(nvml(2), tmp_path) == (Driver("535.104.05", (12, 2), None, 2), (T4, T4))


def test_unsupported_queries_are_unknown(tmp_path):
    silent = {
        name: fail(3)
        for name in vars(nvml())
        if name.startswith("nvmlDeviceGet") and name[13:] not in ("Count", "HandleByIndex", "Name")
    }
    _, (gpu,) = nvidia(nvml(**silent), tmp_path)
    # The name determines the compute capability.
    assert gpu == Gpu("Tesla T4", (7, 5))


def test_older_bindings_use_another_name_for_the_reasons(tmp_path):
    module = nvml(nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x40)
    del module.nvmlDeviceGetCurrentClocksEventReasons
    assert nvidia(module, tmp_path)[1][0].slowdowns == ("overheating",)


def test_a_partitioned_card_is_detected(tmp_path):
    assert nvidia(nvml(nvmlDeviceGetMigMode=lambda handle: [1, 1]), tmp_path)[1][0].mig


def test_a_lost_card_is_a_failure(tmp_path):
    module = nvml(2, nvmlDeviceGetHandleByIndex=lambda index: fail(15)() if index else index)
    assert nvidia(module, tmp_path) == (Driver("535.104.05", (12, 2), "lost", 2), (T4,))


@pytest.mark.parametrize(
    ("code", "cards", "expected"),
    [
        (18, 1, Driver(failure="mismatch", cards_on_bus=1)),
        (18, 0, Driver(failure="mismatch")),
        (9, 1, Driver(failure="not running", cards_on_bus=1)),
        (12, 0, None),
    ],
)
def test_a_driver_that_does_not_respond(code, cards, expected, tmp_path):
    for number in range(cards):
        folder = tmp_path / "sys" / "bus" / "pci" / "devices" / f"0000:0{number}:00.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text("0x10de\n")
        (folder / "class").write_text("0x030000\n")
        # The audio device of the same card.
        folder = folder.with_name(f"0000:0{number}:00.1")
        folder.mkdir()
        (folder / "vendor").write_text("0x10de\n")
        (folder / "class").write_text("0x040300\n")
    assert nvidia(nvml(nvmlInit=fail(code)), tmp_path) == (expected, ())


SMI = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <driver_version>535.104.05</driver_version>
  <cuda_version>12.2</cuda_version>
  <gpu id="00000000:00:04.0">
    <product_name>Tesla T4</product_name>
    <display_active>Disabled</display_active>
    <persistence_mode>Enabled</persistence_mode>
    <mig_mode><current_mig>N/A</current_mig></mig_mode>
    <pci><pci_gpu_link_info>
      <pcie_gen><max_link_gen>3</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
      <link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></link_widths>
    </pci_gpu_link_info></pci>
    <clocks_event_reasons>
      <clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
      <clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
      <clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown>
      <clocks_event_reason_hw_power_brake_slowdown>Active</clocks_event_reason_hw_power_brake_slowdown>
      <clocks_event_reason_sw_thermal_slowdown>Active</clocks_event_reason_sw_thermal_slowdown>
    </clocks_event_reasons>
    <fb_memory_usage><total>16384 MiB</total><used>1024 MiB</used></fb_memory_usage>
    <utilization><gpu_util>40 %</gpu_util></utilization>
    <gpu_power_readings><current_power_limit>60.00 W</current_power_limit><default_power_limit>70.00 W</default_power_limit></gpu_power_readings>
    <processes>
      <process_info><pid>1</pid><type>C</type></process_info>
      <process_info><pid>2</pid><type>G</type></process_info>
    </processes>
  </gpu>
</nvidia_smi_log>
"""
OLD = {
    "clocks_event_reason": "clocks_throttle_reason",
    "gpu_power_readings": "power_readings",
    "current_power_limit": "enforced_power_limit",
}


def test_nvidia_smi_gives_the_same_result():
    assert parse_smi(SMI) == (Driver("535.104.05", (12, 2), None, 1), (T4,))


def test_older_drivers_use_other_names():
    text = SMI
    for new, old in OLD.items():
        text = text.replace(new, old)
    assert parse_smi(text) == parse_smi(SMI)


def test_missing_values_of_nvidia_smi_are_unknown():
    text = "".join(f"  <{tag}>N/A</{tag}>" for tag in ("persistence_mode", "display_active"))
    log = f"<nvidia_smi_log><driver_version>516.94</driver_version><gpu><product_name>Strange GPU</product_name>{text}</gpu></nvidia_smi_log>"
    assert parse_smi(log) == (Driver("516.94", None, None, 1), (Gpu("Strange GPU"),))


def test_the_compute_capability_comes_from_the_driver_if_available():
    answers = {("--query-gpu=compute_cap", "--format=csv,noheader"): "9.0\n"}
    assert parse_smi(SMI, 0, lambda *arguments: answers[arguments])[1][0].capability == (9, 0)
    assert parse_smi(SMI, 0, lambda *_: 'Field "compute_cap" is not a valid field to query.\n')[1][0].capability == (
        7,
        5,
    )


@pytest.mark.parametrize(
    "text",
    ["", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "<nvidia_smi_log><gpu>"],
)
def test_other_texts_are_ignored(text):
    assert parse_smi(text) is None


def test_a_mismatch_is_detected_through_nvidia_smi(monkeypatch, tmp_path):
    monkeypatch.setattr(
        room,
        "_smi",
        lambda *_, **__: "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161",
    )
    assert nvidia(nvml(nvmlInit=fail(12)), tmp_path) == (Driver(failure="mismatch"), ())


def test_without_the_bindings_nvidia_smi_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "_smi", lambda *arguments, **_: SMI if arguments == ("-q", "-x") else "")
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert nvidia(None, tmp_path) == (Driver("535.104.05", (12, 2), None, 1), (T4,))


HANGS, CRASHES = "import time\nwhile True:\n    time.sleep(60)\n", "import os\nos.abort()\n"


def in_init(text):
    return "def nvmlInit():\n" + "".join(f"    {line}\n" for line in text.splitlines())


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a module as ``pynvml``."""

    def install(text):
        (tmp_path / "pynvml.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "pynvml", raising=False)

    return install


@pytest.mark.parametrize("text", [HANGS, in_init(HANGS)], ids=["import", "init"])
def test_a_hanging_driver_is_abandoned(installed, text, tmp_path):
    installed(text)
    assert nvidia(root=tmp_path, time_limit=1) == (Driver(failure="silent"), ())


@pytest.mark.parametrize("text", [CRASHES, in_init(CRASHES)], ids=["import", "init"])
def test_a_crashing_driver_is_reported(installed, text, tmp_path, monkeypatch):
    installed(text)
    assert nvidia(root=tmp_path) == (Driver(failure="crashed"), ())
    monkeypatch.setattr(room, "_smi", lambda *arguments, **_: SMI if arguments == ("-q", "-x") else "")
    assert nvidia(root=tmp_path)[1] == (T4,)


def test_the_installed_bindings_give_the_same_result_from_another_process(installed, tmp_path):
    tests = os.path.dirname(os.path.dirname(__file__))
    installed(
        f"import sys\nsys.path.append({tests!r})\nfrom doctor.test_nvidia import nvml\nglobals().update(vars(nvml(2)))\n"
    )
    assert nvidia(root=tmp_path) == nvidia(nvml(2), tmp_path)
    assert "pynvml" not in sys.modules


def test_a_hanging_nvidia_smi_is_abandoned(monkeypatch, tmp_path):
    monkeypatch.undo()  # remove the stand-in for nvidia-smi
    monkeypatch.setitem(sys.modules, "pynvml", None)
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nsleep 600\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert nvidia(root=tmp_path, time_limit=1) == (Driver(failure="silent"), ())


@pytest.mark.parametrize("text, words", [(HANGS, "driver did not answer in time"), (CRASHES, "library (NVML) crashed")])
def test_doctor_ends_and_reports_the_failure(installed, text, words, monkeypatch):
    from command import kerascheck

    installed(in_init(text))
    monkeypatch.setenv("COLUMNS", "200")
    python = os.path.realpath(sys.executable)  # without the packages of the environment, so imports are fast
    ran = kerascheck("doctor", "--python", python, "--time-limit", "5")
    assert (ran.code, sum(words in line for line in ran.out.splitlines())) == (1, 1)


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="needs an NVIDIA driver")
def test_nvml_and_nvidia_smi_agree_on_a_real_card(monkeypatch):
    pynvml = pytest.importorskip("pynvml")
    monkeypatch.undo()
    driver, gpus = nvidia(pynvml)
    other, cards = parse_smi(room._smi("-q", "-x"), driver.cards_on_bus, room._smi)
    assert (driver, len(gpus)) == (other, len(cards))
    assert driver.version is not None
    for one, two in zip(gpus, cards, strict=True):
        assert (one.name, one.capability, one.widest_link, one.persistent, one.mig) == (
            two.name,
            two.capability,
            two.widest_link,
            two.persistent,
            two.mig,
        )
        # nvidia-smi rounds to MiB.
        assert abs(one.memory - two.memory) <= 1 << 20
        assert capability_of(one.name) in (None, one.capability)
