# `make help` lists the targets: it prints the comments below that begin with ##.

# PyGObject belongs to Debian's own Python, which need not be the first in PATH.
PYTHON ?= /usr/bin/python3

build := $(CURDIR)/build
plugin_folder := $(build)/gstreamer-1.0
plugin := $(plugin_folder)/libgstsmartdevicelink.so
swift_scratch := $(CURDIR)/.build
head_unit := $(build)/sdl-head-unit
car_window := $(build)/sdl-car-window
programs := $(head_unit) $(car_window)
# The plugin starts it: it has to be in the same folder.
guard := $(plugin_folder)/sdl-process-guard

version := $(shell scripts/version)
release_date := $(shell sed -n 's/^.. .$(version). - //p' CHANGELOG.md)
help_files := $(foreach program,$(notdir $(programs)),$(foreach kind,man bash zsh,$(build)/help/$(program).$(kind)))

# Built with the same modules as the plugin.
tests := $(swift_scratch)/release/gst-smartdevicelinkPackageTests.xctest
run_tests := SDL_PLUGIN_DIR=$(plugin_folder) GST_PLUGIN_PATH=$(plugin_folder) \
  $(PYTHON) scripts/run-tests $(tests) --summary $(build)/test-summary $(if $(SLOWEST),--slowest $(SLOWEST)) \
  $(if $(TIME_LIMIT),--time-limit $(TIME_LIMIT))

# /usr/bin is for the distribution's packages; local builds are installed in /usr/local.
bindir ?= $(or $(PREFIX),/usr/local)/bin
# Beside GStreamer's own data.
valgrinddir ?= $(or $(PREFIX),/usr/local)/share/gstreamer-1.0/valgrind
# Where GStreamer's own presets are.
presetsdir ?= $(or $(PREFIX),/usr/local)/share/gstreamer-1.0/presets
presets := packaging/GstSdlVideoSink.prs
sharedir ?= $(or $(PREFIX),/usr/local)/share
# Debian's own Python looks there; its packages have a folder for all versions.
python_name = $(if $(filter /usr,$(PREFIX)),python3,$(shell $(PYTHON) -c 'import sys; print("python%d.%d" % sys.version_info[:2])'))
pythondir ?= $(or $(PREFIX),/usr/local)/lib/$(python_name)/dist-packages
suppressions := Sources/CPluginEntry/gstsmartdevicelink.supp
# Where GStreamer looks for plugins; below PREFIX if that is given.
pluginsdir ?= $(shell pkg-config $(if $(PREFIX),--define-variable=prefix=$(PREFIX)) --variable=pluginsdir gstreamer-1.0)

.PHONY: all demo timeline picture check checks check-repeatedly simulate mutants bench valgrind fuzz cuts attack sanitize soak lint test tests \
  meson-check install-check docs-check docs certificates plugin head-unit car-window packages install uninstall clean help help-files \
  deb deb-check release-check repo

## build the plugin and the programs (the default)
all: plugin head-unit car-window

## print this list
help:
	@awk '/^## / { text = substr($$0, 4); next } text && sub(/:.*/, "") { printf "%-18s %s\n", $$0, text } { text = "" }' \
	  $(firstword $(MAKEFILE_LIST))

## install the packages that are missing, build the plugin, and show a stream in a window
demo:
	@scripts/announce-demo $(plugin)
	@echo "Step 1 of 3: packages"
	@scripts/install-packages build demo
	@echo "Step 2 of 3: build"
	@$(MAKE) --no-print-directory --silent plugin
	@echo "Step 3 of 3: stream"
	@GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/demo

## draw three quarters of a minute with every kind of event into demo/timeline.svg
timeline: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) pipelines/timeline --head-unit $(head_unit)

## take the pictures in docs/: the README's, docs/window.png, and those of the head unit's page
picture: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/picture
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/page-pictures --head-unit $(head_unit)

## install the packages that are missing, and run all tests and checks
check: packages
	$(MAKE) checks

## run all tests and checks
checks: tests docs-check meson-check install-check
	$(run_tests)

## run the tests alone
test: plugin tests
	$(run_tests)

