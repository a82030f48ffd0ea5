import SDLWire

/// Reads along what an app and its head unit say to each other, and says when a byte of a service is outside its grant,
/// or in clear where it must not be. Keeps its own, simpler state.
struct WireWatch {
  private struct Service {
    /// Where its StartService was sent, until it is answered.
    var startedOn: SimulatedNetwork.Path?
    /// Where it is, from the acknowledgement on.
    var path: SimulatedNetwork.Path?
    /// Where a start that was given up has been acknowledged since: nothing tells that from an answer to the next one.
    var lateOn: SimulatedNetwork.Path?
    /// Where the one before is until its EndService is written, which a transport that has stalled delays.
    var formerPath: SimulatedNetwork.Path?
    var isEncrypted = false
    /// Media was written since the acknowledgement.
    var isUsed = false
  }

  private var services: [ServiceType: Service] = [.video: Service(), .audio: Service()]
  private var sent: [Int32: FrameDecoder] = [:]
  private var received: [Int32: FrameDecoder] = [:]
  /// Of the primary connection.
  private var rpcs = RPCWatch()
  private var answers = AnswerWatch()
  private var connections: [SimulatedNetwork.Path: Int32] = [:]

  /// Bytes that the app has written or read.
  ///
  /// - Parameter didRead: gets the RPCs among them that the app has read.
  /// - Returns: what is wrong.
  mutating func take(
    _ bytes: [UInt8], of end: NetworkEnd, isSent: Bool, now: Duration, didRead: (RPCWatch.Item) -> Void
  ) -> [(Simulation.Rule, String)] {
    guard let path = end.path else { return [] }
    let id = end.id
    if connections[path] != id { begin(id, path) }
    // Taken out, so that its buffer is not copied.
    let known = isSent ? sent.removeValue(forKey: id) : received.removeValue(forKey: id)
    var decoder = known ?? FrameDecoder(limits: FrameLimits(payload: 4 << 20))
    decoder.append(bytes)
    var findings: [(Simulation.Rule, String)] = []
    while let item = decoder.next() {
      switch item {
      case .frame(let frame) where isSent:
        findings += send(frame, path).map { [$0] } ?? []
        if path == .primary { answers.sent(frame, now: now) }
      case .frame(let frame):
        receive(frame, path)
        guard path == .primary else { continue }
        if let fault = answers.received(frame) { findings.append((.answers, fault)) }
        guard let item = rpcs.receive(frame, now: now) else { continue }
        if let fault = answers.received(item, now: now) { findings.append((.answers, fault)) }
        didRead(item)
      case .garbage(let reason, _): findings.append((.wire, "garbage \(isSent ? "sent" : "received"): \(reason)"))
      }
    }
    if isSent { sent[id] = decoder } else { received[id] = decoder }
    return findings
  }

  /// What the head unit should have said before.
  mutating func fault(now: Duration, quietSince: Duration) -> String? {
    answers.fault(now: now, quietSince: quietSince)
  }

  /// The driver changes whether, and where, there is a secondary transport.
  mutating func secondaryChanged() { answers.secondaryChanged() }

  private mutating func begin(_ id: Int32, _ path: SimulatedNetwork.Path) {
    if let former = connections[path] {
      sent[former] = nil
      received[former] = nil
    }
    connections[path] = id
    if path == .primary { (rpcs, answers) = (RPCWatch(), AnswerWatch()) }
    for (type, service) in services {
      if path == .primary || service.path == path {
        services[type] = Service(formerPath: path == .primary ? nil : service.formerPath)
      }
      if service.formerPath == path { services[type]?.formerPath = nil }
    }
  }

  private mutating func send(_ frame: Frame, _ path: SimulatedNetwork.Path) -> (Simulation.Rule, String)? {
    let type = frame.header.service
    guard var service = services[type] else { return nil }
    defer { services[type] = service }
    switch frame.header.controlFrame {
    case .startService:
      let former = service.path == path ? nil : service.path
      service = Service(
        startedOn: path, path: service.lateOn == path ? path : nil, formerPath: former ?? service.formerPath)
    // Those of another transport may be written later than the next start.
    case .endService, .endServiceACK:
      if service.startedOn == path || service.path == path {
        // Perhaps the start was given up before its acknowledgement came, and a stalled transport took the end after it.
        let isLate = service.path == path && !service.isUsed
        service = Service(lateOn: isLate ? path : nil, formerPath: service.formerPath)
      }
      if service.formerPath == path { service.formerPath = nil }
    case nil:
      if service.formerPath == path, service.path != path { break }
      guard service.path == path else { return (.grant, "\(type) on \(path) without a grant") }
      service.isUsed = true
      if service.isEncrypted != frame.header.isEncrypted, frame.header.frameType != .first {
        return (.protection, "\(type) \(frame.header.isEncrypted ? "encrypted" : "in clear")")
      }
    default: break
    }
    return nil
  }

  private mutating func receive(_ frame: Frame, _ path: SimulatedNetwork.Path) {
    let type = frame.header.service
    guard let service = services[type] else { return }
    guard service.startedOn == path else {
      if frame.header.controlFrame == .startServiceACK { services[type]?.lateOn = path }
      return
    }
    switch frame.header.controlFrame {
    case .startServiceACK:
      services[type] = Service(path: path, formerPath: service.formerPath, isEncrypted: frame.header.isEncrypted)
    // It may have been acknowledged already, by the late answer to an earlier start.
    case .startServiceNAK: services[type]?.startedOn = nil
    default: break
    }
  }
}
