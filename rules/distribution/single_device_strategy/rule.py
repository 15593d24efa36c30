import re

from kerascheck.api import Applies, Rule, Severity, fixes, names, program

_SEVERAL = re.compile(r"multi[-_ ]?gpus?\b|(?:multiple|several|two|all) gpus\b", re.I)


class SingleDeviceStrategy(Rule):
    """A program uses `MirroredStrategy` on every machine, even with a single GPU.

    ## What it does

    Reports an unconditional `MirroredStrategy()` in a program that trains with `fit` of Keras 3 and does not mention
    several devices. The finding is an info, because the code is right on a machine with several GPUs.

    ## Why it costs

    With any strategy but the default, `jit_compile="auto"` means `False`, so XLA does not compile the model on a GPU.
    The cost is unmeasured here. Each batch also needs more processing. On one device, `fit` of a tiny dense network
    took 2.1 times the processor time of `fit` without a strategy (2 CPU cores, TensorFlow 2.21, no GPU). The share is
    smaller for larger networks.

    ## What the runtime does by itself

    On one device the strategy creates one replica and still runs all of its machinery: distributed variables, merge
    calls and a separate dataset iterator.

    ## When it stays silent

    - The program creates the strategy under a condition, or with a list of devices.
    - The code mentions `num_replicas_in_sync`, several GPUs or a number of them, several workers, logical devices or
      cross-device operations, so it is meant for several devices.
    - The program does not enter the scope, and does not pass the strategy as `distribution_strategy`, for example to a
      tuner.
    - The program fits no model.

    ## Use instead

    `strategy = tf.distribute.MirroredStrategy() if len(tf.config.list_physical_devices("GPU")) > 1 else
    tf.distribute.get_strategy()`. The default strategy has the same `scope()` and `run()`.

    ## Fix safety

    The fix inserts that condition. Unsafe: a machine with one device then runs other code than one with several, and
    XLA may change the last digits.

    ## References

    - Keras source: `trainers/trainer.py` (`model_supports_jit`), `backend/tensorflow/trainer.py`
    - TensorFlow guide: "Distributed training with TensorFlow"
    """

    code = "KC505"
    name = "single-device-strategy"
    summary = "MirroredStrategy is used even with one GPU"
    severity = Severity.INFO
    applies = Applies(keras=">=3", backends={"tensorflow"})
    triggers = ("MirroredStrategy(", ".MirroredStrategy(")
    proves = ("same-numbers",)
    evidence_note = "The main loss is XLA, which Keras uses by default on GPUs only."
    loss_tolerance = 1e-4

    def check(self, module):
        if not any(module.program.model_calls("fit")):
            return
        # Without a scope the strategy holds nothing, unless other code enters it.
        used = any(
            call.name == names.devices.STRATEGY_SCOPE or "distribution_strategy" in call.arguments.keywords
            for call in module.run.calls
        )
        if module.mentions(_SEVERAL) or not used:
            return
        for call in program.unconditional_mirrors(module):
            yield self.finding(
                call,
                "On a single GPU MirroredStrategy only adds overhead; use it only if there are several GPUs.",
                because="Under any strategy Keras leaves XLA off and each batch takes a longer path; one device gains nothing from it.",
                fix=fixes.only_for_several_gpus(call),
            )
