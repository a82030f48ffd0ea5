import H264
import SDLMessages
import SDLWire

/// Totals of the video service.
public struct VideoStreamStatistics: Equatable, Sendable {
  /// SDL messages, including those that came while the HMI status forbade video.
  public var messages: UInt64 = 0
  /// Bytes of those messages.
  public var bytes: UInt64 = 0
  /// Coded pictures; only counted in H.264, as a byte stream or over RTP.
  public var pictures: UInt64 = 0
  /// Pictures that decoding can start with (IDR).
  public var keyFrames: UInt64 = 0
  /// Violations of rules for the stream.
  public var violations: UInt64 = 0

  /// Creates totals of 0.
  public init() {}
}

/// The violations of a message: the first few, because an app can put one into every fourth byte, and their number.
private struct Findings {
  private static let maximumCount = 20

  private(set) var violations: [VideoStreamViolation] = []
  private(set) var count: UInt64 = 0

  mutating func append(_ violation: VideoStreamViolation) {
    count &+= 1
    if violations.count < Self.maximumCount { violations.append(violation) }
  }
}

/// Checks the stream of one app: order of the NAL units, size, frame rate, bit rate.
///
/// H.264 is checked as a byte stream and over RTP; of other formats only the bit rate is.
struct VideoStreamChecker: MediaChecker {
  static let service = ServiceType.video

  /// The units since the start, or since a pause in the stream.
  private struct Progress: Sendable {
    var hasUnit = false
    var hasPictureParameterSet = false
    var hasKeyFrame = false
    var isEarlyPictureReported = false
  }

  private(set) var statistics = VideoStreamStatistics()
  private var format = VideoStreamingFormat.rawH264
  /// The negotiated size of the pictures.
  private(set) var size = ImageResolution(0, 0)
  private var progress = Progress()
  private var isStrayByteReported = false
  private var reportedSize: ImageResolution?
  private var scanner = NALUnitScanner()
  private var rtp = RTPStreamChecker()
  private var rates = VideoRateChecker(limits: VideoStreamLimits())

  /// RTP timestamps of the access units that ``accept(_:now:)`` returned last; empty for other formats.
  var timestamps: [UInt32] { format == .rtpH264 ? rtp.timestamps : [] }

  /// A video service starts, and with it the stream.
  mutating func begin(format: VideoStreamingFormat, size: ImageResolution, limits: VideoStreamLimits) {
    self.format = format
    self.size = size
    progress = Progress()
    isStrayByteReported = false
    reportedSize = nil
    scanner = NALUnitScanner()
    rtp = RTPStreamChecker()
    rates = VideoRateChecker(limits: limits)
  }

  /// After a pause SDL Core reopens the consumer of the stream, which needs parameter sets and a key frame first.
  mutating func expectRestart() {
    progress = Progress()
    rtp.expectRestart()
  }

  /// Other rates were announced to the app.
  mutating func setLimits(_ limits: VideoStreamLimits, now: Duration) {
    rates.change(to: limits, now: now)
  }

  mutating func expectBacklog(of time: Duration, now: Duration) {
    rates.expectBacklog(of: time, now: now)
  }

  func stop(_ reason: HeadUnitSession.StreamStopReason) -> HeadUnitSession.Event { .videoStopped(reason: reason) }

  /// Checks the next message.
  /// - Returns: the video to show, which is the message itself or the access units that RTP packets complete with it;
  ///   and the first violations, of which ``statistics`` counts all.
  mutating func accept(_ message: [UInt8], now: Duration) -> (video: [[UInt8]], violations: [VideoStreamViolation]) {
    statistics.messages &+= 1
    statistics.bytes &+= UInt64(message.count)
    var findings = Findings()
    var video = [message]
    if format == .rtpH264 {
      let (accessUnits, violations) = rtp.accessUnits(in: message)
      video = accessUnits
      for violation in violations { findings.append(violation) }
    }
    var pictures = 0
    if format == .rawH264 || format == .rtpH264 {
      for bytes in video { pictures += checkByteStream(bytes, &findings) }
    }
    for violation in rates.accept(pictures: pictures, bits: message.count * 8, now: now) { findings.append(violation) }
    statistics.violations &+= findings.count
    return (video, findings.violations)
  }

  /// Returns how many pictures begin in the bytes.
  private mutating func checkByteStream(_ bytes: [UInt8], _ findings: inout Findings) -> Int {
    var pictures = 0
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while scanner.next(in: &rest) {
        if check(scanner.prefix, &findings) { pictures += 1 }
      }
    }
    if let stray = scanner.firstStrayByte, !isStrayByteReported {
      isStrayByteReported = true
      findings.append(.notByteStream(firstByte: stray))
    }
    return pictures
  }

  /// Returns whether a picture begins with this unit.
  private mutating func check(_ unit: NALUnitScanner.Prefix, _ findings: inout Findings) -> Bool {
    guard let header = unit.first else { return false }
    let type = NALUnitType(header: header)
    // A delimiter only announces a picture, and is the first unit of every picture that has one.
    if !progress.hasUnit, type != .accessUnitDelimiter {
      progress.hasUnit = true
      if type != .sequenceParameterSet { findings.append(.firstNALUnit(type: type.rawValue)) }
    }
    switch type {
    case .sequenceParameterSet:
      checkSize(unit, &findings)
      return false
    case .pictureParameterSet:
      progress.hasPictureParameterSet = true
      return false
    default:
      // The first slice of a picture starts with macroblock 0, which is coded as a single 1 bit.
      guard type.startsSlice, unit.count > 1, unit[1] & 0x80 != 0 else { return false }
      checkPicture(isKeyFrame: type == .idrSlice, &findings)
      return true
    }
  }

  private mutating func checkPicture(isKeyFrame: Bool, _ findings: inout Findings) {
    statistics.pictures &+= 1
    guard isKeyFrame else {
      if !progress.hasKeyFrame, !progress.isEarlyPictureReported {
        progress.isEarlyPictureReported = true
        findings.append(.pictureBeforeKeyFrame)
      }
      return
    }
    statistics.keyFrames &+= 1
    if !progress.hasKeyFrame, !progress.hasPictureParameterSet { findings.append(.missingPictureParameterSet) }
    progress.hasKeyFrame = true
  }

  /// A wrong size is reported once, not with every key frame.
  private mutating func checkSize(_ unit: NALUnitScanner.Prefix, _ findings: inout Findings) {
    guard let parameters = try? SequenceParameterSet(nalUnit: unit) else {
      findings.append(.unreadableSequenceParameterSet)
      return
    }
    let got = ImageResolution(parameters.width, parameters.height)
    guard got != reportedSize else { return }
    reportedSize = got == size ? nil : got
    if got != size { findings.append(.pictureSize(expected: size, got: got)) }
  }
}
