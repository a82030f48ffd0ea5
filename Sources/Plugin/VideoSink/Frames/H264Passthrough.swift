import GStreamerKit
import H264
import SDLApp

/// H.264 input: passed on from its own memory, beginning at a key frame. Lengths in front of its NAL units become start
/// codes.
final class H264Passthrough {
  private struct KeyFrameRequest {
    var time: Duration
    /// One came, without the parameter sets that the decoder needs, which have not come before either.
    var lackedParameterSets = false
  }

  /// How long upstream may take to send a requested key frame.
  private static let keyFrameTimeout = Duration.seconds(5)
  private static let rateTolerance = 1.05

  private let output: FrameOutput
  /// The parameter sets of the stream, for key frames without them.
  private var parameterSets = ParameterSets()
  private var parameterSet: SequenceParameterSet?
  private var framing = NALUnitFraming.startCodes
  private var configuration: DecoderConfiguration?
  /// Some of them came without a picture, and have not been sent.
  private var hasKeptParameterSets = false
  /// The missing key frame has been requested of upstream.
  private var keyFrameRequest: KeyFrameRequest?
  private var hasWarnedAboutKeyFrames = false
  /// How many frames the decoder needs yet before its pictures are right.
  private var recoveryFrameCount = 0
  /// Frames are left out that are shown before this time, in ns: the frames that they depend on came before those that
  /// the decoder has.
  private var leadingEnd: UInt64?
  private var repeatPicture = RepeatPicture()
  private var rateMeter = FrameRateMeter()
  private var hasWarnedAboutRate = false
  private var hasWarnedAboutStartCodes = false
  private var hasWarnedOfUnreadable = false

  init(_ output: FrameOutput) {
    self.output = output
  }

  var size: VideoSize? { parameterSet.map { VideoSize($0.width, $0.height) } }

  /// Whether the decoder has pictures that are not right yet.
  var isRecovering: Bool { recoveryFrameCount > 0 }

  /// Whether a stream can begin at a key frame that comes without them.
  var knowsParameterSets: Bool { parameterSets.isComplete }

  /// Another format follows.
  ///
  /// - Parameter configuration: of a stream with lengths in front of its NAL units; nil for a byte stream.
  /// - Returns: whether decoding has to restart, because the parameter sets have changed.
  func setConfiguration(_ configuration: DecoderConfiguration?) -> Bool {
    rateMeter = FrameRateMeter()
    framing = configuration.map { .lengths(byteCount: $0.lengthByteCount) } ?? .startCodes
    guard configuration != self.configuration else { return false }
    self.configuration = configuration
    parameterSets = ParameterSets()
    parameterSet = configuration?.sequenceParameterSet
    guard let configuration else { return true }
    _ = configuration.byteStream.withUnsafeBytes { parameterSets.update(from: $0) }
    return true
  }

  /// Keeps the parameter sets of a key frame, and takes the size from them: it is what the decoder sees, whatever the
  /// caps say.
  ///
  /// - Returns: false when the buffer can't be used.
  /// - Throws: an error that ends the stream, for a profile that head units don't decode and for damaged lengths.
  func readParameterSets(of buffer: UnsafeMutablePointer<GstBuffer>) throws(ElementError) -> Bool {
    guard framing != .startCodes || Self.mayBeKeyFrame(buffer) else { return gst_buffer_n_memory(buffer) > 0 }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else {
      warnOfUnreadable()
      return false
    }
    defer { gst_buffer_unmap(buffer, &map) }
    let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
    if case .lengths(let byteCount) = framing {
      do {
        try NALUnitLengthError.check(bytes, lengthByteCount: byteCount)
      } catch {
        throw error.elementError
      }
      guard Self.mayBeKeyFrame(buffer) else { return !bytes.isEmpty }
    }
    let unit = AccessUnitSummary(scanning: bytes, framing: framing)
    if unit.firstNALUnit == nil, !bytes.isEmpty { warnAboutStartCodes() }
    if parameterSets.update(from: bytes, framing: framing), let range = unit.sequenceParameterSet {
      guard let parameterSet = try? SequenceParameterSet(nalUnit: UnsafeRawBufferPointer(rebasing: bytes[range])) else {
        output.sink.log(GST_LEVEL_WARNING, "a sequence parameter set can't be read")
        return true
      }
      if let error = parameterSet.rejectionReason { throw error }
      self.parameterSet = parameterSet
      output.pixelWarning = parameterSet.pixelWarning
    }
    return true
  }

