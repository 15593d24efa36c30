"""Versions pinned by the files of a project."""

import json

import pytest

from kerascheck.project import requirements
from kerascheck.project.requirements import RequirementsFile, kind_of
from kerascheck.source import Source
from kerascheck.source.reading import decode


@pytest.fixture(autouse=True)
def nothing_remembered():
    requirements.invalidate()


def specifiers(pins):
    return {package: pin.specifier for package, pin in pins.items()}


def pinned_versions(path):
    return specifiers(requirements.pinned_versions(path))


def command_versions(commands):
    return specifiers(requirements.command_versions(commands))


def script_versions(text):
    return specifiers(requirements.script_versions(text))


@pytest.mark.parametrize(
    ("name", "content", "pins"),
    [
        ("requirements.txt", "numpy\ntensorflow==2.10.1  # old\n", {"tensorflow": "==2.10.1"}),
        ("requirements-gpu.txt", "tensorflow-gpu[and-cuda] >= 2.8, < 2.11\n", {"tensorflow": ">=2.8,<2.11"}),
        ("requirements.txt", "tf_keras~=2.15\nKeras<3\n", {"tf-keras": "~=2.15", "keras": "<3"}),
        ("requirements.txt", "tensorflow>=2.10\nkeras\ntensorflow-datasets==4.9\n", {}),
        ("requirements.txt", "tensorflow==2.10; sys_platform == 'win32'\n", {}),
        ("requirements.txt", "-r other.txt\n# tensorflow==2.1\n--hash=x\n", {}),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow==2.9.*", "keras>2"]\n', {"tensorflow": "==2.9.*"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "^2.10"\n', {"tensorflow": ">=2.10,<3"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\nkeras = "~2.10.1"\n', {"keras": ">=2.10.1,<2.11"}),
        ("pyproject.toml", '[tool.poetry.dependencies]\nkeras = {version = "2.12"}\n', {"keras": "==2.12"}),
        ("pyproject.toml", '[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]\ngpu = ["tensorflow<2.16"]\n', {"tensorflow": "<2.16"}),
        ("pyproject.toml", '[project]\ndependencies = ["keras==2.4"]\n[project.optional-dependencies]\ngpu = ["tensorflow<2.16"]\n', {"keras": "==2.4"}),
        ("pyproject.toml", '[project]\noptional-dependencies = 3\n', {}),
        ("pyproject.toml", "keras = [broken\n", {}),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    tensorflow<=2.4\n", {"tensorflow": "<=2.4"}),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n[options.extras_require]\npc =\n    tensorflow==2.15.*\n", {"tensorflow": "==2.15.*"}),
        ("environment.yml", "dependencies:\n  - conda-forge::tensorflow=2.9\n  - pip:\n    - keras==2.9.0\n",
         {"tensorflow": "==2.9.*", "keras": "==2.9.0"}),
        ("environment.yml", "dependencies:\n  - tensorflow-gpu=2.4.1=h8a7_0\n", {"tensorflow": "==2.4.1.*"}),
        # conda list --export > requirements.txt
        ("requirements.txt", "# platform: win-64\nkeras=2.2.4=0\ntensorflow=1.12.0=gpu_py36\n", {"keras": "==2.2.4.*", "tensorflow": "==1.12.0.*"}),
        ("environment-gpu.yaml", "dependencies:\n  - tensorflow-gpu=1.13\n", {"tensorflow": "==1.13.*"}),
        ("gpu_requirements.txt", "tensorflow==2.4\n", {"tensorflow": "==2.4"}),
        ("requirements.txt", "tensorflow\nnumpy==1.22.4\n", {"tensorflow": "<2.14"}),
        ("requirements.txt", "tensorflow>=2.10\nnumpy<2\n", {}),
        ("requirements.txt", "keras==2.2.4\nnumpy==1.16\n", {"keras": "==2.2.4"}),
        ("requirements.txt", "keras==2.4.3\nnumpy==1.16\n", {"keras": "==2.4.3", "tensorflow": "<2.12"}),
        ("setup.py", "from setuptools import setup\nNEEDS = ['numpy', 'tensorflow-gpu<2.5']\nsetup(name='a', install_requires=NEEDS)\n", {"tensorflow": "<2.5"}),
        ("setup.py", "import setuptools\nsetuptools.setup(install_requires=['keras==2.4'], extras_require={'x': ['tensorflow==1.15']})\n", {"keras": "==2.4"}),
        ("setup.py", "extra = {'old': ['tensorflow>=1.15,<2'], 'new': ['tensorflow>=2.4']}\nsetup(install_requires=['numpy'], extras_require=extra)\n", {}),
        ("setup.py", "extra = {'gpu': ['tensorflow<2.16'], 'x': read()}\nsetup(install_requires=['numpy'], extras_require=extra)\n", {"tensorflow": "<2.16"}),
        ("setup.py", "needs = {'install': ['tensorflow==2.7'], 'test': ['keras==2.1']}\ninstall = needs['install']\nsetup(install_requires=install)\n", {"tensorflow": "==2.7"}),
        ("setup.py", "COMMON = ['numpy']\nTF = 'tensorflow<2.5'\nsetup(install_requires=COMMON + [TF, *('keras==2.4',)])\n", {"tensorflow": "<2.5", "keras": "==2.4"}),
        ("setup.py", "a = ['tensorflow==2.3']\nif gpu:\n    a = ['tensorflow-gpu==2.4']\na += ['keras<3']\nsetup(install_requires=a)\n", {"tensorflow": "==2.4", "keras": "<3"}),
        ("setup.py", "a = b + ['keras<3']\nb = a + read('tensorflow==2.1')\nc = {'x': 1}\nsetup(install_requires=[*a, *c['y'], *c[0]])\n", {"keras": "<3"}),
        ("setup.py", "setup(install_requires=[read('tensorflow==2.1')])\n", {}),
        ("setup.py", "setup(install_requires=['tensorflow==2.1'\n", {}),
        ("Dockerfile", "FROM tensorflow/tensorflow:2.4.1-gpu-jupyter\nRUN pip install keras==2.4.*\n# RUN pip install tensorflow==2.1\n",
         {"tensorflow": "==2.4.1", "keras": "==2.4.*"}),
        ("Dockerfile", "FROM docker.io/tensorflow/tensorflow:latest-gpu\nRUN pip install tensorflow-datasets==4.0\n", {}),
        ("Dockerfile", "ARG TAG=1.12.0-py3\nFROM tensorflow/tensorflow:$TAG\n", {"tensorflow": "==1.12.0"}),
        ("Dockerfile", "ARG TAG\nARG V='2.4'\nFROM tensorflow/tensorflow:${V}.1-${TAG}\n", {"tensorflow": "==2.4.1"}),
        ("Dockerfile", "FROM tensorflow/tensorflow:${TAG:-2.4.1}\n", {"tensorflow": "==2.4.1"}),
        ("Dockerfile", "ARG TAG\nFROM tensorflow/tensorflow:${TAG}\n", {}),
        ("Dockerfile", "FROM /cvmfs/images.example.org/science/tensorflow-gpu:2.2-cuda-10.1\n", {"tensorflow": "==2.2"}),
        ("Dockerfile", "FROM example/tensorflow:20.03-py3\n", {}),
        ("Dockerfile", "FROM gw000/keras:2.1.1-py3-tf-cpu\n", {"keras": "==2.1.1"}),
        ("Dockerfile", "FROM example/keras-ocr:2.1.1\n", {}),
        ("requirements.txt", "python=3.6\ntensorflow-gpu=1.13.1\n", {"tensorflow": "==1.13.1.*"}),
        ("Dockerfile", "RUN PIP_INSTALL='python3 -m pip --no-cache-dir install' && \\\n    $PIP_INSTALL \\\n        h5py \\\n        keras==2.2.2 \\\n        && ls\n", {"keras": "==2.2.2"}),
        ("Dockerfile", "RUN pip --no-cache-dir install keras==2.2.2\n", {"keras": "==2.2.2"}),
        ("Dockerfile_CPU", "RUN ${CONDA_INSTALL} tensorflow=2.3\n", {"tensorflow": "==2.3.*"}),
        ("Dockerfile", "RUN echo $PIP keras==2.2.2\n", {}),
        ("Dockerfile", "FROM example/tensorflow-serving:2.2\n", {}),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:18.11-py3\n", {"tensorflow": "<2"}),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:19.12-tf2-py3\n", {"tensorflow": "<2.1"}),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:21.03-tf2-py3\n", {"tensorflow": "<2.5"}),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:22.03-tf1-py3\n", {"tensorflow": "<2"}),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:24.03-tf2-py3\n", {"tensorflow": "<2.16"}),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:99.01-tf2-py3\n", {}),
        ("Dockerfile", "FROM 1.dkr.ecr.eu-west-1.amazonaws.com/tensorflow-training:2.7.1-gpu-py38\n", {"tensorflow": "==2.7.*"}),
        ("Dockerfile", "FROM us-docker.pkg.dev/vertex-ai/training/tf-gpu.2-8:latest\n", {"tensorflow": "==2.8.*"}),
        ("Dockerfile", "FROM gcr.io/deeplearning-platform-release/tf2-cpu.2-6\n", {"tensorflow": "==2.6.*"}),
        ("poetry.lock", '[[package]]\nname = "tensorflow"\nversion = "2.9.1"\n', {"tensorflow": "==2.9.1"}),
        ("uv.lock", '[[package]]\nname = "keras"\nversion = "3.4.1"\n', {"keras": "==3.4.1"}),
        ("Pipfile.lock", '{"default": {"tensorflow": {"version": "==2.8.0"}}}', {"tensorflow": "==2.8.0"}),
        ("Pipfile.lock", '{"default": ["tensorflow"]}', {}),
        # The last release with wheels for a Python.
        ("setup.py", "setup(install_requires=[f'{tensorflow}>=2.1'], python_requires='>=3.6.0, <3.9.0')\n", {"tensorflow": "<2.14"}),
        ("setup.py", "PYTHON = '>=3.6,<3.8'\nsetup(install_requires=['tensorflow>=2.4'], python_requires=PYTHON)\n", {"tensorflow": "<2.12"}),
        ("setup.py", "setup(install_requires=['tensorflow<2.5'], python_requires='<3.9')\n", {"tensorflow": "<2.5"}),
        ("setup.py", "setup(install_requires=['tensorflow==2.15'], python_requires='<3.9')\n", {"tensorflow": "==2.15"}),
        ("setup.py", "setup(install_requires=['tensorflow<2.16', 'keras<4'], python_requires='<3.9')\n", {"tensorflow": "<2.16,<2.14", "keras": "<4"}),
        ("setup.py", "setup(python_requires='>=3.6')\n", {}),
        ("setup.py", "setup(python_requires=versions())\n", {}),
        ("setup.cfg", "[options]\npython_requires = <3.7\n", {"tensorflow": "<2.7"}),
        ("pyproject.toml", "[project]\nrequires-python = '>=3.7,<3.10'\n", {"tensorflow": "<2.21"}),
        ("pyproject.toml", "[project]\nrequires-python = '>=3.7,<3.11'\n", {}),
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = '~3.7'\n", {"tensorflow": "<2.12"}),
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = '^3.7'\n", {}),
        ("environment.yml", "dependencies:\n  - python=3.8.5\n  - tensorflow\n", {"tensorflow": "<2.14"}),
        ("Dockerfile", "FROM python:3.6-slim AS base\nRUN pip install tensorflow\n", {"tensorflow": "<2.7"}),
        ("Dockerfile", "FROM python:3-slim\nRUN pip install tensorflow\n", {}),
        ("gpu.Dockerfile", "FROM a\nRUN conda install -y tensorflow=2.3 && pip install \\\n  -U 'tf-keras<2.16'\n", {"tensorflow": "==2.3.*", "tf-keras": "<2.16"}),
    ],
)  # fmt: skip
def test_bounded_versions(tmp_path, name, content, pins):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(content)
    (tmp_path / "pkg").mkdir()
    assert pinned_versions(tmp_path / "pkg" / "train.py") == pins


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("requirements-gpu.txt", "numpy\ntensorflow-gpu[and-cuda] >= 2.8, < 2.11\n", 2),
        ("requirements.txt", "# tensorflow==2.10\ntensorflow-datasets==2.10\ntensorflow==2.10\n", 3),
        (
            "pyproject.toml",
            '[project]\nname = "tensorflow"\ndependencies = [\n  "numpy",\n  "tensorflow==2.9.*",\n]\n',
            5,
        ),
        ("pyproject.toml", '[project]\nrequires-python = "<3.8"\ndependencies = ["tensorflow"]\n', 2),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "3"\ntensorflow = "^2.10"\n', 3),
        ("Pipfile", '[packages]\ntensorflow = "==2.7.0"\n', 2),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    tensorflow<=2.4\n", 4),
        ("setup.py", "setup(\n    install_requires=['tensorflow'],\n    python_requires='<3.8')\n", 3),
        ("environment.yml", "dependencies:\n  - python\n  - tensorflow=2.3=gpu_py37\n", 3),
        ("requirements.txt", "numpy==1.21.6\ntensorflow\n", 1),
        ("Dockerfile", "FROM tensorflow/tensorflow:2.3.1-gpu\nRUN pip install tensorflow-datasets\n", 1),
        ("Dockerfile", "FROM python:3.6-slim AS base\nRUN pip install tensorflow\n", 1),
    ],
)
def test_bounds_have_a_location(tmp_path, name, content, line):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(content)
    stated = requirements.pinned_versions(tmp_path / "train.py")["tensorflow"].stated
    assert (stated.path, stated.line) == (str(tmp_path / name), line)


