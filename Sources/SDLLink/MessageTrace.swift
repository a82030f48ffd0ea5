import SDLMessages
import SDLWire

/// Gets the messages of a connection, except for video, as readable lines.
package protocol MessageTrace: Sendable {
  /// Asked before a line is formatted.
  var isEnabled: Bool { get }
  /// Called on the connection's thread with no lock held.
  func trace(_ line: String)
}

/// Formats both directions of a connection for a ``MessageTrace``.
package struct MessageTracer {
  private let trace: any MessageTrace
  private let prefix: String
  private let clock: TimeSource
  private var received = ConversationText()
  private var sent = ConversationText()

  /// Nil without a trace.
  package init?(_ trace: (any MessageTrace)?, prefix: String = "", clock: TimeSource) {
    guard let trace else { return nil }
    self.trace = trace
    self.prefix = prefix
    self.clock = clock
  }

  package mutating func noteReceived(_ item: FrameDecoder.Item) {
    guard trace.isEnabled else { return }
    switch item {
    case .garbage(let reason, _): trace.trace("\(prefix)← bytes that are not a frame (\(reason))")
    case .frame(let frame):
      if let line = received.line(for: frame, now: clock.now) { trace.trace("\(prefix)← \(line)") }
    }
  }

  package mutating func noteSent(_ message: ProtectedMessage) {
    guard trace.isEnabled else { return }
    noteSent(message.framesInClear)
  }

  /// `frames` are whole frames.
  package mutating func noteSent(_ frames: [UInt8]) {
    guard trace.isEnabled else { return }
    frames.withUnsafeBytes { bytes in
      var rest = bytes
      var decoder = FrameDecoder()
      while case .frame(let frame)? = decoder.next(from: &rest) {
        if let line = sent.line(for: frame, now: clock.now) { trace.trace("\(prefix)→ \(line)") }
      }
    }
  }
}
