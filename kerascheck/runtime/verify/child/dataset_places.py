"""Records the lines of the script that create ``tf.data`` datasets."""

import functools
import sys
import types

from .frames import is_user_frame
from .patches import Notes

IN_THIS_PROCESS = Notes()
"""(path, line) by dataset, for a process in which a notebook's cells create datasets long before they train."""


def record(patches, places):
    """Record in ``places`` the (path, line) that creates each dataset from now on; TensorFlow must be imported."""
    from tensorflow.python.data.ops import dataset_ops

    original = dataset_ops.DatasetV2.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and not is_user_frame(frame):
            frame = frame.f_back
        if frame is not None:
            places.set(self, (frame.f_code.co_filename, frame.f_lineno))

    patches.set(dataset_ops.DatasetV2, "__init__", init)
