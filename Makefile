# The front door. `make demo` shows what this is, `make check` tests all of it.

# PyGObject belongs to Debian's own Python, which need not be the first in PATH.
PYTHON ?= /usr/bin/python3
SWIFT ?= swift

build := $(CURDIR)/build
plugin_folder := $(build)/gstreamer-1.0
plugin := $(plugin_folder)/libgstsmartdevicelink.so
swift_scratch := $(CURDIR)/.build

# Where GStreamer looks for plugins; below PREFIX if that is given.
pluginsdir ?= $(shell pkg-config $(if $(PREFIX),--define-variable=prefix=$(PREFIX)) --variable=pluginsdir gstreamer-1.0)

.PHONY: demo check bench lint test meson-check plugin head-unit packages install uninstall clean
# Every target that builds uses SwiftPM's one build folder.
.NOTPARALLEL:

demo: plugin head-unit
	$(PYTHON) scripts/demo --plugin-folder $(plugin_folder) --head-unit "$$($(SWIFT) build -c release --show-bin-path)/sdl-head-unit"

check: plugin meson-check test

test: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(SWIFT) test

# The release build is shared with `make plugin`, so that it happens once.
meson-check: plugin
	scripts/check-meson $(build)/meson $(swift_scratch)

bench: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/bench --head-unit "$$($(SWIFT) build -c release --show-bin-path)/sdl-head-unit"

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift

plugin: packages
	meson-wrap/build-plugin --output $(plugin) --scratch-path $(swift_scratch)

head-unit: packages
	$(SWIFT) build -c release --product sdl-head-unit

packages:
	@scripts/install-packages

install: plugin
	install -d "$(DESTDIR)$(pluginsdir)"
	install -m 644 $(plugin) "$(DESTDIR)$(pluginsdir)/"

uninstall:
	rm -f "$(DESTDIR)$(pluginsdir)/$(notdir $(plugin))"

clean:
	rm -rf .build build demo
