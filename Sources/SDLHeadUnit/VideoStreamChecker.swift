import SDLMessages

/// What came in on the video service, in all.
public struct VideoStreamStatistics: Equatable, Sendable {
  /// SDL messages, also those that came when the HMI status forbade video.
  public var messages: UInt64 = 0
  /// Bytes of those messages.
  public var bytes: UInt64 = 0
  /// Coded pictures; only counted in an H.264 byte stream.
  public var pictures: UInt64 = 0
  /// Pictures that decoding can start with (IDR).
  public var keyFrames: UInt64 = 0
  /// How often a rule of the stream was broken.
  public var violations: UInt64 = 0

  /// Nothing yet.
  public init() {}
}

/// Checks the stream of one app: order of the NAL units, size, frame rate, bit rate.
///
/// Only H.264 as a byte stream can be looked into; of other formats the bit rate is checked alone.
struct VideoStreamChecker: Sendable {
  /// What has come since the start, or since a pause.
  private struct Progress: Sendable {
    var hasUnit = false
    var hasPictureParameterSet = false
    var hasKeyFrame = false
    var isEarlyPictureReported = false
  }

  private(set) var statistics = VideoStreamStatistics()
  private var format = VideoStreamingFormat.rawH264
  private var size = ImageResolution(0, 0)
  private var progress = Progress()
  private var isStrayByteReported = false
  private var reportedSize: ImageResolution?
  private var scanner = NALUnitScanner()
  private var rates = VideoRateChecker(limits: VideoStreamLimits())

  /// A service starts, and with it the stream.
  mutating func begin(format: VideoStreamingFormat, size: ImageResolution, limits: VideoStreamLimits) {
    self.format = format
    self.size = size
    progress = Progress()
    isStrayByteReported = false
    reportedSize = nil
    scanner = NALUnitScanner()
    rates = VideoRateChecker(limits: limits)
  }

  /// After a pause SDL Core opens the consumer of the stream anew: it needs parameter sets and a key frame first.
  mutating func expectRestart() {
    progress = Progress()
  }

  /// The app was told other rates.
  mutating func setLimits(_ limits: VideoStreamLimits, now: Duration) {
    rates.change(to: limits, now: now)
  }

  /// Looks at the next message.
  mutating func accept(_ message: [UInt8], now: Duration) -> [VideoStreamViolation] {
    statistics.messages &+= 1
    statistics.bytes &+= UInt64(message.count)
    var violations: [VideoStreamViolation] = []
    var pictures = 0
    if format == .rawH264 {
      var scanner = scanner
      message.withUnsafeBytes { bytes in
        scanner.scan(bytes) { unit in pictures += check(unit, &violations) ? 1 : 0 }
      }
      self.scanner = scanner
      if let stray = scanner.firstStrayByte, !isStrayByteReported {
        isStrayByteReported = true
        violations.append(.notByteStream(firstByte: stray))
      }
    }
    violations += rates.accept(pictures: pictures, bits: message.count * 8, now: now)
    statistics.violations &+= UInt64(violations.count)
    return violations
  }

  /// Returns whether a picture begins with this unit.
  private mutating func check(_ unit: NALUnitScanner.Prefix, _ violations: inout [VideoStreamViolation]) -> Bool {
    guard let header = unit.first else { return false }
    let type = header & 0x1F
    if !progress.hasUnit, type != 9 {
      progress.hasUnit = true
      if type != 7 { violations.append(.firstNALUnit(type: type)) }
    }
    return false
  }
}
