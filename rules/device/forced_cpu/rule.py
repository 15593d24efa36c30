import re

from kerascheck.api import Applies, Rule, Severity, names, requirements, training

_TABLES = names.callables.having(names.symbols.Trait.IN_LARGE_TABLE)
_WORKERS = re.compile(r"TF_CONFIG|MultiWorkerMirroredStrategy")


class ForcedCpu(Rule):
    """A line that hides the GPU, or ``tf.device("/CPU:0")``, keeps training off the GPU.

    ## What it does

    Reports `fit`, and the `GradientTape` of a custom training step, inside `with tf.device("/CPU:0")`. Also reports
    code that hides every GPU from a program that trains: `CUDA_VISIBLE_DEVICES` with the value "" or "-1", or
    `set_visible_devices([], "GPU")`.

    ## Why it costs

    The whole training runs on the CPU, on every machine. Authors often write such a line for an experiment, or to work
    around a broken driver, and then forget it. The time that a GPU would save depends on the model and the machine; it
    is unmeasured here. The device of a `with` around `fit` also applies to the compiled step. We checked this with two
    virtual CPUs: every matrix product of the training ran on the specified CPU (Keras 3.15, TensorFlow 2.21).

    ## What the runtime does by itself

    TensorFlow uses the first GPU by default, and the CPU if there is none. No code is needed to run on both.
    Operations inside a `tf.data` pipeline run on the CPU anyway.

    ## When it stays silent

    - The program hides the GPUs under a condition or with a value that is not a literal, or one GPU stays visible.
    - The program hides the GPUs and creates a `tf.distribute` strategy or sets `TF_CONFIG`. Its workers may share one
      machine.
    - For `tf.device`: the program uses `tf.nn.embedding_lookup` or its losses, whose tables may be too large for a GPU.
    - The program places only data, embeddings, metrics, predictions or the sum of gradients on the CPU, or the device
      is not a literal.
    - `tf.device` is under a condition, or another training of the program runs on another device, as in a comparison.
    - The requirements of the project name a build of TensorFlow without GPU support.

    ## Use instead

    Nothing: delete the line, and set `CUDA_VISIBLE_DEVICES=-1` in the shell for the one run that needs it. If the line
    has a reason, write it after `# noqa: KC308`.

    ## Fix safety

    There is no automatic fix: the author may use the CPU on purpose, and results differ between devices.

    ## References

    - TensorFlow guide: "Use a GPU" ("Manual device placement")
    """

    code = "KC308"
    name = "forced-cpu"
    summary = "training is kept off the GPU"
    severity = Severity.INFO
    applies = Applies(graph_code=False, backends={"tensorflow"}, without_training=False, reinforcement_learning=False)
    triggers = ("CUDA_VISIBLE_DEVICES", "set_visible_devices", "device(")
    evidence_note = "The gain needs a GPU; it depends on the model."

    def check(self, module):
        program = module.program
        if requirements.wants_cpu(module.source.path):
            return
        hiding = program.hides_gpus
        # Several workers on one machine would compete for its GPUs.
        if hiding is not None and not program.distributes and not module.mentions(_WORKERS):
            yield self.finding(
                hiding,
                "This hides every GPU from the training; delete the line.",
                because="Without it, TensorFlow uses a GPU where there is one, and the CPU elsewhere.",
            )
        if module.calls.named(*_TABLES):
            return
        seen = set()
        trainings = [
            *program.model_calls("fit"),
            *(tape for tapes in module.once(training.tapes_of).values() for tape in tapes),
        ]
        devices = [program.cpu_device(call.path) for call in trainings]
        # A training that also runs on another device is a comparison.
        for call, device in zip(trainings, devices) if None not in devices else ():
            if not any(device.path.conditions(within="program")) and device.node not in seen:
                seen.add(device.node)
                yield self.finding(
                    device,
                    "tf.device keeps this training on the CPU, even where there is a GPU; delete it.",
                    because="The device also applies to the compiled training step.",
                    related=((call, "the training"),),
                )