@pytest.mark.parametrize(
    ("encoding", "pins"), [("utf-16", {"keras": "==2.3.1"}), ("utf-8-sig", {"keras": "==2.3.1"}), ("utf-16-be", {})]
)
def test_byte_order_marks_set_the_encoding(tmp_path, encoding, pins):
    (tmp_path / "requirements.txt").write_text("Keras==2.3.1\r\n", encoding=encoding)
    assert pinned_versions(tmp_path / "train.py") == pins


@pytest.mark.parametrize(
    ("cells", "pins"),
    [
        (["!pip install -q tensorflow==2.5 numpy"], {"tensorflow": "==2.5"}),
        (["%pip install 'tensorflow>=2.4,<2.6' keras"], {"tensorflow": ">=2.4,<2.6"}),
        (["import os\n! {sys.executable} -m pip install \\\n  tensorflow==2.5"], {"tensorflow": "==2.5"}),
        (["%%bash\npip install tensorflow==2.5"], {"tensorflow": "==2.5"}),
        (["!pip install tensorflow==2.5", "!pip install tensorflow==2.6"], {"tensorflow": "==2.6"}),
        (["# !pip install tensorflow==2.5\nx = 1"], {}),
        (["print('pip install tensorflow==2.5')"], {}),
        (["!pip install -U tensorflow"], {}),
        (["%tensorflow_version 1.x\nimport tensorflow"], {"tensorflow": "<2"}),
        (["%tensorflow_version 2.x\nimport tensorflow"], {}),
    ],
)
def test_versions_that_a_notebook_installs(cells, pins):
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": {}, "nbformat": 4}
    assert command_versions(decode("a.ipynb", json.dumps(notebook).encode()).commands) == pins


