"""Set-up of devices, precision and debugging, by canonical name."""

from __future__ import annotations

BACKEND_SET_FLOATX = "keras.backend.set_floatx"
CLEAR_SESSION = "keras.utils.clear_session"
CLUSTER_RESOLVER_TPU_CLUSTER_RESOLVER = "tensorflow.distribute.cluster_resolver.TPUClusterResolver"
CONFIG_SET_FLOATX = "keras.config.set_floatx"
DEBUGGING_ENABLE_CHECK_NUMERICS = "tensorflow.debugging.enable_check_numerics"
DEBUGGING_EXPERIMENTAL_ENABLE_DUMP_DEBUG_INFO = "tensorflow.debugging.experimental.enable_dump_debug_info"
DEBUGGING_SET_LOG_DEVICE_PLACEMENT = "tensorflow.debugging.set_log_device_placement"
DEVICE = "tensorflow.device"
ENABLE_OP_DETERMINISM = "tensorflow.config.experimental.enable_op_determinism"
EXPERIMENTAL_GET_VISIBLE_DEVICES = "tensorflow.config.experimental.get_visible_devices"
EXPERIMENTAL_LIST_LOGICAL_DEVICES = "tensorflow.config.experimental.list_logical_devices"
EXPERIMENTAL_LIST_PHYSICAL_DEVICES = "tensorflow.config.experimental.list_physical_devices"
EXPERIMENTAL_MIRRORED_STRATEGY = "tensorflow.distribute.experimental.MirroredStrategy"
EXPERIMENTAL_RUN_FUNCTIONS_EAGERLY = "tensorflow.config.experimental_run_functions_eagerly"
EXPERIMENTAL_SET_VISIBLE_DEVICES = "tensorflow.config.experimental.set_visible_devices"
EXPERIMENTAL_TPU_STRATEGY = "tensorflow.distribute.experimental.TPUStrategy"
GET_STRATEGY = "tensorflow.distribute.get_strategy"
GET_VISIBLE_DEVICES = "tensorflow.config.get_visible_devices"
LIST_LOGICAL_DEVICES = "tensorflow.config.list_logical_devices"
LIST_PHYSICAL_DEVICES = "tensorflow.config.list_physical_devices"
LOGICAL_DEVICE_CONFIGURATION = "tensorflow.config.LogicalDeviceConfiguration"
MIRRORED_STRATEGY = "tensorflow.distribute.MirroredStrategy"
PHYSICAL_DEVICE = "tensorflow.config.PhysicalDevice"
RUN_FUNCTIONS_EAGERLY = "tensorflow.config.run_functions_eagerly"
SERVER = "tensorflow.distribute.Server"
SET_GLOBAL_POLICY = "keras.mixed_precision.set_global_policy"
SET_LOGICAL_DEVICE_CONFIGURATION = "tensorflow.config.set_logical_device_configuration"
SET_MEMORY_GROWTH = "tensorflow.config.experimental.set_memory_growth"
SET_VIRTUAL_DEVICE_CONFIGURATION = "tensorflow.config.experimental.set_virtual_device_configuration"
SET_VISIBLE_DEVICES = "tensorflow.config.set_visible_devices"
STRATEGY = "tensorflow.distribute.Strategy"
STRATEGY_EXPERIMENTAL_DISTRIBUTE_DATASET = "tensorflow.distribute.Strategy.experimental_distribute_dataset"
STRATEGY_SCOPE = "tensorflow.distribute.Strategy.scope"
THREADING_SET_INTER_OP_PARALLELISM_THREADS = "tensorflow.config.threading.set_inter_op_parallelism_threads"
THREADING_SET_INTRA_OP_PARALLELISM_THREADS = "tensorflow.config.threading.set_intra_op_parallelism_threads"
TPU_EXPERIMENTAL_INITIALIZE_TPU_SYSTEM = "tensorflow.tpu.experimental.initialize_tpu_system"
TPU_STRATEGY = "tensorflow.distribute.TPUStrategy"
VIRTUAL_DEVICE_CONFIGURATION = "tensorflow.config.experimental.VirtualDeviceConfiguration"

GPU_SHARING_PACKAGES = {
    **dict.fromkeys(
        ("torch", "torchvision", "pytorch_lightning"), "PyTorch in this program needs memory of the same GPU"
    ),
    **dict.fromkeys(("jax", "flax", "jaxlib"), "JAX in this program needs memory of the same GPU"),
    **dict.fromkeys(("cupy", "cudf", "cuml"), "{package} in this program needs memory of the same GPU"),
    **dict.fromkeys(("onnxruntime", "tensorrt", "pycuda"), "{package} in this program needs memory of the same GPU"),
    **dict.fromkeys(("horovod", "mpi4py"), "{package} starts several processes on a machine"),
    **dict.fromkeys(("ray", "dask_cuda", "submitit"), "{package} runs jobs of others on the same machine"),
}
"""Imported packages whose processes or allocators share GPUs with TensorFlow, each with a clause that says so."""
SCHEDULER_VARIABLES = ("SLURM_", "PBS_JOBID", "LSB_JOBID", "SGE_TASK_ID")
"""Prefixes of environment variables of schedulers (Slurm, PBS, LSF, Grid Engine), which share machines among users."""

DEVICE_SETTINGS = frozenset(
    {
        *(SET_MEMORY_GROWTH, SET_VISIBLE_DEVICES, SET_LOGICAL_DEVICE_CONFIGURATION),
        *(THREADING_SET_INTER_OP_PARALLELISM_THREADS, THREADING_SET_INTRA_OP_PARALLELISM_THREADS),
    }
)
"""Functions that raise once the devices are initialised (tested with TensorFlow 2.21)."""
