from kerascheck.api import Applies, Rule, Severity, program


class UndistributedDataset(Rule):
    """A loop passes whole batches of a plain dataset to `strategy.run`, so all replicas compute the same.

    ## What it does

    Reports a `for` loop over a `tf.data` dataset whose batches reach `strategy.run(step, args=(batch,))` unchanged. The
    dataset was not distributed, and the strategy is a `MirroredStrategy` or `TPUStrategy`.

    ## Why it costs

    `strategy.run` gives each replica its part of a distributed value. A plain tensor goes to all replicas as a whole:
    N replicas do the work of one batch N times. Gradients that are summed over the replicas are N times too large as
    well, if the loss is divided by the global batch size. A step of a dense network on two logical devices took 1.46
    times as long as with a distributed dataset (2 CPU cores, TensorFlow 2.21, no GPU). On two GPUs, which work at the
    same time, such a step takes as long as on one GPU. That is unmeasured here.

    ## What the runtime does by itself

    Nothing, and it does not warn. `fit` distributes datasets by itself, but a loop of your own does not.

    ## When it stays silent

    - `experimental_distribute_dataset` or `distribute_datasets_from_function` made the dataset, or may have made it on
      some path.
    - The dataset is unknown, for example a parameter without a visible call, or the batch changes on the way to the
      step.
    - The code mentions `PerReplica`, `experimental_distribute_values_from_function`, `get_replica_context`, `shard` or
      the id of a replica, so it divides the batches itself.
    - The strategy has one replica: `OneDeviceStrategy`, `get_strategy()`, a list of one device, a notebook for Colab,
      or a program that hides the GPUs. `MultiWorkerMirroredStrategy`, because each worker may read its own data.
    - The program chooses the strategy by a condition and calls `run` under a condition.
    - The dataset is a `range` without batches, which counts steps.
    - At most 10 steps; tests.

    For a `MirroredStrategy` without a list of devices the finding is an info, because the machine may have one GPU.

    ## Use instead

    Divide the dataset outside of the loop. Its batch size is that of all replicas together:

        batches = strategy.experimental_distribute_dataset(dataset)
        for batch in batches:
            distributed_step(batch)

    ## Fix safety

    There is no fix: each replica then gets a smaller batch, so the loss must be divided by the global batch size, and
    the training takes other steps.

    ## References

    - TensorFlow API: `tf.distribute.Strategy.run`, `experimental_distribute_dataset`
    - TensorFlow tutorial: "Custom training with tf.distribute.Strategy"
    - NVIDIA-Merlin/HugeCTR issue 291
    """

    code = "KC506"
    name = "undistributed-dataset"
    summary = "all replicas get the same batch"
    evidence_note = "Each replica gets half a batch instead of a whole one, which changes what is computed."
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".run(", ".experimental_run_v2(")
    loss_tolerance = 1e-3

    def check(self, module):
        for found in program.replicated_batches(module):
            yield self.finding(
                found.loop,
                "Every replica gets these whole batches; iterate over strategy.experimental_distribute_dataset(dataset).",
                because="strategy.run divides only values of a distributed dataset, so all replicas do the same work.",
                doubt=None if found.has_several else "On a machine with one GPU, the strategy has one replica.",
                related=(
                    (found.run, "all replicas get the batch here"),
                    (found.dataset, "the dataset ends here"),
                    (found.strategy, "the strategy is made here"),
                ),
            )
