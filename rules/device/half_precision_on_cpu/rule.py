from kerascheck.api import Applies, Rule, Severity, constant, fixes, models, names, proofs

_SLOWER = {"mixed_float16": "7 times", "mixed_bfloat16": "1.8 times"}


class HalfPrecisionOnCpu(Rule):
    """A script that hides the GPUs requests 16-bit arithmetic or XLA, which are slower on a CPU.

    ## What it does

    Reports the policies `mixed_float16` and `mixed_bfloat16`, and `compile(jit_compile=True)` of a model with
    convolutions. The program must train and hide every GPU unconditionally: `CUDA_VISIBLE_DEVICES` is "" or "-1", or
    the program calls `set_visible_devices([], "GPU")`.

    ## Why it costs

    TensorFlow does not use the fast 16-bit units of CPUs for this, but converts values back and forth. We trained a
    CNN on 2 CPU cores without a GPU (TensorFlow 2.21). `mixed_float16` was 7.1 times slower than float32,
    `mixed_bfloat16` 1.8 times, and `jit_compile=True` 1.9 times. For a network of dense layers `jit_compile=True` made
    no difference (0.98), so the rule does not report such models. Newer CPUs have bfloat16 units (AMX) and may behave
    differently; this is unmeasured here. Both settings are good advice for GPUs, and often remain when a script moves
    to a CPU.

    ## What the runtime does by itself

    The current version of Keras logs nothing about the missing hardware. With `jit_compile="auto"`, its default, it
    uses XLA on GPUs only.

    ## When it stays silent

    - The program hides the GPUs under a condition or with a value that is not a literal, or one GPU stays visible.
    - A condition or a variable decides about the policy or `jit_compile`, or the value is `jit_compile="auto"`.
    - `jit_compile=True` without a convolution in the program.

    ## Use instead

    Set no policy and no `jit_compile` on a CPU, or set both under the condition that chooses the device:

        if tf.config.list_physical_devices("GPU"):
            keras.mixed_precision.set_global_policy("mixed_float16")

    ## Fix safety

    Removing `jit_compile=True` is unsafe, because it changes the order of rounding. There is no fix for a policy: only
    the author knows whether to remove it, or to move it under the condition that chooses the device.

    ## References

    - TensorFlow guide: "Mixed precision" ("Supported hardware")
    - Keras source: `trainers/trainer.py` (`_resolve_auto_jit_compile`)
    """

    code = "KC314"
    name = "half-precision-on-cpu"
    summary = "16-bit arithmetic or XLA slows a CPU down"
    severity = Severity.WARNING
    applies = Applies(backends={"tensorflow"}, without_training=False)
    triggers = ("mixed_float16", "mixed_bfloat16", "jit_compile")
    proves = ("same-numbers",)
    evidence_note = "Newer CPUs have bfloat16 units (AMX) and may behave differently."
    loss_tolerance = None

    def check(self, module):
        program = module.program
        hiding = program.hides_gpus
        if hiding is None:
            return
        related = ((hiding, "hides every GPU"),)
        for call in program.calls(names.devices.SET_GLOBAL_POLICY):
            policy = models.policy_set_by(call)
            if policy in _SLOWER and not any(call.path.conditions(within="program")):
                yield self.finding(
                    call,
                    f"{policy} is slower than float32 on a CPU; set it only where a GPU is used.",
                    because=f"This script hides its GPUs; on a CPU, training a CNN took {_SLOWER[policy]} as long as in float32.",
                    related=related,
                )
        convolves = bool(module.calls.with_prefix(names.layers.CONV_LAYERS))
        for call in program.model_calls("compile"):
            if (
                convolves
                and constant(call.given("jit_compile")) is True
                and not any(call.path.conditions(within="program"))
            ):
                yield self.finding(
                    call,
                    "jit_compile=True makes convolutions slower on a CPU; remove it.",
                    because="This script hides its GPUs; on a CPU, training a CNN took 1.9 times as long with XLA.",
                    fix=fixes.drop_argument(
                        call, "jit_compile", proofs.SAME_NUMBERS.unless("XLA rounds in another order")
                    ),
                    related=related,
                )
