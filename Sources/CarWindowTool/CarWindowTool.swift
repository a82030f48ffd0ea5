import CLinux
import CVersion
import CarWindow
import GStreamerKit
import Glibc

/// Shows a program on the car's screen, with its sound, and brings touches and keys back.
@main
enum CarWindowTool {
  static func main() {
    if let status = ProcessGuard.run(CommandLine.arguments) ?? SoundProcess.run(CommandLine.arguments) { exit(status) }
    let arguments = Array(CommandLine.arguments.dropFirst())
    let own = arguments.prefix { $0.hasPrefix("-") && $0 != "--" }
    if own.contains("--help") {
      print(Options.usage)
      exit(0)
    }
    if own.contains("--version") {
      print("sdl-car-window \(GST_SMARTDEVICELINK_VERSION)")
      exit(0)
    }
    let options: Options
    do {
      options = try Options(arguments: arguments)
    } catch {
      leave("\(error.text)\nTry sdl-car-window --help.", status: 2)
    }
    // Before the first thread starts, so that only one receives them.
    let signals = linux_block_ending_signals()
    gst_init(nil, nil)
    do {
      let session = try Session(options)
      exit(session.run(until: signals))
    } catch {
      leave("\(error)", status: 1)
    }
  }

  private static func leave(_ text: String, status: Int32) -> Never {
    let line = Array("sdl-car-window: \(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(status)
  }
}
