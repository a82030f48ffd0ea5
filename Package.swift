// swift-tools-version: 6.2
import Glibc
import PackageDescription

let release = BuildSettingCondition.when(configuration: .release)

/// Exclusive access to memory is checked at run time in debug builds, and in release builds with EXCLUSIVITY=checked in
/// the environment; in the plugin that took a tenth of its own time per frame.
let exclusivity = Context.environment["EXCLUSIVITY"] == "checked" ? "checked" : "unchecked"

/// Tests import the modules of a release build, so they run the code that is installed, and nothing is compiled twice.
/// That makes the plugin half a percent larger and costs no instruction per frame.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .unsafeFlags(["-enable-testing", "-enforce-exclusivity=\(exclusivity)"], release),
]

/// Debian's Swift lacks the library of what Testing adds to Foundation, of which nothing is used. The main program of the
/// tests, which SwiftPM writes, asks for it all the same: it gets an empty one.
let emptyLibraries: [LinkerSetting] = [.unsafeFlags(["-L", Context.packageDirectory + "/Tests/TestSupport/Libraries"])]
/// The tests' own modules do not ask for it.
let withoutOverlays = SwiftSetting.unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"])

/// Optimising tests takes longer than it saves. Nothing imports their modules, which need not be emitted early.
let test: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], release),
  withoutOverlays,
]

/// Tests of lower layers that take long to compile depend on these, so that these are compiled first: half of the tests
/// wait for the plugin, and the plugin for these.
let neededByPlugin: [Target.Dependency] = ["SDLLink", "SDLAppLink", "SDLHeadUnitLink", "Bluetooth", "BackgroundNotice"]

/// The imports of the elements' tests, which are several targets, so that they compile at the same time.
let pluginModules: [Target.Dependency] = [
  "TestSupport", "GStreamerKit", "SDLWire", "SDLMessages", "H264", "SDLApp", "SDLHeadUnit", "SDLLink", "SDLAppLink",
  "SDLHeadUnitLink", "Bluetooth", "HTTPFetch", "X264Encoder", "BackgroundNotice", "CarWindow", "Plugin",
  "CGStreamerApp",
]
let pluginTests: [Target.Dependency] = pluginModules + ["PluginTestSupport"]

/// WITHOUT_X264=1 in the environment leaves libx264 out, which is GPL: then encoder elements encode.
let withoutX264 = !["", "0"].contains(Context.environment["WITHOUT_X264"] ?? "")
let strictWithX264 = withoutX264 ? strict + [.define("WITHOUT_X264")] : strict

let exportsMap = Context.packageDirectory + "/Sources/CPluginEntry/exports.map"
/// What runs while the plugin is loaded, side by side, so that few pages are read; from `scripts/order-startup`.
let startupOrder = Context.packageDirectory + "/Sources/CPluginEntry/startup.order"

/// From 2.36 on, glibc loads relative relocations in packed form. Swift's metadata has 20 000 of them: half a megabyte
/// that is read whenever the plugin is loaded.
let canPackRelocations: Bool = {
  var text = [CChar](repeating: 0, count: 64)
  guard confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count) > 0 else { return false }
  let numbers = text.map { UInt8(truncatingIfNeeded: $0) }.split { !(48...57).contains($0) }
    .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
  return numbers.count >= 2 && (numbers[0], numbers[1]) >= (2, 36)
}()
let packedRelocations = canPackRelocations ? ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"] : []

/// All names are looked up at the start, less than a millisecond, so that their table can be made read-only.
let bindNow = ["-Xlinker", "-z", "-Xlinker", "now"]
let hardened: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", release)]

/// The name and origin of the package for `gst-inspect-1.0`, from the packager's environment.
let packageNames: [CSetting] = ["PACKAGE_NAME", "PACKAGE_ORIGIN"].compactMap { name in
  Context.environment[name].map { .define(name, to: "\"\($0)\"") }
}

/// One self-contained shared object: the Swift runtime inside, only the two plugin symbols outside.
/// `nodelete` because GTypes and threads do not survive an unload.
let pluginLink: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-static-stdlib", "-use-ld=lld",
      "-Xlinker", "--version-script=\(exportsMap)",
      "-Xlinker", "-z", "-Xlinker", "nodelete",
      "-Xlinker", "-z", "-Xlinker", "defs",
      "-Xlinker", "-Bsymbolic",
      "-Xlinker", "--symbol-ordering-file=\(startupOrder)", "-Xlinker", "--no-warn-symbol-ordering",
    ] + bindNow + packedRelocations, release)
]

