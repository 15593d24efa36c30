from kerascheck.api import Applies, Rule, Severity, program


class UnscaledGlobalBatch(Rule):
    """A distribution strategy divides a batch that is sized for one device.

    ## What it does

    Reports a literal batch size in `fit`, or in the `.batch(n)` of a dataset that the program fits or distributes. The
    model is in the scope of a `MirroredStrategy`, `MultiWorkerMirroredStrategy` or `TPUStrategy`. The program never
    uses the number of replicas or devices, or a global batch. Printing such a number, or computing an unused size,
    does not count as a use.

    The rule also reports any literal size whose name refers to one device, such as `BATCH_SIZE_PER_REPLICA`.

    ## Why it costs

    The batch is global: each of n devices gets 1/n of it. The number of steps stays the same, each device has less
    work in a step, and the devices add up their gradients after every step. So more devices make such a training only
    slightly faster, or slower. The gain from a larger batch is unmeasured here.

    The finding is an info. The script does not show the number of devices, or whether the size is already meant for
    all of them.

    ## What the runtime does by itself

    `fit` and `experimental_distribute_dataset` divide each batch among the replicas; neither makes it larger. In
    `distribute_datasets_from_function`, the function creates the batches of one worker instead.

    ## When it stays silent

    - The program computes the size, or gets it from outside.
    - The program uses `num_replicas_in_sync`, numbers of GPUs or workers, or a global batch.
    - The strategy is for one device: a list of one device, a notebook of Colab, which has one GPU, or the default
      strategy.
    - The program does not visibly load, read or generate a thousand examples or more.
    - The program distributes the dataset and then does not use it.
    - The model is not in the scope, or it is unknown whether it is.
    - The batches are for validation only.
    - The code is a test.

    ## Use instead

        global_batch_size = 64 * strategy.num_replicas_in_sync

    Use this size in `batch` or `fit`, and to compute the steps per epoch. A larger batch usually needs a larger
    learning rate.

    ## Fix safety

    There is no fix: another batch size gives another trained model, and the learning rate and the numbers of steps
    depend on it.

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
    evidence_note = "The gain needs several GPUs."
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
                f"With several devices each gets a part of the {batch.size} examples; multiply by strategy.num_replicas_in_sync.",
                because=f"Two devices share the {batch.size} examples of a step, and take as many steps as one device would.{meant}",
                related=(
                    (batch.strategy, "the strategy"),
                    (batch.use, "divided here"),
                    *([(batch.unused, "never used")] if batch.unused is not None else []),
                ),
            )
