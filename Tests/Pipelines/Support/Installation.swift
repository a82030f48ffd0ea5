import Foundation

/// The plugin as it is installed, and the package around it.
enum Installation {
  /// The package's folder; this file knows where it stands in it.
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

  struct Missing: Error, CustomStringConvertible {
    var description: String
  }
}
