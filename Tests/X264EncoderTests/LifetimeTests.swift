import Synchronization
import Testing
import X264Encoder

extension X264EncoderTests {
  /// The log messages of an encoder.
  @Suite struct Lifetime {
    @Test func messagesReachTheHandler() throws {
      let messages = Messages()
      do {
        let encoder = try X264Encoder(settings: .test(64, 64), log: messages.append)
        _ = try encoder.encodePan(0..<2)
      }
      let lines = messages.all
      #expect(lines.contains { $0.level == .info && $0.text.contains("Constrained Baseline") })
      // Statistics come when the encoder closes.
      #expect(lines.contains { $0.text.contains("kb/s") })
      #expect(lines.allSatisfy { !$0.text.hasSuffix("\n") && $0.level <= .info })
    }

    @Test func levelLimitsTheMessages() throws {
      let warnings = Messages()
      _ = try X264Encoder(settings: .test(64, 64), logLevel: .warning, log: warnings.append).encodePan(0..<2)
      #expect(warnings.all.isEmpty)
      let everything = Messages()
      _ = try X264Encoder(settings: .test(64, 64), logLevel: .debug, log: everything.append).encodePan(0..<2)
      #expect(everything.all.contains { $0.level == .debug && $0.text.contains("frame=   1") })
    }

    @Test func refusalSaysWhatX264Says() throws {
      let messages = Messages()
      let error = try #require(throws: EncoderError.self) {
        try X264Encoder(settings: .test(64, 64, options: "cll=100000,1"), log: messages.append)
      }
      guard case .openFailed(let text) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(messages.all.contains { $0.level == .error && $0.text == text })
    }
  }
}

/// Collects messages from any thread.
private final class Messages: Sendable {
  private let lines = Mutex<[(level: LogLevel, text: String)]>([])

  var all: [(level: LogLevel, text: String)] { lines.withLock { $0 } }

  @Sendable func append(_ level: LogLevel, _ text: String) {
    lines.withLock { $0.append((level, text)) }
  }
}