  private func warnOfUnreadable() {
    guard !hasWarnedOfUnreadable else { return }
    hasWarnedOfUnreadable = true
    output.announce(
      .warning(.stream(GST_STREAM_ERROR_FORMAT, "A frame can't be read: the memory of its buffer can't be mapped.")))
  }

  private func warnAboutStartCodes() {
    guard !hasWarnedAboutStartCodes else { return }
    hasWarnedAboutStartCodes = true
    output.announce(
      .warning(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          """
          The input is no byte stream of H.264, whatever its caps say: it has no start codes. If it has lengths instead, \
          as in MP4 files, its caps must say stream-format=avc and have codec_data.
          """
        )))
  }

  func isKeyFrame(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    ifKeyFrame(buffer) { _, _ in true }
  }

  /// What `body` says of a key frame; false for another frame, and for one that can't be mapped.
  private func ifKeyFrame(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ body: (UnsafeRawBufferPointer, AccessUnitSummary) -> Bool
  ) -> Bool {
    var map = GstMapInfo()
    guard Self.mayBeKeyFrame(buffer), gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return false }
    defer { gst_buffer_unmap(buffer, &map) }
    let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
    let unit = AccessUnitSummary(scanning: bytes, framing: framing)
    return unit.isKeyFrame && body(bytes, unit)
  }

  /// Whether a decoder can begin with a frame whose parameter sets have not been read yet.
  func canBegin(with buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    ifKeyFrame(buffer) { bytes, unit in
      if case .lengths(let byteCount) = framing,
        (try? NALUnitLengthError.check(bytes, lengthByteCount: byteCount)) == nil
      {
        return false
      }
      guard let range = unit.sequenceParameterSet, unit.hasPictureParameterSet else { return knowsParameterSets }
      let parameterSet = try? SequenceParameterSet(nalUnit: UnsafeRawBufferPointer(rebasing: bytes[range]))
      return parameterSet?.rejectionReason == nil
    }
  }

  /// Why a payload does not refer to an access unit.
  enum Obstacle: Error {
    /// It holds parameter sets and no picture: they go with the next one, because some head units stop at a message
    /// without a picture.
    case parametersKept
    /// The decoder can't show it, but all that follow.
    case leading
    case dropped(FrameDropReason)
  }

  /// A payload that refers to an access unit, if that can be decoded.
  func payload(
    _ kind: FramePayload.Kind, of buffer: UnsafeMutablePointer<GstBuffer>, for grant: VideoGrant
  ) throws(Obstacle) -> FramePayload {
    let payload = output.takePayload(kind)
    do throws(Obstacle) {
      try fill(payload, from: buffer, for: grant)
      return payload
    } catch {
      output.giveBack(payload)
      throw error
    }
  }

  private func fill(
    _ payload: FramePayload, from buffer: UnsafeMutablePointer<GstBuffer>, for grant: VideoGrant
  ) throws(Obstacle) {
    // Packets are cut out of one block.
    let isMerged = grant.streamingProtocol == .rtp || Self.mayBeKeyFrame(buffer)
    guard payload.refer(to: buffer, framing: framing, isMerged: isMerged) else {
      warnOfUnreadable()
      throw .dropped(.noPicture)
    }
    let unit = AccessUnitSummary(scanning: payload.firstBlock, framing: framing)
    if !unit.hasPicture, unit.hasSequenceParameterSet || unit.hasPictureParameterSet {
      hasKeptParameterSets = true
      throw .parametersKept
    }
    if unit.isKeyFrame { payload.markKeyFrame() }
    if output.needsKeyFrame {
      guard let access = unit.randomAccess, begin(payload, unit) else {
        keyFrameMissed(lacksParameterSets: unit.isKeyFrame)
        throw .dropped(.waitingForKeyFrame)
      }
      recoveryFrameCount = access.recoveryFrameCount
      leadingEnd = access.mayHaveLeadingPictures ? UInt64(buffer.pointee.pts) : nil
    } else if isLeading(buffer) {
      throw .leading
    } else if hasKeptParameterSets && !unit.hasSequenceParameterSet
      // As in a byte stream, decoding can begin at any key frame.
      || unit.isKeyFrame && framing != .startCodes && !unit.hasParameterSets
    {
      _ = putParameterSetsInFront(payload, unit)
    }
    if !output.needsKeyFrame, isRecovering {
      recoveryFrameCount = unit.randomAccess == .instantaneousRefresh ? 0 : recoveryFrameCount - 1
    }
    hasKeptParameterSets = false
    for index in 0..<payload.partCount {
      let (bytes, framing) = payload.part(at: index)
      if repeatPicture.observe(bytes, framing: framing) { break }
    }
  }

  /// Whether a frame precedes the picture with which the decoder began, and so depends on others that it lacks.
  private func isLeading(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard let end = leadingEnd, UInt64(buffer.pointee.pts) != .max, end != .max else { return false }
    // From the first frame that is shown later, none is left out.
    if UInt64(buffer.pointee.pts) >= end { leadingEnd = nil }
    return leadingEnd != nil
  }

  /// The first frame of a stream starts with its parameter sets, after a delimiter if it has one, as the standard
  /// orders them (7.4.1.2.3). Other units before them are left out, and missing ones are put in front. False when they
  /// are not known.
  private func begin(_ payload: FramePayload, _ unit: AccessUnitSummary) -> Bool {
    if let parameterSet = unit.sequenceParameterSet, unit.hasPictureParameterSet {
      if unit.firstNALUnit != .accessUnitDelimiter {
        switch framing {
        case .startCodes:
          payload.skip(ParameterSets.startCodeOffset(before: parameterSet.lowerBound, in: payload.firstBlock))
        case .lengths(let byteCount): payload.skip(parameterSet.lowerBound - byteCount)
        }
      }
    } else if !putParameterSetsInFront(payload, unit) {
      return false
    }
    keyFrameRequest = nil
    return true
  }

  /// Puts the stream's parameter sets in front of a picture, but after its delimiter. False when they are not known.
  private func putParameterSetsInFront(_ payload: FramePayload, _ unit: AccessUnitSummary) -> Bool {
    guard var front = parameterSets.bytes else { return false }
    var units = NALUnits(inFrontOfPictureIn: payload.firstBlock, framing: framing).makeIterator()
    if payload.partCount == 1, let delimiter = units.next(), delimiter.type == .accessUnitDelimiter {
      front = ParameterSets.startCode + payload.firstBlock[delimiter.range] + front
      payload.skip(delimiter.range.upperBound)
    }
    front.withUnsafeBytes { payload.store($0, isKeyFrame: unit.isKeyFrame) }
    return true
  }

  /// A picture that looks like the last one; nil when the stream does not allow one.
  func payloadOfRepeat() -> FramePayload? {
    guard let bytes = repeatPicture.accessUnit() else { return nil }
    let payload = output.takePayload(.repeated)
    bytes.withUnsafeBytes { payload.store($0, isKeyFrame: false) }
    return payload
  }

  /// A key frame is looked at as a whole: h264parse puts access unit delimiters into a block of their own.
  private static func mayBeKeyFrame(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DELTA_UNIT) == 0
  }
}

