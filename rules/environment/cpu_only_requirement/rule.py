import re
from collections.abc import Iterator

from kerascheck.api import (
    Applicability,
    Edit,
    Fix,
    Requirement,
    RequirementsFile,
    RequirementsRule,
    Severity,
    names,
    requirements,
)

_CUDA_EXTRA_SINCE = (2, 14)
_ONE_PACKAGE_SINCE = (2, 1)
_GPU_PACKAGE_GONE = (2, 12)
_LAST_ON_WINDOWS = (2, 10)
# Images that hold nothing of NVIDIA's; what is built on others is not known.
_PLAIN_IMAGE = re.compile(
    r"(?:docker\.io/)?(?:library/)?(?:python|ubuntu|debian|alpine|fedora|continuumio/(?:miniconda|anaconda)3?|condaforge/\S+|mambaorg/\S+)(?::(?!.*(?:cuda|nvidia|gpu))\S*)?$"
)
_CPU_BUILD = re.compile(r"=\s*(?:\*_)?(?:mkl|eigen|cpu)\w*")
_NVIDIA = re.compile(r"nvidia|cuda|cudnn")
_SERVERS = frozenset("bottle django fastapi flask gradio gunicorn sanic streamlit tornado uvicorn waitress".split())
_OTHERS_ON_GPU = frozenset({"jax", "jaxlib", "flax", "torch"})
# Packages that bring a device of their own to a TensorFlow without CUDA.
_PLUGIN = re.compile(r"tensorflow[-_]directml|tensorflow[-_]metal|intel[-_]extension[-_]for[-_]tensorflow", re.I)
_ON_PURPOSE = re.compile(r"\bcpu\b|cpu[-_ ]only", re.I)
# An image that only shows what another has recorded.
_SHOWS = re.compile(r"^\s*(?:CMD|ENTRYPOINT)\b.*\btensorboard\b", re.M)
_ENVIRONMENT = re.compile(r"(?m)^name:[ \t]*(\S+)")
_ASIDE = frozenset("doc docs readthedocs rtd test tests ci dev lint cpu".split())


class CpuOnlyRequirement(RequirementsRule):
    """The requirements leave the GPU unused, or cannot be installed.

    ## What it does

    Reads requirements files, `pyproject.toml`, conda environments and Dockerfiles, and reports

    - `tensorflow-cpu`;
    - `tensorflow-gpu`, where the version may be 2.12 or later;
    - `tensorflow` without `[and-cuda]` in a Dockerfile that starts from a plain image and installs no NVIDIA libraries;
    - `tensorflow` for Windows, by a marker, where the version may be 2.11 or later;
    - conda builds with `mkl`, `eigen` or `cpu` in their name.

    It is an info: these files do not say whether there is a GPU.

    ## Why it costs

    The program runs on the CPU without a visible warning. How much that costs depends on the model and the machine;
    it is unmeasured here.

    ## What the runtime does by itself

    TensorFlow looks for the CUDA libraries when it is imported. It uses the GPU if it finds the libraries that it was
    built for, and continues on the CPU if not. The package `tensorflow` is built for GPUs on Linux, but contains no
    CUDA libraries; `tensorflow[and-cuda]` does, from 2.14 on. `tensorflow-gpu` was another name of it up to 2.11;
    from 2.12 on, installing it raises an error. Since 2.11, native Windows has no GPU support; WSL2, which is Linux,
    has it.

    ## When it stays silent

    - `tensorflow` in a requirements file or in `pyproject.toml`: the machine may have CUDA.
    - Images of NVIDIA, TensorFlow's own `-gpu` images and unknown images; NVIDIA's libraries are installed beside it.
    - `tensorflow` of any version in an image with a Python before 3.9, for which no release has `[and-cuda]`.
    - `tensorflow-cpu` beside another `tensorflow` in the file. It, or a build of conda, beside a file in the same folder that
      brings a GPU: by `tensorflow[and-cuda]`, by a `tensorflow-gpu` that can be installed, or by a name such as
      `conda_env_gpu.yml`. There users can choose. Also markers, such as that of a Mac.
    - `tensorflow-cpu` beside a plug-in that brings its own GPU support, for DirectML, Metal or Intel.
    - `tensorflow-cpu` beside a web server or framework, such as Flask or gunicorn: the model is served without a GPU on
      purpose.
    - `tensorflow-cpu` beside JAX, Flax or PyTorch: those use the GPU, and TensorFlow reads the data.
    - The name of the file, folder, group or conda environment says documentation, tests, continuous integration or
      CPU, or a comment in the file mentions the CPU.
    - `# noqa: KC701` at the end of the line, or alone on the line above.
    - Images that only run TensorBoard.
    - Files that do not mention TensorFlow.

    ## Use instead

    `tensorflow[and-cuda]` on Linux with a GPU.

    ## Fix safety

    The name becomes `tensorflow[and-cuda]`, where the version may be 2.14 or later. Unsafe: it installs several
    gigabytes of libraries, and is for Linux only. There is no fix for older versions, conda environments, poetry and
    Windows.

    ## References

    - TensorFlow guide: "Install TensorFlow with pip"
    - TensorFlow release notes: 2.11 (Windows), 2.12 (`tensorflow-gpu`), 2.14 (`[and-cuda]`)
    """

    code = "KC701"
    name = "cpu-only-requirement"
    summary = "requirements leave the GPU unused"
    severity = Severity.INFO
    triggers = ("tensorflow",)
    loss_tolerance = None

    def check(self, file: RequirementsFile):
        if file.images and _SHOWS.search(file.source.text):
            return
        *folders, name = re.split(r"[/\\]", file.source.path.lower())
        folder = re.sub(r"^ci[-_].*|.*[-_]ci$", "ci", folders[-1]) if folders else ""
        environment = _ENVIRONMENT.search(file.source.text) if file.kind == "conda" else None
        named = environment[1].lower() if environment else ""
        for requirement in file.requirements:
            purpose = {folder, *re.split(r"[\W_]+", f"{name} {named} {requirement.group.lower()}")}
            on_purpose = purpose & _ASIDE or _ON_PURPOSE.search(file.comments)
            for problem, because, fix in _problems(file, requirement):
                if not on_purpose or requirement.name == "tensorflow-gpu":
                    yield self.finding(requirement, problem, because=because, fix=fix)


