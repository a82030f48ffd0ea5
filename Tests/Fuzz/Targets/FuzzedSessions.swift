import SDLApp
import SDLHeadUnit
import SDLLink

/// An app and a head unit joined in memory. The input decides what becomes of what they send, what else comes to each,
/// what driver and application do, and how the time passes.
struct FuzzedSessions: ~Copyable {
  enum Side: CaseIterable {
    case app
    case headUnit
  }

  /// More than any input may have either side send: an answer for each of its frames, and fragments of capabilities.
  private static let mostBytesPerInput = 512 << 10
  /// Deadlines on the way over a minute, of which a heartbeat each 7 s is the densest.
  private static let mostDeadlines = 2000

  private var app: AppSession
  private var headUnit: HeadUnitSession
  private var now = Duration.seconds(100)
  /// What was sent and has not come yet.
  private var toApp: [[UInt8]] = []
  private var toHeadUnit: [[UInt8]] = []
  private var appDecoder = FrameDecoder()
  private var headUnitDecoder: FrameDecoder
  private var secondaryAttempt: UInt32?
  private var videoMessageIDs = MessageIDs.video

  init(_ input: inout FuzzInput, isEncrypted: Bool) {
    var configuration = input.pick(HeadUnitPreset.allCases).configuration
    let choices = input.byte()
    if configuration.behaviour.policyUpdateSize != nil { configuration.behaviour.policyUpdateSize = 1000 }
    if choices & 1 != 0 { configuration.isStrict = false }
    if choices & 2 != 0 { configuration.behaviour.heartbeat = .pings(every: .milliseconds(300)) }
    if choices & 4 != 0 { configuration.behaviour.secondaryTransport = .served }
    configuration.security = isEncrypted ? (choices & 8 != 0 ? .require : .accept) : .refuse
    configuration.requiresRPCEncryption = isEncrypted && choices & 16 != 0
    var settings = AppSession.Configuration(
      appName: "Fuzz", appID: TLSEnds.appID, appType: choices & 32 != 0 ? .projection : .navigation, language: "EN-US")
    settings.heartbeatInterval = choices & 64 != 0 ? .seconds(5) : nil
    settings.encryption = isEncrypted ? .authenticateAndEncrypt : .none
    settings.encryptionPolicy = choices & 128 != 0 ? .prefer : .require
    app = AppSession(configuration: settings, makeSecureChannel: isEncrypted ? Self.serverChannel : nil)
    headUnit = HeadUnitSession(configuration: configuration, makeSecureChannel: isEncrypted ? Self.clientChannel : nil)
    headUnitDecoder = FrameDecoder(limits: configuration.frameLimits)
    perform(headUnit.transportConnected(now: now))
    perform(app.transportConnected(now: now))
  }

  private static let serverChannel: SecureChannelFactory = { TLSChannel(TLSEnds.server.makeSession()) }
  private static let clientChannel: SecureChannelFactory = { TLSChannel(TLSEnds.client.makeSession()) }

  /// Goes on to a stream without faults, or only to a session or a registration.
  mutating func begin(_ input: inout FuzzInput) {
    let rounds = input.number(below: 4)
    if input.flag() { requestMedia() }
    for _ in 0..<rounds {
      for _ in 0..<20 where !toApp.isEmpty || !toHeadUnit.isEmpty { deliverAll() }
      pass(.milliseconds(200))
    }
    toApp = []
    toHeadUnit = []
  }

  /// Bytes come to one side, as from the other.
  mutating func receive(_ bytes: [UInt8], from side: Side) {
    switch side {
    case .headUnit:
      appDecoder.append(bytes)
      while let item = appDecoder.next() { perform(app.receive(item, now: now)) }
    case .app:
      headUnitDecoder.append(bytes)
      while let item = headUnitDecoder.next() { perform(headUnit.receive(item, now: now)) }
    }
    rule(headUnit.incompleteByteCount <= 32 << 20, "incomplete messages beyond their bound")
  }

