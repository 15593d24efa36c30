"""Documented machines, written by hand, each with the problems and the advice that doctor must report."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kerascheck.runtime.doctor.snapshot import (
    Cpu,
    Driver,
    Framework,
    Gpu,
    Keras,
    Link,
    Memory,
    Python,
    Snapshot,
    System,
)

GIB = 1 << 30

# Metadata of TensorFlow's wheels for Linux (tf.sysconfig.get_build_info), and their requirements.
BUILDS = {
    "2.10.1": ("11.2", "8", ("sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "compute_80")),
    "2.15.1": ("12.2", "8", ("sm_50", "sm_60", "sm_70", "sm_75", "compute_80")),
    "2.16.2": ("12.3", "8", ("sm_50", "sm_60", "sm_70", "sm_80", "compute_90")),
    "2.18.0": ("12.5.1", "9", ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")),
    "2.19.0": ("12.5.1", "9", ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")),
    "2.20.0": ("12.5.1", "9", ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")),
    "2.21.0": ("12.5.1", "9", ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")),
}
EXTRA = (
    "nvidia-cublas-cu12<13.0,>=12.5.3.2",
    "nvidia-cuda-nvcc-cu12<13.0,>=12.5.82",
    "nvidia-cudnn-cu12<10.0,>=9.3.0.75",
)
EXTRA_2_18 = ("nvidia-cublas-cu12 ==12.5.3.2", "nvidia-cuda-nvcc-cu12 ==12.5.82", "nvidia-cudnn-cu12 ==9.3.0.75")
EXTRA_2_15 = ("nvidia-cublas-cu12==12.2.5.6", "nvidia-cuda-nvcc-cu12==12.2.140", "nvidia-cudnn-cu12==8.9.4.25")
LIBRARIES = {"nvidia-cublas-cu12": "12.9.1.4", "nvidia-cuda-nvcc-cu12": "12.9.86", "nvidia-cudnn-cu12": "9.13.0.50"}
LIBRARIES_2_15 = {
    "nvidia-cublas-cu12": "12.2.5.6",
    "nvidia-cuda-nvcc-cu12": "12.2.140",
    "nvidia-cudnn-cu12": "8.9.4.25",
}


def requires(tensorflow: str) -> dict[str, tuple[str, ...]]:
    """Requirements that the wheels declare, limited to the compared packages."""
    if tensorflow.startswith("2.10"):
        return {"tensorflow": ("keras<2.11,>=2.10.0", "numpy>=1.20", "protobuf<3.20,>=3.9.2")}
    if tensorflow.startswith("2.15"):
        own = (
            "keras (<2.16,>=2.15.0)",
            "numpy (<2.0.0,>=1.23.5)",
            *(f'{each} ; extra == "and-cuda"' for each in EXTRA_2_15),
        )
    elif tensorflow.startswith("2.16"):
        own = (
            "keras>=3.0.0",
            'numpy<2.0.0,>=1.26.0; python_version >= "3.12"',
            'numpy<2.0.0,>=1.23.5; python_version <= "3.11"',
        )
    elif tensorflow.startswith(("2.18", "2.19")):
        own = ("keras>=3.5.0", "numpy<2.2.0,>=1.26.0", *(f'{each} ; extra == "and-cuda"' for each in EXTRA_2_18))
    else:
        own = ("keras>=3.5.0", "numpy>=1.26.0", *(f'{each}; extra == "and-cuda"' for each in EXTRA))
    return {"tensorflow": own}


def environment(
    tensorflow: str = "2.21.0",
    gpus: int = 1,
    *,
    keras: str = "3.12.0",
    python: str = "3.11.7",
    libraries: dict[str, str] | None = None,
    packages: dict[str, str] | None = None,
    missing: tuple[str, ...] = (),
    log: tuple[str, ...] = (),
    **changes,
) -> Python:
    """A virtual environment with TensorFlow for GPUs and its CUDA libraries from pip."""
    cuda, cudnn, architectures = BUILDS[tensorflow]
    named = LIBRARIES if libraries is None else libraries
    return replace(
        Python(
            python,
            packages={"tensorflow": tensorflow, "keras": keras, "numpy": "1.26.4", **named, **(packages or {})},
            requires=requires(tensorflow),
            tensorflow=Framework(
                tensorflow, None, gpus, True, cuda, cudnn, architectures, missing, log, tf32=True, deterministic=False
            ),
            keras=Keras(keras, backend="tensorflow"),
            ptxas=True,
            libdevice=True,
        ),
        **changes,
    )


def for_cpus(
    version: str = "2.21.0", package: str = "tensorflow-cpu", *, python: str = "3.11.7", keras: str = "3.12.0"
) -> Python:
    """A virtual environment with TensorFlow for CPUs."""
    return Python(
        python,
        packages={package: version, "keras": keras, "numpy": "1.26.4"},
        requires={package: ("keras>=2.10", "numpy>=1.20")},
        tensorflow=Framework(version, None, 0, False, tf32=True, deterministic=False),
        keras=Keras(keras, backend="tensorflow"),
        ptxas=False,
        libdevice=False,
    )


def card(
    name: str,
    capability: tuple[int, int],
    gib: float,
    *,
    watts: float | None = None,
    lanes: int = 16,
    generation: int = 3,
    **changes,
) -> Gpu:
    """An idle GPU as NVML describes it."""
    link = Link(generation, lanes)
    known = Gpu(
        name, capability, int(gib * GIB), 300 << 20, 0, 0.0, watts, watts, (), Link(1, lanes), link, True, False
    )
    return replace(known, **changes)


def machine(
    *gpus: Gpu,
    driver: str = "550.90.07",
    cuda: tuple[int, int] = (12, 4),
    python: Python | None = None,
    cores: int = 16,
    **changes,
) -> Snapshot:
    """A Linux machine with these GPUs."""
    memory = Memory(64 * GIB, 48 * GIB, shared=32 * GIB)
    answers = Driver(driver, cuda, cards_on_bus=len(gpus)) if gpus else None
    base = Snapshot(
        System(),
        Cpu(cores, cores),
        memory,
        answers,
        gpus,
        {},
        python=environment(gpus=len(gpus)) if python is None else python,
    )
    return replace(base, **changes)


GTX_1070 = card("NVIDIA GeForce GTX 1070", (6, 1), 8, watts=151, display=True)
GTX_1660_TI = card("NVIDIA GeForce GTX 1660 Ti", (7, 5), 6, watts=120, display=True)
RTX_2080_TI = card("NVIDIA GeForce RTX 2080 Ti", (7, 5), 11, watts=250)
RTX_3060 = card("NVIDIA GeForce RTX 3060", (8, 6), 12, watts=170, persistent=None, display=True)
RTX_3070 = card("NVIDIA GeForce RTX 3070", (8, 6), 8, watts=220, persistent=None, display=True)
RTX_4090 = card("NVIDIA GeForce RTX 4090", (8, 9), 24, watts=450, generation=4)
RTX_5090 = card("NVIDIA GeForce RTX 5090", (12, 0), 32, watts=575, generation=5)
T4 = card("Tesla T4", (7, 5), 15, watts=70)
P100 = card("Tesla P100-PCIE-16GB", (6, 0), 16, watts=250)
V100 = card("Tesla V100-SXM2-16GB", (7, 0), 16, watts=300)
K80 = card("Tesla K80", (3, 7), 11.2, watts=149)
A100 = card("NVIDIA A100-SXM4-40GB", (8, 0), 40, watts=400, generation=4)
H100 = card("NVIDIA H100 80GB HBM3", (9, 0), 80, watts=700, generation=5)

IN_CONTAINER, ON_WSL, ON_WINDOWS = System(container=True), System(wsl=True), System("win32", "AMD64")
ON_COLAB, ON_KAGGLE = System(container=True, hosted="colab"), System(container=True, hosted="kaggle")
ON_MAC = System("darwin", "arm64")
NO_CARD_MEMORY = Memory(16 * GIB, 10 * GIB, shared=8 * GIB)
NOT_FOUND = (
    "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly",
)
NO_DRIVERS = ("Could not find cuda drivers on your machine, GPU will not be used.",)


@dataclass(frozen=True)
class Case:
    """A documented machine.

    Attributes:
        snapshot: the machine.
        problems, advice: the names of the checks with this outcome; all other checks must have another one.
        said: words that the results must contain.
    """

    snapshot: Snapshot
    problems: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


CASES = {
    # Healthy machines.
    "gtx 1070": Case(machine(GTX_1070), said=("float32 is right for the NVIDIA GeForce GTX 1070",)),
    "gtx 1660 ti": Case(machine(GTX_1660_TI), said=("float32 is right for the NVIDIA GeForce GTX 1660 Ti",)),
    "rtx 2080 ti, tensorflow 2.15": Case(
        machine(RTX_2080_TI, driver="535.183.01", cuda=(12, 2), python=environment("2.15.1", keras="2.15.0", libraries=LIBRARIES_2_15)),
        said=("mixed_float16 gains on the NVIDIA GeForce RTX 2080 Ti, which has no fast bfloat16",),
    ),
    "t4": Case(machine(T4, driver="535.104.05", cuda=(12, 2), cores=4), said=("TensorFlow sees 1 GPU: Tesla T4, 15 GiB",)),
    "v100, ec2 p3": Case(machine(V100, cores=8), said=("mixed_float16 gains on the Tesla V100",)),
    "8 x h100": Case(machine(*[H100] * 8, cores=192, python=environment(gpus=8)), said=("8 x NVIDIA H100", "mixed_float16 or mixed_bfloat16 gains")),
    "colab with a t4": Case(
        machine(
            replace(T4, persistent=False), driver="550.54.15", system=ON_COLAB, cores=2, memory=Memory(13 * GIB, 11 * GIB, shared=6 * GIB),
            # PyTorch brings newer libraries of the same major version.
            python=environment(
                "2.19.0", keras="3.10.0", python="3.12.12", packages={"tf-keras": "2.19.0", "torch": "2.8.0"},
                libraries={"nvidia-cublas-cu12": "12.6.4.1", "nvidia-cuda-nvcc-cu12": "12.5.82", "nvidia-cudnn-cu12": "9.10.2.21"},
            ),
            library_path=(),
        )
    ),
    "colab without a gpu": Case(machine(system=ON_COLAB, cores=2, memory=NO_CARD_MEMORY, python=environment("2.19.0", 0, log=NO_DRIVERS))),
    "kaggle with a p100": Case(machine(P100, driver="560.35.03", cuda=(12, 6), system=ON_KAGGLE, cores=4, python=environment("2.18.0", keras="3.8.0"))),
    "kaggle with two t4": Case(machine(T4, T4, driver="560.35.03", cuda=(12, 6), system=ON_KAGGLE, cores=4, python=environment("2.18.0", 2))),
    "wsl 2 with an rtx 3060": Case(machine(RTX_3060, driver="546.33", cuda=(12, 3), system=ON_WSL)),
    "windows with tensorflow 2.10": Case(
        machine(RTX_3070, driver="536.23", cuda=(12, 2), system=ON_WINDOWS, memory=Memory(), python=environment("2.10.1", keras="2.10.0", libraries={}))
    ),
    "windows without a gpu": Case(machine(system=ON_WINDOWS, memory=Memory(), python=for_cpus(package="tensorflow"))),
    "mac with tensorflow-metal": Case(
        machine(system=ON_MAC, memory=Memory(16 * GIB), python=replace(for_cpus(package="tensorflow"), tensorflow=Framework("2.18.0", gpus=1, cuda=False)))
    ),
    "laptop without a gpu": Case(machine(memory=NO_CARD_MEMORY, python=for_cpus()), said=("no NVIDIA GPU: training runs on the CPU",)),
    "laptop without a gpu, tensorflow for gpus": Case(machine(memory=NO_CARD_MEMORY, python=environment(gpus=0, libraries={}, log=NO_DRIVERS))),
    "system cuda 12 in LD_LIBRARY_PATH": Case(
        machine(RTX_4090, python=environment(libraries={}), library_path=("libcublas.so.12.5.3.2", "libcudnn.so.9.3.0", "libcudart.so.12.5.82"))
    ),
    "old cuda in LD_LIBRARY_PATH that is passed over": Case(machine(RTX_4090, library_path=("libcublas.so.11.11.3.6", "libcudnn.so.8.7.0"))),
    "small /dev/shm, no torch": Case(machine(T4, system=IN_CONTAINER, memory=Memory(64 * GIB, 48 * GIB, shared=64 << 20))),
    "keras on torch": Case(
        machine(
            RTX_4090,
            python=Python("3.12.3", packages={"keras": "3.12.0", "torch": "2.8.0"}, keras=Keras("3.12.0", None, "torch", "KERAS_BACKEND"),
                          torch=Framework("2.8.0", gpus=1, cuda=True, cuda_version="12.8")),
        ),
        said=("Keras 3.12.0 on PyTorch 2.8.0, chosen by KERAS_BACKEND", "PyTorch sees 1 GPU"),
    ),
    "idle card with a slow link": Case(machine(replace(RTX_4090, link=Link(1, 16)))),
    "ngc container with forward compatibility": Case(
        machine(T4, driver="470.57.02", cuda=(12, 3), system=IN_CONTAINER, python=environment(libraries={}), library_path=("libcublas.so.12.8.3.14", "libcudnn.so.9.7.0"))
    ),
    "amd gpu with rocm": Case(
        machine(system=System(accelerator="AMD GPU"), python=replace(for_cpus("2.18.1", "tensorflow-rocm"), tensorflow=Framework("2.18.1", gpus=1, cuda=False))),
        said=("TensorFlow sees 1 GPU\n", "TensorFlow 2.18.1, Python"),
    ),
    "amd gpu with tensorflow for cpus": Case(machine(system=System(accelerator="AMD GPU"), python=for_cpus()), said=("no NVIDIA GPU, but an AMD GPU",)),
    # Drivers.
    "ec2 g4dn with the driver of cuda 11": Case(
        machine(T4, driver="450.142.00", cuda=(11, 0), cores=4, python=environment(gpus=0)), ("driver",), said=("too old for CUDA 12.5.1", "525.60.13")
    ),
    "ec2 p3 with the driver of cuda 10": Case(
        machine(V100, driver="418.87.00", cuda=(10, 1), cores=8, python=environment("2.10.1", 0, keras="2.10.0", libraries={})), ("driver",), said=("450.80.02",)
    ),
    "wsl 2 with an old driver of windows": Case(
        machine(RTX_3060, driver="516.94", cuda=(11, 7), system=ON_WSL, python=environment(gpus=0)), ("driver",), said=("driver of Windows to 528.33",)
    ),
    "driver updated and not restarted": Case(
        replace(machine(python=environment(gpus=0)), driver=Driver(failure="mismatch", cards_on_bus=1)),
        ("driver-running",), said=("Restart the machine",),
    ),
    "card without a driver": Case(
        replace(machine(python=environment(gpus=0, log=NO_DRIVERS)), driver=Driver(failure="not running", cards_on_bus=1)), ("driver-running",)
    ),
    "container without --gpus": Case(
        replace(machine(system=IN_CONTAINER, python=environment(gpus=0, log=NO_DRIVERS)), driver=Driver(failure="not running", cards_on_bus=4)),
        advice=("driver-running",), said=("--gpus all",),
    ),
    "gpu fallen off the bus": Case(
        replace(machine(python=environment(gpus=0)), driver=Driver("550.90.07", (12, 4), "lost", 1)), ("driver-running",), said=("has lost it",)
    ),
    "container without compute capability": Case(
        machine(A100, system=IN_CONTAINER, python=environment(gpus=0, missing=("libcuda.so.1",), log=NO_DRIVERS)),
        ("cuda-libraries",), said=("libcuda.so.1", "NVIDIA_DRIVER_CAPABILITIES"),
    ),
    # Installed packages.
    "tensorflow-cpu beside an rtx 4090": Case(
        machine(RTX_4090, python=for_cpus()), ("gpu-build",), said=("package tensorflow-cpu", "pip install 'tensorflow[and-cuda]'")
    ),
    "tensorflow without its cuda libraries": Case(
        machine(RTX_4090, python=environment(gpus=0, libraries={}, missing=("libcublas.so.12", "libcudnn.so.9"), log=NOT_FOUND)),
        ("cuda-libraries",), said=("cannot load libcublas.so.12, libcudnn.so.9", "'tensorflow[and-cuda]==2.21.0'"),
    ),
    "tensorflow without its cuda libraries, loader silent": Case(machine(RTX_4090, python=environment(gpus=0, libraries={}, log=NOT_FOUND)), ("cuda-libraries",)),
    "cuda libraries installed and not found": Case(
        machine(RTX_4090, python=environment("2.16.2", gpus=0, libraries={}, missing=("libcudnn.so.8",), log=NOT_FOUND)),
        ("cuda-libraries",), said=("libcudnn.so.8",),
    ),
    "cuda 11 in LD_LIBRARY_PATH": Case(
        machine(
            RTX_4090, library_path=("libcublas.so.11.11.3.6", "libcudnn.so.8.7.0"),
            python=environment(gpus=0, libraries={}, missing=("libcublas.so.12", "libcudnn.so.9"), log=NOT_FOUND),
        ),
        ("library-path",), said=("libcublas 11.11.3.6", "needs 12", "pip install 'tensorflow[and-cuda]==2.21.0'"),
    ),
    "older cudnn in LD_LIBRARY_PATH": Case(
        machine(RTX_4090, library_path=("libcudnn.so.9.1.0",)), ("library-path",), said=("libcudnn 9.1.0", "needs 9.3", "Unset LD_LIBRARY_PATH"),
    ),
    "torch and tensorflow in one environment": Case(
        machine(RTX_4090, python=environment(libraries={**LIBRARIES, "nvidia-cudnn-cu12": "9.1.0.70"}, packages={"torch": "2.6.0"})),
        ("cuda-packages",), said=("needs nvidia-cudnn-cu12 9.3.0.75 or a newer 9.x, and 9.1.0.70 is installed",),
    ),
    "cudnn of another major version": Case(
        machine(RTX_2080_TI, python=environment("2.15.1", keras="2.15.0", libraries={**LIBRARIES_2_15, "nvidia-cudnn-cu12": "9.3.0.75"})), ("cuda-packages",),
    ),
    "other cublas than asked for": Case(
        machine(RTX_4090, python=environment(libraries={**LIBRARIES, "nvidia-cublas-cu12": "12.4.5.8"})), advice=("cuda-packages",),
    ),
    "no ptxas": Case(machine(RTX_4090, python=environment(ptxas=False, libdevice=False)), advice=("compilers",), said=("ptxas and libdevice",)),
    "gpu not seen for an unknown reason": Case(
        machine(RTX_4090, python=environment(gpus=0, log=("failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_UNKNOWN",))),
        ("gpu-seen",), said=("CUDA_ERROR_UNKNOWN", "modprobe nvidia_uvm"),
    ),
    "dgx without its fabric manager": Case(
        machine(*[H100] * 8, python=environment(gpus=0, log=("failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized",))),
        ("gpu-seen",), said=("nvidia-fabricmanager",),
    ),
    "gpu not seen and nothing said": Case(machine(RTX_4090, python=environment(gpus=0)), ("gpu-seen",), said=("TF_CPP_MAX_VLOG_LEVEL",)),
    "two keras": Case(
        machine(T4, variables={"TF_USE_LEGACY_KERAS": "1"}, python=environment(packages={"tf-keras": "2.21.0"})), advice=("two-keras",), said=("Keras 2.21", "Keras 3.12"),
    ),
    "tf_keras chosen and not there": Case(machine(T4, variables={"TF_USE_LEGACY_KERAS": "1"}), ("two-keras",)),
    "keras 3 beside tensorflow 2.15": Case(
        machine(
            T4,
            python=environment("2.15.1", keras="3.4.1", libraries=LIBRARIES_2_15, packages={"keras": "3.4.1"}),
        ),
        advice=("requirements",), said=("tensorflow 2.15.1 needs keras<2.16,>=2.15.0, and 3.4.1 is installed",),
    ),
    "numpy 2 beside tensorflow 2.16": Case(
        machine(
            T4,
            python=replace(
                environment("2.16.2", packages={"numpy": "2.1.0"}, libraries={}, keras="3.4.1"),
                tensorflow=Framework(error="ImportError: numpy.core.umath failed to import"),
            ),
        ),
        ("tensorflow-installed", "requirements"), said=("numpy.core.umath failed", "needs numpy<2.0.0,>=1.23.5"),
    ),
    "keras that cannot be imported": Case(
        machine(memory=NO_CARD_MEMORY, python=replace(for_cpus(), keras=Keras(error="ModuleNotFoundError: No module named 'optree'", backend="tensorflow"))),
        ("keras-installed",), said=("No module named 'optree'",),
    ),
    "jax chosen and not there": Case(
        machine(
            memory=NO_CARD_MEMORY,
            python=replace(for_cpus(), keras=Keras(error="ModuleNotFoundError: No module named 'jax'", backend="jax", backend_from="KERAS_BACKEND")),
        ),
        ("keras-installed",), said=("Keras is to run on JAX (KERAS_BACKEND), which is not installed",),
    ),
    "keras on jax for cpus, beside a gpu": Case(
        machine(
            RTX_4090,
            python=replace(
                for_cpus(), packages={"keras": "3.12.0", "jax": "0.7.0", "jaxlib": "0.7.0", "tensorflow-cpu": "2.21.0"},
                keras=Keras("3.12.0", None, "jax", "keras.json"), jax=Framework("0.7.0", gpus=0),
            ),
        ),
        ("gpu-build",), said=("JAX 0.7.0 is built for CPUs", "'jax[cuda12]'"),
    ),
    "torch for cpus, beside a gpu": Case(
        machine(
            RTX_4090,
            python=Python("3.12.3", packages={"keras": "3.12.0", "torch": "2.8.0"}, keras=Keras("3.12.0", None, "torch", "KERAS_BACKEND"),
                          torch=Framework("2.8.0+cpu", gpus=0, cuda=False)),
        ),
        ("gpu-build",),
    ),
    "no tensorflow": Case(machine(memory=NO_CARD_MEMORY, python=Python("3.11.7", packages={})), advice=("tensorflow-installed",), said=("--python",)),
    "jax, not chosen, and no tensorflow": Case(
        machine(
            memory=NO_CARD_MEMORY,
            python=Python("3.11.7", packages={"keras": "3.12.0", "jax": "0.7.0"}, keras=Keras(error="ModuleNotFoundError: No module named 'tensorflow'", backend="tensorflow")),
        ),
        advice=("tensorflow-installed",), said=("KERAS_BACKEND=jax",),
    ),
    "keras alone": Case(
        machine(
            memory=NO_CARD_MEMORY,
            python=Python("3.11.7", packages={"keras": "3.12.0"}, keras=Keras(error="ModuleNotFoundError: No module named 'tensorflow'", backend="tensorflow")),
        ),
        advice=("tensorflow-installed",),
    ),
    "no tensorflow beside a gpu": Case(machine(T4, python=Python("3.9.2", packages={})), advice=("tensorflow-installed",), said=("'tensorflow[and-cuda]'", "2.20")),
    "python too new for tensorflow": Case(
        machine(memory=NO_CARD_MEMORY, python=Python("3.15.0", packages={})), advice=("tensorflow-installed",), said=("wheels for Python up to 3.13",)
    ),
    "processor without avx": Case(
        machine(memory=NO_CARD_MEMORY, python=Python("3.11.7", "signal SIGILL", "tensorflow", packages={"tensorflow": "2.21.0"})), ("interpreter",), said=("AVX",)
    ),
    "tensorflow on a slow network drive": Case(
        machine(T4, python=Python("3.11.7", "timeout", "tensorflow", packages={"tensorflow": "2.21.0"})), advice=("interpreter",), said=("--time-limit",)
    ),
    "windows with tensorflow 2.15": Case(
        machine(RTX_3070, driver="551.61", cuda=(12, 4), system=ON_WINDOWS, memory=Memory(), python=for_cpus("2.15.1", "tensorflow-intel", keras="2.15.0")),
        ("native-windows",), said=("2.10 was the last", "WSL 2"),
    ),
    "mac without tensorflow-metal": Case(
        machine(system=ON_MAC, memory=Memory(16 * GIB), python=for_cpus("2.18.0", "tensorflow")), advice=("metal",), said=("pip install tensorflow-metal",)
    ),
    # Cards without code in a build.
    "k80": Case(
        machine(K80, driver="470.256.02", cuda=(11, 4), python=environment(gpus=0)), ("driver", "compute-capability"), said=("capability 3.7, and it needs 6.0",)
    ),
    "gtx 960 with tensorflow 2.18": Case(
        machine(card("NVIDIA GeForce GTX 960", (5, 2), 4, display=True), python=environment("2.18.0", 0)), ("compute-capability",), said=("Install TensorFlow 2.16",)
    ),
    "rtx 5090 with tensorflow 2.20": Case(
        machine(RTX_5090, driver="570.86.10", cuda=(12, 8), python=environment("2.20.0")), ("compute-capability",), said=("capability 12.0",)
    ),
    "h100 with tensorflow 2.10": Case(
        machine(H100, driver="535.104.05", cuda=(12, 2), python=environment("2.10.1", keras="2.10.0", libraries={})),
        advice=("compute-capability",), said=("30 minutes",),
    ),
    # The environment.
    "CUDA_VISIBLE_DEVICES=-1": Case(machine(T4, variables={"CUDA_VISIBLE_DEVICES": "-1"}, python=environment(gpus=0)), ("hidden-gpus",)),
    "CUDA_VISIBLE_DEVICES empty": Case(machine(T4, variables={"CUDA_VISIBLE_DEVICES": ""}, python=environment(gpus=0)), ("hidden-gpus",)),
    "CUDA_VISIBLE_DEVICES=1 with one gpu": Case(machine(T4, variables={"CUDA_VISIBLE_DEVICES": "1"}, python=environment(gpus=0)), ("hidden-gpus",)),
    "CUDA_VISIBLE_DEVICES=1 of two": Case(
        machine(T4, T4, variables={"CUDA_VISIBLE_DEVICES": "1"}, python=environment(gpus=1)), said=("TensorFlow sees 1 of 2 GPUs: 2 x Tesla T4, 15 GiB",)
    ),
    "CUDA_VISIBLE_DEVICES names a gpu": Case(machine(T4, variables={"CUDA_VISIBLE_DEVICES": "(set)"}, python=environment(gpus=1))),
    "JAX_PLATFORMS=cpu": Case(
        machine(
            RTX_4090, variables={"JAX_PLATFORMS": "cpu"},
            python=Python("3.12.3", packages={"keras": "3.12.0", "jax": "0.7.0", "jax-cuda12-plugin": "0.7.0"}, keras=Keras("3.12.0", None, "jax", "KERAS_BACKEND"),
                          jax=Framework("0.7.0", gpus=0)),
        ),
        ("hidden-gpus",),
    ),
    "tf32 switched off": Case(machine(A100, variables={"NVIDIA_TF32_OVERRIDE": "0"}), advice=("tf32",)),
    "tf32 switched off in a site file": Case(machine(A100, python=replace(environment(), tensorflow=replace(environment().tensorflow, tf32=False))), advice=("tf32",)),
    "no tf32 on a card that has none": Case(machine(V100, variables={"NVIDIA_TF32_OVERRIDE": "0"})),
    "launches block": Case(machine(A100, variables={"CUDA_LAUNCH_BLOCKING": "1"}), advice=("switches",)),
    "deterministic": Case(machine(A100, variables={"TF_DETERMINISTIC_OPS": "1"}), advice=("determinism",)),
    "one thread": Case(machine(memory=NO_CARD_MEMORY, variables={"TF_NUM_INTRAOP_THREADS": "1"}, python=for_cpus()), advice=("threads",)),
    "one thread on two cores": Case(machine(memory=NO_CARD_MEMORY, cores=2, variables={"TF_NUM_INTRAOP_THREADS": "1"}, python=for_cpus())),
    # The state of the GPU.
    "a100 in slices": Case(machine(replace(A100, mig=True)), advice=("mig",), said=("is partitioned (MIG)",)),
    "virtual gpu": Case(machine(card("GRID T4-8Q", (7, 5), 8)), advice=("mig",), said=("is a virtual GPU",)),
    "overheated": Case(machine(replace(RTX_4090, slowdowns=("hardware slowdown", "overheating"))), ("slowdown",), said=("overheating",)),
    "warm": Case(machine(replace(RTX_4090, slowdowns=("temperature",))), advice=("slowdown",)),
    "power capped": Case(machine(replace(RTX_4090, power_limit=300.0)), advice=("power-limit",), said=("300 W of its usual 450 W",)),
    "card behind a mining riser": Case(
        machine(replace(RTX_4090, utilisation=0.6, link=Link(1, 1))), advice=("pcie",), said=("1 lane of PCIe 1",)
    ),
    "memory held by a notebook": Case(
        machine(replace(RTX_4090, processes=1, used=22 * GIB)), ("gpu-memory",), said=("1 other process holds 22 GiB of the 24 GiB",)
    ),
    "memory shared": Case(machine(replace(RTX_4090, processes=2, used=6 * GIB)), advice=("gpu-memory",)),
    "desktop on the card": Case(machine(replace(RTX_3060, used=2 * GIB))),
    "another computes": Case(machine(replace(A100, processes=1, used=2 * GIB, utilisation=0.97, link=Link(4, 16))), advice=("gpu-shared",), said=("97%",)),
    "server without persistence": Case(machine(replace(V100, persistent=False)), advice=("persistence",)),
    # Processor and memory.
    "quota of 2 of 64 cores": Case(
        machine(system=IN_CONTAINER, cpu=Cpu(64, 64, 2.0), memory=NO_CARD_MEMORY, python=for_cpus()), advice=("cpu-quota",), said=("cpu_budget = 2",)
    ),
    "quota of half a core": Case(
        machine(system=IN_CONTAINER, cpu=Cpu(8, 8, 0.5), memory=NO_CARD_MEMORY, python=for_cpus()), advice=("cpu-quota",), said=("cpu_budget = 1",)
    ),
    "cpuset of 4 of 64 cores": Case(machine(system=IN_CONTAINER, cpu=Cpu(64, 4), memory=NO_CARD_MEMORY, python=for_cpus()), said=("4 of 64 CPU cores",)),
    "4 GiB of a host of 256": Case(
        machine(system=IN_CONTAINER, memory=Memory(256 * GIB, 200 * GIB, 4 * GIB, shared=8 * GIB), python=for_cpus()),
        advice=("memory-limit",), said=("allows 4.0 GiB", "100 GiB"),
    ),
    "swapping": Case(machine(memory=Memory(16 * GIB, GIB, swap_used=6 * GIB, shared=8 * GIB), python=for_cpus()), advice=("swap",)),
    "docker's /dev/shm": Case(
        machine(
            T4, system=IN_CONTAINER, memory=Memory(64 * GIB, 48 * GIB, shared=64 << 20),
            python=Python("3.12.3", packages={"keras": "3.12.0", "torch": "2.8.0"}, keras=Keras("3.12.0", None, "torch", "KERAS_BACKEND"),
                          torch=Framework("2.8.0", gpus=1, cuda=True, cuda_version="12.8")),
        ),
        advice=("shared-memory",), said=("/dev/shm has 64 MiB", "--shm-size"),
    ),
    "tensorflow not looked at": Case(replace(machine(T4), python=None), said=("Tesla T4",)),
    "wsl without a gpu": Case(machine(system=ON_WSL, memory=NO_CARD_MEMORY, python=environment(gpus=0, libraries={}, log=NO_DRIVERS))),
}  # fmt: skip
