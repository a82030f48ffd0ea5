/// What the encoder aims at, from three layers: defaults, the app's wishes, the head unit's limits. Computed from
/// scratch on every change, so that no earlier head unit lingers.
public struct EncoderTargets: Equatable, Sendable {
  /// Kilobits per second.
  public let bitrate: Int
  /// Pictures per second, as far as the source delivers them.
  public let frameRate: Fraction
  /// Why the head unit's maximum is not believed; nil when it is, or when there is none.
  public let doubt: ImplausibleBitrate?

  /// What the mobile libraries use when nobody says anything, in kbit/s.
  public static let defaultBitrate = 600
  /// What the mobile libraries use when nobody says anything.
  public static let defaultFrameRate = 15
  /// More than any H.264 level allows, in kbit/s.
  public static let maximumBitrate = 2_000_000
  /// Apps and head units that want more, or claim something absurd, get this.
  public static let maximumFrameRate = 240

  /// - Parameter size: of the encoded pictures.
  public init(wish: EncoderPreferences = EncoderPreferences(), limits: EncoderLimits = EncoderLimits(), size: VideoSize)
  {
    let frameRate = Self.frameRate(wish: wish.frameRate, announced: limits.preferredFrameRate)
    let announced = limits.maximumBitrate.flatMap { $0 > 0 ? $0 : nil }
    let doubt = announced.flatMap { announced in
      ImplausibleBitrate(
        announced: announced, pictures: limits.largestPicture ?? size,
        frameRate: max(frameRate, Self.frameRate(wish: nil, announced: limits.preferredFrameRate)))
    }
    let automatic =
      switch wish.automaticBitrate {
      case .defaultCapped: Self.defaultBitrate
      case .headUnitMaximum:
        doubt.map { _ in Self.ceiling(size: size, frameRate: frameRate) } ?? announced ?? Self.defaultBitrate
      }
    let wished = wish.bitrate.flatMap { $0 > 0 ? $0 : nil }
    self.bitrate = min(wished ?? automatic, announced ?? .max, Self.maximumBitrate)
    self.frameRate = frameRate
    self.doubt = doubt.map { doubt in
      var doubt = doubt
      doubt.isConsequential = wished == nil && wish.automaticBitrate == .headUnitMaximum
      return doubt
    }
  }

  /// The lower one of what the app wishes and what the head unit says (`preferredFPS`, where 0 counts as absent).
  public static func frameRate(wish: Fraction?, announced: Int?) -> Fraction {
    let limit = frameRate(announced: announced).map { Fraction(clamping: $0) }
    let wished = wish ?? limit ?? Fraction(clamping: defaultFrameRate)
    return min(wished, limit ?? wished, Fraction(clamping: maximumFrameRate))
  }

  /// What a head unit's `preferredFPS` means: 0 counts as absent.
  static func frameRate(announced: Int?) -> Int? {
    announced.flatMap { $0 > 0 ? min($0, maximumFrameRate) : nil }
  }

  /// 0.2 bits per pixel, with which H.264 looks good, in kbit/s.
  private static func ceiling(size: VideoSize, frameRate: Fraction) -> Int {
    let bitrate = size.pixelCount * frameRate.value / 5000
    return Int(min(max(bitrate, 1), Double(maximumBitrate)))
  }
}

/// What the app would like of the encoder.
public struct EncoderPreferences: Equatable, Sendable {
  /// Kilobits per second; nil or 0 leaves it to `automaticBitrate`.
  public var bitrate: Int?
  /// The most pictures per second; nil leaves it to the head unit.
  public var frameRate: Fraction?
  public var automaticBitrate: BitratePolicy

  public init(bitrate: Int? = nil, frameRate: Fraction? = nil, automaticBitrate: BitratePolicy = .defaultCapped) {
    self.bitrate = bitrate
    self.frameRate = frameRate
    self.automaticBitrate = automaticBitrate
  }
}

/// What a bitrate is when the app does not care.
public enum BitratePolicy: CaseIterable, Sendable {
  /// ``EncoderTargets/defaultBitrate``, or the head unit's maximum if that is less.
  case defaultCapped
  /// The head unit's maximum, as SDL's library for iOS has it; without one as ``defaultCapped``.
  case headUnitMaximum
}

/// What the head unit says of rates; any number that comes from the network.
public struct EncoderLimits: Equatable, Sendable {
  /// `maxBitrate` in kbit/s; 0 counts as absent.
  public var maximumBitrate: Int?
  /// `preferredFPS`; 0 counts as absent.
  public var preferredFrameRate: Int?
  /// The largest size that the head unit can show, to which its maximum bitrate has to be related; nil for the size of
  /// the encoded pictures.
  public var largestPicture: VideoSize?

  public init(maximumBitrate: Int? = nil, preferredFrameRate: Int? = nil, largestPicture: VideoSize? = nil) {
    self.maximumBitrate = maximumBitrate
    self.preferredFrameRate = preferredFrameRate
    self.largestPicture = largestPicture
  }
}

/// A head unit's maximum bitrate that can't be meant in kbit/s, since uncompressed pictures would need less, or since
/// nothing would carry it.
///
/// SDL's generic HMI announces 400000 in a field that the RPC specification has in kbit/s, and means bit/s.
public struct ImplausibleBitrate: Equatable, Sendable {
  /// The maximum in kbit/s, as the field says.
  public let announced: Int
  /// What the pictures would need at 12 bits per pixel (4:2:0), in kbit/s.
  public let uncompressed: Int
  /// The maximum would be the target, were it believed.
  public internal(set) var isConsequential = false

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
  /// As a floating-point number, which no size can overflow.
  fileprivate var pixelCount: Double { Double(max(width, 0)) * Double(max(height, 0)) }
}
