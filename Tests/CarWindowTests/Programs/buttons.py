"""Two buttons of 100x60 at 20, 30 and 150, 120: the first one hides the second one."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

window = Gtk.Window()
places = Gtk.Fixed()
window.add(places)
buttons = [Gtk.Button(label=name) for name in ("hide", "hidden")]
for button, (x, y) in zip(buttons, ((20, 30), (150, 120))):
    button.set_size_request(100, 60)
    places.put(button, x, y)
buttons[0].connect("clicked", lambda _button: buttons[1].hide())
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