/// One file that runs without the Swift tool chain.
let programLink: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib", "-use-ld=lld", "-Xlinker", "--gc-sections"] + bindNow + packedRelocations, release)
]

/// The same for a program in C alone: without the start files of Swift, its runtime can be left out.
let cProgramLink: [LinkerSetting] = [
  .unsafeFlags(
    ["-static-stdlib", "-use-ld=lld", "-nostartfiles", "-Xlinker", "--gc-sections"] + bindNow + packedRelocations,
    release)
]

/// GLib is looked up at run time; SwiftPM would link it with the paths of its headers.
let withoutGLib = without("glib-2.0")

/// Leaves libraries out that a module map links, and nothing of which is used.
func without(_ libraries: String...) -> [LinkerSetting] {
  [.unsafeFlags(["-use-ld=lld"] + libraries.flatMap { ["-Xlinker", "--remap-inputs=*/lib\($0).so=/dev/null"] })]
}

// Each target names all modules that it imports, so that a change in one recompiles all targets that use it, even through
// another.
let package = Package(
  name: "gst-smartdevicelink",
  products: [
    .library(name: "gstsmartdevicelink", type: .dynamic, targets: ["CPluginEntry"]),
    .executable(name: "sdl-head-unit", targets: ["sdl-head-unit"]),
    .executable(name: "sdl-car-window", targets: ["sdl-car-window"]),
    .executable(name: "sdl-process-guard", targets: ["sdl-process-guard"]),
  ],
  targets: [
    // Pure layers: bytes in, values out.
    .target(name: "SDLWire", swiftSettings: strict),
    .target(name: "SDLMessages", dependencies: ["SDLWire"], swiftSettings: strict),
    .target(name: "H264", swiftSettings: strict),
    .target(name: "SDLApp", dependencies: ["SDLWire", "SDLMessages"], swiftSettings: strict),
    .target(name: "SDLHeadUnit", dependencies: ["SDLWire", "SDLMessages", "H264"], swiftSettings: strict),

    // Effects: one thread and one socket; libx264; Pango and Cairo.
    .target(name: "CLinux", cSettings: hardened),
    .target(
      name: "SDLLink", dependencies: ["SDLWire", "SDLMessages", "TLSEngine", "CLinux"], swiftSettings: strict),
    .target(
      name: "SDLAppLink", dependencies: ["SDLWire", "SDLApp", "SDLLink", "TLSEngine", "CLinux"],
      swiftSettings: strict),
    .target(
      name: "SDLHeadUnitLink",
      dependencies: ["SDLWire", "SDLMessages", "SDLHeadUnit", "SDLLink", "TLSEngine", "CLinux"],
      swiftSettings: strict),
    // A head unit's control over HTTP, with its page for browsers.
    .target(
      name: "HeadUnitControl",
      dependencies: ["SDLMessages", "SDLHeadUnit", "SDLLink", "SDLHeadUnitLink", "CLinux", "H264", "HTTPServe"],
      resources: [.embedInCode("Web")], swiftSettings: strict),
    .executableTarget(
      name: "sdl-head-unit",
      dependencies: [
        "SDLMessages", "SDLHeadUnit", "SDLLink", "SDLHeadUnitLink", "HeadUnitControl", "TLSEngine", "CVersion",
        "Discovery", "HTTPServe", "CLinux",
      ],
      path: "Sources/HeadUnitTool", swiftSettings: strict, linkerSettings: programLink + withoutGLib),
    // A module for each library that is looked up at run time, with the paths of GLib's headers.
    .systemLibrary(
      name: "CLibraries", pkgConfig: "glib-2.0",
      providers: [
        .apt([
          "libglib2.0-dev", "libssl-dev", "libxcb1-dev", "libxcb-damage0-dev", "libxcb-randr0-dev", "libxcb-shm0-dev",
          "libxcb-xfixes0-dev", "libxcb-xtest0-dev",
        ])
      ]),
    // Stands beside the plugin, which starts it.
    .executableTarget(
      name: "sdl-process-guard", dependencies: ["CLinux"], path: "Sources/ProcessGuard", cSettings: hardened,
      linkerSettings: cProgramLink),
    .target(name: "CarWindow", dependencies: ["CLibraries", "CLinux", "DBus", "SDLLink"], swiftSettings: strict),
    .systemLibrary(name: "CVersion"),
    .target(name: "DBus", dependencies: ["CLibraries", "SDLLink"], swiftSettings: strict),
    .target(name: "Discovery", dependencies: ["DBus", "SDLLink"], swiftSettings: strict),
    .target(name: "Bluetooth", dependencies: ["CLibraries", "DBus", "SDLLink", "SDLWire"], swiftSettings: strict),
    .systemLibrary(name: "CX264", pkgConfig: "x264", providers: [.apt(["libx264-dev"])]),
    .target(
      name: "X264Encoder", dependencies: withoutX264 ? [] : ["CX264"], exclude: withoutX264 ? ["Library"] : [],
      swiftSettings: strictWithX264),
    .target(name: "HTTPFetch", dependencies: ["SDLLink", "CLibraries"], swiftSettings: strict),
    .target(name: "HTTPServe", dependencies: ["SDLLink", "CLibraries"], swiftSettings: strict),
    .target(name: "TLSEngine", dependencies: ["CLibraries"], swiftSettings: strict),
    .target(
      name: "BackgroundNotice", dependencies: ["CLibraries", "X264Encoder"],
      exclude: withoutX264 ? ["NoticeSequence+X264.swift"] : [], swiftSettings: strict),

    // GStreamer.
    .systemLibrary(
      name: "CGStreamer", pkgConfig: "gstreamer-video-1.0",
      providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]),
    .target(name: "GStreamerKit", dependencies: ["CGStreamer", "CLibraries"], swiftSettings: strict),
    .executableTarget(
      name: "sdl-car-window", dependencies: ["CarWindow", "GStreamerKit", "CVersion", "CLinux"],
      path: "Sources/CarWindowTool", swiftSettings: strict,
      linkerSettings: programLink + without("gstvideo-1.0", "gstaudio-1.0")),
    .target(
      name: "Plugin",
      dependencies: [
        "GStreamerKit", "SDLWire", "SDLMessages", "H264", "SDLApp", "SDLHeadUnit", "SDLLink",
        "SDLAppLink", "SDLHeadUnitLink", "Bluetooth", "Discovery", "TLSEngine", "HTTPFetch", "X264Encoder",
        "BackgroundNotice", "CarWindow", "HeadUnitControl", "HTTPServe",
      ],
      exclude: withoutX264 ? ["VideoSink/Encoders/LinkedEncoder.swift"] : [], swiftSettings: strictWithX264),
    .target(
      name: "CPluginEntry", dependencies: ["Plugin", "CGStreamer", "CVersion"],
      exclude: ["exports.map", "startup.order", "gstsmartdevicelink.supp"],
      cSettings: hardened + packageNames + (withoutX264 ? [.define("WITHOUT_X264")] : []), linkerSettings: pluginLink),

    .target(
      name: "TestSupport", dependencies: ["SDLWire"], path: "Tests/TestSupport", exclude: ["Libraries", "Programs"],
      swiftSettings: strict, linkerSettings: emptyLibraries),

    // Both sides in virtual time; `make simulate`.
    .target(
      name: "Simulation",
      dependencies: [
        "TestSupport", "SDLWire", "SDLMessages", "H264", "SDLApp", "SDLHeadUnit", "SDLLink", "SDLAppLink",
        "SDLHeadUnitLink",
      ],
      path: "Tests/Simulation", swiftSettings: strict),
    .executableTarget(name: "Simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: strict),
    .testTarget(
      name: "SimulationTests", dependencies: ["Simulation"], exclude: ["Cases", "Conversations"], swiftSettings: test),

    // The link of the rate controller's tests, optimised, since it makes a step for each millisecond.
    .target(
      name: "LinkSimulation", dependencies: ["TestSupport", "SDLApp"], path: "Tests/LinkSimulation",
      swiftSettings: strict),
    .testTarget(name: "SDLWireTests", dependencies: ["TestSupport", "SDLWire"], swiftSettings: test),
    .testTarget(
      name: "SDLMessagesTests", dependencies: ["TestSupport", "SDLWire", "SDLMessages"], swiftSettings: test),
    .testTarget(name: "H264Tests", dependencies: ["TestSupport", "H264"], swiftSettings: test),
    .testTarget(
      name: "SDLAppTests", dependencies: ["TestSupport", "LinkSimulation", "SDLApp", "SDLHeadUnit"] + neededByPlugin,
      swiftSettings: test),
    .testTarget(
      name: "SDLHeadUnitTests",
      dependencies: ["TestSupport", "SDLWire", "SDLMessages", "SDLHeadUnit", "H264"] + neededByPlugin,
      swiftSettings: test),
    .testTarget(
      name: "SDLLinkTests",
      dependencies: ["TestSupport", "SDLWire", "SDLMessages", "SDLApp", "SDLHeadUnit", "TLSEngine", "CLinux"]
        + neededByPlugin,
      swiftSettings: test),
    .testTarget(
      name: "BluetoothTests",
      dependencies: ["TestSupport", "SDLWire", "SDLMessages", "SDLApp", "SDLHeadUnit", "SDLLink", "Bluetooth"],
      swiftSettings: test),
    .testTarget(name: "DiscoveryTests", dependencies: ["TestSupport", "DBus", "Discovery"], swiftSettings: test),
    .testTarget(
      name: "HeadUnitControlTests",
      dependencies: [
        "TestSupport", "SDLWire", "SDLMessages", "SDLHeadUnit", "SDLLink", "SDLHeadUnitLink", "HeadUnitControl",
        "HTTPServe",
      ],
      swiftSettings: test),
    .testTarget(name: "HTTPFetchTests", dependencies: ["TestSupport", "SDLLink", "HTTPFetch"], swiftSettings: test),
    .testTarget(name: "TLSEngineTests", dependencies: ["TestSupport", "TLSEngine"], swiftSettings: test),
    .testTarget(
      name: "X264EncoderTests", dependencies: ["TestSupport", "X264Encoder", "H264", "CX264"], swiftSettings: test),
    .testTarget(
      name: "BackgroundNoticeTests", dependencies: ["TestSupport", "BackgroundNotice", "X264Encoder", "H264"],
      swiftSettings: test),
    .testTarget(name: "GStreamerKitTests", dependencies: ["TestSupport", "GStreamerKit"], swiftSettings: test),
    .systemLibrary(name: "CGStreamerApp", path: "Tests/CGStreamerApp", pkgConfig: "gstreamer-app-1.0"),
    .target(name: "LockCount", path: "Tests/LockCount"),
    // No tests, but what those of the plugin's elements share; optimised, since it makes and compares pictures.
    .testTarget(name: "PluginTestSupport", dependencies: pluginModules, swiftSettings: strict + [withoutOverlays]),
    .testTarget(name: "AudioSinkTests", dependencies: pluginTests + ["LockCount"], swiftSettings: test),
    .testTarget(
      name: "CarWindowTests", dependencies: pluginTests + ["CLinux"], exclude: ["Programs"], swiftSettings: test),
    .testTarget(name: "EncoderTests", dependencies: pluginTests, swiftSettings: test),
    .testTarget(name: "HeadUnitAudioSourceTests", dependencies: pluginTests, swiftSettings: test),
    .testTarget(name: "HeadUnitSourceTests", dependencies: pluginTests, swiftSettings: test),
    .testTarget(name: "LikeAnySinkTests", dependencies: pluginTests, swiftSettings: test),
    .testTarget(name: "RangeFilterTests", dependencies: pluginTests, swiftSettings: test),
    .testTarget(name: "VideoSinkFrameTests", dependencies: pluginTests + ["LockCount"], swiftSettings: test),
    .testTarget(name: "VideoSinkTests", dependencies: pluginTests, swiftSettings: test),
    // What takes bytes of a network or a file, and what a fuzzer has found for it: see `make fuzz`.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "TestSupport", "SDLWire", "SDLMessages", "H264", "SDLApp", "SDLHeadUnit", "SDLLink", "TLSEngine",
      ],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Tests", swiftSettings: test),
    .testTarget(
      name: "PipelineTests", path: "Tests/Pipelines", exclude: ["Golden", "Programs"], swiftSettings: test),
  ]
)

if withoutX264 {
  package.targets.removeAll { ["CX264", "X264EncoderTests", "BackgroundNoticeTests"].contains($0.name) }
}

// TEST_TARGETS=NAME,… in the environment leaves all other tests out, for computers where compiling them takes too long.
if let names = Context.environment["TEST_TARGETS"]?.split(separator: ","), !names.isEmpty {
  package.targets.removeAll { $0.type == .test && !names.contains(Substring($0.name)) }
}

// libFuzzer comes with its sanitizer, so only scripts/fuzz builds the program.
if Context.environment["FUZZER"] != nil {
  package.targets += [
    .target(name: "Cost", path: "Tests/Fuzz/Cost"),
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzTargets", "Cost"], path: "Tests/Fuzz/Program",
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
  ]
}
