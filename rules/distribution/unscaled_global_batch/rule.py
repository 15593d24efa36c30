from kerascheck.api import Applies, Rule, Severity, program


class UnscaledGlobalBatch(Rule):
    """A distribution strategy divides a batch whose size is meant for one device.

    ## What it does

    Reports a literal batch size in `fit`, or in the `.batch(n)` of the dataset that is fitted or distributed. The model
    is in the scope of a `MirroredStrategy`, `MultiWorkerMirroredStrategy` or `TPUStrategy`, and the program nowhere
    uses the number of replicas or devices, or a global batch. Printing such a number, or computing a size that nothing
    reads, does not count as a use.

    Also reports any literal size with a name that says that it is for one device, such as `BATCH_SIZE_PER_REPLICA`.

    ## Why it costs

    The batch is the global one: each of n devices gets 1/n of it. The number of steps stays the same, each device has
    less work in a step, and the devices add up their gradients after every step. So more devices make such a training
    only a little faster, or slower. How much a larger batch gains is unmeasured here.

    It is an info: the script does not show how many devices there are, or whether the size was already meant for all of
    them.

    ## What the runtime does by itself

    `fit` and `experimental_distribute_dataset` divide each batch among the replicas; neither makes it larger.
    `distribute_datasets_from_function` is different: there the function creates the batches of one worker.

    ## When it stays silent

    - The size is computed, or comes from outside the program.
    - The program uses `num_replicas_in_sync`, numbers of GPUs or workers, or a global batch.
    - A comment on the line of the size explains it, or one above it mentions these.
    - The strategy is for one device: a list of one device, a notebook of Colab, which has one GPU, or the default
      strategy.
    - The program does not visibly load, read or generate a thousand examples or more.
    - The dataset is distributed and then not used.
    - The model is not in the scope, or it is unknown whether it is.
    - The batches are for validation only.
    - The code is a test.

    ## Use instead

        global_batch_size = 64 * strategy.num_replicas_in_sync

    in `batch` or `fit`, and where steps per epoch are computed. A larger batch usually needs a larger learning rate.

    ## Fix safety

    There is no fix: another batch size trains another model, and the learning rate and the numbers of steps depend on
    it.

    ## References

    - TensorFlow guide: "Distributed training with TensorFlow", on batch sizes
    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler", multi-GPU
    """

    code = "KC502"
    name = "unscaled-global-batch"
    summary = "global batch size is meant for one device"
    severity = Severity.INFO
    applies = Applies(graph_code=False)
    triggers = (
        "MirroredStrategy(",
        ".MirroredStrategy(",
        "MultiWorkerMirroredStrategy(",
        ".MultiWorkerMirroredStrategy(",
        "TPUStrategy(",
        ".TPUStrategy(",
    )
    loss_tolerance = None

    def check(self, module):
        for batch in program.unscaled_batches(module):
            meant = (
                " The name of the size says that it is for one."
                if batch.is_for_one
                else " The size for all devices is computed but never used."
                if batch.unused is not None
                else ""
            )
            yield self.finding(
                batch.place,
                f"The strategy divides each batch of {batch.size} among its devices; multiply it by strategy.num_replicas_in_sync.",
                because=f"Two devices share the {batch.size} examples of a step, and take as many steps as one device would.{meant}",
                related=(
                    (batch.strategy, "the strategy"),
                    (batch.use, "divided here"),
                    *([(batch.unused, "never used")] if batch.unused is not None else []),
                ),
            )
