import re

from kerascheck.api import Applies, Rule, Severity, Tally, fixes

# Each Colab notebook has a GPU of its own, and a Mac has none of NVIDIA's.
_ELSEWHERE = re.compile(r"""\bgoogle\.colab\b|["']/(?:content|Users)/""")


class MissingMemoryGrowth(Rule):
    """A script trains with TensorFlow and lets it take the whole memory of every GPU.

    ## What it does

    Reports the first training call of a script that sets no policy for GPU memory. Such a script has no
    `set_memory_growth`, no limit on a logical device, and no `TF_FORCE_GPU_ALLOW_GROWTH`.

    It is a finding if the program shows that others use its GPUs:

    - it imports PyTorch, JAX, CuPy, RAPIDS, ONNX Runtime, TensorRT or PyCUDA, whose memory is on the same GPU;
    - it imports Horovod, mpi4py, Ray, Dask-CUDA or submitit, or starts a `tf.distribute.Server`;
    - it reads a variable of a scheduler, such as `SLURM_PROCID`;
    - it sets `CUDA_VISIBLE_DEVICES` to another GPU than the first, or to several.

    Other scripts are counted in one line for the whole run. `--select KC306` and `--pedantic` show each of them.

    ## Why it costs

    TensorFlow reserves nearly all memory of each visible GPU on first use. That is no fault on your own machine. On a
    shared GPU a second process finds no memory and fails. Examples are another script, a notebook, or an evaluation
    next to the training. So this is an info.

    Popular advice promises speed from memory growth, or claims that a full GPU spills into host memory and slows down.
    We found nothing of the kind in the sources and have not measured it. Growth shares memory; it does not make a step
    faster. The reserved amount in a monitor also does not show the memory that the model needs.

    ## What the runtime does by itself

    TensorFlow reserves memory in advance to avoid fragmentation. With growth it starts small and takes more when
    needed, but frees no memory before the process ends. The environment variable overrides the settings of the script.

    ## When it stays silent

    - The script sets growth anywhere: directly, in a helper, by the environment variable or in a session.
    - A logical device has a memory limit.
    - The script hides the GPUs: `CUDA_VISIBLE_DEVICES` of `-1` or nothing, or `set_visible_devices([], "GPU")`. Or its
      requirements name a build of TensorFlow without GPU support.
    - The file imports `google.colab`, or uses paths below `/content` (Colab, with one GPU per notebook) or `/Users` (a
      Mac).
    - The script is for a TPU.
    - The script trains nothing when it runs, or the module only defines functions.
    - Files that use names found only in TensorFlow 1, such as `tf.gfile`: there a session limits the memory.

    ## Use instead

    A loop over all GPUs directly after the imports, before anything uses a device. Other rules report growth for the
    first GPU only (`partial-memory-growth`) and late settings (`late-device-config`).

    ## Fix safety

    The fix inserts the loop below the imports. Safe if no import starts the devices and nothing else sets them up: the
    loop does nothing without a GPU, and no number changes. Unsafe if the import of a module starts the devices, if an
    import is not visible, or if the program sets up devices in another way.

    There is no fix if TensorFlow has no name below the imports, if the program inspects its own names, or if the
    training call is in another file.

    This fix helps to share a GPU and does not make training faster. Therefore `--fix` applies it only if you select
    the rule by its code or name, as in `--select KC306 --fix`.

    ## References

    - TensorFlow guide: "Use a GPU" (limiting GPU memory growth)
    - TensorFlow API: `tf.config.experimental.set_memory_growth`
    - TensorFlow source: `python/eager/context.py`
    """

    code = "KC306"
    name = "missing-memory-growth"
    summary = "TensorFlow takes all memory of every GPU"
    severity = Severity.INFO
    applies = Applies(graph_code=False, tensorflow=">=2", backends={"tensorflow"})
    speed = False
    fixed_by_default = False
    proves = ("nothing-between", "same-output")
    triggers = (".fit(", "fit_generator(", "train_on_batch", "GradientTape", "minimize(", "keras_tuner", "kerastuner")

    def check(self, module):
        program = module.program
        place = program.first_training
        if place is None:
            return
        if module.mentions(_ELSEWHERE) or program.limits_memory or program.pins_cpu or program.uses_tpu:
            yield self.silence(
                place,
                "the program uses no GPU"
                if program.pins_cpu or program.uses_tpu
                else "the program sets up the memory of its GPUs, or may do so elsewhere",
            )
            return
        sharing = program.gpu_sharing
        yield self.finding(
            place,
            "This script lets TensorFlow take all memory of every GPU; on a shared machine call tf.config.experimental.set_memory_growth first.",
            because=f"This is about memory, not about speed: {sharing}."
            if sharing
            else "It costs nothing when the GPU is yours alone: this is about other programs on it, not about speed.",
            tally=None if sharing else Tally("training without memory growth, for shared GPUs only"),
            fix=fixes.set_memory_growth(module) if place.module is module else None,
        )
