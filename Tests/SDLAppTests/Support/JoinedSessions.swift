import SDLApp
import SDLHeadUnit
import Testing
import TestSupport

/// An ``AppSession`` and an emulated head unit joined in memory: the bytes of each reach the decoder of the other in
/// pieces of random sizes.
///
/// All bytes of the app are delivered before those of the head unit, so that the sizes never change the conversation.
final class JoinedSessions {
  private(set) var app: AppSession
  private(set) var headUnit: HeadUnitSession
  private(set) var now = Duration.zero
  private(set) var violations: [Violation] = []
  /// The video that has reached the head unit.
  private(set) var received: [[UInt8]] = []
  /// The sound.
  private(set) var heard: [[UInt8]] = []
  private(set) var failure: AppSessionFailure?
  private(set) var isClosedByApp = false

  private var lines: [String] = []
  private var cuts: SeededGenerator
  private var toHeadUnit: [UInt8] = []
  private var toApp: [UInt8] = []
  private var appDecoder = FrameDecoder()
  private var headUnitDecoder: FrameDecoder
  private var appReader = WireReader()
  /// Readers of the head unit's bytes as they are sent, and as they arrive.
  private var headUnitReader = WireReader()
  private var arrivalReader = WireReader()
  private var invariants = AppInvariants()
  private var videoMessageIDs = MessageIDs.video
  private var audioMessageIDs = MessageIDs.audio

  init(
    _ headUnit: HeadUnitConfiguration, app: AppSession.Configuration = AppDriver.configuration, seed: UInt64,
    server: SecureChannelFactory? = nil, client: SecureChannelFactory? = nil
  ) {
    self.app = AppSession(configuration: app, makeSecureChannel: server)
    self.headUnit = HeadUnitSession(configuration: headUnit, makeSecureChannel: client)
    headUnitDecoder = FrameDecoder(limits: headUnit.frameLimits)
    cuts = SeededGenerator(seed: seed)
  }