TIMES ?= 20
BUSY ?= 0
## run the tests TIMES=20 times, with BUSY=0 busy loops at the same time
check-repeatedly: plugin tests
	$(run_tests) --times $(TIMES) --busy $(BUSY)

tests:
	meson-wrap/build-product --product tests --scratch-path $(swift_scratch)

# The release build is shared with `make plugin`, so that it happens once.
## build, test and install the Meson project and its example
meson-check: plugin
	scripts/check-meson $(build)/meson $(swift_scratch)

## install into a folder, and uninstall
install-check: all
	scripts/check-install $(build)/installed

## compare the tables in docs/ with the elements and the sources
docs-check: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/document-properties
	$(PYTHON) scripts/document-messages

## write the tables of properties and messages in docs/
docs: plugin
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) scripts/document-properties --write
	$(PYTHON) scripts/document-messages --write

## make certificates for encrypted video on the desk (docs/security.md)
certificates:
	scripts/make-certificates $(build)/certificates

T ?= 60
## run app and head unit in virtual time for T seconds; or SEED, or CASE, with a trace; or write the CONVERSATIONS
simulate:
	swift build --configuration release --product Simulate --scratch-path $(swift_scratch) \
	  --disable-local-rpath -debug-info-format none
	SWIFT_DETERMINISTIC_HASHING=1 $(swift_scratch)/release/Simulate \
	  $(if $(SEED),--seed $(SEED),$(if $(CASE),--case $(CASE),$(if $(CONVERSATIONS),--conversations $(CONVERSATIONS),--time $(T))))

## plant N=40 bugs of everyday kinds, drawn by SEED=1 over all sources, or over FILE=, and say which the tests notice
mutants: N ?= 40
mutants: SEED ?= 1
mutants: packages
	$(PYTHON) scripts/mutants --count $(N) --seed $(SEED) $(if $(FILE),--file '$(FILE)')

## measure speed, memory and allocations beside GStreamer's own elements
bench: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) Tests/Benchmarks/bench.py --head-unit $(head_unit)

## run short streams of every kind under memcheck (package valgrind)
valgrind: plugin
	scripts/check-memory $(plugin_folder) $(build)/valgrind

## feed made-up bytes to what takes them from a network or a file, for T=60 seconds
fuzz: T ?= 60
fuzz:
	$(PYTHON) scripts/fuzz --seconds $(T)

## cut connections (TCP, encrypted, WebSocket) at every byte up to the second frame; check takes a sample
cuts: plugin tests
	EVERY_BYTE=1 $(run_tests) --filter CutConnectionTests --time-limit 3600

## attack both head unit programs and the sink as a stranger in the network would, for a minute
attack: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) timeout 120 $(PYTHON) scripts/attack --head-unit $(head_unit)

## run the tests with the sanitizers of addresses, undefined behaviour and threads
sanitize:
	scripts/sanitize address
	scripts/sanitize thread

## stream for T=10m with a driver who does something, and see whether memory grows
soak: T ?= 10m
soak: plugin head-unit
	GST_PLUGIN_PATH=$(plugin_folder) $(PYTHON) Tests/Benchmarks/soak.py --head-unit $(head_unit) --time $(T)

## check the sources' format, and the results of C functions in tests
lint:
	@! grep -rnE '#(require|expect)\((try )?!?((c?gst|g)_[a-z0-9_]+|fopen|opendir)\([^=<>{]*$$' Tests || \
	  { echo 'the result of a C function is checked with nonNull' >&2; false; }
	swift format lint --strict --recursive Sources Tests pipelines Package.swift

## build build/gstreamer-1.0/libgstsmartdevicelink.so
plugin:
	meson-wrap/build-product --product gstsmartdevicelink --output $(plugin) --scratch-path $(swift_scratch)
	meson-wrap/build-product --product sdl-process-guard --output $(guard) --scratch-path $(swift_scratch)

## build build/sdl-head-unit
head-unit:
	meson-wrap/build-product --product sdl-head-unit --output $(head_unit) --scratch-path $(swift_scratch)

$(plugin) $(guard):
	$(MAKE) plugin

## build the program sdl-car-window
car-window:
	@mkdir -p $(build)
	meson-wrap/build-product --product sdl-car-window --output $(car_window) --scratch-path $(swift_scratch)

