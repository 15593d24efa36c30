"""A jitted step of a hand-written JAX loop, to be repeated on other batches."""

import sys

_RAW_KEY = ((2,), "uint32")  # shape and dtype of a random key of jax.random.PRNGKey


class JaxStep:
    """The second call of a training step: its arguments, and which of them are results of the first call."""

    def __init__(self, result):
        """``result``: of the first call."""
        self._results = sys.modules["jax"].tree_util.tree_leaves(result)  # kept until the second call
        self._is_over = False
        self._function = lambda *args, **kwargs: None
        self._structure = None
        self._arguments = []  # leaves
        self._state = {}  # index of a leaf of the arguments -> index of the leaf of the results that it continues

    def before(self, function, arguments):
        """Keep the arguments of the second call. Copies, since the call may consume them."""
        if self._is_over:
            return
        self._is_over = True
        jax = sys.modules["jax"]
        try:
            leaves, self._structure = jax.tree_util.tree_flatten(arguments)
            places = {id(leaf): index for index, leaf in enumerate(self._results)}
            self._state = {index: places[id(leaf)] for index, leaf in enumerate(leaves) if id(leaf) in places}
            self._arguments = [_copied(jax, leaf) for leaf in leaves]
        except Exception:  # must not look like an error of the script; the batch is unknown then
            self._arguments = []
        self._function, self._results = function, []

    @property
    def is_complete(self):
        """Whether the arguments of a further call are known: those of the second call, and results of the first."""
        return bool(self._arguments) and bool(self._state)

    def batch(self, most_rows):
        """(rows, bytes, indices of the arguments) of the batch; None if it cannot be told from other arguments.

        ``most_rows``: rows of the data that feeds the loop; None if unknown.
        """
        arrays = {
            index: leaf
            for index, leaf in enumerate(self._arguments)
            if index not in self._state and len(getattr(leaf, "shape", ())) and hasattr(leaf, "nbytes")
            if (tuple(leaf.shape), str(leaf.dtype)) != _RAW_KEY and not str(leaf.dtype).startswith("key<")
        }
        sizes = {int(leaf.shape[0]) for leaf in arrays.values()}
        rows = most_rows if most_rows in sizes else sizes.pop() if len(sizes) == 1 else None
        if rows is None or not self._state:
            return None
        found = [index for index, leaf in arrays.items() if leaf.shape[0] == rows]
        return rows, sum(arrays[index].nbytes for index in found), found

    def call(self, batch):
        """Run a step on other leaves ``batch``, by their indices; its results are the state of the next one."""
        jax = sys.modules["jax"]
        leaves = [batch.get(index, leaf) for index, leaf in enumerate(self._arguments)]
        args, kwargs = jax.tree_util.tree_unflatten(self._structure, leaves)
        results = jax.tree_util.tree_leaves(jax.block_until_ready(self._function(*args, **kwargs)))
        for index, place in self._state.items():
            self._arguments[index] = results[place]
        return 1

    def resized(self, indices, rows):
        """The leaves with these indices, with their rows repeated or cut."""
        jax, numpy = sys.modules["jax"], sys.modules["numpy"]
        found = {}
        for index in indices:
            leaf = self._arguments[index]
            join = jax.numpy.concatenate if isinstance(leaf, jax.Array) else numpy.concatenate
            found[index] = join([leaf] * -(-rows // int(leaf.shape[0])))[:rows]
        return found


def _copied(jax, leaf):
    """A copy that the step cannot consume; on the host, because the accelerator's memory may be full."""
    if not isinstance(leaf, jax.Array) or jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf.copy() if isinstance(leaf, jax.Array) else leaf
    if len(leaf.devices()) > 1:
        raise ValueError("an array on several devices")  # its copy on the host would lose the distribution
    return leaf.copy() if leaf.devices().pop().platform == "cpu" else jax.device_get(leaf)


def jax_step_of(state, leader):
    """The :class:`JaxStep` of a hand-written loop on JAX; None if it is unknown."""
    series = state.recorder.series
    return next((step for key, step in state.jax_steps.items() if series.get(("function", key)) is leader), None)