/// Requests for key frames.
extension H264Passthrough {
  /// Another service begins, or continues: upstream may be asked again.
  func forgetKeyFrameRequest() {
    keyFrameRequest = nil
  }

  /// Whether no frame can be sent without a key frame that was not requested yet, and upstream may send none before the
  /// request; it then counts as requested.
  func mustRequestKeyFrame(now: Duration) -> Bool {
    guard output.needsKeyFrame, keyFrameRequest == nil else { return false }
    keyFrameRequest = KeyFrameRequest(time: now)
    return true
  }

  /// No frame can be shown before the next key frame: it is requested of upstream. If none comes, a warning is posted.
  private func keyFrameMissed(lacksParameterSets: Bool) {
    let now = output.time.now
    guard var request = keyFrameRequest else {
      keyFrameRequest = KeyFrameRequest(time: now, lackedParameterSets: lacksParameterSets)
      return output.announce(.keyFrameRequest)
    }
    request.lackedParameterSets = request.lackedParameterSets || lacksParameterSets
    keyFrameRequest = request
    guard !hasWarnedAboutKeyFrames, now - request.time >= Self.keyFrameTimeout else { return }
    hasWarnedAboutKeyFrames = true
    let time = "\(Self.keyFrameTimeout.components.seconds) s"
    output.announce(
      .warning(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          request.lackedParameterSets
            ? """
            Nothing can be shown: the key frames of the last \(time) came without parameter sets. Have the encoder \
            send them with each (h264parse config-interval=-1 behind it, or repeat-headers of cameras).
            """
            : """
            Nothing can be shown: for \(time) no key frame has come, which is an IDR picture, one with a recovery point, \
            or an I picture behind parameter sets. Have the encoder make one every few seconds, and on request.
            """
        )))
  }
}

