from kerascheck.api import Rule, Severity, conditions, fixes, models, names


class PolicyAfterLayers(Rule):
    """A mixed precision policy is set after the layers that should use it.

    ## What it does

    Follows the script in execution order, through the functions that it calls. Reports `set_global_policy` or
    `set_dtype_policy` with a 16-bit policy where layers were created before it, and where `compile`, `fit` or a custom
    update of weights follows before another layer is created.

    ## Why it costs

    A layer takes its policy when it is created and keeps it. Layers created before the call stay in float32, without
    an error or a warning. `compile` follows the layers: a policy set between building and compiling gives a plain
    optimizer without loss scaling, so mixed precision is simply off. The call does not do what it says, hence an
    error. What is lost in time depends on the GPU and is unmeasured here. On a CPU nothing is lost, since 16-bit
    arithmetic is slower there (7.1 times for a CNN under `mixed_float16`; 2 CPU cores, TensorFlow 2.21, no GPU).
    Examples that set the policy "before compile" or "before training" are wrong: it has to come before the first
    layer.

    ## What the runtime does by itself

    Nothing. The policy is a global default that constructors read. In Keras 3, `clear_session()` resets it to float32
    (see `policy-dropped`).

    ## When it stays silent

    - The policy is set first. Functions and classes may be defined above it and used below it.
    - The policy is float32, or an earlier policy that is restored.
    - Another model is built after the policy, before anything is compiled or trained: the policy may be meant for
      that one.
    - Nothing is compiled or trained after it, as in a script that only predicts.
    - Only layers that prepare or augment data come before it, such as `Rescaling` and `RandomFlip`.
    - Policies are passed to single layers by `dtype=`, or the model is loaded from a file.
    - The layer and the policy are in different branches.

    ## Use instead

    Set the policy directly after the imports, or before the first layer.

    ## Fix safety

    Unsafe: the statement moves above the first statement of its block that creates a layer or a model. The script then
    does what it says, and its numbers change with the precision.

    There is no fix where the statement reads a name that is bound below the new place, in whatever form, or where the
    layers are created in another block.

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
    loss_tolerance = None

    def check(self, module):
        run = module.run
        for call in module.program.calls(names.devices.SET_GLOBAL_POLICY):
            if models.policy_set_by(call) not in models.HALF_POLICIES:
                continue
            layers = [other for other in run.calls if models.makes_layer(other)]
            # What prepares the data may well stay in float32.
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
            # Only layers that are still used are late. Those made next get the policy: the earlier ones may be another model.
            if before and used and (not later or min(used) < min(later)):
                yield self.finding(
                    call,
                    "Layers created before this policy stay in float32; set it before the first layer.",
                    because="A layer takes its dtype policy when it is created, and keeps it.",
                    fix=fixes.move_before_layers(call, before[0]),
                    related=((before[0], "created before the policy is set"),),
                )
