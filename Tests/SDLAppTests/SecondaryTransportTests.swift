import Testing

@testable import SDLApp

/// States × events of the connection itself, without a session.
@Suite struct SecondaryTransportTests {
  private static let update = TransportEventUpdate(address: "192.0.2.1", port: 4000)
  private static let moved = TransportEventUpdate(address: "2001:db8::2", port: 4001)
  private static let withdrawn = TransportEventUpdate(address: nil, port: nil)

  private static func address(_ update: TransportEventUpdate) throws -> TransportAddress {
    try TransportAddress(host: update.address ?? "", port: update.port, acceptsLoopback: true)
  }

  private static func offered(
    kinds: [String]? = ["TCP_WIFI"], video: [Int32]? = [2, 1], audio: [Int32]? = nil, version: Int = 4,
    isEnabled: Bool = true
  ) -> SecondaryTransport {
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.secondaryTransports = kinds
    acknowledgement.videoServiceTransports = video
    acknowledgement.audioServiceTransports = audio
    var transport = SecondaryTransport(isEnabled: isEnabled)
    transport.offered(acknowledgement, protocolVersion: ProtocolVersion(5, version, 0))
    return transport
  }

  enum Stage: CaseIterable, Sendable {
    case connecting
    case registering
    case registered
  }

  private static func transport(_ stage: Stage) -> SecondaryTransport {
    var transport = offered()
    _ = transport.updated(update, now: .zero)
    _ = transport.reconcile(isWanted: true, now: .zero)
    if stage != .connecting { _ = transport.connected(attempt: 1, now: .zero) }
    if stage == .registered { transport.accepted(now: .zero) }
    return transport
  }

  private static func end(of stage: Stage) -> [SecondaryTransport.Output] {
    stage == .registered ? [.close, .lost] : [.close]
  }

  // MARK: The offer

  @Test func opensOnceAddressAndDriverAreThere() throws {
    var transport = Self.offered()
    #expect(transport.status.state == .waiting)
    #expect(transport.reconcile(isWanted: true, now: .zero) == [])
    #expect(transport.updated(Self.update, now: .zero) == [])
    #expect(transport.reconcile(isWanted: false, now: .zero) == [])
    #expect(transport.nextDeadline(isWanted: false, now: .zero) == nil)
    #expect(transport.reconcile(isWanted: true, now: .zero) == [.open(try Self.address(Self.update), attempt: 1)])
    #expect(transport.status.state == .connecting)
    #expect(transport.connected(attempt: 1, now: .zero) == [.register])
    #expect(transport.status.state == .registering)
    transport.accepted(now: .zero)
    #expect(transport.status.state == .registered)
    #expect(transport.nextDeadline(isWanted: true, now: .zero) == nil)
  }

  @Test func updateBeforeTheAcknowledgement() {
    var transport = SecondaryTransport()
    #expect(transport.updated(Self.update, now: .zero) == [])
    #expect(transport.reconcile(isWanted: true, now: .zero) == [])
    transport.offered(
      {
        var acknowledgement = RPCServiceAcknowledgement()
        acknowledgement.secondaryTransports = ["TCP_WIFI"]
        acknowledgement.videoServiceTransports = [2]
        return acknowledgement
      }(), protocolVersion: ProtocolVersion(5, 1, 0))
    #expect(transport.reconcile(isWanted: true, now: .zero).count == 1)
  }

  struct Offer: Sendable {
    var kinds: [String]?
    var video: [Int32]?
    var audio: [Int32]?
    var version = 4
    var isEnabled = true
    var isPossible: Bool
  }

  private static let offerRows = [
    Offer(kinds: ["TCP_WIFI"], video: [2, 1], isPossible: true),
    Offer(kinds: ["TCP_WIFI"], video: [1, 2], isPossible: true),
    Offer(kinds: ["TCP_WIFI"], video: [1], audio: [2], isPossible: true),
    Offer(kinds: ["IAP_USB", "WEBSOCKET_WIFI", "TCP_WIFI"], video: [2], isPossible: true),
    Offer(kinds: ["TCP_WIFI"], video: [9, 2], version: 1, isPossible: true),
    // None at all, none for a service, none of TCP, a protocol that does not have it, and an app that wants none.
    Offer(kinds: nil, video: [2, 1], isPossible: false),
    Offer(kinds: [], video: [2, 1], isPossible: false),
    Offer(kinds: ["TCP_WIFI"], video: [1], audio: [1], isPossible: false),
    Offer(kinds: ["TCP_WIFI"], video: nil, audio: nil, isPossible: false),
    Offer(kinds: ["TCP_WIFI"], video: [], audio: [], isPossible: false),
    Offer(kinds: ["IAP_USB", "AOA_USB"], video: [1, 2], isPossible: false),
    Offer(kinds: ["TCP_WIFI"], video: [2], version: 0, isPossible: false),
    Offer(kinds: ["TCP_WIFI"], video: [2], isEnabled: false, isPossible: false),
  ]

