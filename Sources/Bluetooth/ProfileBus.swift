import CGIO
import Glibc
import SDLLink

/// Carries out what ``ProfileSession`` returns, by GDBus, on one thread with a main context of its own: callbacks come from
/// ``run()``, never from the application's main loop.
///
/// The connection to the bus is its own too: closing it takes back everything that BlueZ knows of it.
final class ProfileBus {
  static let service = "org.bluez"

  let gio: UnsafePointer<CGIOFunctions>
  let owner: BluetoothTransport
  let context: OpaquePointer
  let cancellable: OpaquePointer?
  let path: String
  let clock: TimeSource
  private let report: @Sendable (TransportEvent) -> Void
  var session: ProfileSession
  var connection: OpaquePointer?
  var node: UnsafeMutablePointer<CGIONodeInfo>?
  /// BlueZ's unique name; nobody else's calls are taken.
  var serviceName: String?
  /// Calls whose answers are still to come.
  var pendingCount = 0
  var lastNumber = 0
  /// What NewConnection has brought, until the session decides.
  var arrival: (number: Int, descriptor: Int32)?
  private var accepted: (number: Int, connection: WeakConnection)?
  private var isOver = false

  private struct WeakConnection {
    weak var connection: PeerConnection?
  }

  init(
    _ gio: UnsafePointer<CGIOFunctions>, context: OpaquePointer, path: String, owner: BluetoothTransport,
    report: @escaping @Sendable (TransportEvent) -> Void
  ) {
    self.gio = gio
    self.context = context
    self.path = path
    self.owner = owner
    self.report = report
    clock = owner.configuration.clock
    session = ProfileSession(
      role: owner.configuration.role, retryPause: owner.configuration.retryPause, now: clock.now)
    cancellable = gio.pointee.g_cancellable_new()
  }

  /// Returns after ``BluetoothTransport/stop()``, or when it can't go on.
  func run() {
    gio.pointee.g_main_context_push_thread_default(context)
    open()
    while !isOver, !owner.isStopRequested {
      iterate(until: session.nextDeadline)
      for number in owner.takeClosed() {
        perform { $0.connectionClosed(number: number, now: $1) }
      }
      perform { $0.advance(to: $1) }
    }
    close()
    gio.pointee.g_main_context_pop_thread_default(context)
  }

  func perform(_ input: (inout ProfileSession, Duration) -> [ProfileSession.Action]) {
    for action in input(&session, clock.now) { perform(action) }
  }

  private func perform(_ action: ProfileSession.Action) {
    switch action {
    case .call(let call): perform(call)
    case .accept(let number, let peer):
      guard let descriptor = takeArrival(number) else { return }
      let owner = owner
      let connection = PeerConnection(adopting: descriptor, peer: "\(peer)") { owner.noteClosed(number) }
      accepted = (number, WeakConnection(connection: connection))
      report(.connected(connection))
    case .refuse(let number):
      guard let descriptor = takeArrival(number) else { return }
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
      _ = Glibc.close(descriptor)
    case .disconnect(let number):
      if let accepted, accepted.number == number { accepted.connection.connection?.disconnect() }
    case .report(let status): report(.status(status))
    case .fail(let failure):
      isOver = true
      report(.failed(failure))
    case .log(let text): owner.configuration.log(text)
    }
  }

  private func takeArrival(_ number: Int) -> Int32? {
    guard let arrival, arrival.number == number else { return nil }
    self.arrival = nil
    return arrival.descriptor
  }

  /// Waits for the next event.
  func iterate(until deadline: Duration?) {
    guard let deadline else {
      _ = gio.pointee.g_main_context_iteration(context, 1)
      return
    }
    let source = gio.pointee.g_timeout_source_new(((deadline - clock.now).roundedMilliseconds))
    // It only has to end the wait.
    gio.pointee.g_source_set_callback(source, { _ in 0 }, nil, nil)
    _ = gio.pointee.g_source_attach(source, context)
    _ = gio.pointee.g_main_context_iteration(context, 1)
    gio.pointee.g_source_destroy(source)
    gio.pointee.g_source_unref(source)
  }
}

/// The object that a callback was given together with a reference.
func take<Object: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Object.Type) -> Object? {
  context.map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
}

/// The object that a callback was given, whose reference stays.
func borrow<Object: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Object.Type) -> Object? {
  context.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}

/// Lets a reference go that a registration has held.
func releaseBus(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<ProfileBus>.fromOpaque(context).release() }
}

extension Duration {
  /// As GLib takes times: not negative, and rounded up.
  fileprivate var roundedMilliseconds: UInt32 {
    let (seconds, attoseconds) = max(self, .zero).components
    let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return UInt32(clamping: min(seconds, 1_000_000) * 1000 + milliseconds)
  }
}
