import re

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.places import is_guarded
from kerascheck.source.requirements import wants_cpu

# Looking up rows of large tables is placed on the CPU on purpose.
_TABLES = frozenset({"tensorflow.nn.embedding_lookup", "tensorflow.nn.nce_loss", "tensorflow.nn.sampled_softmax_loss"})
_REASON = re.compile(r"cpu|gpu|device|cuda|memory|vram|oom", re.I)
_WORKERS = re.compile(r"TF_CONFIG|MultiWorkerMirroredStrategy")


class ForcedCpu(Rule):
    """Training is kept from the GPU by a line that hides it, or by ``tf.device("/CPU:0")``.

    ## What it does

    Reports `fit`, and the `GradientTape` of a hand-written step, inside of `with tf.device("/CPU:0")`, and what hides every GPU from a program
    that trains: `CUDA_VISIBLE_DEVICES` set to "" or "-1", or `set_visible_devices([], "GPU")`.

    ## Why it costs

    The whole training runs on the CPU, on every machine. Such a line is written to try something out or to get around a broken
    driver, and stays. What a GPU would save depends on model and machine, and is unmeasured here. That the device of a `with` around `fit`
    holds for the compiled step too was tried with two virtual CPUs: every matrix product of the training ran
    on the one that was named (Keras 3.15, TensorFlow 2.21).

    ## What the runtime does by itself

    It uses the first GPU without being told, and the CPU where there is none: nothing has to be written to run on both.
    Operations inside of a `tf.data` pipeline are on the CPU anyway.

    ## When it stays silent

    - The GPUs are hidden under a condition, by a value that is not a literal, or one is left.
    - A comment on the line, or one above it that speaks of devices or memory; a title and code that was commented out do not.
    - Steps with `tf.nn.embedding_lookup` and its losses, for which the tables may be too large for a GPU.
    - Only data, embeddings, metrics, predictions or the sum of gradients are placed on the CPU; a device that is not a literal.
    - GPUs that are hidden from a distributed training, or where `TF_CONFIG` is set: its workers are tried on one machine.
    - Nothing is trained; reinforcement learning, whose small networks wait for a simulation; graphs of TensorFlow 1.
    - Another backend than TensorFlow.

    ## Use instead

    Nothing: leave the line out, and set `CUDA_VISIBLE_DEVICES=-1` in the shell for the one run that needs it.

    ## Fix safety

    There is no automatic fix: that the author wants the CPU can be read nowhere, and the numbers differ between devices.

    ## References

    - TensorFlow guide: "Use a GPU" ("Manual device placement")
    """

    code = "KC308"
    name = "forced-cpu"
    summary = "training is kept off the GPU"
    severity = Severity.INFO
    triggers = ("CUDA_VISIBLE_DEVICES", "set_visible_devices", "device(")

    def check(self, module):
        program = module.program
        if module.is_graph_code or module.runtime.backend != "tensorflow" or program.reinforcement_learning or not program.trains:
            return
        if wants_cpu(module.source.path):
            return
        hiding = program.hides_gpus
        # Several workers on one machine would fight for its GPUs.
        if hiding is not None and not program.distributes and not module.mentions(_WORKERS) and not hiding.module.is_commented(hiding.node, _REASON):
            yield self.finding(
                hiding,
                "Every GPU is hidden from this training; leave the line out, or say in a comment why.",
                because="Without it TensorFlow uses a GPU where there is one, and the CPU elsewhere.",
            )
        if any(call.name in _TABLES for call in module.run.calls):
            return
        seen = set()
        trainings = [*program.model_calls("fit"), *(tape for tapes in program.tapes.values() for tape in tapes)]
        devices = [program.cpu_device(call.scope) for call in trainings]
        # What also runs elsewhere is compared.
        for call, device in zip(trainings, devices) if None not in devices else ():
            if not is_guarded(device.scope) and device.node not in seen and not device.module.is_commented(device.node, _REASON):
                seen.add(device.node)
                yield self.finding(
                    device,
                    "The training in here runs on the CPU although there may be a GPU; leave tf.device out.",
                    because="The device holds for the compiled step too.",
                    related=((call, "trains"),),
                )
