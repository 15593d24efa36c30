from kerascheck.api import Applies, Rule, Severity, conditions, models, names


class PolicyDropped(Rule):
    """clear_session resets the mixed precision policy before the model that should use it is built.

    ## What it does

    Reports `clear_session()` while a 16-bit policy is active, in a program for Keras 3 that trains. After the call,
    the program must create layers without a new `set_dtype_policy` or `set_global_policy`.

    ## Why it costs

    In Keras 3, `clear_session()` resets every global setting, including the policy. Layers created after it compute in
    float32, and `compile` adds no loss scaling. There is no error and no warning: the script sets mixed precision and
    trains without it. A search may set the policy once and clear the session in each iteration. It then trains at most
    its first model in 16 bits, and compares it with others in 32. The lost time depends on the GPU and is unmeasured
    here.

    ## What the runtime does by itself

    Nothing restores the policy. Measured with Keras 3.15: after `set_dtype_policy("mixed_float16")` and
    `clear_session()` the policy is float32. In tf.keras 2, `clear_session()` keeps the policy, so programs often set
    it only once. The rule is silent for that target. `floatx` and layers created earlier stay as they are.

    ## When it stays silent

    - The program sets any policy between `clear_session()` and the next layer, even under a condition.
    - The program creates no layer afterwards.
    - The policy is float32 or unknown, because it comes from a variable or a condition decides.
    - `clear_session()` is under a condition that does not apply to the layers.

    ## Use instead

    Clear the session first, then set the policy, in the function that builds the model:

        keras.utils.clear_session()
        keras.config.set_dtype_policy("mixed_float16")

    ## Fix safety

    There is no automatic fix: the author may want float32 for the next model. Otherwise, set the policy in each
    iteration of a loop. Elsewhere, remove `clear_session()` or move it up.

    ## References

    - Keras documentation: "Mixed precision policy API", "clear_session"
    - Keras source: `backend/common/global_state.py`, `dtype_policies/dtype_policy.py`
    """

    code = "KC313"
    name = "policy-dropped"
    summary = "clear_session drops the dtype policy"
    severity = Severity.ERROR
    applies = Applies(keras=">=3", without_training=False)
    triggers = ("clear_session",)
    evidence_note = "The gain is that of mixed precision; it needs a GPU with Tensor Cores."
    loss_tolerance = None

    def check(self, module):
        program = module.program
        policies = list(program.calls(names.devices.SET_GLOBAL_POLICY))
        for call in program.calls(names.devices.CLEAR_SESSION):
            policy = models.policy_at(module, call)
            if policy not in models.HALF_POLICIES:
                continue
            setting = next(other for other in reversed(policies) if other.order < call.order)
            later = _next_layer(module, call, policies)
            layer = later or _layer_of_next_turn(module, call, policies)
            if layer is not None:
                yield self.finding(
                    call,
                    f"clear_session resets the policy {policy}; set it again before the next layer is created.",
                    because=f"Keras 3 resets all global settings: layers created {'next' if later else 'from the second iteration on'} use float32.",
                    related=((setting, "the policy"), (layer, "created in float32")),
                )


def _next_layer(module, call, policies):
    """The first layer that is certainly made after ``call``, with no policy set in between."""
    layer = next(
        (other for other in module.run.calls if models.makes_layer(other) and conditions.happens_before(call, other)),
        None,
    )
    return None if layer is None or any(call.order < other.order < layer.order for other in policies) else layer


def _layer_of_next_turn(module, call, policies):
    """The first layer that the next iteration of the loop around ``call`` certainly makes, if no iteration sets a policy."""
    loop = call.path.innermost_loop(within="program")
    if loop is None or any(other.path.is_in(loop) for other in policies):
        return None
    return next(
        (
            other
            for other in module.run.calls
            if models.makes_layer(other) and other.path.is_in(loop) and conditions.happens_before(other, call)
        ),
        None,
    )
