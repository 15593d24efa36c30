import re

from kerascheck.api import Applies, Rule, Severity, fixes

# Each notebook of Colab has its GPU for itself, and a Mac none of NVIDIA's.
_ELSEWHERE = re.compile(r"""\bgoogle\.colab\b|["']/(?:content|Users)/""")


class MissingMemoryGrowth(Rule):
    """A script trains with TensorFlow and lets it take the whole memory of every GPU.

    ## What it does

    Reports the first training call of a script that nowhere says how much GPU memory TensorFlow may
    take: no `set_memory_growth`, no limit on a logical device, no `TF_FORCE_GPU_ALLOW_GROWTH`.

    ## Why it costs

    TensorFlow reserves nearly all memory of each GPU it sees when it first uses it. That is no
    fault on a machine of one's own. On a shared GPU a second process, be it another script, a
    notebook or an evaluation beside the training, finds no memory and fails. So this is an info.
    Popular advice promises speed from memory growth, or says that a full GPU spills into the
    memory of the host and slows down. Nothing of the kind was found in the sources, and nothing was
    measured: growth shares memory, it does not make a step faster. Nor does the reserved amount,
    as a monitor shows it, tell what the model needs.

    ## What the runtime does by itself

    It reserves in advance, which keeps the memory in one piece. With growth it starts small and
    takes more when needed; it does not give memory back before the process ends. The environment
    variable overrides what the script says.

    ## When it stays silent

    - Growth is set anywhere in the script, in a helper, by the environment variable or in a session.
    - A logical device has a memory limit.
    - The script hides the GPUs: `CUDA_VISIBLE_DEVICES` of `-1` or nothing, or `set_visible_devices([], "GPU")`.
    - The file imports `google.colab`, or names files below `/content`, where each notebook has its GPU for itself, or below `/Users`, as on a Mac.
    - The script is for a TPU.
    - Nothing is trained when the script is run; modules that only define functions.
    - Files that use what only TensorFlow 1 has, such as `tf.gfile`: there a session limits the memory.

    ## Use instead

    The loop over all GPUs directly after the imports, before anything touches a device. Setting it
    for the first GPU only is an error of its own (`partial-memory-growth`), and so is setting it
    late (`late-device-config`).

    ## Fix safety

    The loop is put below the imports. Safe where no import starts the devices and nothing else sets them up: the loop
    does nothing without a GPU, and no number changes. Unsafe where a module of the program starts the devices when it
    is imported, where an import is not visible, and where the program sets up devices in another way.

    There is no fix where TensorFlow has no name below the imports, or where the program looks through its own names.

    Since it is about sharing a GPU, and does not make training faster, `--fix` applies it only where the rule is selected
    by its code or name, as in `--select KC306 --fix`.

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
        yield self.finding(
            place,
            "This script lets TensorFlow take all memory of every GPU; on a shared machine call tf.config.experimental.set_memory_growth first.",
            because="It costs nothing when the GPU is yours alone: this is about other programs on it, not about speed.",
            fix=fixes.set_memory_growth(module) if place.module is module else None,
        )