  @Test(arguments: offerRows.indices) func offers(index: Int) {
    let offer = Self.offerRows[index]
    var transport = Self.offered(
      kinds: offer.kinds, video: offer.video, audio: offer.audio, version: offer.version, isEnabled: offer.isEnabled)
    _ = transport.updated(Self.update, now: .zero)
    #expect(!transport.reconcile(isWanted: true, now: .zero).isEmpty == offer.isPossible)
    #expect((transport.status.state != .none) == offer.isPossible)
  }

  // MARK: Events

  @Test(arguments: Stage.allCases) func lost(stage: Stage) {
    var transport = Self.transport(stage)
    #expect(transport.closed(attempt: 1, reason: "cut", now: .seconds(1)) == Self.end(of: stage))
    #expect(transport.status.reason == "cut")
    #expect(transport.reconcile(isWanted: true, now: .seconds(1)) == [])
    #expect(transport.nextDeadline(isWanted: true, now: .seconds(1)) == .seconds(2))
    #expect(transport.reconcile(isWanted: true, now: .seconds(2)).count == 1)
    #expect(transport.attempt == 2)
  }

  @Test(arguments: Stage.allCases) func withdrawal(stage: Stage) {
    var transport = Self.transport(stage)
    _ = transport.updated(Self.withdrawn, now: .zero)
    #expect(transport.reconcile(isWanted: true, now: .zero) == Self.end(of: stage))
    // The head unit has to notice before its services start elsewhere.
    let settled = Duration.milliseconds(200)
    #expect(transport.nextDeadline(isWanted: true, now: .zero) == (stage == .registered ? settled : nil))
    #expect(transport.nextDeadline(isWanted: true, now: settled) == nil)
    #expect(transport.reconcile(isWanted: true, now: .seconds(1000)) == [])
    // And offered again, where it was.
    _ = transport.updated(Self.update, now: .seconds(1000))
    #expect(transport.reconcile(isWanted: true, now: .seconds(1000)).count == 1)
  }

  @Test(arguments: Stage.allCases) func anotherAddress(stage: Stage) throws {
    var transport = Self.transport(stage)
    _ = transport.updated(Self.moved, now: .milliseconds(5))
    let outputs = transport.reconcile(isWanted: true, now: .milliseconds(5))
    #expect(outputs == Self.end(of: stage) + [.open(try Self.address(Self.moved), attempt: 2)])
  }

  @Test(arguments: Stage.allCases) func sameAddressAgain(stage: Stage) {
    var transport = Self.transport(stage)
    let before = transport.state
    #expect(transport.updated(Self.update, now: .seconds(1)) == [])
    #expect(transport.reconcile(isWanted: true, now: .seconds(1)) == [])
    #expect(transport.state == before)
  }

  /// What can't be connected to changes nothing about what works.
  @Test(arguments: Stage.allCases) func unusableUpdates(stage: Stage) {
    var transport = Self.transport(stage)
    let before = transport.state
    let updates: [(String, Int32)] = [
      ("192.0.2.7", 0), ("192.0.2.7", 70_000), ("224.0.0.1", 4000), ("0.0.0.0", 4000),
    ]
    for (address, port) in updates {
      let outputs = transport.updated(TransportEventUpdate(address: address, port: port), now: .seconds(1))
      #expect(outputs.count == 1)
      #expect(transport.reconcile(isWanted: true, now: .seconds(1)) == [])
    }
    #expect(transport.state == before)
    #expect(transport.counters.refusedUpdates == 4)
    // They are counted, and the first eight told.
    let more = (0..<6).map { _ in transport.updated(TransportEventUpdate(address: "0.0.0.0", port: 1), now: .zero).count
    }
    #expect(more == [1, 1, 1, 1, 0, 0] && transport.counters.refusedUpdates == 10)
  }

  /// Services wait for the first attempt, for a second.
  @Test func worthWaiting() {
    var transport = Self.offered()
    #expect(transport.worthWaiting(now: .zero) == nil)
    _ = transport.updated(Self.update, now: .seconds(5))
    _ = transport.reconcile(isWanted: true, now: .seconds(5))
    #expect(transport.worthWaiting(now: .milliseconds(5999)) == .seconds(6))
    #expect(transport.nextDeadline(isWanted: true, now: .seconds(5)) == .seconds(6))
    #expect(transport.worthWaiting(now: .seconds(6)) == nil)
    #expect(transport.nextDeadline(isWanted: true, now: .seconds(6)) == .seconds(15))
    var lost = transport
    _ = transport.connected(attempt: 1, now: .seconds(5))
    transport.accepted(now: .seconds(5))
    _ = lost.closed(attempt: 1, reason: "cut", now: .milliseconds(5500))
    #expect([transport, lost].map { $0.worthWaiting(now: .milliseconds(5600)) } == [nil, nil])
  }

