import SDLApp
import SDLLink

/// Those who follow a connection's conversation: the debug log, which gets lines of text, and the conversation log. Without
/// them it does nothing.
struct ConnectionTaps {
  private static let mediaInterval = Duration.seconds(1)

  private var tracer: MessageTracer?
  private let log: ConversationWriter?
  /// The number of this connection in the log.
  private let number: Int
  private let appName: String
  /// The counters that the log has already.
  private var counted: [ConnectionWriter.Medium: MediaChannelStatistics] = [:]
  /// When ``countMedia(of:now:)`` has something to do; nil without a conversation log.
  private(set) var nextDeadline: Duration?

  /// The connection is established.
  init(_ configuration: AppConnection.Configuration, peer: String, writer: ConnectionWriter) {
    tracer = MessageTracer(configuration.messageTrace, clock: configuration.clock)
    log = configuration.conversation
    appName = configuration.session.appName
    guard let log else {
      number = 0
      return
    }
    number = log.newSession()
    nextDeadline = configuration.clock.now + Self.mediaInterval
    for medium in ConnectionWriter.Medium.allCases { counted[medium] = writer.read(medium) { $0.statistics } }
    log.note("state", of: number, ["type": .string("connected"), "peer": .string(peer)])
  }

  /// Whether the session has to note its messages.
  var wantsMessages: Bool { log != nil }

  mutating func noteReceived(_ item: FrameDecoder.Item) {
    tracer?.noteReceived(item)
  }

  /// An action of the session is about to be carried out.
  mutating func note(_ action: AppSession.Action) {
    switch action {
    case .send(let frames), .sendOnSecondary(let frames): tracer?.noteSent(frames)
    case .sendProtected(let message): tracer?.noteSent(message)
    case .note(let message): note(message)
    case .report, .close, .openSecondary, .closeSecondary: break
    }
  }

  private func note(_ message: ConversationMessage) {
    guard let log else { return }
    log.note(message, of: number)
    guard message.sender == .headUnit, case .rpc(let rpc) = message.content, rpc.type == .response,
      rpc.function == .registerAppInterface, RPCResult(json: rpc.parameters).success
    else { return }
    log.setName(appName, of: number)
  }

  /// Passes on the video and the sound of the last second.
  mutating func countMedia(of writer: ConnectionWriter, now: Duration) {
    guard let nextDeadline, nextDeadline <= now else { return }
    self.nextDeadline = now + Self.mediaInterval
    countMedia(of: writer)
  }

  private mutating func countMedia(of writer: ConnectionWriter) {
    for medium in ConnectionWriter.Medium.allCases {
      let present = writer.read(medium) { $0.statistics }
      let former = counted.updateValue(present, forKey: medium) ?? MediaChannelStatistics()
      let messages = present.sentMessages &- former.sentMessages
      guard messages > 0 else { continue }
      log?.noteMedia(
        medium == .video ? .video : .audio, messages: Int(clamping: messages),
        bytes: Int(clamping: present.sentByteCount &- former.sentByteCount), of: number)
    }
  }

  /// The connection is over, after the failure if there was one.
  mutating func end(_ failure: ConnectionFailure?, _ writer: ConnectionWriter) {
    guard let log else { return }
    countMedia(of: writer)
    log.flushMedia()
    let cause = failure.map { JSONValue.string("\($0)") }
    log.note("state", of: number, JSONObject(present: ["type": .string("disconnected"), "cause": cause]))
    log.setName(nil, of: number)
  }
}
