"""Whether code runs eagerly or is traced into a graph."""

import sys


def executes_eagerly():
    """Whether no function is being traced."""
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is not None and not context.executing_eagerly():
        return False
    keras = sys.modules.get("keras")
    if keras is not None and hasattr(keras, "src") and hasattr(keras, "ops") and keras.backend.backend() == "jax":
        return jax_is_idle()
    return True


def jax_is_idle():
    """Whether JAX is not tracing; True if its version does not tell."""
    import jax

    # Public until JAX 0.8.
    for module in (sys.modules.get("jax._src.core"), jax.core):
        clean = getattr(module, "trace_state_clean", None)
        if clean is not None:
            return clean()
    return True


def in_graph_loop():
    """Whether the code being traced is in the body of a loop inside a ``tf.function``."""
    ops = sys.modules.get("tensorflow.python.framework.ops")
    if ops is None or executes_eagerly():
        return False
    graph = ops.get_default_graph()
    while graph is not None:
        if (
            "while" in getattr(graph, "name", "")
            or "scan" in getattr(graph, "name", "")
            or "reduce" in getattr(graph, "name", "")
        ):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