$(head_unit):
	$(MAKE) head-unit

$(car_window):
	$(MAKE) car-window

## write man page and completion of the programs, from their --help
help-files: head-unit car-window $(help_files)

$(build)/help/sdl-head-unit.%: $(head_unit) scripts/describe-program
	@mkdir -p $(@D)
	scripts/describe-program $* $(head_unit) $(version) $(release_date) \
	  "head unit for tests of apps that speak SmartDeviceLink" >$@

$(build)/help/sdl-car-window.%: $(car_window) scripts/describe-program
	@mkdir -p $(@D)
	scripts/describe-program $* $(car_window) $(version) $(release_date) "any program on the screen of a car" >$@

## build Debian packages into build/packages (package debhelper); MAINTAINER="NAME <ADDRESS>"
deb:
	rm -rf $(build)/packages
	debian/rules clean
	debian/rules build
	debian/rules binary

## test the packages in a fresh Debian 12 and 13, as root (package mmdebstrap)
deb-check:
	scripts/check-packages $(build)/packages bookworm trixie

## make what a release has, in fresh systems of SUITES="bookworm trixie" (SUITE:ARCHITECTURE), as root (package mmdebstrap)
release-check: SUITES ?= bookworm trixie
release-check:
	scripts/release-check $(SUITES)

## make an apt repository of build/release in build/repo, signed with REPO_KEY (package apt-utils)
repo:
	$(if $(REPO_KEY),,$(error REPO_KEY names the key of gpg that signs))
	scripts/make-repository $(build)/release $(build)/repo "$(REPO_KEY)"

## install the packages for building, the demo and the tests
packages:
	@scripts/install-packages

# Does not build, since root need not have the Swift tool chain.
## install what was built: PREFIX=/usr/local, DESTDIR=
install: $(plugin) $(guard) $(programs) $(help_files)
	install -d "$(DESTDIR)$(pluginsdir)" "$(DESTDIR)$(bindir)" "$(DESTDIR)$(valgrinddir)" "$(DESTDIR)$(presetsdir)"
	install -m 644 $(presets) "$(DESTDIR)$(presetsdir)/"
	for program in $(notdir $(programs)); do \
	  install -D -m 644 $(build)/help/$$program.man "$(DESTDIR)$(sharedir)/man/man1/$$program.1" && \
	  install -D -m 644 $(build)/help/$$program.bash "$(DESTDIR)$(sharedir)/bash-completion/completions/$$program" && \
	  install -D -m 644 $(build)/help/$$program.zsh "$(DESTDIR)$(sharedir)/zsh/vendor-completions/_$$program" || exit 1; \
	done
	install -m 644 $(suppressions) "$(DESTDIR)$(valgrinddir)/"
	install -m 644 $(plugin) "$(DESTDIR)$(pluginsdir)/"
	install -m 755 $(guard) "$(DESTDIR)$(pluginsdir)/"
	install -m 755 $(programs) "$(DESTDIR)$(bindir)/"
	install -d "$(DESTDIR)$(pythondir)/sdlheadunit"
	install -m 644 python/sdlheadunit/*.py python/sdlheadunit/py.typed "$(DESTDIR)$(pythondir)/sdlheadunit/"

## remove it, with the same variables
uninstall:
	rm -rf "$(DESTDIR)$(pythondir)/sdlheadunit"
	rm -f "$(DESTDIR)$(pluginsdir)/$(notdir $(plugin))" "$(DESTDIR)$(pluginsdir)/$(notdir $(guard))"
	rm -f "$(DESTDIR)$(valgrinddir)/$(notdir $(suppressions))" "$(DESTDIR)$(presetsdir)/$(notdir $(presets))"
	for program in $(notdir $(programs)); do \
	  rm -f "$(DESTDIR)$(bindir)/$$program" "$(DESTDIR)$(sharedir)/man/man1/$$program.1" \
	    "$(DESTDIR)$(sharedir)/bash-completion/completions/$$program" \
	    "$(DESTDIR)$(sharedir)/zsh/vendor-completions/_$$program"; \
	done

## remove everything that was built
clean:
	rm -rf .build build demo debian/.debhelper debian/tmp