def test_the_newest_python_counts_and_nearer_files_take_precedence(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "setup.py").write_text("setup(install_requires=['tensorflow>=2.1'], python_requires='>=3.6')")
    (tmp_path / "environment.yml").write_text("dependencies:\n  - python=3.7\n")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "setup.py").write_text("setup(python_requires='<3.8')")
    assert pinned_versions(tmp_path / "train.py") == {}
    assert pinned_versions(tmp_path / "part" / "train.py") == {"tensorflow": "<2.12"}


def test_a_notebook_beside_a_single_subproject_uses_its_requirements(tmp_path):
    for part in (".git", "src", "docs"):
        (tmp_path / part).mkdir()
    (tmp_path / "src" / "requirements.txt").write_text("tensorflow==2.7.0\n")
    assert pinned_versions(tmp_path / "train.ipynb") == {"tensorflow": "==2.7.0"}


def test_several_subprojects_do_not_apply_to_files_beside_them(tmp_path):
    for part, version in (("one", "2.7"), ("two", "2.15")):
        (tmp_path / part).mkdir()
        (tmp_path / part / "requirements.txt").write_text(f"tensorflow=={version}\n")
    (tmp_path / ".git").mkdir()
    assert pinned_versions(tmp_path / "train.ipynb") == {}


@pytest.mark.parametrize(
    ("lock", "bound"), [("", ">=2.9,<3"), ('[[package]]\nname = "tensorflow"\nversion = "2.9.1"\n', "==2.9.1")]
)
def test_a_lock_overrides_its_manifest(tmp_path, lock, bound):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["tensorflow>=2.9,<3"]\n')
    (tmp_path / "uv.lock").write_text(lock)
    assert pinned_versions(tmp_path / "train.py") == {"tensorflow": bound}


