import CGIO
import DBus
import SDLLink
import SDLWire
import Synchronization

/// SmartDeviceLink over Bluetooth (RFCOMM), by BlueZ: as a phone it offers the service that cars look for; as a car it
/// connects to a phone's service. BlueZ makes the connections, and hands over their descriptors.
///
/// Devices have to be paired before, in the desktop's Bluetooth settings.
package final class BluetoothTransport: Transport {
  /// Which end it is, and parameters for tests.
  package struct Configuration: Sendable {
    /// The address of the bus on which BlueZ is; nil for the system bus.
    package var busAddress: String?
    /// Between two attempts to connect to a phone, and before BlueZ is asked again after it has taken the service back.
    package var retryPause = Duration.seconds(5)
    package var clock = TimeSource.monotonic
    /// Gets lines for the log: devices that are refused. Called on the thread of the transport.
    package var log: @Sendable (String) -> Void = { _ in }
    let role: ProfileSession.Role

    /// As a phone; with an address, only that car is accepted.
    package static func app(only car: BluetoothAddress? = nil) -> Configuration { Configuration(role: .app(only: car)) }

    /// As a car.
    package static func headUnit(connectingTo phone: BluetoothAddress) -> Configuration {
      Configuration(role: .headUnit(phone))
    }

    private init(role: ProfileSession.Role) {
      self.role = role
    }
  }

  private struct State: Sendable {
    var isStopRequested = false
    /// Nil before the thread runs and after its end.
    var context: Context?
    /// Connections that their users have closed.
    var closed: [Int] = []
  }

  /// `@unchecked Sendable`: a GMainContext may be woken from any thread.
  private struct Context: @unchecked Sendable {
    let pointer: OpaquePointer
    let gio: UnsafePointer<CGIOFunctions>

    func wakeUp() {
      gio.pointee.g_main_context_wakeup(pointer)
    }
  }

  private static let pathCount = Atomic<Int>(0)

  let configuration: Configuration
  private let thread = WorkerThread(name: "sdl-bluetooth")
  private let state = Mutex(State())

  /// Does nothing before ``start(_:)``.
  package init(_ configuration: Configuration) {
    self.configuration = configuration
  }

  package var transportClass: TransportClass { .bluetooth }

  package func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    try thread.start { self.run(report) }
  }

  package func stop() {
    state.withLock { state in
      state.isStopRequested = true
      state.context?.wakeUp()
    }
    thread.join()
  }

  private func run(_ report: @escaping @Sendable (TransportEvent) -> Void) {
    guard let gio = GIO.functions else { return report(.failed(.noLibrary(GIO.library))) }
    guard let pointer = gio.pointee.g_main_context_new() else { return }
    // With the lock held, so that no thread wakes a context that is gone.
    state.withLock { $0.context = Context(pointer: pointer, gio: gio) }
    let number = Self.pathCount.add(1, ordering: .relaxed).newValue
    ProfileBus(gio, context: pointer, path: "/org/smartdevicelink/profile\(number)", owner: self, report: report).run()
    state.withLock { $0.context = nil }
    gio.pointee.g_main_context_unref(pointer)
  }
}

/// For the thread.
extension BluetoothTransport {
  var isStopRequested: Bool { state.withLock { $0.isStopRequested } }

  /// From any thread.
  func noteClosed(_ number: Int) {
    state.withLock { state in
      state.closed.append(number)
      state.context?.wakeUp()
    }
  }

  func takeClosed() -> [Int] {
    state.withLock { state in
      defer { state.closed = [] }
      return state.closed
    }
  }
}

/// The address of a Bluetooth device (BD_ADDR), such as AA:BB:CC:DD:EE:FF.
package struct BluetoothAddress: Hashable, Sendable, CustomStringConvertible {
  private let bytes: [UInt8]

  /// Six pairs of hexadecimal digits, of either case, with colons between them; nil for anything else.
  package init?(_ text: String) {
    self.init(text.split(separator: ":", omittingEmptySubsequences: false))
  }

  /// The device of a BlueZ object, from the object's path: `…/dev_AA_BB_CC_DD_EE_FF`.
  init?(objectPath: String) {
    let name = objectPath.split(separator: "/").last ?? ""
    guard name.hasPrefix("dev_") else { return nil }
    self.init(name.dropFirst(4).split(separator: "_", omittingEmptySubsequences: false))
  }

  private init?(_ parts: [Substring]) {
    let bytes = parts.compactMap { part in
      part.utf8.count == 2 && part.allSatisfy(\.isHexDigit) ? UInt8(part, radix: 16) : nil
    }
    guard parts.count == 6, bytes.count == 6 else { return nil }
    self.bytes = bytes
  }

  /// In upper case, as BlueZ writes it.
  package var description: String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
  }
}
