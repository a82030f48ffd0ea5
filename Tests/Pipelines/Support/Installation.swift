import Foundation

/// The plugin as it is installed, and the package around it.
enum Installation {
  /// The package's folder, found from the place of this file in it.
  static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The folder of the plugin: SDL_PLUGIN_DIR, or where `make plugin` puts it.
  static var pluginFolder: URL {
    get throws {
      let folder =
        ProcessInfo.processInfo.environment["SDL_PLUGIN_DIR"].map { URL(filePath: $0) }
        ?? package.appending(path: "build/gstreamer-1.0")
      guard FileManager.default.fileExists(atPath: folder.appending(path: library).path) else {
        throw Missing(
          description: "There is no \(library) in \(folder.path): run `make plugin` first, or set SDL_PLUGIN_DIR.")
      }
      return folder
    }
  }

  static let library = "libgstsmartdevicelink.so"

  /// The head unit as a program, which is built beside the tests.
  static var headUnitTool: URL {
    URL(filePath: CommandLine.arguments.first ?? "").deletingLastPathComponent().appending(path: "sdl-head-unit")
  }

  /// What GStreamer found when it looked into all plugins, which takes a second. Each program begins with a copy.
  ///
  /// GStreamer itself brings it up to date when plugins have changed, and replaces the file atomically.
  static let registry: URL? = {
    guard let pluginFolder = try? pluginFolder else { return nil }
    let file = package.appending(path: "build/registry-for-tests.bin")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gst-inspect-1.0", "sdlvideosink"]
    process.standardOutput = FileHandle.nullDevice
    process.environment = environment.merging([
      "GST_PLUGIN_PATH": pluginFolder.path, "GST_REGISTRY": file.path,
    ]) { $1 }
    guard (try? process.run()) != nil else { return nil }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? file : nil
  }()

  /// The variables of this process without those that say where plugins and screens are.
  static var environment: [String: String] {
    ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("GST_") && !["DISPLAY", "WAYLAND_DISPLAY"].contains($0.key)
    }
  }

  struct Missing: Error, CustomStringConvertible {
    var description: String
  }
}