def _problems(file: RequirementsFile, requirement: Requirement) -> Iterator[tuple[str, str, Fix | None]]:
    newest = requirement.newest(names.runtime.TENSORFLOW_RELEASES)
    if requirement.marker:
        if (
            requirement.name == "tensorflow"
            and re.search(r"win32|Windows", requirement.marker)
            and "!=" not in requirement.marker
            and newest
            and newest > _LAST_ON_WINDOWS
        ):
            yield (
                "TensorFlow 2.11 and later has no GPU support on native Windows; use WSL2 or tensorflow<2.11.",
                "The marker selects Windows, and the version may be newer than 2.10.",
                None,
            )
        return
    fix = _with_cuda(requirement) if newest and newest >= _CUDA_EXTRA_SINCE else None
    if requirement.name == "tensorflow-cpu":
        if any(other.name in _SERVERS for other in file.requirements):
            return
        named = (other.name for each in (file, *file.beside()) for other in each.requirements)
        if any(other.name in _OTHERS_ON_GPU for other in file.requirements) or any(map(_PLUGIN.match, named)):
            return
        if not any(other.name == "tensorflow" for other in file.requirements) and not _is_choice(file):
            yield (
                f"tensorflow-cpu never uses a GPU; install {_offered(newest)} where there is one.",
                "The package is built without CUDA.",
                fix,
            )
    elif requirement.name == "tensorflow-gpu" and requirement.by != "conda":
        if newest and newest >= _GPU_PACKAGE_GONE:
            yield (
                "tensorflow-gpu cannot be installed from 2.12 on; use tensorflow[and-cuda].",
                "The package was removed: installing it raises an error.",
                fix,
            )
    elif (
        requirement.name == "tensorflow"
        and requirement.by == "conda"
        and _CPU_BUILD.search(requirement.specifier)
        and not _is_choice(file)
    ):
        yield (
            "This build of TensorFlow uses no GPU; choose one with cuda in its name.",
            "Builds with mkl, eigen or cpu in their name contain no CUDA.",
            None,
        )
    elif (
        requirement.name == "tensorflow"
        and requirement.by == "pip"
        and not requirement.extras
        and file.images
        and newest
        and newest >= _ONE_PACKAGE_SINCE
    ):
        named = any(_NVIDIA.search(other.name) for other in file.requirements)
        # What no Python of the image can have is no remedy.
        impossible = newest >= _CUDA_EXTRA_SINCE > (file.newest_for_image or newest)
        if (
            not named
            and not impossible
            and all(_PLAIN_IMAGE.match(image) for image in file.images)
            and not _NVIDIA.search(file.code)
        ):
            remedy = (
                "install tensorflow[and-cuda]"
                if newest >= _CUDA_EXTRA_SINCE
                else "start from tensorflow/tensorflow:VERSION-gpu"
            )
            yield (
                f"This image has no CUDA, so TensorFlow uses no GPU in it; {remedy}.",
                f"The image {file.images[-1]} contains no NVIDIA libraries, and none are installed here.",
                fix,
            )


def _is_choice(file: RequirementsFile) -> bool:
    """Whether this file, or another in its folder, brings a TensorFlow that uses GPUs."""
    return any(map(_brings_gpu, (other for each in (file, *file.beside()) for other in each.requirements)))


def _brings_gpu(requirement: Requirement) -> bool:
    if requirement.name == "tensorflow":
        return (
            "and-cuda" in requirement.extras
            or requirements.is_named_for_gpu(requirement.module.source.path)
            and not _CPU_BUILD.search(requirement.specifier)
        )
    newest = requirement.newest(names.runtime.TENSORFLOW_RELEASES)
    return requirement.name == "tensorflow-gpu" and (
        requirement.by == "conda" or newest is not None and newest < _GPU_PACKAGE_GONE
    )


def _offered(newest: tuple[int, int] | None) -> str:
    """What brings a TensorFlow with CUDA, by the newest version that is allowed."""
    if newest is None or newest >= _CUDA_EXTRA_SINCE:
        return "tensorflow[and-cuda]"
    return "tensorflow, with CUDA beside it," if newest >= _ONE_PACKAGE_SINCE else "tensorflow-gpu"


def _with_cuda(requirement: Requirement) -> Fix | None:
    if requirement.by != "pip" or requirement.extras:
        return None
    return Fix(
        Applicability.UNSAFE,
        "Install tensorflow[and-cuda]",
        (Edit(requirement.start, requirement.name_end, "tensorflow[and-cuda]"),),
    )
