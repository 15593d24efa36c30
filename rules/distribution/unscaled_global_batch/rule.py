from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.distribution import unscaled_batches


class UnscaledGlobalBatch(Rule):
    """The batch that a strategy divides among its devices has a size meant for one device.

    ## What it does

    Reports a literal batch size in `fit`, or in the `.batch(n)` of the dataset that is fitted or distributed, for a
    model in the scope of a `MirroredStrategy`, `MultiWorkerMirroredStrategy` or `TPUStrategy`, in a program that
    nowhere uses the number of replicas or devices, or a global batch. To print such a number, or to compute a size that
    nothing reads, is no use. Also reports any literal size whose name says that it is for one device, such as
    `BATCH_SIZE_PER_REPLICA`.

    ## Why it costs

    The batch is the global one: each of n devices gets 1/n of it. The steps stay as many, each device has less to do
    in a step, and the devices add up their gradients after every step. So more devices make such a training little
    faster, or slower. A dense network on two logical devices went through its examples {ratio} times as fast with
    batches of 128 as with batches of 64 (2 CPU cores, TensorFlow 2.21, no GPU). On real GPUs it is unmeasured here.

    It is an info: how many devices there are, and whether the size was already meant for all of them, the script does
    not say.

    ## What the runtime does by itself

    `fit` and `experimental_distribute_dataset` divide each batch among the replicas; neither makes it larger.
    `distribute_datasets_from_function` is different: there the function makes the batches of one worker.

    ## When it stays silent

    - The size is computed, or comes from outside the program.
    - The program uses `num_replicas_in_sync`, numbers of GPUs or workers, or a global batch; or a comment on the line
      of the size says why, or one above it that speaks of these.
    - A strategy for one device, by a list of one, or in a notebook of Colab, which has one GPU; the default strategy.
    - A dataset that is distributed and then not used.
    - The model is not in the scope, or that cannot be seen; batches for validation only.
    - Graph code of TensorFlow 1; tests.

    ## Use instead

        global_batch_size = 64 * strategy.num_replicas_in_sync

    in `batch` or `fit`, and where steps per epoch are computed. A larger batch usually wants a larger learning rate.

    ## Fix safety

    There is no fix: another batch trains another model, and the learning rate and numbers of steps go with it.

    ## References

    - TensorFlow guide: "Distributed training with TensorFlow", on batch sizes
    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler", multi-GPU
    """

    code = "KC502"
    name = "unscaled-global-batch"
    summary = "global batch size is meant for one device"
    severity = Severity.INFO
    triggers = ("MirroredStrategy(", ".MirroredStrategy(", "MultiWorkerMirroredStrategy(", ".MultiWorkerMirroredStrategy(", "TPUStrategy(", ".TPUStrategy(")
    loss_tolerance = None

    def check(self, module):
        for batch in unscaled_batches(module):
            meant = "; its name says that it is for one" if batch.is_for_one else "; the size for all devices is computed, and never used" if batch.unused is not None else ""
            yield self.finding(
                batch.place,
                f"This strategy divides each batch of {batch.size} among its devices; multiply the size by strategy.num_replicas_in_sync.",
                because=f"Two devices share the {batch.size} in a step, and as many steps remain as one device would make{meant}.",
                related=((batch.strategy, "the strategy"), (batch.use, "divided here"), *([(batch.unused, "never used")] if batch.unused is not None else [])),
            )