  /// Something happens.
  mutating func step(_ input: inout FuzzInput) {
    switch input.number(below: 24) {
    case 0...4: for _ in 0..<20 where !toApp.isEmpty || !toHeadUnit.isEmpty { deliverAll() }
    case 5: deliverAll()
    case 6: if !toApp.isEmpty { receive(toApp.removeFirst(), from: .headUnit) }
    case 7: if !toHeadUnit.isEmpty { receive(toHeadUnit.removeFirst(), from: .app) }
    case 8: Self.change(&toApp, &input)
    case 9: Self.change(&toHeadUnit, &input)
    case 10, 11: pass(input.time())
    case 12, 13: receive(frame(&input, from: .headUnit), from: .headUnit)
    case 14, 15: receive(frame(&input, from: .app), from: .app)
    case 16: driverActs(&input)
    case 17: headUnitChanges(&input)
    case 18: applicationActs(&input)
    case 19: sendVideo(&input)
    case 20: requestMedia()
    case 21: loseTransport(&input)
    default: secondaryChanges(&input)
    }
  }

  // MARK: What the network does

  private mutating func deliverAll() {
    let (forApp, forHeadUnit) = (toApp, toHeadUnit)
    toApp = []
    toHeadUnit = []
    for bytes in forHeadUnit { receive(bytes, from: .app) }
    for bytes in forApp { receive(bytes, from: .headUnit) }
  }

  private static func change(_ queue: inout [[UInt8]], _ input: inout FuzzInput) {
    guard !queue.isEmpty else { return }
    let index = input.number(below: min(queue.count, 256))
    switch input.number(below: 4) {
    case 0: queue.remove(at: index)
    case 1: if queue.count < 100 { queue.append(queue[index]) }
    case 2: queue.swapAt(0, index)
    default: queue[index][input.number(below: min(queue[index].count, 65_535))] ^= input.byte()
    }
  }

  /// A frame that a peer might send, with the payload that belongs to it or another.
  private func frame(_ input: inout FuzzInput, from side: Side) -> [UInt8] {
    let service = input.pick(ServiceType.allCases)
    let version = input.pick([5, 5, 5, 4, 3, 2, 1] as [UInt8])
    let sessionID: UInt8 = input.number(below: 16) == 0 ? input.byte() : 1
    if input.flag() {
      return Frame.control(
        input.pick(ControlFrame.allCases), service: service, version: version, sessionID: sessionID,
        payload: controlPayload(&input, version)
      ).bytes
    }
    let types: [RPCType] = side == .app ? [.request, .request, .response] : [.response, .notification]
    let payload =
      service == .rpc || service == .hybrid
      ? RPCMessage(
        type: input.pick(types), function: function(&input), correlationID: Int32(input.byte()),
        parameters: input.parameters(), bulk: service == .hybrid ? input.piece() : []
      ).payload : input.piece()
    return Fragmentation(
      service: service, version: max(version, 2), sessionID: sessionID, messageID: 1 + UInt32(input.number(below: 8)),
      payloadSize: payload.count, maximumPayload: 50 + input.number(below: 2000)
    ).frames(of: payload)
  }

  private func function(_ input: inout FuzzInput) -> FunctionID {
    FunctionID(rawValue: UInt32(input.number(below: 80)) + (input.flag() ? 0x8000 : 0))
  }

  private func controlPayload(_ input: inout FuzzInput, _ version: UInt8) -> [UInt8] {
    switch input.number(below: 6) {
    case 0: return []
    case 1: return input.piece()
    case 2:
      return VideoServiceParameters(
        width: Int32(input.byte()) * 8, height: Int32(input.byte()) * 8,
        videoProtocol: input.pick(["RAW", "RTP", "WEBM"]), videoCodec: input.pick(["H264", "VP9"]),
        mtu: Int64(input.byte()) * 100
      ).bytes(version: version)
    case 3: return EndServiceRequest(hashID: input.flag() ? 0x1_0001 : Int32(input.byte())).bytes(version: version)
    case 4:
      return TransportEventUpdate(
        address: input.pick(["192.0.2.1", "localhost", "", "a.b", "::1"]), port: Int32(input.number(below: 40_000)) * 2
      ).bytes
    default:
      var answer = RPCServiceAcknowledgement()
      answer.protocolVersion = ProtocolVersion(Int(input.byte()) % 7, 0, 0)
      answer.hashID = Int32(input.byte())
      answer.mtu = Int64(input.byte()) * 1000
      answer.secondaryTransports = input.pick([nil, ["TCP_WIFI"], ["IAP_USB", "AOA_USB"]])
      answer.videoServiceTransports = input.pick([nil, [1], [2], [1, 2], [2, 1, 7]])
      answer.audioServiceTransports = input.pick([nil, [1], [2], []])
      return answer.bytes(version: version)
    }
  }

