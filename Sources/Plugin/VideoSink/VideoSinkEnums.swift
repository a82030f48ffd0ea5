import GStreamerKit
import SDLApp
import X264Encoder

extension ResizePolicy: ObjectEnumeration {
  public static let objectType = EnumerationType<ResizePolicy>("GstSdlVideoSinkResizePolicy")

  public var row: EnumerationRow {
    switch self {
    case .renegotiate: .init(0, "renegotiate", "Follow with upstream and stream")
    case .keep: .init(1, "keep", "Go on in the present size while the service lasts")
    case .error: .init(2, "error", "End with an error")
    }
  }
}

extension BitratePolicy: ObjectEnumeration {
  public static let objectType = EnumerationType<BitratePolicy>("GstSdlVideoSinkBitratePolicy")

  public var row: EnumerationRow {
    switch self {
    case .defaultCapped:
      .init(0, "default-capped", "600 kbit/s, or the head unit's maximum if that is less")
    case .headUnitMaximum: .init(1, "head-unit-maximum", "The head unit's maximum, if it has one")
    }
  }
}

extension SpeedPreset: ObjectEnumeration {
  public static let objectType = EnumerationType<SpeedPreset>("GstSdlVideoSinkSpeedPreset")

  public var row: EnumerationRow {
    switch self {
    case .none: .init(0, "None", "None")
    case .ultrafast: .init(1, "ultrafast", "ultrafast")
    case .superfast: .init(2, "superfast", "superfast")
    case .veryfast: .init(3, "veryfast", "veryfast")
    case .faster: .init(4, "faster", "faster")
    case .fast: .init(5, "fast", "fast")
    case .medium: .init(6, "medium", "medium")
    case .slow: .init(7, "slow", "slow")
    case .slower: .init(8, "slower", "slower")
    case .veryslow: .init(9, "veryslow", "veryslow")
    case .placebo: .init(10, "placebo", "placebo")
    }
  }
}

extension Fraction: FractionConvertible {
  public var terms: Structure.FractionTerms { (Int32(clamping: numerator), Int32(clamping: denominator)) }

  /// Nil for 0, which leaves the rate open.
  public init?(terms: Structure.FractionTerms) {
    self.init(Int(terms.numerator), Int(terms.denominator))
  }
}
