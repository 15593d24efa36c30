"""Old names where they are meant for old versions, or belong to something else."""

import tensorflow as tf
import tensorflow.compat.v1 as v1

import sessions
from sessions import Session

# What tf.compat.v1 keeps.
config = v1.ConfigProto(gpu_options=v1.GPUOptions(per_process_gpu_memory_fraction=0.5))
tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))

# Both ways, chosen by the version.
if tf.__version__ < "2.4":
    tf.keras.mixed_precision.experimental.set_policy("mixed_float16")
else:
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
AUTOTUNE = tf.data.AUTOTUNE if hasattr(tf.data, "AUTOTUNE") else tf.data.experimental.AUTOTUNE
strategy = tf.distribute.MirroredStrategy()
if hasattr(strategy, "experimental_run_v2"):
    strategy.experimental_run_v2(print)

if sessions.is_v2_0():
    print("nothing to set")
else:
    tf.keras.backend.set_session(tf.Session())

# Both ways, by trying.
try:
    tf.config.list_physical_devices("GPU")
except AttributeError:
    tf.config.experimental.list_physical_devices("GPU")

# Names of other libraries, and what is still experimental.
Session(sessions.ConfigProto())
sessions.contrib.run()
tf.config.experimental.set_memory_growth("GPU:0", True)
tf.data.experimental.make_csv_dataset("a.csv", 32)