  private mutating func pass(_ time: Duration) {
    let target = now + time
    for count in 0... {
      guard let deadline = [app.nextDeadline, headUnit.nextDeadline].compactMap(\.self).min(), deadline <= target else {
        break
      }
      rule(count < Self.mostDeadlines, "a deadline that does not go away")
      now = max(now, deadline)
      perform(app.advance(to: now))
      perform(headUnit.advance(to: now))
    }
    now = target
  }

  private mutating func loseTransport(_ input: inout FuzzInput) {
    toApp = []
    toHeadUnit = []
    perform(headUnit.transportLost(now: now))
    perform(app.transportLost(now: now))
    guard input.flag() else { return }
    let isEncrypted = app.configuration.encryption != .none
    app = AppSession(
      configuration: app.configuration, lastEpoch: app.epoch,
      makeSecureChannel: isEncrypted ? Self.serverChannel : nil)
    appDecoder = FrameDecoder()
    headUnitDecoder = FrameDecoder(limits: headUnit.configuration.frameLimits)
    perform(headUnit.transportConnected(now: now))
    perform(app.transportConnected(now: now))
  }

  private mutating func secondaryChanges(_ input: inout FuzzInput) {
    let attempt = secondaryAttempt ?? 0
    switch input.number(below: 7) {
    case 0: perform(app.secondaryConnected(attempt: attempt, now: now))
    case 1: perform(app.secondaryClosed(attempt: attempt, reason: input.text(), now: now))
    case 2:
      let frame = Frame.control(.registerSecondaryTransport, service: .control, version: 5, sessionID: 1)
      let (_, actions) = headUnit.registerSecondaryTransport(frame, now: now)
      perform(actions)
      perform(app.secondaryConnected(attempt: attempt, now: now))
    case 3: perform(headUnit.secondaryTransportLost(now: now))
    case 4:
      perform(headUnit.setServedTransport(TransportEventUpdate(address: "192.0.2.1", port: 1000), now: now))
    default:
      var decoder = FrameDecoder()
      let side = input.pick(Side.allCases)
      decoder.append(frame(&input, from: side))
      while let item = decoder.next() {
        switch side {
        case .app: perform(headUnit.receive(item, on: .secondary, now: now))
        case .headUnit: perform(app.receiveOnSecondary(item, now: now))
        }
      }
    }
  }

  // MARK: What people do

  private mutating func driverActs(_ input: inout FuzzInput) {
    switch input.number(below: 8) {
    case 0:
      perform(
        headUnit.setHMIStatus(
          HMIStatus(
            level: input.pick(HMILevel.allCases), audioStreamingState: input.pick(AudioStreamingState.allCases),
            videoStreamingState: input.pick(VideoStreamingState.allCases)), now: now))
    case 1: perform(headUnit.activateApp(now: now))
    case 2: perform(headUnit.take(.button(input.pick(["OK", "SEEKLEFT", "PRESET_0"]), .short), now: now))
    case 3: perform(headUnit.take(.softButton(Int(input.byte())), now: now))
    case 4: perform(headUnit.take(.menu(input.text()), now: now))
    case 5: perform(headUnit.take(.choice(Int(input.byte())), now: now))
    case 6: perform(headUnit.setAudioStreaming(input.pick(AudioStreamingState.allCases), now: now))
    default:
      let sample = OnTouchEvent.Sample(x: input.number(below: 2000), y: input.number(below: 1000))
      let finger = OnTouchEvent.Finger(id: input.number(below: 12), samples: [sample])
      perform(
        headUnit.touch(OnTouchEvent(kind: input.pick(OnTouchEvent.Kind.allCases), fingers: [finger]), now: now))
    }
  }