/// Frame rates.
extension H264Passthrough {
  /// Called with each frame: a rate that is too high can't be thinned out, since frames depend on each other.
  ///
  /// - Parameters:
  ///   - runningTime: of the frame, in ns; `GST_CLOCK_TIME_NONE` if it has none.
  ///   - limit: the limit of user and head unit; nil if neither has one.
  func observeRate(_ runningTime: UInt64, limit: Fraction?) {
    guard !hasWarnedAboutRate else { return }
    let measured = rateMeter.observe(
      runningTime == .max ? UInt64(clamping: output.time.now.nanoseconds) : runningTime)
    let announced = output.inputRate.map { $0.value * abs(output.sink.baseSink.pointee.segment.rate) }
    guard let rate = announced ?? measured else { return }
    guard let limit, rate > limit.value * Self.rateTolerance else { return }
    hasWarnedAboutRate = true
    let shown = Fraction(Int((rate * 1000).rounded()), 1000) ?? limit
    output.announce(
      .warning(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          """
          The H.264 stream has \(shown) frames per second, but the limit is \(limit): all are sent, since H.264 \
          can't be thinned out. Encode it at the lower rate, or leave the encoding to sdlvideosink.
          """
        )))
  }
}

/// The last parameter sets of an H.264 stream.
struct ParameterSets {
  static let startCode: [UInt8] = [0, 0, 0, 1]

  /// Each with a start code; all units of a kind in one access unit.
  private var sequence: [UInt8] = []
  private var picture: [UInt8] = []

  /// Everything that a decoder needs in front of a key frame; nil before both kinds have come.
  var bytes: [UInt8]? { isComplete ? sequence + picture : nil }

  var isComplete: Bool { !sequence.isEmpty && !picture.isEmpty }

  /// Takes the parameter sets in front of the picture of an access unit; returns whether any of them is new. Allocates
  /// nothing for known ones: key frames repeat their parameter sets.
  mutating func update(from accessUnit: UnsafeRawBufferPointer, framing: NALUnitFraming = .startCodes) -> Bool {
    let isSequenceNew = Self.update(&sequence, .sequenceParameterSet, from: accessUnit, framing)
    let isPictureNew = Self.update(&picture, .pictureParameterSet, from: accessUnit, framing)
    return isSequenceNew || isPictureNew
  }

  private static func update(
    _ kept: inout [UInt8], _ type: NALUnitType, from accessUnit: UnsafeRawBufferPointer, _ framing: NALUnitFraming
  ) -> Bool {
    var offset = 0
    var isNew = false
    for unit in NALUnits(inFrontOfPictureIn: accessUnit, framing: framing) where unit.type == type {
      let end = offset + startCode.count + unit.range.count
      if !isNew, !isKept(kept, offset + startCode.count, accessUnit[unit.range]) {
        isNew = true
        kept.removeSubrange(min(offset, kept.count)...)
      }
      if isNew {
        kept += startCode
        kept.append(contentsOf: accessUnit[unit.range])
      }
      offset = end
    }
    // Units that have disappeared; if all have, the access unit has no parameter sets of this kind.
    if offset > 0, offset < kept.count {
      kept.removeSubrange(offset...)
      isNew = true
    }
    return isNew
  }

  private static func isKept(_ kept: [UInt8], _ start: Int, _ unit: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard start + unit.count <= kept.count else { return false }
    for (index, byte) in unit.enumerated() where kept[start + index] != byte { return false }
    return true
  }

  /// Where the start code of the unit at `offset` begins: it has three or four bytes.
  static func startCodeOffset(before offset: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    let hasFourBytes = offset >= 4 && bytes[offset - 4] == 0
    return max(offset - (hasFourBytes ? 4 : 3), 0)
  }
}

/// Measures how many frames there are per second, for streams whose caps do not say.
struct FrameRateMeter {
  private static let second: UInt64 = 1_000_000_000

  private var start: UInt64?
  private var count = 0

  /// Adds a frame; `time` is in ns. The rate over the last second or more, once it is over.
  mutating func observe(_ time: UInt64) -> Double? {
    guard let start, time >= start else {
      start = time
      count = 0
      return nil
    }
    count += 1
    let elapsed = time - start
    guard elapsed >= Self.second else { return nil }
    defer {
      self.start = time
      count = 0
    }
    return Double(count) * Double(Self.second) / Double(elapsed)
  }
}
