import Foundation

/// avahi-daemon on a bus of the test's own.
///
/// It has a /run and a network of its own, since there may be one of the machine's, or of another test: only root can
/// start it.
package final class Avahi {
  package static var canStart: Bool { geteuid() == 0 }

  package let bus: PrivateBus
  private let process = Process()

  /// Returns once it announces and finds.
  package init(on bus: PrivateBus? = nil) throws {
    self.bus = try bus ?? PrivateBus()
    let configuration = self.bus.folder.appending(path: "avahi.conf")
    try Data("[server]\nuse-ipv6=no\n[wide-area]\nenable-wide-area=no\n".utf8).write(to: configuration)
    let log = self.bus.folder.appending(path: "avahi.log")
    try Data().write(to: log)
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = [
      "--mount", "--net", "sh", "-c",
      "mount -t tmpfs tmpfs /run && ip link set lo multicast on up"
        + " && exec avahi-daemon --no-drop-root --no-chroot --no-rlimits -f \(configuration.path)",
    ]
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": self.bus.address]
    process.standardInput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    let text = { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
    guard eventually({ text().contains("Server startup complete") || !process.isRunning }), process.isRunning else {
      throw BusFailure(description: "avahi-daemon does not start: \(text())")
    }
  }

  deinit {
    end()
  }

  /// As a crash does.
  package func end() {
    guard process.isRunning else { return }
    process.killAndWait()
  }
}

/// A process that is Avahi on a private bus, and has a network of its own: `Programs/avahi.py` says what it understands
/// and tells.
package final class AvahiStandIn: StandIn {
  package init() throws {
    try super.init("avahi.py")
  }
}
