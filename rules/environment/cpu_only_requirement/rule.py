from kerascheck.api import RequirementsFile, RequirementsRule, Severity, fixes, requirements

_BY_VERSION = {
    requirements.WithCuda.EXTRA: "tensorflow[and-cuda]",
    requirements.WithCuda.BESIDE: "tensorflow, with CUDA beside it,",
    requirements.WithCuda.PACKAGE: "tensorflow-gpu",
}


class CpuOnlyRequirement(RequirementsRule):
    """The requirements leave the GPU unused, or cannot be installed.

    ## What it does

    Reads requirements files, `pyproject.toml`, conda environments and Dockerfiles, and reports:

    - `tensorflow-cpu`;
    - `tensorflow-gpu`, if the version may be 2.12 or later;
    - `tensorflow` without `[and-cuda]` in a Dockerfile that starts from a plain image and installs no NVIDIA libraries;
    - `tensorflow` with a Windows marker, if the version may be 2.11 or later;
    - conda builds with `mkl`, `eigen` or `cpu` in their name.

    The finding is an info, because these files do not show whether the machine has a GPU.

    ## Why it costs

    The program runs on the CPU without a visible warning. The cost depends on the model and the machine; it is
    unmeasured here.

    ## What the runtime does by itself

    TensorFlow looks for the CUDA libraries when it is imported. If it finds the libraries of its build, it uses the
    GPU. Otherwise it continues on the CPU. The package `tensorflow` is built for GPUs on Linux, but contains no CUDA
    libraries; `tensorflow[and-cuda]` does, from 2.14 on. `tensorflow-gpu` was another name of `tensorflow` up to 2.11;
    from 2.12 on, its installation fails with an error. Since 2.11, native Windows has no GPU support. WSL2 has it,
    because it is Linux.

    ## When it stays silent

    - `tensorflow` in a requirements file or in `pyproject.toml`: the machine may have CUDA.
    - Images of NVIDIA, TensorFlow's own `-gpu` images and unknown images; files that also install NVIDIA's libraries.
    - `tensorflow` of any version in an image with a Python before 3.9: no release for it has `[and-cuda]`.
    - `tensorflow-cpu` with another `tensorflow` in the same file.
    - `tensorflow-cpu` or a conda build with a GPU variant in the same folder, because users can choose. The variant
      has `tensorflow[and-cuda]`, an installable `tensorflow-gpu`, or a name such as `conda_env_gpu.yml`.
    - `tensorflow-cpu` with a marker, such as one for a Mac.
    - `tensorflow-cpu` with a plug-in that has its own GPU support, for DirectML, Metal or Intel.
    - `tensorflow-cpu` with a web server or framework, such as Flask or gunicorn: the service runs without a GPU on
      purpose.
    - `tensorflow-cpu` with JAX, Flax or PyTorch: these use the GPU, and TensorFlow reads the data.
    - The name of the file, folder, group or conda environment indicates documentation, tests, continuous integration or
      CPU. A `tensorflow-gpu` that cannot be installed is reported even there.
    - `# noqa: KC701` at the end of the line, or alone on the line above.
    - Images that only run TensorBoard.
    - Files that do not mention TensorFlow.

    ## Use instead

    `tensorflow[and-cuda]` on Linux with a GPU.

    ## Fix safety

    The fix changes the name to `tensorflow[and-cuda]` if the version may be 2.14 or later. Unsafe: this package
    installs several gigabytes of libraries and supports only Linux. There is no fix for older versions, conda
    environments, poetry and Windows.

    ## References

    - TensorFlow guide: "Install TensorFlow with pip"
    - TensorFlow release notes: 2.11 (Windows), 2.12 (`tensorflow-gpu`), 2.14 (`[and-cuda]`)
    """

    code = "KC701"
    name = "cpu-only-requirement"
    summary = "requirements leave the GPU unused"
    severity = Severity.INFO
    triggers = ("tensorflow",)
    proves = ("same-output",)
    evidence_note = "The cost is that of training on a CPU; it depends on the model and the machine."
    loss_tolerance = None

    def check(self, file: RequirementsFile):
        if requirements.only_shows_recordings(file):
            return
        for requirement in file.requirements:
            shortfall = requirements.gpu_shortfall(file, requirement)
            if shortfall is None:
                continue
            if requirement.name != "tensorflow-gpu" and requirements.is_without_gpu_on_purpose(file, requirement):
                continue
            problem, because = _told(shortfall, file, requirement)
            on_windows = shortfall is requirements.Shortfall.WINDOWS
            yield self.finding(
                requirement, problem, because=because, fix=None if on_windows else fixes.install_with_cuda(requirement)
            )


def _told(shortfall, file, requirement):
    """The message, and its reason."""
    kinds, cuda = requirements.Shortfall, requirements.cuda_for(requirement)
    if shortfall is kinds.WINDOWS:
        return (
            "TensorFlow 2.11 and later has no GPU support on native Windows; use WSL2 or tensorflow<2.11.",
            "The marker selects Windows, and the version may be newer than 2.10.",
        )
    if shortfall is kinds.CPU_PACKAGE:
        return (
            f"tensorflow-cpu never uses a GPU; install {_BY_VERSION[cuda]} where there is one.",
            "The package is built without CUDA.",
        )
    if shortfall is kinds.NO_PACKAGE:
        return (
            "tensorflow-gpu cannot be installed from 2.12 on; use tensorflow[and-cuda].",
            "The package was removed: installing it raises an error.",
        )
    if shortfall is kinds.CPU_BUILD:
        return (
            "This build of TensorFlow uses no GPU; choose one with cuda in its name.",
            "Builds with mkl, eigen or cpu in their name contain no CUDA.",
        )
    extra = cuda is requirements.WithCuda.EXTRA
    remedy = "install tensorflow[and-cuda]" if extra else "start from tensorflow/tensorflow:VERSION-gpu"
    return (
        f"This image has no CUDA, so TensorFlow uses no GPU in it; {remedy}.",
        f"The image {file.images[-1]} contains no NVIDIA libraries, and none are installed here.",
    )
