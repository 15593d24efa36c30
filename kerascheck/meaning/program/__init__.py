"""Facts about a module as a program: set-up, devices, loops, clocks."""
