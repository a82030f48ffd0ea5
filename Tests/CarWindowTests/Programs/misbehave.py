"""A white window, made without a toolkit. Then, as the argument says:

grab: it grabs the server and hangs. windows: it opens and closes other windows without a pause. hints: it changes the
hints of its window without a pause.
"""

import ctypes
import os
import signal
import sys

x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
display = ctypes.c_void_p(x11.XOpenDisplay(None))
root = x11.XDefaultRootWindow(display)


def open_window():
    window = x11.XCreateSimpleWindow(display, root, 0, 0, 100, 100, 0, 0, 0xFFFFFF)
    x11.XMapWindow(display, window)
    return window


window = open_window()
if "grab" in sys.argv:
    x11.XGrabServer(display)
x11.XSync(display, 0)
if "grab" in sys.argv:
    os.kill(os.getpid(), signal.SIGSTOP)
# PMinSize, 100×100.
hints = (ctypes.c_long * 18)(1 << 4, 0, 0, 0, 0, 100, 100)
while "hints" in sys.argv:
    # WM_NORMAL_HINTS of the type WM_SIZE_HINTS
    x11.XChangeProperty(display, window, 40, 41, 32, 0, hints, 18)
while True:
    x11.XDestroyWindow(display, open_window())
