/// The rates that the encoder aims at: defaults, changed by the app's preferences, bounded by the head unit's limits.
/// Computed again on every change, so that nothing of an earlier head unit remains.
package struct EncoderTargets: Equatable, Sendable {
  /// Kilobits per second.
  package let bitrate: Int
  /// Where the bitrate of a live source begins, in kbit/s: the first picture, a key frame, must come soon on any link.
  package let start: Int
  /// How far the bitrate of a live source may rise while the link carries it, in kbit/s; at least `bitrate`.
  package let ceiling: Int
  /// The head unit's maximum in kbit/s, which holds for each second; nil if it announces none.
  package let maximum: Int?
  /// Pictures per second, as far as the source delivers them.
  package let frameRate: Fraction
  /// The head unit's maximum, when it is implausible; nil when it is not, or when there is none.
  package let implausibleBitrate: ImplausibleBitrate?

  /// The default of the mobile libraries, in kbit/s.
  package static let defaultBitrate = 600
  /// In kbit/s: with more a key frame may take longer than 0.6 s on a link that carries no more than
  /// ``defaultBitrate``.
  private static let largestStart = 2500
  /// The default of the mobile libraries.
  package static let defaultFrameRate = 15
  /// More than any H.264 level allows, in kbit/s.
  package static let maximumBitrate = 2_000_000
  /// The most frames per second that are used, whatever app and head unit ask for.
  package static let maximumFrameRate = 240

  /// - Parameter size: of the encoded pictures.
  package init(
    preferences: EncoderPreferences = EncoderPreferences(), limits: EncoderLimits = EncoderLimits(), size: VideoSize
  ) {
    let frameRate = Self.frameRate(preferred: preferences.frameRate, announced: limits.preferredFrameRate)
    let announced = limits.maximumBitrate.flatMap { $0 > 0 ? $0 : nil }
    let implausible = announced.flatMap { announced in
      ImplausibleBitrate(
        announced: announced, pictures: limits.largestPicture ?? size,
        frameRate: max(frameRate, Self.frameRate(preferred: nil, announced: limits.preferredFrameRate)))
    }
    implausibleBitrate = implausible
    self.frameRate = frameRate
    maximum = announced
    let bound = min(
      announced.map(Self.largestShare) ?? .max, limits.transportBitrate ?? .max, Self.maximumBitrate)
    let preferred = preferences.bitrate.flatMap { $0 > 0 ? $0 : nil }
    let automatic =
      announced == nil
      ? (wanted: Self.defaultBitrate, most: Self.defaultBitrate)
      : Self.automaticBitrates(preferences.automaticBitrate, size, frameRate, isBounded: implausible == nil)
    bitrate = min(preferred ?? automatic.wanted, bound)
    ceiling = max(bitrate, min(preferred ?? automatic.most, bound))
    start = preferred == nil ? min(bitrate, Self.largestStart) : bitrate
  }

  /// The highest bitrate under a maximum. In the worst second an encoder sends its VBV buffer besides, which needs half a
  /// second of the bitrate for key frames.
  private static func largestShare(of maximum: Int) -> Int { maximum - maximum / 3 }

  /// The largest VBV buffer, in kbit, with which an encoder of no more than `bitrate` kbit/s stays below the maximum in
  /// each second; nil for no bound.
  package func bufferSize(upTo bitrate: Int) -> Int? {
    maximum.map { max($0 - bitrate, 1) }
  }

  /// A bitrate that looks good, and the most that is useful, for a head unit that announces its limit.
  private static func automaticBitrates(
    _ policy: BitratePolicy, _ size: VideoSize, _ frameRate: Fraction, isBounded: Bool
  ) -> (wanted: Int, most: Int) {
    let good = bitrate(bitsPerPixel: 0.1, size: size, frameRate: frameRate)
    let best = bitrate(bitsPerPixel: 0.2, size: size, frameRate: frameRate)
    return switch policy {
    case .defaultCapped: (defaultBitrate, isBounded ? good : defaultBitrate)
    case .headUnitMaximum: (max(good, defaultBitrate), best)
    }
  }

  /// The lower one of the app's rate and the head unit's (`preferredFPS`, where 0 counts as absent).
  package static func frameRate(preferred: Fraction?, announced: Int?) -> Fraction {
    let limit = frameRate(announced: announced).map { Fraction(clamping: $0) }
    let rate = preferred ?? limit ?? Fraction(clamping: defaultFrameRate)
    return min(rate, limit ?? rate, Fraction(clamping: maximumFrameRate))
  }

  /// A head unit's `preferredFPS`: 0 counts as absent.
  static func frameRate(announced: Int?) -> Int? {
    announced.flatMap { $0 > 0 ? min($0, maximumFrameRate) : nil }
  }

  /// In kbit/s. With 0.1 bit per pixel H.264 of maps looks good, with 0.2 nearly everything; more is not useful.
  private static func bitrate(bitsPerPixel: Double, size: VideoSize, frameRate: Fraction) -> Int {
    let bitrate = size.pixelCount * frameRate.value * bitsPerPixel / 1000
    return Int(min(max(bitrate, 1), Double(maximumBitrate)))
  }
}

