"""Facts about libraries as data, with sources; tests compare them with the installed versions."""
