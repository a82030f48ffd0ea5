import SDLMessages
import SDLWire

/// Gets what is said on a connection, except for video, in lines for people.
public protocol ConversationListener: Sendable {
  /// Asked before anything is put into words.
  var isListening: Bool { get }
  /// Called on the connection's thread with no lock held.
  func hear(_ line: String)
}

/// Both directions of a connection on the way to a listener.
struct ConversationLog {
  private let listener: any ConversationListener
  /// In front of each line.
  private let prefix: String
  private var received = ConversationText()
  private var sent = ConversationText()

  /// Nil without a listener.
  init?(_ listener: (any ConversationListener)?, prefix: String = "") {
    guard let listener else { return nil }
    self.listener = listener
    self.prefix = prefix
  }

  mutating func noteReceived(_ item: FrameDecoder.Item) {
    guard listener.isListening else { return }
    switch item {
    case .garbage(let reason, _): listener.hear("\(prefix)← bytes that are no frame (\(reason))")
    case .frame(let frame):
      if let line = received.line(for: frame, now: MonotonicClock.now) { listener.hear("\(prefix)← \(line)") }
    }
  }

  /// `frames` are whole ones.
  mutating func noteSent(_ frames: [UInt8]) {
    guard listener.isListening else { return }
    frames.withUnsafeBytes { bytes in
      var rest = bytes
      var decoder = FrameDecoder()
      while case .frame(let frame)? = decoder.next(from: &rest) {
        if let line = sent.line(for: frame, now: MonotonicClock.now) { listener.hear("\(prefix)→ \(line)") }
      }
    }
  }
}
