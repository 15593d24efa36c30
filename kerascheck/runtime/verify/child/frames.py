"""Stack frames of the script, told from those of libraries and of kerascheck."""

import os
import sys
import threading
import types

_OURS = [os.path.dirname(os.path.abspath(__file__))]
_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_OWN: set = set()


def user_stack():
    """[path, line, first line of the function or 0 for the main program] of the script's frames, innermost first."""
    frames: list[types.FrameType | None] = [sys._getframe(2)]
    if threading.current_thread() is not threading.main_thread():
        # Steps counted by another thread, or run there by a strategy.
        frames.append(sys._current_frames().get(threading.main_thread().ident or 0))
    found = []
    for frame in frames:
        while frame is not None:
            if is_user_frame(frame):
                code = frame.f_code
                found.append(
                    [code.co_filename, frame.f_lineno, 0 if code.co_name == "<module>" else code.co_firstlineno]
                )
            frame = frame.f_back
    return found


def user_place():
    """(path, line) of the innermost frame of the script; None if there is none."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def is_user_frame(frame):
    """Whether a stack frame runs code of the script or its own modules, not of a library or kerascheck."""
    return is_user_code(frame.f_code)


def claim(paths):
    """Treat the files at ``paths`` as the script's own, even inside an installed package."""
    _OWN.update(paths)


def disown(folder):
    """Treat the files below ``folder`` as kerascheck's own."""
    if folder not in _OURS:
        _OURS.append(folder)


def user_modules():
    """The main program and the script's own modules, as imported so far."""
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name == "__main__" or (isinstance(path, str) and is_user_path(path)):
            found.append(module)
    return found


def is_user_code(code):
    """Whether code belongs to the script or its own modules, not to a library or kerascheck."""
    return is_user_path(code.co_filename)


def is_user_path(path):
    """Like :func:`is_user_code`, for the path of a file."""
    if path in _OWN or path.startswith("<ipython-input-"):  # a cell in a terminal
        return True
    if path.startswith(("<", *_OURS)) or "site-packages" in path or "dist-packages" in path:
        return False
    return not path.startswith(_STANDARD_LIBRARY)
