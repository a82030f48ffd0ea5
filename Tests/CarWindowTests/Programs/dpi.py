"""Prints the pixels per inch by which toolkits choose the font size."""

import ctypes

x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XGetDefault.restype = ctypes.c_char_p
print(x11.XGetDefault(ctypes.c_void_p(x11.XOpenDisplay(None)), b"Xft", b"dpi").decode())
