"""Steps of a loop inside a ``tf.function``, where no step passes through Python."""

import threading
import time

_POLL_SECONDS = 0.002
_LONGEST_STEP = 0.5  # seconds; in a longer call, several updates indicate a loop


def iterations(state):
    """Number of updates that the first optimizer has applied; None if unknown."""
    try:
        return int(state.optimizer.iterations.numpy())
    except Exception:  # no optimizer, not built yet, or a symbolic value
        return None


def watch(state):
    """Start the poller, once per process."""
    if state.poller is None:
        state.poller = GraphLoopPoller(state)
        state.poller.start()


class GraphLoopPoller(threading.Thread):
    """Counts steps by reading ``optimizer.iterations`` from another thread."""

    def __init__(self, state):
        super().__init__(daemon=True, name="kerascheck-poller")
        self._state = state
        self.took_over = False

    def run(self):
        """Poll until the recorder is disabled; report steps only once a single call has made several updates."""
        state, recorder = self._state, self._state.recorder
        counted, call = None, None
        while not recorder.disabled:
            time.sleep(_POLL_SECONDS)
            now_in = state.in_call
            if now_in is None:
                continue
            steps = iterations(state)
            if steps is None:
                continue
            if call != now_in:
                call, counted, first = now_in, steps, True
                continue
            if time.perf_counter() - now_in[1] < _LONGEST_STEP or steps <= counted:
                continue
            self.took_over = True
            recorder.tick(("graph loop",), "graph loop", "", steps - counted, epoch=first)
            counted, first = iterations(state), False
