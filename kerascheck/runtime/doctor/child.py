"""Collect facts about the frameworks, in the interpreter that trains, and write them as JSON lines to a file.

The parent runs this file as ``python -c``. That interpreter may lack kerascheck and be older than the parent's, so
the file imports the standard library only and supports Python 3.6. Each line is an object. The reader merges them,
so facts written before a crash are kept.
"""

import json
import os
import re
import shutil
import sys

# Public packages only: the names of private ones are confidential.
_DISTRIBUTIONS = re.compile(
    r"(?:tensorflow(?:-cpu|-cpu-aws|-intel|-gpu|-macos|-metal|-rocm|-directml|-directml-plugin)?|"
    r"tf-nightly(?:-cpu|-gpu)?|keras|keras-nightly|tf-keras|"
    r"jax|jaxlib|jax-cuda\d\d-(?:plugin|pjrt)|jax-metal|libtpu|torch|numpy|protobuf|ml-dtypes|"
    r"nvidia-[a-z]+(?:-[a-z]+)?-cu\d\d)$"
)
_DECLARING = re.compile(r"(?:tensorflow(?:-cpu|-intel|-gpu)?|tf-nightly|keras|tf-keras)$")


def main(path, wanted):
    """Write the ``wanted`` facts to the file at ``path``: "all", or "gpus" for only the GPUs of the backend."""
    # Drop the current folder: it need not be the folder of the script that trains.
    sys.path[:] = [folder for folder in sys.path if folder]
    with open(path, "w") as out:

        def tell(**facts):
            out.write(json.dumps(facts) + "\n")
            out.flush()

        tell(version="%d.%d.%d" % sys.version_info[:3])
        if wanted == "all":
            tell(**distributions())
            tell(**compilers())
        backend, source = chosen_backend()
        for name, about in (
            ("tensorflow", about_tensorflow),
            ("keras", about_keras),
            ("jax", about_jax),
            ("torch", about_torch),
        ):
            if (
                not is_installed(name)
                or name in ("jax", "torch")
                and name != backend
                or wanted == "gpus"
                and name != backend
            ):
                continue
            tell(during=name)
            try:
                facts = about()
            except BaseException as problem:  # a broken installation raises anything
                facts = {"error": "%s: %s" % (type(problem).__name__, problem)}
            if name == "keras":
                facts.setdefault("backend", backend)
                facts["backend_from"] = source
            tell(**{name: facts})
        tell(during=None)


def is_installed(name):
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def distributions():
    try:
        from importlib import metadata
    except ImportError:
        return {}
    packages, requires = {}, {}
    for distribution in metadata.distributions():
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"] or "").lower()
        if _DISTRIBUTIONS.match(name) and name not in packages:
            packages[name] = distribution.version
            if _DECLARING.match(name):
                requires[name] = list(distribution.requires or ())
    return {"packages": packages, "requires": requires}


def compilers():
    """Whether ptxas and libdevice, with which XLA compiles, are where TensorFlow looks for them."""
    homes = [os.path.join(folder, "nvidia", "cuda_nvcc") for folder in sys.path]
    homes += [
        "/usr/local/cuda",
        "/opt/cuda",
        sys.prefix,
        os.environ.get("CUDA_HOME") or "/usr/local/cuda",
        os.environ.get("CUDA_DIR") or "/usr/local/cuda",
    ]
    homes += re.findall(r"--xla_gpu_cuda_data_dir=(\S+)", os.environ.get("XLA_FLAGS", ""))
    return {
        "ptxas": bool(shutil.which("ptxas"))
        or any(os.path.exists(os.path.join(home, "bin", "ptxas")) for home in homes),
        "libdevice": any(os.path.isdir(os.path.join(home, "nvvm", "libdevice")) for home in homes),
    }


def chosen_backend():
    """The backend of Keras 3 and its origin, determined as in keras/src/backend/config.py."""
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"], "KERAS_BACKEND"
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(home, "keras.json")) as file:
            backend = json.load(file).get("backend")
    except (OSError, ValueError, AttributeError):
        backend = None
    # Keras writes the file itself, with the default.
    return (backend, "keras.json") if backend and backend != "tensorflow" else ("tensorflow", None)


def about_tensorflow():
    import tensorflow as tf

    facts = {"version": tf.__version__}

    def add(name, look):
        try:
            facts[name] = look()
        except Exception:  # not in this version
            pass

    build = {}
    try:
        build = dict(tf.sysconfig.get_build_info())
    except Exception:  # before 2.3
        pass
    add(
        "cuda", lambda: bool(build["is_cuda_build"]) if "is_cuda_build" in build else bool(tf.test.is_built_with_cuda())
    )
    add("cuda_version", lambda: str(build["cuda_version"]))
    add("cudnn_version", lambda: str(build["cudnn_version"]))
    add("architectures", lambda: list(build["cuda_compute_capabilities"]))
    config = getattr(tf, "config", None)
    config = config if hasattr(config, "list_physical_devices") else getattr(config, "experimental", None)
    listed = getattr(config, "list_physical_devices", None)
    gpus = listed("GPU") if listed is not None else None
    if gpus is not None:  # before 1.14
        facts["gpus"] = len(gpus)
        add("devices", lambda: [dict(tf.config.experimental.get_device_details(gpu)) for gpu in gpus])
    add("tf32", lambda: bool(tf.config.experimental.tensor_float_32_execution_enabled()))

    def deterministic():
        from tensorflow.python.framework import config as inner

        return bool(inner.is_op_determinism_enabled())

    add("deterministic", deterministic)
    return facts


def about_keras():
    import keras

    facts = {"version": keras.__version__}
    try:
        facts["backend"] = keras.backend.backend()
    except AttributeError:  # Keras 2
        pass
    return facts


def about_jax():
    import jax

    devices = jax.devices()
    return {"version": jax.__version__, "gpus": sum(device.platform in ("gpu", "cuda", "rocm") for device in devices)}


def about_torch():
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "version": torch.__version__,
        "cuda": torch.version.cuda is not None,
        "cuda_version": torch.version.cuda,
        "gpus": count,
    }


if __name__ == "__main__":
    main(*sys.argv[1:3])