  /// The conversation since the last call: "→" from the app, "←" from the head unit, "•" the app's events, "■" its end.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  func connect() {
    perform(headUnit.transportConnected(now: now))
    perform(app.transportConnected(now: now))
    deliver()
  }

  func setVideoRequest(_ request: VideoStartRequest?) {
    invariants.requested(request)
    perform(app.setVideoRequest(request, now: now))
    deliver()
  }

  func setAudioRequest(_ request: AudioStartRequest?) {
    invariants.requested(request)
    perform(app.setAudioRequest(request, now: now))
    deliver()
  }

  func setSupportedDisplays(_ displays: [VideoDisplay]) {
    perform(app.setSupportedDisplays(displays, now: now))
    deliver()
  }

  func send(_ request: ApplicationRequest) {
    perform(app.send(request, now: now))
    deliver()
  }

  func setNotifications(_ functions: Set<FunctionID>) {
    perform(app.setNotifications(functions, now: now))
    deliver()
  }

  func setButtonsWanted(_ isWanted: Bool) {
    perform(app.setButtonsWanted(isWanted, now: now))
    deliver()
  }

  func finish() {
    invariants.finishing()
    perform(app.finish(now: now))
    deliver()
  }

  func headUnitDoes(_ act: (inout HeadUnitSession, Duration) -> [HeadUnitSession.Action]) {
    perform(act(&headUnit, now))
    deliver()
  }

  /// Breaks the connection.
  func disconnect() {
    toHeadUnit = []
    toApp = []
    perform(headUnit.transportLost(now: now))
    perform(app.transportLost(now: now))
  }

  /// Sends a video message as the link would; false when there is no grant.
  func sendVideo(_ payload: [UInt8]) -> Bool {
    guard let grant = app.status.video.grant else { return false }
    send(
      payload,
      Fragmentation(
        service: .video, version: grant.version, sessionID: grant.sessionID, messageID: videoMessageIDs.next(),
        payloadSize: payload.count, maximumPayload: grant.maximumPayload), isEncrypted: grant.isEncrypted)
    return true
  }

  /// The same for sound.
  func sendAudio(_ payload: [UInt8]) -> Bool {
    guard let grant = app.status.audio.grant else { return false }
    send(
      payload,
      Fragmentation(
        service: .audio, version: grant.version, sessionID: grant.sessionID, messageID: audioMessageIDs.next(),
        payloadSize: payload.count, maximumPayload: grant.maximumPayload), isEncrypted: grant.isEncrypted)
    return true
  }

  private func send(_ payload: [UInt8], _ message: Fragmentation, isEncrypted: Bool) {
    for fragment in message {
      var frame = Frame(header: fragment.header, payload: Array(payload[fragment.payloadRange]))
      if case .announcement = fragment.content {
        frame.payload = Array(message.frames(of: payload)[12..<20])
      } else if isEncrypted, let channel = app.secureChannel {
        frame.payload = (try? channel.encrypt(frame.payload)) ?? []
        frame.header.isEncrypted = true
        frame.header.dataSize = UInt32(frame.payload.count)
      }
      toHeadUnit += frame.bytes
    }
    deliver()
  }

  /// Lets time pass for both.
  func wait(_ duration: Duration) {
    let target = now + duration
    while let deadline = [app.nextDeadline, headUnit.nextDeadline].compactMap(\.self).min(), deadline <= target {
      now = max(now, deadline)
      perform(app.advance(to: now))
      perform(headUnit.advance(to: now))
      deliver()
      guard app.nextDeadline.map({ $0 > now }) ?? true else {
        Issue.record("a deadline that has passed stays: the connection thread would spin")
        return
      }
    }
    now = target
  }

  private func deliver() {
    while !toHeadUnit.isEmpty || !toApp.isEmpty {
      for piece in cut(&toHeadUnit) {
        headUnitDecoder.append(piece)
        while let item = headUnitDecoder.next() {
          perform(headUnit.receive(item, now: now))
          while headUnit.busyTransport != nil { perform(headUnit.continueWork(now: now)) }
        }
      }
      for piece in cut(&toApp) {
        appDecoder.append(piece)
        while let item = appDecoder.next() {
          if case .frame(let frame) = item {
            for item in arrivalReader.read(frame.bytes) { invariants.received(item) }
          }
          perform(app.receive(item, now: now))
        }
      }
    }
  }

  /// Takes the bytes in pieces, small ones as often as large ones.
  private func cut(_ bytes: inout [UInt8]) -> [[UInt8]] {
    var rest = bytes[...]
    bytes = []
    var pieces: [[UInt8]] = []
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...(Bool.random(using: &cuts) ? 13 : 2000), using: &cuts))
      pieces.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    return pieces
  }

  private func perform(_ actions: [AppSession.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes):
        noteSent(bytes)
        toHeadUnit += bytes
      case .sendProtected(let message):
        noteSent(message.framesInClear, isEncrypted: true)
        guard let channel = app.secureChannel, let frames = try? message.frames(encryptedBy: channel) else {
          Issue.record("a message that can't be encrypted")
          return
        }
        toHeadUnit += frames
      case .sendOnSecondary, .openSecondary, .closeSecondary:
        Issue.record("there is one transport only: \(action)")
      case .note: break
      case .report(let event):
        invariants.reported(event)
        if case .failed(let failure) = event { self.failure = failure }
        lines.append("• " + WireText.text(event))
      case .close:
        invariants.closed()
        isClosedByApp = true
        lines.append("■")
      }
    }
    invariants.check(app, now: now)
  }

  private func noteSent(_ bytes: [UInt8], isEncrypted: Bool = false) {
    for item in appReader.read(bytes) {
      invariants.sent(item)
      lines.append("→ " + item.text + (isEncrypted ? " encrypted" : ""))
    }
  }

  private func perform(_ actions: [HeadUnitSession.Action]) {
    for action in actions {
      switch action {
      case .send(let bytes):
        for item in headUnitReader.read(bytes) { lines.append("← " + item.text) }
        toApp += bytes
      case .sendOnSecondary, .closeSecondary: Issue.record("there is one transport only: \(action)")
      case .report(.violation(let violation)): violations.append(violation)
      case .report(.videoData(let bytes)): received.append(bytes)
      case .report(.audioData(let bytes)): heard.append(bytes)
      case .report(.handshakeFailed(let reason)): lines.append("← handshake failed: \(reason)")
      case .report: break
      // There is only one transport.
      case .close: lines.append("← close")
      }
    }
  }
}

/// Sessions at common starting points.
extension JoinedSessions {
  /// Seeds of the pieces' sizes, on which the conversation must not depend.
  static let seeds: [UInt64] = [1, 2, 3, 4]

  static func configuration(
    _ preset: HeadUnitPreset = .standard, _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> HeadUnitConfiguration {
    var configuration = preset.configuration
    // Charts are shorter without the wait for the answer.
    configuration.videoStartTime = nil
    change(&configuration)
    return configuration
  }

  static func streaming(_ configuration: HeadUnitConfiguration, seed: UInt64) -> JoinedSessions {
    let sessions = JoinedSessions(configuration, seed: seed)
    sessions.connect()
    sessions.setVideoRequest(AppDriver.videoRequest)
    sessions.wait(.milliseconds(200))
    #expect(sessions.app.status.video.grant != nil)
    _ = sessions.take()
    return sessions
  }
}
