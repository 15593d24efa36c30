from kerascheck.api import Rule, Severity, display_name, fixes, program


class LateDeviceConfig(Rule):
    """A device is configured after TensorFlow has started its runtime.

    ## What it does

    Follows the script in execution order, through the functions that it calls, and reports `set_memory_growth`,
    `set_visible_devices`, `set_logical_device_configuration` and the thread counts of `tf.config.threading` after a
    call that starts the runtime. An `except RuntimeError` around the call does not help: it turns the failure into a
    printed line. Where another file holds the call, the finding is at the call or import that leads there. As a
    warning, it reports `CUDA_VISIBLE_DEVICES` and `TF_FORCE_GPU_ALLOW_GROWTH` that are set in `os.environ` too late.

    ## Why it costs

    With a GPU, the call raises `RuntimeError: Physical devices cannot be modified after being initialized`, and
    similar errors for visible and virtual devices. Where the exception is caught, as in many examples, the script
    continues without the setting and takes all memory or all devices. On a machine without GPUs the fault stays
    hidden, because the loop over the devices is empty. The thread counts raise everywhere: `RuntimeError: Intra op
    parallelism cannot be modified after initialization` (tried on TensorFlow 2.21). CUDA and the runtime read the
    environment once, when they start. A variable that is set later raises nothing and has no effect (unmeasured here,
    where there is no GPU).

    ## What the runtime does by itself

    It starts on first use, not on import. These start it: `tf.constant`, `tf.Variable` and other operations, every
    `tf.data.Dataset`, `list_logical_devices`, `MirroredStrategy()`, an optimizer, a metric, a summary writer, a model
    with its input, and in Keras 3 layers that hold a seed, such as `Dropout` and `RandomFlip`. These do not: imports,
    seeds, `list_physical_devices`, `set_global_policy`, `set_jit`, `tf.function`, `Input`, losses, and layers such as
    `Dense` before they are built. Repeating a setting that already holds raises no error.

    ## When it stays silent

    - Nothing before the call starts the runtime. A function that would may be defined above it and called below it.
    - The same setting was made before the runtime started.
    - The code that starts the runtime stands under a condition or in an exception handler.
    - The code that starts it is not among the calls above, or is a dataset not created by `from_*`, `range` or
      `TFRecordDataset`.
    - Environment variables are set before the runtime starts, even after `import tensorflow`: they count when the GPU
      is first used. Also variables that repeat an earlier value, or in a file that starts processes, which read them.
    - The call runs in a separate process, or makes all CPUs visible, which is the default.
    - The settings are only read.

    ## Use instead

    Configure devices directly after the imports, or in the first statement of `main`.

    ## Fix safety

    The statement moves to directly below the imports, with the lines directly above it that bind names which it reads.

    Safe where the statement does nothing but set up devices, and its names are bound below the imports. Today the call
    raises where there is a GPU, and thread counts raise everywhere: a program that ends there goes on after the fix.
    Without a GPU nothing changes.

    Unsafe where a `try` or a `with` may catch today's exception, since the program then trains with other devices than
    before. Unsafe, too, where the statement prints or may raise, or where code in between uses its names, sets up
    devices, or may set variables of the environment.

    There is no fix where the statement reads a name that is bound below the new place. Nor is there one for a setting
    in a function, whose call has to move, or where an earlier cell of a notebook starts the runtime.

    ## References

    - TensorFlow guide: "Use a GPU"
    - TensorFlow API: `tf.config.experimental.set_memory_growth`, `tf.config.set_visible_devices`
    - TensorFlow source: `python/eager/context.py`
    """

    code = "KC307"
    name = "late-device-config"
    summary = "device is configured too late"
    severity = Severity.ERROR
    speed = False
    proves = ("bound-before", "nothing-between", "raises-now")
    triggers = (
        "set_memory_growth",
        "set_visible_devices",
        "set_logical_device_configuration",
        "set_virtual_device_configuration",
        "set_intra_op_parallelism_threads",
        "set_inter_op_parallelism_threads",
        "CUDA_VISIBLE_DEVICES",
        "TF_FORCE_GPU_ALLOW_GROWTH",
    )

    def check(self, module):
        for late in program.late_settings(module):
            call, started = late.call, late.started
            because = f"{display_name(started.name)} has already initialised them."
            if late.variable is not None:
                yield self.finding(
                    call,
                    f"{late.variable} has no effect after TensorFlow has initialised its devices; set it earlier.",
                    because=because,
                    severity=Severity.WARNING,
                    related=((started, "initialises the devices"),),
                )
                continue
            # In a program of its own the file of the call may do it in time.
            own = call.module is module
            yield self.finding(
                program.place_in_module(module, call),
                f"{display_name(call.name)} raises or has no effect after TensorFlow has initialised its devices; move it up.",
                because=because,
                fix=fixes.move_device_config(module, call, started) if own else None,
                related=((started, "initialises the devices"), *(() if own else ((call, "sets them"),))),
            )
