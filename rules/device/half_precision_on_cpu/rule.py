from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import drop_argument
from kerascheck.semantics.places import is_guarded
from kerascheck.semantics.training import policy_set_by
from kerascheck.semantics.values import constant

_SLOWER = {"mixed_float16": "7 times", "mixed_bfloat16": "1.8 times"}


class HalfPrecisionOnCpu(Rule):
    """A script that hides the GPUs from itself asks for 16-bit arithmetic or XLA, which are slower on a CPU.

    ## What it does

    Reports the policies `mixed_float16` and `mixed_bfloat16`, and `compile(jit_compile=True)` of a model with convolutions, in a
    program that trains and hides every GPU without a condition: `CUDA_VISIBLE_DEVICES` is "" or "-1", or
    `set_visible_devices([], "GPU")`.

    ## Why it costs

    Processors have no fast 16-bit units that TensorFlow uses for this: numbers are converted back and forth. Measured for training a
    CNN (2 CPU cores, TensorFlow 2.21, no GPU): `mixed_float16` was 7.1 times slower than float32, `mixed_bfloat16` 1.8 times,
    and `jit_compile=True` 1.9 times; for a network of dense layers `jit_compile=True` made no difference (0.98), so that
    the rule says nothing about those. Newer processors have units for bfloat16 (AMX), where it may differ; unmeasured here.
    Both settings are good advice for GPUs, and are often left where a script was moved to a CPU.

    ## What the runtime does by itself

    Keras logs nothing about the missing hardware in its current version. With `jit_compile="auto"`, its default, it uses XLA on GPUs only.

    ## When it stays silent

    - The GPUs are hidden under a condition, or by a value that is not a literal, or one is left visible.
    - The policy or `jit_compile` is under a condition or comes from a variable; `jit_compile="auto"`.
    - `jit_compile=True` without a convolution in the program; another backend than TensorFlow.
    - Nothing is trained.

    ## Use instead

    No policy on a CPU, and no `jit_compile`; or both under the condition that chooses the device:

        if tf.config.list_physical_devices("GPU"):
            keras.mixed_precision.set_global_policy("mixed_float16")

    ## Fix safety

    `jit_compile=True` is removed, which is unsafe as it changes the order of roundings. For a policy there is no fix: whether it
    goes, or moves under the condition that chooses the device, is for the author to say.

    ## References

    - TensorFlow guide: "Mixed precision" ("Supported hardware")
    - Keras source: `trainers/trainer.py` (`_resolve_auto_jit_compile`)
    """

    code = "KC314"
    name = "half-precision-on-cpu"
    summary = "16-bit arithmetic or XLA slows a CPU down"
    severity = Severity.WARNING
    triggers = ("mixed_float16", "mixed_bfloat16", "jit_compile")
    loss_tolerance = None

    def check(self, module):
        program = module.program
        hiding = program.hides_gpus
        if hiding is None or not program.trains or module.runtime.backend != "tensorflow":
            return
        related = ((hiding, "hides every GPU"),)
        for call in program.calls("keras.mixed_precision.set_global_policy"):
            policy = policy_set_by(call)
            if policy in _SLOWER and not is_guarded(call.scope):
                yield self.finding(
                    call,
                    f"{policy} is slower than float32 on a CPU; set it only where a GPU is used.",
                    because=f"The GPUs are hidden, and training a CNN took {_SLOWER[policy]} as long on a CPU.",
                    related=related,
                )
        convolves = any((call.name or "").startswith("keras.layers.Conv") for call in module.run.calls)
        for call in program.model_calls("compile"):
            if convolves and constant(call.argument(None, "jit_compile")) is True and not is_guarded(call.scope):
                yield self.finding(
                    call,
                    "jit_compile=True compiles for the CPU, where convolutions get slower; leave it out.",
                    because="The GPUs are hidden, and training a CNN took 1.9 times as long with it on a CPU.",
                    fix=drop_argument(call, "jit_compile", safe=False),
                    related=related,
                )
