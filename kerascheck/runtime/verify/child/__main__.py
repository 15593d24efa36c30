"""Entry point of a measured process: ``python child/__main__.py RUN.json``; ``--profile FILE`` reads a profile.

:mod:`kerascheck.runtime.verify.process` writes ``RUN.json``; :func:`run` reads its keys. Errors of the script never
surface as errors of this file: the parent receives one message about the end of the script.
"""

import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load_package():
    """Import this folder as ``_kerascheck_child`` without putting it on ``sys.path``."""
    spec = importlib.util.spec_from_file_location(
        "_kerascheck_child", os.path.join(_HERE, "__init__.py"), submodule_search_locations=[_HERE]
    )
    assert spec is not None and spec.loader is not None, "the package lies beside this file"
    module = importlib.util.module_from_spec(spec)
    sys.modules["_kerascheck_child"] = module
    spec.loader.exec_module(module)


def main(run_file):
    """Run the script that ``run_file`` describes; never returns."""
    _load_package()
    from _kerascheck_child import launch

    launch.main(run_file)


def serve_only(run_file):
    """Serve the fixed sources in a worker process of the script (multiprocessing "spawn") without measuring."""
    _load_package()
    from _kerascheck_child import launch

    launch.serve_sources(launch.read(run_file))


def read_profile(path):
    """Print the facts of a recorded profile as JSON; see :mod:`.recorded`."""
    _load_package()
    from _kerascheck_child import recorded

    recorded.main(path)


if __name__ == "__main__":
    if sys.argv[1] == "--profile":
        read_profile(sys.argv[2])
    else:
        main(sys.argv[1])