package struct EncoderPreferences: Equatable, Sendable {
  /// Kilobits per second; nil or 0 leaves it to `automaticBitrate`.
  package var bitrate: Int?
  /// The most pictures per second; nil leaves it to the head unit.
  package var frameRate: Fraction?
  package var automaticBitrate: BitratePolicy

  package init(bitrate: Int? = nil, frameRate: Fraction? = nil, automaticBitrate: BitratePolicy = .headUnitMaximum) {
    self.bitrate = bitrate
    self.frameRate = frameRate
    self.automaticBitrate = automaticBitrate
  }
}

/// The bitrate of an app that sets none.
package enum BitratePolicy: CaseIterable, Sendable {
  /// The head unit's limit, as in SDL's guides, but at most 0.2 bit per pixel, and 0.1 to begin with.
  /// ``EncoderTargets/defaultBitrate`` if the head unit announces no limit, and at least that if the limit allows it.
  case headUnitMaximum
  /// ``EncoderTargets/defaultBitrate`` to begin with, and 0.1 bit per pixel at most; never more than the head unit's
  /// limit.
  case defaultCapped
}

/// The rates that the head unit announces; any numbers, since they come from the network.
package struct EncoderLimits: Equatable, Sendable {
  /// `maxBitrate` in kbit/s; 0 counts as absent.
  package var maximumBitrate: Int?
  /// `preferredFPS`; 0 counts as absent.
  package var preferredFrameRate: Int?
  /// The largest size that the head unit can show, which its maximum bitrate is compared with; nil for the size of the
  /// encoded pictures.
  package var largestPicture: VideoSize?
  /// The most that the transport should carry, in kbit/s; nil for no limit.
  package var transportBitrate: Int?

  package init(
    maximumBitrate: Int? = nil, preferredFrameRate: Int? = nil, largestPicture: VideoSize? = nil,
    transportBitrate: Int? = nil
  ) {
    self.transportBitrate = transportBitrate
    self.maximumBitrate = maximumBitrate
    self.preferredFrameRate = preferredFrameRate
    self.largestPicture = largestPicture
  }
}

/// A head unit's maximum bitrate that can't be in kbit/s, since uncompressed pictures would need less, or no transport
/// could carry it.
///
/// SDL's generic HMI announces 400000 bit/s in a field that the RPC specification has in kbit/s.
package struct ImplausibleBitrate: Equatable, Sendable {
  /// The maximum in kbit/s, as the field says.
  package let announced: Int
  /// What the pictures would need at 12 bits per pixel (4:2:0), in kbit/s.
  package let uncompressed: Int

  /// More than the transports of head units carry, in kbit/s.
  static let fastestConnection = 100_000

  /// Nil for a maximum that is possible.
  init?(announced: Int, pictures: VideoSize, frameRate: Fraction) {
    let uncompressed = 12 * pictures.pixelCount * frameRate.value / 1000
    guard min(uncompressed, Double(Self.fastestConnection)) < Double(announced) else { return nil }
    self.announced = announced
    self.uncompressed = Int(min(uncompressed, Double(Int32.max)))
  }
}

extension VideoSize {
  /// A floating-point number, because an integer could overflow.
  fileprivate var pixelCount: Double { Double(max(width, 0)) * Double(max(height, 0)) }
}

/// A number of pictures per second, such as 15/1 or 30000/1001, or the ratio of a pixel's sides; always above 0.
package struct Fraction: Equatable, Sendable {
  package let numerator: Int
  package let denominator: Int

  /// Nil unless both are within 1…2³¹ − 1, as in a GstFraction, which also keeps products from overflowing.
  package init?(_ numerator: Int, _ denominator: Int = 1) {
    let range = 1...Int(Int32.max)
    guard range.contains(numerator), range.contains(denominator) else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The whole number in the range that is nearest to `number`.
  package init(clamping number: Int) {
    numerator = min(max(number, 1), Int(Int32.max))
    denominator = 1
  }

  /// The rate as a floating-point number.
  package var value: Double { Double(numerator) / Double(denominator) }

  /// The time from one picture to the next, in nanoseconds.
  package var interval: UInt64 { UInt64(denominator) * 1_000_000_000 / UInt64(numerator) }
}

extension Fraction: Comparable {
  package static func < (first: Fraction, second: Fraction) -> Bool {
    first.numerator * second.denominator < second.numerator * first.denominator
  }
}

extension Fraction: CustomStringConvertible {
  /// "15", "29.97".
  package var description: String {
    let hundredths = Int((value * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    return rest == 0 ? "\(whole)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}