def test_pipfiles_pin_too(tmp_path):
    (tmp_path / "Pipfile").write_text(
        '[packages]\ntensorflow = "==2.7.0"\nkeras = {version = "==2.7.*"}\n[dev-packages]\ntf-keras = "==2.15"\n[requires]\npython_version = "3.8"\n'
    )
    assert pinned_versions(tmp_path / "train.py") == {"tensorflow": "==2.7.0", "keras": "==2.7.*"}


def test_the_newer_of_two_bounds_counts(tmp_path):
    (tmp_path / "requirements.txt").write_text("tensorflow==2.10\nkeras==2.10\n")
    (tmp_path / "requirements-new.txt").write_text("tensorflow==2.15\nkeras == 2.10\n")
    assert pinned_versions(tmp_path / "train.py") == {"tensorflow": "==2.15", "keras": "==2.10"}


@pytest.mark.parametrize(
    ("files", "pins"),
    [
        ({"conda_env.yml": "  - tensorflow=2.9=mkl_1\n  - keras=2.9\n", "conda_env_gpu.yml": "  - tensorflow=2.4\n  - numpy\n"}, {"tensorflow": "==2.4.*", "keras": "==2.9.*"}),
        ({"requirements.txt": "tensorflow==2.9\n", "requirements-gpu.txt": "tensorflow-gpu==2.4\n"}, {"tensorflow": "==2.4"}),
        # A version left open by one file may be set by another; images install packages on top of their own.
        ({"requirements.txt": "tensorflow==2.9\n", "requirements_gpu.txt": "tensorflow\n"}, {"tensorflow": "==2.9"}),
        ({"requirements.txt": "tensorflow==2.9\n", "Dockerfile.gpu": "FROM tensorflow/tensorflow:2.4.1-gpu\n"}, {"tensorflow": "==2.9"}),
        ({"requirements.txt": "tensorflow==2.9\n", "requirements-gpujobs.txt": "tensorflow==2.4\n"}, {"tensorflow": "==2.9"}),
    ],
)  # fmt: skip
def test_a_file_for_the_gpu_is_preferred(tmp_path, files, pins):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert pinned_versions(tmp_path / "train.py") == pins


