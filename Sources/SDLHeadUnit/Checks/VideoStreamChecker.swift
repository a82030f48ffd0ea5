import H264
import SDLMessages
import SDLWire

package struct VideoStreamStatistics: Equatable, Sendable {
  /// SDL messages, including those that came while the HMI status forbade video.
  package var messages: UInt64 = 0
  /// Bytes of those messages.
  package var bytes: UInt64 = 0
  /// Coded pictures; only counted in H.264, as a byte stream or over RTP.
  package var pictures: UInt64 = 0
  /// Pictures that decoding can start with: IDR pictures, those with a recovery point, and I pictures behind parameter
  /// sets.
  package var keyFrames: UInt64 = 0
  package var violations: UInt64 = 0

  package init() {}
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
  typealias Request = VideoServiceParameters

  static let service = ServiceType.video

  /// The units since the start, or since a pause in the stream.
  private struct Progress: Sendable {
    var hasUnit = false
    var hasPictureParameterSet = false
    var hasKeyFrame = false
    var isEarlyPictureReported = false
    /// In front of the next picture.
    var hasRecoveryPoint = false
    var hasNewSequenceParameterSet = false
  }

  /// A message that is being checked.
  private struct Work: Sendable {
    let message: [UInt8]
    let time: Duration
    /// How many bytes of an RTP message have been depacketised.
    var depacketizedCount = 0
    /// The byte streams in it; whether and how far they have been checked.
    var video: [[UInt8]] = []
    var checkedCount = 0
    var checkedByteCount = 0
    var pictures = 0
    var parameterSets = 0
    var findings = Findings()
  }

  /// How many bytes are checked at once, which takes a few milliseconds at most.
  static let sliceSize = 64 << 10
  /// More sequence parameter sets of a message are not looked at: they have 32 different ids.
  private static let maximumParameterSets = 32
  /// Profile, constraints, level, and seven numbers of a bit each at least.
  private static let smallestParameterSet = 5

  private var work: Work?
  private(set) var statistics = VideoStreamStatistics()
  private var format = VideoStreamingFormat.rawH264
  /// The negotiated size of the pictures.
  private(set) var size = VideoSize(0, 0)
  private var progress = Progress()
  private var isStrayByteReported = false
  private var reportedSize: VideoSize?
  private var scanner = NALUnitScanner()
  private var rtp = RTPStreamChecker()
  private var rates = VideoRateChecker(limits: VideoStreamLimits())

  /// RTP timestamps of the access units that ``accept(_:now:)`` returned last; empty for other formats.
  var timestamps: [UInt32] { format == .rtpH264 ? rtp.timestamps : [] }

  /// A video service starts, and with it the stream.
  mutating func begin(format: VideoStreamingFormat, size: VideoSize, limits: VideoStreamLimits) {
    self.format = format
    self.size = size
    work = nil
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
    rates.expectCatchUp()
  }

  /// Other rates were announced to the app.
  mutating func setLimits(_ limits: VideoStreamLimits, now: Duration) {
    rates.change(to: limits, now: now)
  }

  mutating func expectBacklog(of time: Duration, now: Duration) {
    rates.expectBacklog(of: time, now: now)
  }

  func stop(_ reason: HeadUnitSession.StopReason) -> HeadUnitSession.Event { .videoStopped(reason: reason) }

  /// Takes the next message. The one before is forgotten unless ``checkSlice()`` has returned its result.
  mutating func begin(_ message: [UInt8], now: Duration) {
    statistics.messages &+= 1
    statistics.bytes &+= UInt64(message.count)
    var work = Work(message: message, time: now)
    rtp.beginMessage()
    if format == .rtpH264 {
      work.depacketizedCount = 0
    } else {
      work.video = [message]
      work.depacketizedCount = message.count
      if format != .rawH264 { work.checkedCount = 1 }
    }
    self.work = work
  }

  /// Checks ``sliceSize`` bytes of the message, so that the owner has time for other apps between two slices.
  /// - Returns: once all of it is checked, the video to show, which is the message itself or the access units that RTP
  ///   packets complete with it; and the first violations, of which ``statistics`` counts all.
  mutating func checkSlice() -> (video: [[UInt8]], violations: [VideoStreamViolation])? {
    guard var work = work.take() else { return nil }
    if work.checkedCount == work.video.count { depacketizeSlice(of: &work) } else { checkSlice(of: &work) }
    guard work.checkedCount == work.video.count, work.depacketizedCount == work.message.count else {
      self.work = work
      return nil
    }
    for violation in rates.accept(pictures: work.pictures, bits: work.message.count * 8, now: work.time) {
      work.findings.append(violation)
    }
    statistics.violations &+= work.findings.count
    return (work.video, work.findings.violations)
  }

  private mutating func depacketizeSlice(of work: inout Work) {
    let end = min(work.depacketizedCount + Self.sliceSize, work.message.count)
    let (accessUnits, violations) = work.message.withUnsafeBytes { bytes in
      rtp.accessUnits(in: UnsafeRawBufferPointer(rebasing: bytes[work.depacketizedCount..<end]))
    }
    work.depacketizedCount = end
    work.video += accessUnits
    for violation in violations { work.findings.append(violation) }
  }

  private mutating func checkSlice(of work: inout Work) {
    var budget = Self.sliceSize
    while budget > 0, work.checkedCount < work.video.count {
      let bytes = work.video[work.checkedCount]
      let end = min(work.checkedByteCount + budget, bytes.count)
      budget -= max(end - work.checkedByteCount, 1)
      checkByteStream(bytes, work.checkedByteCount..<end, &work)
      work.checkedByteCount = end
      guard end == bytes.count else { return }
      work.checkedCount += 1
      work.checkedByteCount = 0
    }
  }

  private mutating func checkByteStream(_ bytes: [UInt8], _ range: Range<Int>, _ work: inout Work) {
    bytes.withUnsafeBytes { bytes in
      var rest = UnsafeRawBufferPointer(rebasing: bytes[range])
      while scanner.next(in: &rest) {
        if check(scanner.prefix, &work) { work.pictures += 1 }
      }
    }
    if let stray = scanner.firstStrayByte, !isStrayByteReported {
      isStrayByteReported = true
      work.findings.append(.notByteStream(firstByte: stray))
    }
  }

  /// Returns whether a picture begins with this unit.
  private mutating func check(_ unit: NALUnitScanner.Prefix, _ work: inout Work) -> Bool {
    guard let header = unit.first else { return false }
    let type = NALUnitType(header: header)
    // A delimiter only announces a picture, and is the first unit of every picture that has one.
    if !progress.hasUnit, type != .accessUnitDelimiter {
      progress.hasUnit = true
      if type != .sequenceParameterSet { work.findings.append(.firstNALUnit(type: type.rawValue)) }
    }
    switch type {
    case .sequenceParameterSet:
      progress.hasNewSequenceParameterSet = true
      checkSize(unit, &work)
      return false
    case .supplementalEnhancementInformation:
      if RandomAccess(recoveryPointIn: unit) != nil { progress.hasRecoveryPoint = true }
      return false
    case .pictureParameterSet:
      progress.hasPictureParameterSet = true
      return false
    default:
      // The first slice of a picture starts with macroblock 0, which is coded as a single 1 bit.
      guard type.startsSlice, unit.count > 1, unit[1] & 0x80 != 0 else { return false }
      let isIntraStart = progress.hasNewSequenceParameterSet && RandomAccess.beginsIntraPicture(unit[1])
      let isKeyFrame = type == .idrSlice || progress.hasRecoveryPoint || isIntraStart
      progress.hasRecoveryPoint = false
      progress.hasNewSequenceParameterSet = false
      checkPicture(isKeyFrame: isKeyFrame, &work.findings)
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
  private mutating func checkSize(_ unit: NALUnitScanner.Prefix, _ work: inout Work) {
    // Reading them takes a hundred times as long as finding them.
    guard unit.count >= Self.smallestParameterSet else {
      work.findings.append(.unreadableSequenceParameterSet)
      return
    }
    work.parameterSets += 1
    guard work.parameterSets <= Self.maximumParameterSets else { return }
    guard let parameters = try? SequenceParameterSet(nalUnit: unit) else {
      work.findings.append(.unreadableSequenceParameterSet)
      return
    }
    let got = VideoSize(parameters.width, parameters.height)
    guard got != reportedSize else { return }
    reportedSize = got == size ? nil : got
    if got != size { work.findings.append(.pictureSize(expected: size, got: got)) }
  }
}
