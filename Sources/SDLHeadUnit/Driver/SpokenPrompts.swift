import SDLMessages

/// What the head unit says for an app (Speak), one after the other. Nothing is heard; it takes as long as saying it would.
struct SpokenPrompts: Sendable {
  /// More are refused, so that an app can't let them grow.
  private static let mostWaiting = 50
  /// The pace of a voice.
  private static let timePerLetter = Duration.milliseconds(60)
  private static let shortest = Duration.milliseconds(500)

  /// A request, which is answered when it has been said.
  struct Prompt: Sendable {
    let correlationID: Int32
    let duration: Duration
    /// What the response warns of.
    let warning: String?
  }

  /// The first one is being said.
  private var prompts: [Prompt] = []

  /// - Returns: false if there are too many.
  mutating func add(_ prompt: Prompt) -> Bool {
    guard prompts.count < Self.mostWaiting else { return false }
    prompts.append(prompt)
    return true
  }

  /// What is being said.
  var current: Prompt? { prompts.first }

  /// The present one is over.
  mutating func removeCurrent() -> Prompt? { prompts.isEmpty ? nil : prompts.removeFirst() }

  /// None of them is said any more.
  mutating func removeAll() -> [Prompt] {
    defer { prompts = [] }
    return prompts
  }

  /// How long it takes to say `ttsChunks`; a file counts as a short word.
  static func duration(of chunks: JSONValue?) -> Duration {
    let letters = (chunks?.array ?? []).reduce(0) { count, chunk in
      chunk.object?["type"]?.string == "FILE"
        ? count : count + (chunk.object?["text"]?.string?.unicodeScalars.count ?? 0)
    }
    return max(timePerLetter * letters, shortest)
  }

  /// Whether they name a file that the app has not uploaded.
  static func isFileMissing(in chunks: JSONValue?, files: AppFiles) -> Bool {
    (chunks?.array ?? []).compactMap(\.object).contains { chunk in
      chunk["type"]?.string == "FILE" && !files.contains(chunk["text"]?.string ?? "")
    }
  }
}
