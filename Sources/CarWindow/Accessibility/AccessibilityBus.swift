import Glibc
import SDLLink

/// A private D-Bus on which the program publishes its buttons and fields (AT-SPI). It ends with this object.
final class AccessibilityBus {
  /// The configuration of such a bus, from Debian's at-spi2-core; the bus starts AT-SPI's registry by itself.
  private static let configuration = "/usr/share/defaults/at-spi2/accessibility.conf"
  private static let startTimeout = Duration.seconds(5)

  private let process: GuardedProcess

  /// As D-Bus writes addresses.
  let address: String

  /// Starts it, and waits until it can be connected to.
  ///
  /// - Parameter environment: what a program on the screen needs.
  init(_ environment: [String: String]) throws(CarWindowError) {
    guard CarWindow.path(of: "dbus-daemon") != nil, access(Self.configuration, R_OK) == 0 else {
      throw CarWindowError(
        .missing,
        "Haptic rectangles of the program need AT-SPI: install at-spi2-core and dbus-daemon, or set haptics=none"
      )
    }
    let folder = try PrivateFolder.make()
    address = "unix:path=\(folder)/bus"
    do throws(CarWindowError) {
      process = try GuardedProcess(
        GuardedProcess.Command(
          arguments: [
            "dbus-daemon", "--config-file=\(Self.configuration)", "--nofork", "--print-address", "--address=\(address)",
          ],
          environment: environment.merging(["DBUS_SESSION_BUS_ADDRESS": address, "AT_SPI_BUS_ADDRESS": address]) { $1 },
          folder: "/", passed: nil, privateFolder: folder))
    } catch {
      rmdir(folder)
      throw error
    }
    try waitForAddress()
  }

  /// Makes a program publish its items there. NO_AT_BRIDGE undoes a desktop's setting for GTK; ACCESSIBILITY_ENABLED is
  /// for Chromium; and without any session bus neither that nor Qt publishes anything.
  ///
  /// - Parameter environment: of the program, without these.
  func variables(beside environment: [String: String]) -> [String: String] {
    var variables = ["AT_SPI_BUS_ADDRESS": address, "NO_AT_BRIDGE": "0", "ACCESSIBILITY_ENABLED": "1"]
    let userBus = environment["XDG_RUNTIME_DIR"].map { "\($0)/bus" } ?? ""
    if environment["DBUS_SESSION_BUS_ADDRESS"] == nil, access(userBus, F_OK) != 0 {
      variables["DBUS_SESSION_BUS_ADDRESS"] = address
    }
    return variables
  }

  /// It prints its address when it can be connected to.
  private func waitForAddress() throws(CarWindowError) {
    var tail = OutputTail()
    let deadline = MonotonicClock.now + Self.startTimeout
    while true {
      if let bytes = process.takeOutput(), tail.append(bytes).contains(where: { $0.hasPrefix("unix:") }) { return }
      guard !process.takeEnd(), MonotonicClock.now < deadline else {
        throw CarWindowError(.failed, (["The bus for AT-SPI does not start."] + tail.lines).joined(separator: " "))
      }
      var polled = [process.reports, process.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&polled, nfds_t(polled.count), 1000)
    }
  }

  /// Discards its output, which must not fill the pipe.
  func discardOutput() {
    _ = process.takeOutput()
  }

  /// To be polled.
  var output: Int32 { process.output }

  func end(within time: Duration) { process.end(within: time) }
}
