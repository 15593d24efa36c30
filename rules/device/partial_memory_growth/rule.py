from kerascheck.api import (
    Applies,
    ExternalInstance,
    Rule,
    SequenceValue,
    Severity,
    conditions,
    constant,
    fixes,
    names,
    program,
)


def _is_device(value):
    return isinstance(value, ExternalInstance) and value.name == names.devices.PHYSICAL_DEVICE


def _may_leave_one(call):
    """Whether a call that chooses devices may leave a single GPU visible: not if it names all of them, several, or CPUs."""
    if call.name != names.devices.SET_VISIBLE_DEVICES:
        return "," not in str(constant(call.given("value")))
    if constant(call.given("device_type")) == "CPU":
        return False
    devices = call.given("devices")
    if isinstance(devices, SequenceValue) and not devices.open:
        return len(devices.items) < 2
    return not (isinstance(devices, ExternalInstance) and devices.name == names.devices.LIST_PHYSICAL_DEVICES)


class PartialMemoryGrowth(Rule):
    """A script sets memory growth for the first GPU only.

    ## What it does

    Reports `set_memory_growth(gpus[0], True)` if `gpus` lists all GPUs of the machine. No other line may cover the
    other GPUs, and the script must not choose among the devices.

    ## Why it costs

    On a machine with one GPU it works. With two, the first operation raises `ValueError: Memory growth cannot differ
    between GPU devices`. This happens even if the program uses only the first, because every visible GPU counts.
    Authors often copy the line from examples for one GPU. The result is a failure, not a slowdown. We know of no
    effect of memory growth on speed.

    ## What the runtime does by itself

    When TensorFlow starts, it compares the setting of all visible GPUs and refuses to run if they differ. The call
    itself gives no warning. An `except RuntimeError` around it does not help, because the error occurs later and has
    another type. The value of `TF_FORCE_GPU_ALLOW_GROWTH` in the environment replaces the configured one when
    TensorFlow sets up the memory of a GPU.

    ## When it stays silent

    - A loop, a comprehension or an index covers all devices anywhere in the program, even if another branch handles a
      single GPU.
    - The script sets several devices one by one, or the first directly and the rest in a loop.
    - The script leaves one GPU visible with `set_visible_devices`, or passes it a value that may be a single GPU. All
      GPUs or a list of two are more than one; CPUs do not count.
    - The script sets `CUDA_VISIBLE_DEVICES` to one device or to a value that is not a literal, or only such scripts
      import the module. An option that hides all GPUs does not count: without it, all are visible.
    - `set_memory_growth(gpus[0], False)`, or a branch that counts one device.
    - The device is a parameter of a function.
    - TensorFlow has already initialised its devices before the call: see `late-device-config`.

    ## Use instead

    A loop over the list:

        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)

    To use one GPU only, hide the others first: `tf.config.set_visible_devices(gpus[0], "GPU")`.

    ## Fix safety

    The fix replaces the call with a loop over the list of GPUs. One GPU gets the same setting as before. Today, with
    several GPUs the first operation raises, and without a GPU an unguarded `gpus[0]` raises `IndexError`. After the
    fix, the program continues in both cases.

    Safe if nothing catches these exceptions. Unsafe if a `try` or a `with` may catch them, in the function or around
    its calls. Also unsafe if not all calls of the function are visible.

    There is a fix only if the list is the unchanged result of `list_physical_devices("GPU")`.

    ## References

    - TensorFlow guide: "Use a GPU" (limiting GPU memory growth)
    - TensorFlow API: `tf.config.experimental.set_memory_growth`
    - TensorFlow source: `python/eager/context.py`
    """

    code = "KC312"
    name = "partial-memory-growth"
    summary = "memory growth is set for one GPU only"
    severity = Severity.ERROR
    applies = Applies(cpu_only=False)
    speed = False
    proves = ("raises-now",)
    triggers = ("set_memory_growth",)

    def check(self, module):
        if module.project.is_shown_one_gpu(module) or any(map(_may_leave_one, module.program.gpu_choices)):
            return
        calls = list(module.program.calls(names.devices.SET_MEMORY_GROWTH))
        indices = [
            constant(device.attributes.get("index")) if _is_device(device := call.given("device")) else None
            for call in calls
        ]
        # Growth set in a loop, or on several devices one by one, reaches more than one.
        if any(index is None for index in indices) or len(set(indices)) != 1:
            return
        for call in calls:
            # A late call sets nothing: late-device-config reports it.
            if program.initialising_call(module, call) is not None:
                continue
            if conditions.expects_one(call.path) or constant(call.given("enable")) is False:
                continue
            yield self.finding(
                call,
                "Memory growth is set for one GPU only; set it for every GPU in a loop.",
                because="With two visible GPUs the first operation raises: Memory growth cannot differ between GPU devices.",
                fix=fixes.grow_every_device(call),
            )
