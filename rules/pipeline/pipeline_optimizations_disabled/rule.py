from kerascheck.api import Rule, Severity, data, fixes, proofs

_LOST = {
    data.Lost.THREADS: "parallel calls share one thread",
    data.Lost.PARALLEL_MAP: "a map without num_parallel_calls stays serial",
    data.Lost.BUFFER: "nothing is prepared in advance after the last operation",
}


class PipelineOptimizationsDisabled(Rule):
    """The options of a dataset disable optimizations of tf.data.

    ## What it does

    Looks for `tf.data.Options` in a training pipeline that disable one of these optimizations, if the dataset then
    really loses something:

    - `autotune.enabled`, `experimental_optimization.apply_default_optimizations`, `.map_parallelization`, if a map
      without `num_parallel_calls` would have become parallel;
    - the first two, or `.inject_prefetch`, if the dataset has no `prefetch` at its end;
    - `threading.private_threadpool_size = 1`, if operations should run in parallel.

    The finding is at the assignment of the option.

    ## Why it costs

    On 2 CPU cores (TensorFlow 2.21, no GPU), a map that stayed serial took 1.9 times as long. Training without
    prefetched batches took 1.5 times as long, and with all rewrites disabled 2.2 times. With a thread pool of one, a
    map with `num_parallel_calls=4` ran one call at a time: 1.1 s instead of 0.6 s.

    ## What the runtime does by itself

    All of this is on by default: automatic parallel maps since TensorFlow 2.6, the prefetch since 2.11. A dataset that
    specifies everything itself loses nothing, with `num_parallel_calls` on its maps and `prefetch` at its end.
    `AUTOTUNE` also works with the autotuner disabled.

    `tf.config.threading.set_inter_op_parallelism_threads(1)`, the intra-op setting and their environment variables did
    not slow this pipeline: tf.data has its own threads.

    ## When it stays silent

    - The dataset itself specifies the behaviour that the option disables.
    - A condition decides whether the option is set or the options are applied.
    - The value is not a literal.
    - The dataset is used only for validation, evaluation, inspection or a `fit` of at most ten steps.
    - The program requests determinism, by `enable_op_determinism` or `TF_DETERMINISTIC_OPS`.

    ## Use instead

    Delete the setting. If it was meant to limit memory, set `autotune.ram_budget`, or a literal `num_parallel_calls`
    and `prefetch(1)`.

    ## Fix safety

    Deleting the line is unsafe: more elements are in flight at once, which takes memory. There is no fix if the setting
    is not a separate statement.

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
