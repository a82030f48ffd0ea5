# `make` builds; `make demo` and `make check` also install the packages that they need. `make demo` shows a stream in a window,
# `make check` runs all tests and checks.

# PyGObject belongs to Debian's own Python, which need not be the first in PATH.
PYTHON ?= /usr/bin/python3

build := $(CURDIR)/build
plugin_folder := $(build)/gstreamer-1.0
plugin := $(plugin_folder)/libgstsmartdevicelink.so
swift_scratch := $(CURDIR)/.build
head_unit := $(build)/sdl-head-unit

# Built with the same modules as the plugin.
tests := $(swift_scratch)/release/gst-smartdevicelinkPackageTests.xctest
run_tests := SDL_PLUGIN_DIR=$(plugin_folder) GST_PLUGIN_PATH=$(plugin_folder) \
  $(PYTHON) scripts/run-tests $(tests) --summary $(build)/test-summary

# /usr/bin is for the distribution's packages; local builds are installed in /usr/local.
bindir ?= $(or $(PREFIX),/usr/local)/bin
# Beside GStreamer's own data.
valgrinddir ?= $(or $(PREFIX),/usr/local)/share/gstreamer-1.0/valgrind
suppressions := Sources/CPluginEntry/gstsmartdevicelink.supp
# Where GStreamer looks for plugins; below PREFIX if that is given.
pluginsdir ?= $(shell pkg-config $(if $(PREFIX),--define-variable=prefix=$(PREFIX)) --variable=pluginsdir gstreamer-1.0)

.PHONY: all demo timeline picture check checks check-repeatedly bench valgrind lint test tests meson-check install-check \
  docs-check docs certificates plugin head-unit packages install uninstall clean

# What `make install` installs.
all: plugin head-unit

demo:
	scripts/install-packages build demo
	$(MAKE) plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/demo

# Draws three quarters of a minute with every kind of event into demo/timeline.svg.
timeline: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) pipelines/timeline --head-unit $(head_unit)

# The picture in the README, docs/window.png.
picture: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/picture

check: packages
	$(MAKE) checks

checks: tests docs-check meson-check install-check
	$(run_tests)

test: plugin tests
	$(run_tests)

# Runs the tests TIMES times, with BUSY busy loops at the same time.
TIMES ?= 20
BUSY ?= 0
check-repeatedly: plugin tests
	$(run_tests) --times $(TIMES) --busy $(BUSY)

tests:
	meson-wrap/build-product --product tests --scratch-path $(swift_scratch)

# The release build is shared with `make plugin`, so that it happens once.
meson-check: plugin
	scripts/check-meson $(build)/meson $(swift_scratch)

install-check: all
	scripts/check-install $(build)/installed

docs-check: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/document-properties

# Writes the tables of properties in docs/.
docs: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/document-properties --write

# For encrypted video on the desk: see docs/security.md.
certificates:
	scripts/make-certificates $(build)/certificates

bench: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) Tests/Benchmarks/bench.py --head-unit $(head_unit)

# A short stream under memcheck, which Debian's package valgrind brings.
valgrind: plugin
	GST_PLUGIN_PATH=$(plugin_folder) valgrind --error-exitcode=1 --suppressions=$(suppressions) \
	  gst-launch-1.0 videotestsrc num-buffers=10 ! video/x-raw,width=320,height=240 ! videoconvertscale ! sdlvideosink

lint:
	swift format lint --strict --recursive Sources Tests pipelines Package.swift

plugin:
	meson-wrap/build-product --product gstsmartdevicelink --output $(plugin) --scratch-path $(swift_scratch)

head-unit:
	meson-wrap/build-product --product sdl-head-unit --output $(head_unit) --scratch-path $(swift_scratch)

$(plugin):
	$(MAKE) plugin

$(head_unit):
	$(MAKE) head-unit

# For building, the demo and the tests.
packages:
	@scripts/install-packages

# Installs what was built, since root need not have the Swift tool chain.
install: $(plugin) $(head_unit)
	install -d "$(DESTDIR)$(pluginsdir)" "$(DESTDIR)$(bindir)" "$(DESTDIR)$(valgrinddir)"
	install -m 644 $(suppressions) "$(DESTDIR)$(valgrinddir)/"
	install -m 644 $(plugin) "$(DESTDIR)$(pluginsdir)/"
	install -m 755 $(head_unit) "$(DESTDIR)$(bindir)/"

uninstall:
	rm -f "$(DESTDIR)$(pluginsdir)/$(notdir $(plugin))" "$(DESTDIR)$(bindir)/$(notdir $(head_unit))"
	rm -f "$(DESTDIR)$(valgrinddir)/$(notdir $(suppressions))"

clean:
	rm -rf .build build demo
