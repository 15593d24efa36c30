from kerascheck.api import Rule, Severity, conditions, fixes, models, names


class PolicyAfterLayers(Rule):
    """A program sets a mixed precision policy after creating the layers that should use it.

    ## What it does

    Follows the script in execution order, through the functions that it calls. Reports `set_global_policy` or
    `set_dtype_policy` with a 16-bit policy if the script creates layers before it. After the call, `compile`, `fit` or
    a custom weight update must follow before the creation of another layer.

    ## Why it costs

    A layer takes its policy when it is created and keeps it. Layers created before the call stay in float32, without
    an error or a warning. `compile` follows the layers: if the policy is set between building and compiling, the
    optimizer has no loss scaling. Mixed precision is then simply off. The finding is an error because the call does
    not have the intended effect. The lost time depends on the GPU and is unmeasured here. A CPU loses nothing, because
    16-bit arithmetic is slower there (7.1 times for a CNN under `mixed_float16`; 2 CPU cores, TensorFlow 2.21, no
    GPU). Examples that set the policy "before compile" or "before training" are wrong: set it before the first layer.

    ## What the runtime does by itself

    Nothing. The policy is a global default that constructors read. In Keras 3, `clear_session()` resets it to float32
    (see `policy-dropped`).

    ## When it stays silent

    - The script sets the policy first. It may define functions and classes above the call and use them below.
    - The policy is float32, or the call restores an earlier policy.
    - The script builds another model after the call, before it compiles or trains anything. The policy may be meant
      for that model.
    - The script compiles and trains nothing after the call, for example because it only predicts.
    - All layers before the call prepare or augment data, such as `Rescaling` and `RandomFlip`.
    - The script passes policies to single layers with `dtype=`, or loads the model from a file.
    - The layer and the policy are in different branches.

    ## Use instead

    Set the policy directly after the imports, or before the first layer.

    ## Fix safety

    Unsafe: the fix moves the statement above the first statement of its block that creates a layer or a model. The
    policy then takes effect, and the numbers change with the precision.

    There is no fix if the statement reads a name that is bound below the new place, or if another block creates the
    layers.

    ## References

    - Keras documentation: "Mixed precision policy API"
    - TensorFlow guide: "Mixed precision"
    - Keras source: `layers/layer.py`, `trainers/trainer.py`
    """

    code = "KC302"
    name = "policy-after-layers"
    summary = "dtype policy is set after the layers"
    severity = Severity.ERROR
    proves = ("same-numbers", "bound-before", "nothing-between")
    triggers = ("set_global_policy", "set_dtype_policy", "set_policy")
    evidence_note = "The gain is that of mixed precision; it needs a GPU with Tensor Cores."
    loss_tolerance = None

    def check(self, module):
        run = module.run
        for call in module.program.calls(names.devices.SET_GLOBAL_POLICY):
            if models.policy_set_by(call) not in models.HALF_POLICIES:
                continue
            layers = [other for other in run.calls if models.makes_layer(other)]
            # Data preparation may stay in float32.
            before = [
                other
                for other in layers
                if other.name not in names.layers.PREPROCESSING and conditions.happens_before(other, call)
            ]
            later = [other.order for other in layers if other.order > call.order and other.path.root is call.path.root]
            used = [
                other.order
                for other in (*module.program.model_calls("compile", "fit"), *module.program.updates)
                if conditions.happens_before(call, other)
            ]
            # Only layers still in use are late. Later layers get the policy: earlier ones may belong to another model.
            if before and used and (not later or min(used) < min(later)):
                yield self.finding(
                    call,
                    "Layers created before this policy stay in float32; set it before the first layer.",
                    because="A layer takes its dtype policy when it is created, and keeps it.",
                    fix=fixes.move_before_layers(call, before[0]),
                    related=((before[0], "created before the policy is set"),),
                )
