from kerascheck.api import Rule, Severity, display_name, fixes, program


class LateDeviceConfig(Rule):
    """A program configures a device after TensorFlow has started its runtime.

    ## What it does

    Follows the script in execution order, through the functions that it calls. Reports `set_memory_growth`,
    `set_visible_devices`, `set_logical_device_configuration` and the thread counts of `tf.config.threading` after a
    call that starts the runtime. An `except RuntimeError` around the call does not help, because it only turns the
    failure into a printed line. If the call is in another file, the finding is at the call or import that leads there.
    As a warning, the rule reports code that sets `CUDA_VISIBLE_DEVICES` or `TF_FORCE_GPU_ALLOW_GROWTH` in `os.environ`
    too late.

    ## Why it costs

    With a GPU, the call raises `RuntimeError: Physical devices cannot be modified after being initialized`, and
    similar errors for visible and virtual devices. If the script catches the exception, as in many examples, it
    continues without the setting and takes all memory or all devices. On a machine without GPUs the fault stays
    hidden, because the loop over the devices is empty. The thread counts raise on every machine: `RuntimeError: Intra
    op parallelism cannot be modified after initialization` (tested with TensorFlow 2.21). CUDA and the runtime read
    the environment once, when they start. A variable set later raises nothing and has no effect (unmeasured here,
    without a GPU).

    ## What the runtime does by itself

    The runtime starts on first use, not on import. These start it:

    - `tf.constant`, `tf.Variable` and other operations;
    - every `tf.data.Dataset`;
    - `list_logical_devices` and `MirroredStrategy()`;
    - an optimizer, a metric or a summary writer;
    - a model with its input;
    - in Keras 3, layers that hold a seed, such as `Dropout` and `RandomFlip`.

    These do not: imports, seeds, `list_physical_devices`, `set_global_policy`, `set_jit`, `tf.function`, `Input`,
    losses, and layers such as `Dense` before `build`. Repeating an active setting raises no error.

    ## When it stays silent

    - Nothing before the call starts the runtime. A function that starts it may be defined above the call and called
      below it.
    - The program makes the same setting before the runtime starts.
    - The code that starts the runtime is under a condition or in an exception handler.
    - The code that starts the runtime is not in the list above.
    - The program sets environment variables before the runtime starts, even after `import tensorflow`. They take
      effect on first use of the GPU.
    - Environment variables repeat an earlier value, or are in a file that starts processes, which read them.
    - The call runs in a separate process, or makes all CPUs visible, which is the default.
    - The settings are only read.

    ## Use instead

    Configure devices directly after the imports, or in the first statement of `main`.

    ## Fix safety

    The fix moves the statement directly below the imports, together with the lines above it that bind its names.

    Safe if the statement only sets up devices, and its names are bound below the imports. Today the call raises if
    there is a GPU, and thread counts raise everywhere. A program that fails there continues after the fix. Without a
    GPU nothing changes.

    Unsafe if a `try` or a `with` may catch today's exception, because the program then trains with other devices than
    before. Also unsafe if the statement prints or may raise. The same holds if code in between uses its names, sets up
    devices, or may set environment variables.

    There is no fix if the statement reads a name that is bound below the new place. There is also none for a setting
    in a function, because its call has to move. The same holds if an earlier notebook cell starts the runtime.

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
            # As a program of its own, the file of the call may set it in time.
            own = call.module is module
            yield self.finding(
                program.place_in_module(module, call),
                f"{display_name(call.name)} raises or has no effect after TensorFlow has initialised its devices; move it up.",
                because=because,
                fix=fixes.move_device_config(module, call, started) if own else None,
                related=((started, "initialises the devices"), *(() if own else ((call, "sets them"),))),
            )