@pytest.mark.parametrize(
    ("name", "content", "pins"),
    [
        ("requirements/base.txt", "tensorflow==2.3\n", {"tensorflow": "==2.3"}),
        ("docker/Dockerfile", "FROM tensorflow/tensorflow:2.3.1-gpu\n", {"tensorflow": "==2.3.1"}),
        ("conda/environment.yml", "dependencies:\n  - tensorflow=2.3\n", {"tensorflow": "==2.3.*"}),
        ("docs/requirements.txt", "tensorflow==2.3\n", {}),
        ("docker/notes.txt", "tensorflow==2.3\n", {}),
    ],
)
def test_versions_in_requirements_folders(tmp_path, name, content, pins):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(content)
    (tmp_path / "src").mkdir()
    assert pinned_versions(tmp_path / "src" / "train.py") == pins


def test_files_in_the_folder_itself_come_first(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "Dockerfile").write_text("FROM tensorflow/tensorflow:1.12\n")
    (tmp_path / "requirements.txt").write_text("tensorflow\n")
    assert pinned_versions(tmp_path / "train.py") == {}


def test_the_nearest_folder_decides_and_the_repository_ends_the_search(tmp_path):
    (tmp_path / "requirements.txt").write_text("keras==1.0\n")
    inner = tmp_path / "repo" / "pkg"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / "requirements.txt").write_text("tensorflow==2.3\n")
    assert pinned_versions(inner / "train.py") == {"tensorflow": "==2.3"}
    # Accepting any version is a decision too.
    (inner / "requirements.txt").write_text("tensorflow\nnumpy==1.0\n")
    requirements.invalidate()
    assert pinned_versions(inner / "train.py") == {}
    (inner / "requirements.txt").write_text("numpy==1.0\n")
    requirements.invalidate()
    assert pinned_versions(inner / "train.py") == {"tensorflow": "==2.3"}
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "repo" / "requirements.txt").unlink()
    requirements.invalidate()
    assert pinned_versions(inner / "train.py") == {}


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        ('# /// script\n# dependencies = ["tensorflow==2.10.*", "numpy"]\n# ///\nimport tensorflow\n', {"tensorflow": "==2.10.*"}),
        ('#!/usr/bin/env python\n# /// script\r\n# requires-python = ">=3.9"\r\n#\r\n# dependencies = [\r\n#   "keras<3",\r\n# ]\r\n# ///\r\n', {"keras": "<3"}),
        ('# /// script\n# dependencies = ["tensorflow"]\n# ///\n', {}),
        ('# /// script\n# dependencies = "tensorflow==2.10"\n# ///\n', {}),
        ("# /// script\n# dependencies = [\n# ///\n", {}),
        ('# dependencies = ["tensorflow==2.10"]\n', {}),
        ("import tensorflow\n", {}),
    ],
)  # fmt: skip
def test_versions_that_a_script_states(text, pins):
    assert script_versions(text) == pins


