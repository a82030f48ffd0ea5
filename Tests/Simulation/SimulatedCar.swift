import Glibc
import SDLHeadUnit
import SDLWire
import TestSupport

@testable import SDLHeadUnitLink
@testable import SDLLink

/// The head unit: the real server's loop, on a simulated network.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedCar: HeadUnitServerObserver, @unchecked Sendable {
  private(set) var server: HeadUnitServer?
  private let loop: HeadUnitLoop
  private let network: SimulatedNetwork
  private var hasOperations = true
  /// As of the end of the last turn, as the real loop knows it while it waits.
  private var deadline: Duration?
  private var busyUntil = Duration.zero
  /// What has happened since the last call of ``takeEvents()``.
  private var events: [HeadUnitServerEvent] = []

  init(_ configuration: HeadUnitConfiguration, encrypts: Bool, network: SimulatedNetwork) throws {
    self.network = network
    let relay = Relay()
    let isServer = !configuration.beginsHandshake
    let makeChannel: SecureChannelFactory = { FakeChannel(isServer: isServer, serialNumber: "app0") }
    let makeSocket: SocketMaker = { _ in network.makeSocket(host: SimulatedNetwork.carHost) }
    let port = try ListeningPort(
      address: SimulatedNetwork.carHost, port: SimulatedNetwork.primaryPort, makeSocket: makeSocket)
    var admission = HeadUnitServer.Admission()
    admission.sessionIDs = .ascending
    let server = try HeadUnitServer(
      configuration: configuration, source: .listener(port), admission: admission,
      script: HeadUnitScript(), messageTrace: nil,
      makeSecureChannel: encrypts ? makeChannel : nil,
      clock: network.clock, makeSocket: makeSocket, observer: relay)
    self.server = server
    _ = try server.webSockets.listen(
      address: SimulatedNetwork.carHost, port: SimulatedNetwork.webSocketPort, origins: .none, tls: nil,
      makeSocket: makeSocket)
    loop = HeadUnitLoop(server: server)
    self.relay = relay
    relay.car = self
    _ = loop.takeTurn()
    deadline = loop.nextDeadline
  }

  /// The server is made before its observer can be.
  private final class Relay: HeadUnitServerObserver, @unchecked Sendable {
    weak var car: SimulatedCar?

    func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
      car?.server(server, didReport: event)
    }
  }

  private let relay: Relay

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) { events.append(event) }

  func takeEvents() -> [HeadUnitServerEvent] {
    defer { events = [] }
    return events
  }

  /// A command of the driver's script; false for one that is none.
  func perform(_ text: String) -> Bool {
    guard let command = try? HeadUnitCommand.parse(text) else { return false }
    server?.perform(command)
    hasOperations = true
    return true
  }

  func wake() { hasOperations = true }

  /// The machine does nothing for a while.
  func standStill(until time: Duration) { busyUntil = max(busyUntil, time) }

  /// When it has something to do, whatever the network brings.
  var nextDeadline: Duration? {
    busyUntil > network.now ? busyUntil : deadline
  }

  func isReady() -> Bool {
    guard busyUntil <= network.now else { return false }
    let isDue = deadline.map { $0 <= network.now } ?? false
    return network.poll(&loop.descriptors) || isDue || hasOperations
  }

  /// Why it takes turns, for people.
  var readiness: String {
    "car, deadline \(deadline.map { "\($0 - network.now)" } ?? "-"), events "
      + loop.descriptors.map { "\($0.events):\($0.revents)" }.joined(separator: " ")
  }

  func takeTurn() {
    if hasOperations { loop.descriptors[0].revents = 1 }
    hasOperations = false
    loop.handleDescriptors()
    _ = loop.takeTurn()
    deadline = loop.nextDeadline
  }

  /// Ends the server, and with it all sockets.
  func stop() {
    server?.stop()
    _ = loop.takeTurn()
  }
}
