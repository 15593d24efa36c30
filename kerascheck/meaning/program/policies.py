"""Dtype policies: the one that a program sets, and the one in effect at a call."""

from __future__ import annotations

from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, ExecutionPath, ExternalInstance, constant
from kerascheck.knowledge.devices import CLEAR_SESSION, SET_GLOBAL_POLICY
from kerascheck.meaning.calls import CallIndex
from kerascheck.syntax.conditions import happens_before


def policy_at(module: Module, before: Call) -> str | None:
    """The name of the dtype policy that is certainly in effect at a call; None if none was set, or it is unknown.

    ``clear_session`` resets the policy in Keras 3 (measured on 3.15), not in tf.keras 2.
    """
    policy = None
    for call in module.once(CallIndex).named(CLEAR_SESSION, SET_GLOBAL_POLICY):
        if call.order >= before.order:
            break
        if call.name == CLEAR_SESSION:
            policy = None if module.runtime.keras >= 3 else policy
        else:
            policy = (
                policy_set_by(call)
                if happens_before(call, before) and not _may_run_earlier(before.path.root, call)
                else None
            )
    return policy


def policy_set_by(call: Call) -> str | None:
    """The name of the dtype policy passed to ``set_global_policy``; None if it is not a literal."""
    given = call.given("policy") or call.keyword("name")
    if isinstance(given, ExternalInstance) and given.name.endswith("Policy") and given.call is not None:
        given = given.call.given("name")
    name: str | None = constant(given)
    return name


def _may_run_earlier(root: ExecutionPath, call: Call) -> bool:
    """Whether a function without a visible caller may have run before the statement of a call below it."""
    if root.function is None or root is call.path.root:
        return False
    tree = call.module.tree
    return root.module is not call.module or tree.range_of(root.node)[0] < tree.range_of(call.node)[0]