# --- the files themselves ------------------------------------------------------------------------------


def asked_for(name, text):
    """Name with extras, specifier, marker, manager and group of every requirement, separated by "|"."""
    found = RequirementsFile(Source(name, text)).requirements
    for each in found:
        assert text[each.start : each.end].startswith(text[each.start : each.name_end])
    return [
        "|".join([each.name + str(sorted(each.extras) or ""), each.specifier, each.marker, each.by, each.group]).rstrip(
            "|"
        )
        for each in found
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("requirements.txt", "# x\nA_b >= 1, < 2  # hi\n-r other.txt\n--hash=x\ngit+https://h/y\nc @ file:x\nd[e, F]==2 ; python_version > '3'\n",
         ["a-b|>= 1, < 2||pip", "d['e', 'f']|==2|python_version > '3'|pip"]),
        ("environment.yml", "name: n\ndependencies:\n  - conda-forge::tensorflow=2.9=mkl_1\n  - pip:\n    - keras==2.9\n  - numpy\n",
         ["tensorflow|=2.9=mkl_1||conda", "keras|==2.9||pip", "numpy|||conda"]),
        ("pyproject.toml", '[project]\nkeywords = ["keras"]\ndependencies = [\n  "a[b]>=1; x == \'y\'", # "c"\n]\n[project.optional-dependencies]\ngpu = ["d"]\n'
         '[dependency-groups]\ntest = [\'e\', {include-group = "f"}]\n[tool.x]\ndependencies = ["g"]\n',
         ["a['b']|>=1|x == 'y'|pip", "d|||pip|gpu", "e|||pip|test", "f|||pip|test"]),
        ("pyproject.toml", '[tool.poetry.dependencies]\na = "^2.1"\nb = {version = "~3.0", extras = ["x"], markers = "m"}\nc = "*"\n[tool.poetry.group.dev.dependencies]\nd = "1.0"\n',
         ["a|>=2.1,<3||poetry", "b['x']|>=3.0,<3.1|m|poetry", "c|||poetry", "d|==1.0||poetry|dev"]),
        ("Dockerfile", "FROM a:1\nRUN apt-get install x && pip install -q \\\n  numpy 'tensorflow[and-cuda]==2.16' ; echo tensorflow\n# RUN pip install y\nRUN conda install -y keras=3 # z\n",
         ["numpy|||pip", "tensorflow['and-cuda']|==2.16||pip", "keras|=3||conda"]),
    ],
)  # fmt: skip
def test_requirements_of_each_file_format(name, text, expected):
    assert asked_for(name, text) == expected


