"""Device settings that come too late."""

import pytest
from snippets import IMPORTS, load

from kerascheck.meaning.program.device_settings import late_settings

HEAD = "import os\n" + IMPORTS + "gpus = tf.config.list_physical_devices('GPU')\n"
START = "x = tf.constant(1)\n"
GROWTH = "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
HIDE = "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n"
DEFAULT = "os.environ.setdefault('CUDA_VISIBLE_DEVICES', '-1')\n"


@pytest.mark.parametrize(
    ("lines", "late"),
    [
        (START + GROWTH, [None]),
        (GROWTH + START, []),
        (GROWTH + START + GROWTH, []),
        (START + HIDE + GROWTH, ["CUDA_VISIBLE_DEVICES", None]),
        (HIDE + START, []),
        (DEFAULT + START + HIDE, []),
        (DEFAULT + START + HIDE.replace("-1", "0"), ["CUDA_VISIBLE_DEVICES"]),
        (START + HIDE + "import subprocess", []),
        (START + "os.environ['HOME'] = 'a'", []),
        (START + "tf.config.set_visible_devices(gpus[:1])", [None]),
        (START + "tf.config.set_visible_devices(tf.config.list_physical_devices('CPU'))", []),
        ("def grow():\n    " + GROWTH + START, []),
    ],
)
def test_settings_after_the_start(tmp_path, lines, late):
    assert [each.variable for each in late_settings(load(tmp_path, HEAD + lines))] == late
