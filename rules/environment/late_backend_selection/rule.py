from kerascheck.api import Rule, Severity, conditions, constant, fixes

_SETTINGS = ("os.environ.__setitem__", "os.environ.setdefault", "os.putenv")
_IMPORTING_KERAS = frozenset(
    {"keras", "tensorflow", "tf_keras", "keras_hub", "keras_nlp", "keras_cv", "keras_tuner", "autokeras"}
)
_DEFAULT = "tensorflow"
# The variable is then meant for child processes, or keras is imported again.
_ELSEWHERE = frozenset({"importlib.reload", "os.system", "os.execv", "os.execve", "os.execvp"})
_STARTING_PROCESSES = frozenset({"subprocess", "multiprocessing"})


class LateBackendSelection(Rule):
    """A script sets KERAS_BACKEND after the import of Keras, which has already chosen its backend.

    ## What it does

    Reports `os.environ["KERAS_BACKEND"] = ...` after an import of `keras`, `tensorflow` or a package that imports
    Keras.

    ## Why it costs

    Keras reads the variable once, at import time. A later assignment has no effect and causes no error or warning. The
    script trains on TensorFlow (or on the backend in `~/.keras/keras.json`), while its author compares or pays for
    JAX. An assignment after `import tensorflow` is too late as well, because TensorFlow imports Keras (measured with
    TensorFlow 2.21). Setting the variable between `import tensorflow` and `import keras` does nothing. Some examples
    set it "before importing keras" but after an import of TensorFlow; they are wrong.

    ## What the runtime does by itself

    Nothing. `keras.config.backend()` returns the backend in use. Importing Keras again returns the module that is
    already loaded.

    ## When it stays silent

    - Nothing before the assignment imports Keras, or only under a condition or in a `try`.
    - The value is "tensorflow", the default of Keras, unless `--pedantic` is given. With this value, `setdefault` is
      always silent.
    - The script already sets the same value above the import.
    - The program starts processes, which inherit the variable, or reloads Keras.
    - The assignment is in a function without a visible call: another module may call it before the import.
    - tf.keras 2, and Keras 2.4 to 2.15, which have no other backend. Earlier versions of Keras read the variable like
      Keras 3.

    ## Use instead

        import os

        os.environ["KERAS_BACKEND"] = "jax"

        import keras

    as the first lines of the main script, or `KERAS_BACKEND=jax` in the command that starts it.

    ## Fix safety

    Unsafe: the fix moves the assignment, with `import os`, above the first import that needs Keras. The script then
    runs on the other backend, which you have to install. Results change with rounding and random numbers. Code that
    uses TensorFlow functions in layers or steps fails on another backend.

    There is no fix if the value is computed or if the assignment reads a name that is bound below the import. There is
    also none outside the top level of the script.

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
    evidence_note = "The gain depends on the backend that the author meant to use."
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
