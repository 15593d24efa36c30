from kerascheck.api import Rule, Severity, conditions, constant, fixes

_SETTINGS = ("os.environ.__setitem__", "os.environ.setdefault", "os.putenv")
_IMPORTING_KERAS = frozenset(
    {"keras", "tensorflow", "tf_keras", "keras_hub", "keras_nlp", "keras_cv", "keras_tuner", "autokeras"}
)
_DEFAULT = "tensorflow"
# Here the variable is meant for others, or keras is imported anew.
_ELSEWHERE = frozenset({"importlib.reload", "os.system", "os.execv", "os.execve", "os.execvp"})
_STARTING_PROCESSES = frozenset({"subprocess", "multiprocessing"})


class LateBackendSelection(Rule):
    """KERAS_BACKEND is set after Keras has been imported and has chosen its backend.

    ## What it does

    Reports `os.environ["KERAS_BACKEND"] = ...` after an import of `keras`, `tensorflow` or a package that imports
    Keras.

    ## Why it costs

    Keras reads the variable once, when it is imported. Setting it later has no effect, without an error or a warning:
    the script trains on TensorFlow (or on what `~/.keras/keras.json` says), while its author compares or pays for
    JAX. `import tensorflow` is too early as well, since it imports Keras (measured with TensorFlow 2.21): setting the
    variable between `import tensorflow` and `import keras` does nothing. Examples that set it "before importing
    keras" but after an import of TensorFlow are wrong for that reason.

    ## What the runtime does by itself

    Nothing. `keras.config.backend()` returns the backend in use. Importing Keras again returns the module that is
    already loaded.

    ## When it stays silent

    - Nothing before it imports Keras, or only under a condition or in a `try`.
    - The value is "tensorflow", the default of Keras, unless `--pedantic` is given; `setdefault` is always silent.
    - The same value is already set above the import.
    - The program starts processes, which inherit the variable, or reloads Keras.
    - It stands in a function that is not seen to be called: another module may call it before the import.
    - tf.keras 2, and Keras 2.4 to 2.15, which have no other backend. Keras before that read the variable like Keras 3.

    ## Use instead

        import os

        os.environ["KERAS_BACKEND"] = "jax"

        import keras

    as the first lines of the main script, or `KERAS_BACKEND=jax` in the command that starts it.

    ## Fix safety

    Unsafe: the assignment moves, with `import os`, above the first import that needs Keras. The script then does what
    it says, on another backend: that has to be installed, results change by rounding and by the random numbers, and
    code that uses TensorFlow functions in layers or steps fails there.

    There is no fix where the value is computed, where the assignment reads a name that is bound below the import, or
    outside the top level of the script.

    ## References

    - Keras documentation: "Getting started with Keras" ("Configuring your backend")
    - Keras source: `backend/config.py`
    """

    code = "KC702"
    name = "late-backend-selection"
    summary = "KERAS_BACKEND is set after Keras is imported"
    severity = Severity.ERROR
    proves = ("same-output", "bound-before", "nothing-between")
    triggers = ("KERAS_BACKEND",)
    loss_tolerance = 1e-4

    def check(self, module):
        program = module.program
        several = module.runtime.multi_backend_keras
        if (
            module.runtime.keras < 3
            and not several
            or any(call.name in _ELSEWHERE or _imports(call, _STARTING_PROCESSES) for call in module.run.calls)
        ):
            return
        imports = [
            call
            for call in module.run.calls
            if _imports(call, {"keras"} if several else _IMPORTING_KERAS)
            and not any(call.path.tries(within="function"))
        ]
        settings = [
            call
            for call in program.calls(*_SETTINGS)
            if constant(call.given("key")) == "KERAS_BACKEND" and program.is_executed(call.path)
        ]
        for call in settings:
            value = constant(call.given("value"))
            first = next((other for other in imports if conditions.happens_before(other, call)), None)
            if first is None or value == _DEFAULT and call.name == "os.environ.setdefault":
                continue
            if any(other.order < first.order and constant(other.given("value")) == value for other in settings):
                continue
            package = first.attribute.partition(".")[0]
            yield self.finding(
                call,
                "KERAS_BACKEND has no effect after Keras is imported; set it before the first import.",
                because=(
                    "Keras chose its backend when it was imported"
                    if package == "keras"
                    else f"import {package} imports Keras, which chooses its backend then"
                )
                + (": TensorFlow, unless its configuration file names another." if value == _DEFAULT else "."),
                pedantic=value == _DEFAULT,
                fix=fixes.move_above_import(call, first),
                related=((first, "imports Keras"),),
            )


def _imports(call, packages):
    return call.name == "builtins.import" and (call.attribute or "").partition(".")[0] in packages
