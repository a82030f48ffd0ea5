import SDLMessages

/// A recording from the car's microphone, which is silent (PerformAudioPassThru).
struct MicrophoneRecording: Sendable {
  /// From one OnAudioPassThru to the next.
  static let interval = Duration.milliseconds(100)

  let correlationID: Int32
  /// What the response warns of.
  let warning: String?
  private let format: PCMFormat
  private let end: Duration
  /// Until when it was sent.
  private var position: Duration

  /// - Parameter start: the end of what is said before.
  init?(_ request: RPCMessage, warning: String?, start: Duration) {
    guard let format = Self.format(of: request.parameters),
      let duration = request.parameters["maxDuration"]?.integer
    else { return nil }
    correlationID = request.correlationID
    self.warning = warning
    self.format = format
    position = start
    end = start + .milliseconds(duration)
  }

  private static func format(of parameters: JSONObject) -> PCMFormat? {
    let members = ["samplingRate", "bitsPerSample"].compactMap { parameters[$0]?.string }
    return PCMFormat(text: members.joined(separator: "/"))
  }

  /// When the next part is due, or the end.
  var nextDeadline: Duration { min(position + Self.interval, end) }

  /// The sound since the last call.
  mutating func take(until now: Duration) -> [UInt8] {
    let time = max(min(now, end) - position, .zero)
    position += time
    let milliseconds = Int(time / .milliseconds(1))
    let count = format.samplingRate.hertz * milliseconds / 1000 * format.sampleSize.byteCount
    // Eight bits are unsigned.
    return [UInt8](repeating: format.sampleSize == .bits8 ? 0x80 : 0, count: count)
  }

  /// Whether all of it was sent.
  var isOver: Bool { position >= end }
}
