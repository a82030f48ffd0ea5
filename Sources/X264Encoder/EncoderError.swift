/// Why an encoder can't be opened, changed or used.
package enum EncoderError: Error, Equatable {
  case invalidSize(width: Int, height: Int, reason: String)
  case invalidFrameRate(FrameRate)
  case invalidBitrate(Int)
  case invalidKeyFrameInterval(Int)
  case invalidThreadCount(Int)
  case unknownOption(name: String)
  /// The value is nil if the option was given without one.
  case badOptionValue(name: String, value: String?)
  /// An x264 option that this stream does not allow.
  case forbiddenOption(name: String, reason: String)
  /// x264 could not be opened; the text is its last log message.
  case openFailed(String)
  /// x264 changed its settings while it was opened, to some that this stream does not allow.
  case unexpectedParameters(reason: String)
  case invalidPlanes(reason: String)
  case encodingFailed
  /// The level in the stream's headers allows at most `limit` kbit/s, and `requested` is more.
  case bitrateAboveLevel(requested: Int, limit: Int)
  /// The level in the stream's headers does not allow as many pictures of this size; `level` is ten times the level.
  case frameRateAboveLevel(requested: FrameRate, level: Int)
  case reconfigurationFailed
  /// An encoder element can't be used, for this reason.
  case element(String)
}

extension EncoderError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .invalidSize(let width, let height, let reason):
      "Can't encode pictures of \(width)×\(height): \(reason). Scale or crop them first."
    case .invalidFrameRate(let rate):
      "Can't encode at \(rate.numerator)/\(rate.denominator) frames per second: "
        + "give a rate above 0 and up to 1000."
    case .invalidBitrate(let bitrate):
      "Can't encode at \(bitrate) kbit/s: give a bit rate from \(EncoderSettings.bitrateRange.lowerBound) "
        + "to \(EncoderSettings.bitrateRange.upperBound)."
    case .invalidKeyFrameInterval(let frames):
      "A key-frame interval of \(frames) frames is impossible: give 0 for two seconds, or 1 and more."
    case .invalidThreadCount(let threads):
      "Can't encode with \(threads) threads: give 0 for automatic, or 1 and more."
    case .unknownOption(let name):
      "x264 has no option “\(name)”. Write options as name=value, with a colon between them."
    case .badOptionValue(let name, let value?):
      "The x264 option “\(name)” does not take the value “\(value)”."
    case .badOptionValue(let name, nil):
      "The x264 option “\(name)” needs a value: \(name)=…"
    case .forbiddenOption(let name, let reason):
      "The x264 option “\(name)” can't be used here: \(reason)."
    case .openFailed(let text):
      "x264 does not open: \(text)"
    case .unexpectedParameters(let reason):
      "x264 opened with settings that this stream can't have: \(reason). Leave out extra options."
    case .invalidPlanes(let reason):
      "The picture does not fit the encoder's settings: \(reason)."
    case .encodingFailed:
      "x264 could not encode the picture; its log says why. Open a new encoder."
    case .bitrateAboveLevel(let requested, let limit):
      "The stream's level allows \(limit) kbit/s, not \(requested). Open a new encoder for more."
    case .frameRateAboveLevel(let requested, let level):
      "The stream's level \(level / 10).\(level % 10) does not allow "
        + "\(requested.numerator)/\(requested.denominator) frames per second. Open a new encoder for more."
    case .reconfigurationFailed:
      "x264 refused the new rates; its log says why. Open a new encoder."
    case .element(let reason):
      reason
    }
  }
}
