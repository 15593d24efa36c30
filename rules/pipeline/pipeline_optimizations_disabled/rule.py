from kerascheck.api import Rule, Severity, data, fixes, proofs

_LOST = {
    data.Lost.THREADS: "its parallel calls share one thread",
    data.Lost.PARALLEL_MAP: "this map stays serial",
    data.Lost.BUFFER: "nothing is prepared in advance behind this operation",
}


class PipelineOptimizationsDisabled(Rule):
    """The options of a dataset switch off optimizations of tf.data.

    ## What it does

    Looks for `tf.data.Options` on the way to training that turn one of these off, where the dataset
    then really loses something:

    - `autotune.enabled`, `experimental_optimization.apply_default_optimizations`,
      `.map_parallelization`, where a map without `num_parallel_calls` would have become parallel;
    - the first two, or `.inject_prefetch`, where the dataset has no `prefetch` at its end;
    - `threading.private_threadpool_size = 1`, where operations should run in parallel.

    The finding is where the option is set.

    ## Why it costs

    On 2 CPU cores (TensorFlow 2.21, no GPU) a map that stayed serial took 1.9 times as long, a
    training whose batches were not prefetched 1.5 times, and with all rewrites off 2.2 times. With
    a thread pool of one, a map with `num_parallel_calls=4` ran one call at a time: 1.1 s instead
    of 0.6 s.

    ## What the runtime does by itself

    All of this is on by default: the automatic parallel maps since TensorFlow 2.6, the prefetch
    since 2.11. A dataset that specifies everything, with `num_parallel_calls` on its maps and
    `prefetch` at its end, loses nothing: `AUTOTUNE` works with the autotuner off, too.

    `tf.config.threading.set_inter_op_parallelism_threads(1)`, the intra-op one and their environment
    variables did not slow this pipeline: tf.data has threads of its own.

    ## When it stays silent

    - The dataset itself specifies what the option switches off.
    - The option is set, or the options are applied, under a condition.
    - The value is not a literal.
    - The dataset feeds only validation, evaluation, inspection or a `fit` of at most ten steps.
    - The program requests determinism, by `enable_op_determinism` or `TF_DETERMINISTIC_OPS`.

    ## Use instead

    Delete the setting. Where it was meant to limit memory, set `autotune.ram_budget`, or a literal
    `num_parallel_calls` and `prefetch(1)`.

    ## Fix safety

    Deleting the line is unsafe: more elements are in flight at once, which takes memory. There is no fix where
    the setting is not a separate statement.

    ## References

    - TensorFlow API: `tf.data.Options`, `tf.data.experimental.OptimizationOptions`, `tf.data.ThreadingOptions`
    - TensorFlow source: `inject_prefetch.cc`, `map_parallelization.cc`
    """

    code = "KC118"
    name = "pipeline-optimizations-disabled"
    summary = "tf.data optimizations are switched off"
    severity = Severity.WARNING
    triggers = ("with_options",)
    proves = ("same-memory",)
    loss_tolerance = 1e-6

    def check(self, module):
        if module.program.is_deterministic:
            return
        for found in data.lost_optimizations(module):
            what = _LOST[found.what]
            yield self.finding(
                found.call,
                f"This switches off an optimization of tf.data ({found.call.attribute}); delete it, or write the parallel calls and prefetch yourself.",
                because=f"With this option, {what}.",
                fix=fixes.delete_statement(
                    found.call, proofs.SAME_MEMORY.unless("more elements are in flight at once")
                ),
                related=((found.place, what),),
            )
