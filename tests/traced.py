"""Projects whose modules shadow the imports of kerascheck and its hosts."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHADOWING = (
    "click", "libcst", "re", "json", "kerascheck", "tensorflow", "keras", "numpy", "packaging", "pathspec", "tomllib", "flake8",
    "pycodestyle", "typing", "types", "subprocess", "multiprocessing", "pickle", "ast", "sitecustomize", "usercustomize",
)  # fmt: skip
_IMPORTED = "imported"


def write_shadowing_modules(folder):
    """Write modules that record their import in ``folder``, and a package that declares rules."""
    for name in SHADOWING:
        mark = f"open({str(folder / _IMPORTED)!r}, 'a').write('{name} ')\n"
        (folder / f"{name}.py").write_text(f"{mark}import tensorflow as tf\n")
    (folder / "evil-1.0.dist-info").mkdir()
    (folder / "evil-1.0.dist-info" / "entry_points.txt").write_text(
        "[kerascheck.rules]\nx = re\n[flake8.extension]\nKCE = re:x\n"
    )


def run_script(folder, function, *arguments):
    """Run a console script, as pip would write it, in the project's folder; the script is in a separate folder.

    Args:
        function: the function that the script calls, as ``module:function``.

    Returns:
        The completed process, and the names of the project's modules that were imported.
    """
    module, _, name = function.partition(":")
    script = folder.parent / "bin" / module
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"import sys\nfrom {module} import {name}\nsys.exit({name}())\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    mark = folder / _IMPORTED
    return ran, mark.read_text().split() if mark.exists() else []
