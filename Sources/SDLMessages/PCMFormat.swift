/// The format of the sound that a head unit plays: PCM with one channel (`pcmStreamCapabilities`, RPC specification,
/// `AudioPassThruCapabilities`).
///
/// All times are computed from whole numbers of samples, so that errors do not add up over hours; results that do not
/// fit into 64 bits become the largest number.
package struct PCMFormat: Hashable, Sendable {
  /// Samples per second (`SamplingRate`). SDL Core counts 22KHZ as 22 000 and 44KHZ as 44 000.
  package enum SamplingRate: String, Sendable, CaseIterable {
    case hertz8000 = "8KHZ"
    case hertz16000 = "16KHZ"
    case hertz22000 = "22KHZ"
    case hertz44000 = "44KHZ"

    package var hertz: Int {
      switch self {
      case .hertz8000: 8000
      case .hertz16000: 16_000
      case .hertz22000: 22_000
      case .hertz44000: 44_000
      }
    }
  }

  /// The size of a sample (`BitsPerSample`).
  package enum SampleSize: String, Sendable, CaseIterable {
    /// Unsigned.
    case bits8 = "8_BIT"
    /// Signed, little-endian.
    case bits16 = "16_BIT"

    package var byteCount: Int {
      switch self {
      case .bits8: 1
      case .bits16: 2
      }
    }
  }

  package var samplingRate: SamplingRate
  package var sampleSize: SampleSize

  /// Creates a format; by default the one that is assumed of head units that announce none: 16 kHz, 16 bit.
  package init(samplingRate: SamplingRate = .hertz16000, sampleSize: SampleSize = .bits16) {
    self.samplingRate = samplingRate
    self.sampleSize = sampleSize
  }

  /// Nil for anything but PCM of a known rate and sample size, all three of which are mandatory.
  init?(json: JSONValue?) {
    guard let object = json?.object, object["audioType"]?.string == Self.audioType,
      let samplingRate: SamplingRate = object.enumeration("samplingRate"),
      let sampleSize: SampleSize = object.enumeration("bitsPerSample")
    else { return nil }
    self.init(samplingRate: samplingRate, sampleSize: sampleSize)
  }

  /// `AudioPassThruCapabilities`.
  package var json: JSONValue {
    .object([
      "samplingRate": .string(samplingRate.rawValue), "bitsPerSample": .string(sampleSize.rawValue),
      "audioType": .string(Self.audioType),
    ])
  }

  private static let audioType = "PCM"
  private static let nanosecondsPerSecond = 1_000_000_000
}

/// For users: rate and size in the words of the RPC specification.
extension PCMFormat {
  /// Parses a ``text``; nil if it is malformed.
  package init?(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let rate = SamplingRate(rawValue: parts[0]), let size = SampleSize(rawValue: parts[1])
    else { return nil }
    self.init(samplingRate: rate, sampleSize: size)
  }

  /// "16KHZ/16_BIT".
  package var text: String { "\(samplingRate.rawValue)/\(sampleSize.rawValue)" }
}

extension PCMFormat: CustomStringConvertible {
  /// "16000 Hz, 16 bit".
  package var description: String { "\(samplingRate.hertz) Hz, \(sampleSize.byteCount * 8) bit" }
}

extension PCMFormat {
  /// The whole samples in `byteCount` bytes; a part of a sample at their end does not count.
  package func sampleCount(ofByteCount byteCount: Int) -> Int {
    max(byteCount, 0) / sampleSize.byteCount
  }

  package func byteCount(ofSampleCount sampleCount: Int) -> Int {
    let (count, isTooLarge) = max(sampleCount, 0).multipliedReportingOverflow(by: sampleSize.byteCount)
    return isTooLarge ? .max : count
  }

  /// How long `sampleCount` samples sound, rounded down to nanoseconds.
  package func duration(ofSampleCount sampleCount: Int) -> Duration {
    let (seconds, rest) = max(sampleCount, 0).quotientAndRemainder(dividingBy: samplingRate.hertz)
    return .seconds(seconds) + .nanoseconds(rest * Self.nanosecondsPerSecond / samplingRate.hertz)
  }

  /// The samples that sound for `duration`, to the nearest sample: that of ``duration(ofSampleCount:)`` is
  /// `sampleCount` again. None for a negative duration.
  package func sampleCount(in duration: Duration) -> Int {
    guard duration > .zero else { return 0 }
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Int(attoseconds / 1_000_000_000)
    let part = (nanoseconds * samplingRate.hertz + Self.nanosecondsPerSecond / 2) / Self.nanosecondsPerSecond
    let (whole, isTooLong) = Int(seconds).multipliedReportingOverflow(by: samplingRate.hertz)
    let (sum, isSumTooLarge) = whole.addingReportingOverflow(part)
    return isTooLong || isSumTooLarge ? .max : sum
  }
}
