import re

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.distribution import unconditional_mirrors
from kerascheck.semantics.fixes import only_for_several_gpus

_SEVERAL = re.compile(r"multi[-_ ]?gpus?\b|(?:multiple|several|two|all) gpus\b", re.I)


class SingleDeviceStrategy(Rule):
    """`MirroredStrategy` is used on any machine, also on one with a single GPU.

    ## What it does

    Reports `MirroredStrategy()` under no condition in a program that trains with `fit` of Keras 3 and nowhere speaks of
    several devices. An info: it is right on a machine with several GPUs.

    ## Why it costs

    With any strategy but the default, `jit_compile="auto"` means `False`: on a GPU the model is then not compiled by XLA. What
    that costs is unmeasured here. Each batch also takes a longer way: `fit` of a tiny dense network on one device took 2.1 times
    the processor time of the same `fit` without a strategy (2 CPU cores, TensorFlow 2.21, no GPU). For larger networks the share is smaller.

    ## What the runtime does by itself

    On one device the strategy makes one replica and goes the whole way for it: distributed variables,
    merge calls, a dataset iterator of its own.

    ## When it stays silent

    - It is made under a condition, or with a list of devices.
    - The code mentions `num_replicas_in_sync`, several or numbers of GPUs, several workers, logical devices or cross-device
      operations, or a comment on the line, or one above it that speaks of several GPUs, says so: it is written for several.
    - Its scope is not entered, and it is not given as `distribution_strategy`, as to a tuner.
    - No model is fitted, Keras 2, or another backend than TensorFlow.

    ## Use instead

    `strategy = tf.distribute.MirroredStrategy() if len(tf.config.list_physical_devices("GPU")) > 1 else tf.distribute.get_strategy()`.
    The default strategy has the same `scope()` and `run()`.

    ## Fix safety

    Writes that condition. Unsafe: a single-device machine then runs other code than one with several, and
    XLA may change the last digits.

    ## References

    - Keras source: `trainers/trainer.py` (`model_supports_jit`), `backend/tensorflow/trainer.py`
    - TensorFlow guide: "Distributed training with TensorFlow"
    """

    code = "KC505"
    name = "single-device-strategy"
    summary = "MirroredStrategy is used even with one GPU"
    severity = Severity.INFO
    triggers = ("MirroredStrategy(", ".MirroredStrategy(")
    loss_tolerance = 1e-4

    def check(self, module):
        if module.runtime.keras < 3 or module.runtime.backend != "tensorflow" or not any(module.program.model_calls("fit")):
            return
        # Without a scope nothing belongs to it, unless somebody else enters it.
        used = any(call.name == "tensorflow.distribute.Strategy.scope" or "distribution_strategy" in call.arguments.keywords for call in module.run.calls)
        if module.mentions(_SEVERAL) or not used:
            return
        for call in unconditional_mirrors(module):
            if not call.module.is_commented(call.node, _SEVERAL):
                yield self.finding(
                    call,
                    "MirroredStrategy is used also where there is one device only; make it where there are several GPUs.",
                    because="With any strategy Keras leaves XLA off, and each batch takes a longer way, for which one device gets nothing back.",
                    fix=only_for_several_gpus(call),
                )