  private mutating func headUnitChanges(_ input: inout FuzzInput) {
    switch input.number(below: 9) {
    case 0: perform(headUnit.endService(input.pick([.video, .audio]), now: now))
    case 1: perform(headUnit.resize(to: VideoSize(input.number(below: 3000), 480), scale: nil, now: now))
    case 2: perform(headUnit.updateCapability(VideoStreamingCapability(json: input.parameters()), now: now))
    case 3: perform(headUnit.unregisterApp(input.pick(UnregisteredReason.allCases), now: now))
    case 4: perform(headUnit.setReading(input.flag(), now: now))
    case 5: perform(headUnit.dropIncompleteMessage())
    case 6: perform(headUnit.apply(.event(input.pick(HMIEvent.allCases), isActive: input.flag()), now: now))
    case 7: perform(headUnit.change(.videoStartDelay(input.time()), now: now))
    default:
      perform(headUnit.change(.videoStart(input.pick([.regular, .echo, .silence, .reject(["width"])])), now: now))
    }
  }

  private mutating func applicationActs(_ input: inout FuzzInput) {
    switch input.number(below: 7) {
    case 0: perform(app.setVideoRequest(nil, now: now))
    case 1:
      let size = VideoSize(2 * Int(input.byte()), 2 * Int(input.byte()))
      let request = VideoStartRequest(size: size, streamingProtocol: input.pick([.raw, .rtp]), isBare: input.flag())
      perform(app.setVideoRequest(request, now: now))
    case 2: perform(app.setAudioRequest(input.flag() ? AudioStartRequest() : nil, now: now))
    case 3: perform(app.setAppState(input.pick(AppState.allCases), now: now))
    case 4:
      let rectangle = HapticRectangle(id: Int(input.byte()), x: Double(input.byte()), y: 0, width: 10, height: 10)
      perform(app.setHapticRectangles(HapticRectangleList([rectangle]), now: now))
    case 5: perform(app.setButtonsWanted(input.flag(), now: now))
    default: perform(app.finish(now: now))
    }
  }

  private mutating func requestMedia() {
    perform(app.setVideoRequest(VideoStartRequest(size: VideoSize(800, 480)), now: now))
    perform(app.setAudioRequest(AudioStartRequest(), now: now))
  }

  private mutating func sendVideo(_ input: inout FuzzInput) {
    guard let grant = app.status.video.grant, grant.role == .primary else { return }
    let unit = input.piece(limit: 1024)
    let message = ProtectedMessage(
      service: .video, version: grant.version, sessionID: grant.sessionID, messageID: videoMessageIDs.next(),
      payload: unit, maximumPayload: max(grant.maximumPayload, 100))
    if grant.isEncrypted, let channel = app.secureChannel {
      if let frames = try? message.frames(encryptedBy: channel) { toHeadUnit.append(frames) }
    } else {
      toHeadUnit.append(message.framesInClear)
    }
  }

  // MARK: What the sessions want

  private mutating func perform(_ actions: [AppSession.Action]) {
    var byteCount = 0
    for action in actions {
      switch action {
      case .send(let bytes):
        byteCount += bytes.count
        toHeadUnit.append(bytes)
      case .sendProtected(let message):
        guard let channel = app.secureChannel, let frames = try? message.frames(encryptedBy: channel) else { continue }
        byteCount += frames.count
        toHeadUnit.append(frames)
      case .sendOnSecondary(let bytes): byteCount += bytes.count
      case .openSecondary(_, let attempt): secondaryAttempt = attempt
      case .closeSecondary, .note, .report, .close: break
      }
    }
    rule(byteCount <= Self.mostBytesPerInput, "the app answers with \(byteCount) bytes")
    rule(actions.count <= 1000, "the app answers with \(actions.count) actions")
    if toHeadUnit.count > 200 { toHeadUnit.removeFirst(100) }
  }

  private mutating func perform(_ actions: [HeadUnitSession.Action]) {
    var byteCount = 0
    for case .send(let bytes) in actions {
      byteCount += bytes.count
      toApp.append(bytes)
    }
    rule(byteCount <= Self.mostBytesPerInput, "the head unit answers with \(byteCount) bytes")
    rule(actions.count <= 1000, "the head unit answers with \(actions.count) actions")
    if toApp.count > 200 { toApp.removeFirst(100) }
  }
}