  @Test(arguments: Stage.allCases) func lateEventsOfAnEarlierAttempt(stage: Stage) {
    var transport = Self.transport(stage)
    let before = transport
    #expect(transport.connected(attempt: 0, now: .zero) == [])
    #expect(transport.closed(attempt: 0, reason: "late", now: .zero) == [])
    #expect(transport == before)
  }

  @Test(arguments: [Stage.connecting, .registering]) func silence(stage: Stage) {
    var transport = Self.transport(stage)
    #expect(transport.reconcile(isWanted: true, now: .seconds(9)) == [])
    #expect(transport.nextDeadline(isWanted: true, now: .seconds(9)) == .seconds(10))
    #expect(transport.reconcile(isWanted: true, now: .seconds(10)) == [.close])
    #expect(transport.status.state == .waiting)
  }

  /// The connection stays when the driver leaves the app, but is not made again.
  @Test(arguments: Stage.allCases) func notWantedAnyMore(stage: Stage) {
    var transport = Self.transport(stage)
    #expect(transport.reconcile(isWanted: false, now: .seconds(1)) == [])
    _ = transport.closed(attempt: 1, reason: "cut", now: .seconds(1))
    #expect(transport.reconcile(isWanted: false, now: .seconds(100)) == [])
    #expect(transport.nextDeadline(isWanted: false, now: .seconds(100)) == nil)
  }

  @Test(arguments: Stage.allCases) func sessionEnds(stage: Stage) {
    var transport = Self.transport(stage)
    #expect(transport.finish() == [.close])
    #expect(transport.finish() == [])
    #expect(transport.reconcile(isWanted: true, now: .seconds(100)) == [])
  }

  // MARK: Limits

  @Test func pausesGrow() {
    var transport = Self.offered()
    _ = transport.updated(Self.update, now: .zero)
    var now = Duration.zero
    var pauses: [Duration] = []
    for _ in 0..<8 {
      _ = transport.reconcile(isWanted: true, now: now)
      _ = transport.closed(attempt: transport.attempt, reason: "refused", now: now)
      let next = transport.nextDeadline(isWanted: true, now: now) ?? now
      pauses.append(next - now)
      now = next
    }
    #expect(pauses == [1, 2, 4, 8, 10, 10, 10, 10].map { .seconds($0) })
  }

  /// A head unit that registers it and cuts it at once is not asked more often than one that refuses; one that has
  /// lasted is followed at once.
  @Test func registeredAndCut() {
    var transport = Self.offered()
    _ = transport.updated(Self.update, now: .zero)
    var now = Duration.zero
    for _ in 0..<8 {
      _ = transport.reconcile(isWanted: true, now: now)
      _ = transport.connected(attempt: transport.attempt, now: now)
      transport.accepted(now: now)
      _ = transport.closed(attempt: transport.attempt, reason: "cut", now: now)
      now = transport.nextDeadline(isWanted: true, now: now) ?? now
    }
    #expect(now == .seconds(55))
    _ = transport.reconcile(isWanted: true, now: now)
    _ = transport.connected(attempt: transport.attempt, now: now)
    transport.accepted(now: now)
    now += .seconds(60)
    _ = transport.closed(attempt: transport.attempt, reason: "cut", now: now)
    #expect(transport.nextDeadline(isWanted: true, now: now) == now + .seconds(1))
  }

  @Test func anUpdateEvery10Milliseconds() {
    var transport = Self.offered()
    var attempts = 0
    var problems = 0
    for step in 0..<6000 {
      let now = Duration.milliseconds(10 * step)
      let update = TransportEventUpdate(address: "192.0.2.\(step % 250 + 1)", port: Int32(step % 65_535 + 1))
      for output in transport.updated(update, now: now) + transport.reconcile(isWanted: true, now: now) {
        if case .open = output { attempts += 1 }
        if case .problem = output { problems += 1 }
      }
    }
    #expect(attempts == 6 * SecondaryTransport.maximumBurst)
    #expect(problems == 1)
    #expect(transport.counters.updates == 6000)
    #expect(transport.counters.attempts == 24)
  }

  @Test func unusableUpdatesAreLoggedAFewTimes() {
    var transport = Self.offered()
    var count = 0
    for port in 0..<1000 as Range<Int32> {
      count += transport.updated(TransportEventUpdate(address: "224.0.0.1", port: port), now: .zero).count
    }
    #expect(count == 8)
    #expect(transport.counters.refusedUpdates == 1000)
  }
}
