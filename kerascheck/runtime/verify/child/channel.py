"""The two pipes between a measured process and kerascheck: messages to the parent, orders to continue or end.

``kerascheck/runtime/verify/messages.py`` defines the messages.
"""

import json
import os
import threading


class Channel:
    """Sends messages (one JSON object per line) and waits for orders (one byte each)."""

    def __init__(self, events, orders):
        """``events``, ``orders``: file descriptors inherited from the parent."""
        self._events = events
        self._orders = orders
        self._lock = threading.Lock()
        # Processes that the script starts must not hold the pipes open.
        os.set_inheritable(events, False)
        os.set_inheritable(orders, False)

    def send(self, **message):
        """Send one message; ends the process if the parent is gone."""
        data = (json.dumps(message, default=str) + "\n").encode()
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._events, data) :]
            except OSError:
                os._exit(1)

    def wait(self):
        """Block until an order arrives; returns whether to continue."""
        order = os.read(self._orders, 1)
        if not order:
            os._exit(1)
        return order == b"g"
