import CGIO
import DBus
import SDLLink
import SDLWire
import Synchronization

/// SmartDeviceLink over Bluetooth (RFCOMM), by BlueZ: as a phone it offers the service that cars look for; as a car it
/// connects to a phone's service. BlueZ makes the connections, and hands over their descriptors.
///
/// Devices have to be paired before, in the desktop's Bluetooth settings.
public final class BluetoothTransport: Transport {
  /// Which end it is, and parameters for tests.
  public struct Configuration: Sendable {
    /// The address of the bus on which BlueZ is; nil for the system bus.
    public var busAddress: String?
    /// Between two attempts to connect to a phone, and before BlueZ is asked again after it has taken the service back.
    public var retryPause = Duration.seconds(5)
    public var clock = TimeSource.monotonic
    /// Gets lines for the log: devices that are refused. Called on the thread of the transport.
    public var log: @Sendable (String) -> Void = { _ in }
    let role: ProfileSession.Role

    /// As a phone; with an address, only that car is accepted.
    public static func app(only car: BluetoothAddress? = nil) -> Configuration { Configuration(role: .app(only: car)) }

    /// As a car.
    public static func headUnit(connectingTo phone: BluetoothAddress) -> Configuration {
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
  public init(_ configuration: Configuration) {
    self.configuration = configuration
  }

  public var transportClass: TransportClass { .bluetooth }

  public func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    try thread.start { self.run(report) }
  }

  public func stop() {
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
