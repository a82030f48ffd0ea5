# `make demo` shows what this is, `make check` tests all of it.

# PyGObject belongs to Debian's own Python, which need not be the first in PATH.
PYTHON ?= /usr/bin/python3

build := $(CURDIR)/build
plugin_folder := $(build)/gstreamer-1.0
plugin := $(plugin_folder)/libgstsmartdevicelink.so
swift_scratch := $(CURDIR)/.build
head_unit := $(build)/sdl-head-unit

# /usr/bin belongs to the distribution, and is not where what is built by hand goes.
bindir ?= $(or $(PREFIX),/usr/local)/bin
# Where GStreamer looks for plugins; below PREFIX if that is given.
pluginsdir ?= $(shell pkg-config $(if $(PREFIX),--define-variable=prefix=$(PREFIX)) --variable=pluginsdir gstreamer-1.0)

.PHONY: demo all timeline picture check bench lint test meson-check install-check docs-check docs plugin head-unit packages install uninstall clean
# Every target that builds uses SwiftPM's one build folder.
.NOTPARALLEL:

demo: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/demo

# What `make install` installs.
all: plugin head-unit

# Half a minute with all that can happen, drawn into demo/timeline.svg.
timeline: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) pipelines/timeline --head-unit $(head_unit)

# The picture in the README, docs/window.png.
picture: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/picture

# The longest last, so that its result is what one sees.
check: plugin docs-check meson-check install-check test

test: plugin
	swift test --no-parallel --filter WholeProcess
	GST_PLUGIN_PATH=$(plugin_folder) swift test --skip-build --skip WholeProcess

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

bench: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) Tests/Benchmarks/bench.py --head-unit $(head_unit)

lint:
	swift format lint --strict --recursive Sources Tests pipelines Package.swift

plugin: packages
	meson-wrap/build-product --product gstsmartdevicelink --output $(plugin) --scratch-path $(swift_scratch)

head-unit: packages
	meson-wrap/build-product --product sdl-head-unit --output $(head_unit) --scratch-path $(swift_scratch)

$(plugin):
	$(MAKE) plugin

$(head_unit):
	$(MAKE) head-unit

packages:
	@scripts/install-packages

# Installs what was built, since root need not have the Swift tool chain.
install: $(plugin) $(head_unit)
	install -d "$(DESTDIR)$(pluginsdir)" "$(DESTDIR)$(bindir)"
	install -m 644 $(plugin) "$(DESTDIR)$(pluginsdir)/"
	install -m 755 $(head_unit) "$(DESTDIR)$(bindir)/"

uninstall:
	rm -f "$(DESTDIR)$(pluginsdir)/$(notdir $(plugin))" "$(DESTDIR)$(bindir)/$(notdir $(head_unit))"

clean:
	rm -rf .build build demo
