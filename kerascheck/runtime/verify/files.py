"""Atomic writes of files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` as UTF-8 atomically, creating the file if necessary; raises OSError with nothing changed."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent or ".")
    try:
        with open(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "replace"))
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
