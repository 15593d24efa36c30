"""What a module does as a program: set-up, devices, loops, clocks."""
