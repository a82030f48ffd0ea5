import Foundation
import Testing

/// What `gst-inspect-1.0` prints of the plugin, as golden text.
///
/// With SDL_UPDATE_GOLDEN set the texts are written instead of compared.
@Suite struct InspectTests {
  @Test(
    arguments: [
      "smartdevicelink", "sdlvideosink", "sdlaudiosink", "sdlrangefilter", "sdlheadunitsrc", "sdlheadunitaudiosrc",
      "sdlcarwindowsrc",
    ])
  func golden(_ name: String) throws {
    let folder = try TemporaryFolder()
    let result = try Program.run("gst-inspect-1.0", "--no-colors", name, in: folder)
    #expect(result.status == 0 && result.errors == "")
    // Other versions than Debian 12's list more, in another order.
    let version = try Program.run("gst-inspect-1.0", "--version", in: folder).output
    guard version.contains("GStreamer 1.22.") else { return }
    let text = Self.withoutMachineDetails(result.output)
    let golden = Installation.package.appending(path: "Tests/Pipelines/Golden/\(name).txt")
    if ProcessInfo.processInfo.environment["SDL_UPDATE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: golden)
    }
    let expected = String(decoding: try Data(contentsOf: golden), as: UTF8.self)
    let difference = text.split(separator: "\n").difference(from: expected.split(separator: "\n"))
    #expect(difference.isEmpty, "\(difference.map { "\($0)" }.joined(separator: "\n"))")
  }

  /// Without addresses and paths, which differ from machine to machine.
  private static func withoutMachineDetails(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        line.replacing(/Filename +.*/, with: "Filename …").replacing(/0x[0-9a-f]+/, with: "0x…")
          .replacing(/\ +$/, with: "")
      }
      .joined(separator: "\n")
  }

  /// The first program after an installation: GStreamer loads all plugins, and writes down what they are.
  @Test func foundWithoutARegistry() throws {
    let folder = try TemporaryFolder()
    let registry = folder.path("new-registry.bin")
    let result = try Program.run(
      "gst-inspect-1.0", "sdlvideosink", in: folder, environment: ["GST_REGISTRY": registry])
    #expect(result.status == 0 && result.errors == "", "\(result)")
    #expect(FileManager.default.fileExists(atPath: registry))
  }

  @Test func exportsTwoSymbols() throws {
    let folder = try TemporaryFolder()
    let library = try Installation.pluginFolder.appending(path: Installation.library).path
    let symbols = try Program.run("nm", "--dynamic", "--defined-only", "--format=just-symbols", library, in: folder)
    #expect(
      Set(symbols.output.split(separator: "\n"))
        == ["gst_plugin_smartdevicelink_get_desc", "gst_plugin_smartdevicelink_register"])
  }

  @Test func needsNoSwiftAtRunTime() throws {
    let folder = try TemporaryFolder()
    let library = try Installation.pluginFolder.appending(path: Installation.library).path
    let libraries = try Program.run("ldd", library, in: folder).output
    #expect(libraries.contains("libx264") && libraries.contains("libgstreamer-1.0"))
    #expect(!libraries.contains("wift") && !libraries.contains("Foundation") && !libraries.contains("not found"))
  }

  /// The build has GLib's headers for what is looked up at run time, and would link it.
  @Test func headUnitNeedsNoGLib() throws {
    let folder = try TemporaryFolder()
    let libraries = try Program.run("ldd", Installation.headUnitTool.path, in: folder).output
    #expect(libraries.contains("libc.so") && !libraries.contains("glib"), "\(libraries)")
  }
}
