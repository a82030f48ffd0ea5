/// What the encoder aims at, from three layers: defaults, the app's wishes, the head unit's limits. Computed from
/// scratch on every change, so that no earlier head unit lingers.
public struct EncoderTargets: Equatable, Sendable {
  /// Kilobits per second.
  public var bitrate: Int
  /// Frames per second, as far as the source delivers them.
  public var frameRate: Int

  /// What the mobile libraries use when nobody says anything.
  public static let defaultBitrate = 600
  /// What the mobile libraries use when nobody says anything.
  public static let defaultFrameRate = 15

  /// Head units that want more, or claim something absurd, get this.
  public static let maximumFrameRate = 240

  /// - Parameters:
  ///   - bitrate: the app's wish in kbit/s; nil for the default.
  ///   - maximumBitrate: the head unit's `maxBitrate` in kbit/s; 0 counts as absent.
  ///   - preferredFrameRate: the head unit's `preferredFPS`; 0 counts as absent.
  public init(bitrate: Int?, maximumBitrate: Int?, preferredFrameRate: Int?) {
    let limit = maximumBitrate.flatMap { $0 > 0 ? $0 : nil } ?? .max
    self.bitrate = min(bitrate ?? Self.defaultBitrate, limit)
    frameRate = Self.frameRate(announced: preferredFrameRate) ?? Self.defaultFrameRate
  }

  /// What a head unit's `preferredFPS` means: 0 counts as absent.
  static func frameRate(announced: Int?) -> Int? {
    announced.flatMap { $0 > 0 ? min($0, maximumFrameRate) : nil }
  }
}
