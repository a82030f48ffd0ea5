import Foundation

/// A D-Bus of the test's own, in a folder of its own.
package final class PrivateBus {
  private let process = Process()
  package let folder: URL

  /// For `DBUS_SYSTEM_BUS_ADDRESS`.
  package var address: String { "unix:path=\(folder.path)/bus" }

  /// - Parameter policy: further rules of dbus-daemon's configuration, such as what is denied.
  package init(policy: String = "") throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "sdl-bus-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(folder.path)/bus</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow user="*"/><allow own="*"/>
          <allow send_destination="*"/><allow receive_sender="*"/><allow send_type="method_call"/>
          \(policy)
        </policy>
      </busconfig>
      """
    let file = folder.appending(path: "bus.conf")
    try Data(configuration.utf8).write(to: file)
    process.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
    process.arguments = ["--config-file=\(file.path)", "--nofork", "--nopidfile", "--print-address"]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // Once it listens; its socket is there a moment earlier.
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw BusFailure(description: "dbus-daemon does not start")
    }
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Ends the daemon, and with it all connections.
  package func stop() {
    guard process.isRunning else { return }
    process.killAndWait()
  }
}

/// What a test needs on its bus is not there, or does not come.
package struct BusFailure: Error, CustomStringConvertible {
  package var description: String

  package init(description: String) {
    self.description = description
  }
}

extension Process {
  /// At once: threads of a pool block signals that ask for the end, and their children inherit that.
  package func killAndWait() {
    kill(processIdentifier, SIGKILL)
    waitUntilExit()
  }
}