def test_images_beside_comments():
    file = RequirementsFile(
        Source("Dockerfile", "# syntax=x\nFROM --platform=linux/amd64 a/b:1 AS base\nfrom c\nRUN pip install d # e\n")
    )
    assert file.images == ["a/b:1", "c"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("requirements.txt", "pip"), ("a/requirements-gpu.in", "pip"), ("requirements/base.txt", "pip"), ("dev_requirements.txt", "pip"),
        ("pyproject.toml", "pyproject"), ("environment.yml", "conda"), ("conda/env.yaml", "conda"), ("environment-gpu.yaml", "conda"),
        ("Dockerfile", "docker"), ("docker/Dockerfile.gpu", "docker"), ("train.dockerfile", "docker"), ("Containerfile", "docker"),
        ("train.py", None), ("notes.txt", None), ("requirements.py", None), ("settings.toml", None), ("mkdocs.yml", None), ("Dockerfiles.py", None),
    ],
)  # fmt: skip
def test_file_kinds_by_name(path, kind):
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("tensorflow-cpu==2.15\n", True),
        ("tensorflow_cpu\nnumpy\n", True),
        ("tensorflow\n", False),
        ("tensorflow-cpu\ntensorflow-gpu\n", False),
        ("numpy\n", False),
    ],
)
def test_a_build_without_gpus(tmp_path, content, wanted):
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(content)
    (tmp_path / "pkg").mkdir()
    assert requirements.wants_cpu(tmp_path / "pkg" / "train.py") is wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("_tflow_select=2.3.0", True),
        ("_tflow_select=2.2.0=eigen", True),
        ("_tflow_select=2.1.0", False),
        ("tensorflow-base=2.6.0=mkl_py39h3d85931_0", True),
        ("tensorflow-base=2.6.0=gpu_py39_0", False),
    ],
)
def test_a_conda_build_without_gpus(tmp_path, line, wanted):
    (tmp_path / "environment.yml").write_text(f"dependencies:\n  - {line}\n  - tensorflow=2.6.0\n")
    assert requirements.wants_cpu(tmp_path / "train.py") is wanted


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (
            {
                "conda_env.yml": "  - _tflow_select=2.3.0=mkl\n  - tensorflow=2.3\n",
                "conda_env_gpu.yml": "  - _tflow_select=2.1.0=gpu\n  - tensorflow=2.3\n",
            },
            False,
        ),
        ({"conda_env.yml": "  - tensorflow=2.3=mkl_1\n", "conda_env_gpu.yml": "  - tensorflow-gpu=2.3\n"}, False),
        ({"requirements.txt": "tensorflow-cpu\n", "requirements-all.txt": "tensorflow\n"}, False),
        (
            {
                "requirements.txt": "tensorflow-intel==2.12\ntensorflow==2.12\n",
                "requirements-linux.txt": "tensorflow==2.12\n",
            },
            False,
        ),
        (
            {
                "conda_env.yml": "  - tensorflow=2.3=mkl_1\n",
                "requirements.txt": "tensorflow-cpu\n",
                "requirements-test.txt": "pytest\n",
            },
            True,
        ),
    ],
)
def test_contradictory_files_give_no_version(tmp_path, files, wanted):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert requirements.wants_cpu(tmp_path / "train.py") is wanted


@pytest.mark.parametrize(
    ("name", "content", "lets"),
    [
        ("Dockerfile", "FROM a\nENV TF_FORCE_GPU_ALLOW_GROWTH=true\n", True),
        ("Dockerfile", "FROM a\n# ENV TF_FORCE_GPU_ALLOW_GROWTH=true\n", False),
        ("compose.yml", "a: b  # TF_FORCE_GPU_ALLOW_GROWTH\n", False),
        (".env", "TF_FORCE_GPU_ALLOW_GROWTH=true\n", True),
    ],
)
def test_memory_growth_set_in_the_environment(tmp_path, name, content, lets):
    (tmp_path / name).write_text(content)
    assert requirements.lets_memory_grow(tmp_path / "train.py") is lets


def test_a_comment_is_no_part_of_a_requirement():
    file = RequirementsFile(
        Source("pyproject.toml", "[tool.poetry.dependencies]\na = '^2.1'  # {version = '3.0', extras = ['x']}\n")
    )
    assert [(each.specifier, each.extras) for each in file.requirements] == [(">=2.1,<3", frozenset())]
    assert RequirementsFile(Source("Dockerfile", "FROM a # b\n# CUDA\nRUN c#d\n")).code == "FROM a \n\nRUN c#d\n"
