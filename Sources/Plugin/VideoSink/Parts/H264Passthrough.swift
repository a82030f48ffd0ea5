import GStreamerKit
import H264
import SDLApp
import SDLLink

/// H.264 input: passed on from its own memory, beginning at a key frame.
final class H264Passthrough {
  /// A key frame that upstream was asked for.
  private struct KeyFrameRequest {
    var time: Duration
    /// It has taken too long, and a warning was posted.
    var isOverdue = false
  }

  /// How long upstream may take to send a key frame that it was asked for.
  private static let keyFrameTimeout = Duration.seconds(5)
  private static let rateTolerance = 1.05

  private unowned let sink: VideoSink
  private let time: TimeSource
  /// Those of the stream, for key frames that come without.
  private var parameterSets = ParameterSets()
  /// Some of them have come without a picture, and not been sent.
  private var hasKeptParameterSets = false
  /// The size that they tell.
  private(set) var size: VideoSize?
  /// Upstream has been asked for the key frame that is missing.
  private var keyFrameRequest: KeyFrameRequest?
  private var repeatPicture = RepeatPicture()
  private var inputRate: Fraction?
  private var rateMeter = FrameRateMeter()
  private var hasWarnedAboutRate = false

  init(sink: VideoSink, time: TimeSource) {
    self.sink = sink
    self.time = time
  }

  /// Keeps the parameter sets of a key frame, and takes the size from them: it is what the decoder sees, whatever the
  /// caps say.
  ///
  /// - Returns: false when the buffer can't be used.
  func readParameterSets(of buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard Self.mayBeKeyFrame(buffer) else { return gst_buffer_n_memory(buffer) > 0 }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return false }
    defer { gst_buffer_unmap(buffer, &map) }
    let bytes = UnsafeRawBufferPointer(start: map.data, count: Int(map.size))
    let unit = AccessUnitSummary(scanning: bytes)
    if parameterSets.update(from: bytes), let range = unit.sequenceParameterSet {
      guard let parameterSet = try? SequenceParameterSet(nalUnit: UnsafeRawBufferPointer(rebasing: bytes[range])) else {
        sink.log(GST_LEVEL_WARNING, "a sequence parameter set can't be read")
        return true
      }
      size = VideoSize(parameterSet.width, parameterSet.height)
    }
    return true
  }

  /// What has become of a buffer.
  enum Filling {
    case filled
    /// It holds parameter sets and no picture: they go with the next one, because some head units stop at a message
    /// without a picture.
    case kept
    case dropped(FrameDropReason)
  }

  /// Has a payload refer to an access unit.
  ///
  /// - Parameter needsKeyFrame: whether nothing else can be decoded.
  func fill(
    _ payload: FramePayload, from buffer: UnsafeMutablePointer<GstBuffer>, for grant: VideoGrant, needsKeyFrame: Bool
  ) -> Filling {
    // Packets are cut out of one block.
    guard payload.refer(to: buffer, isMerged: grant.transport == .rtp || Self.mayBeKeyFrame(buffer)) else {
      sink.log(GST_LEVEL_WARNING, "a buffer could not be mapped")
      return .dropped(.noPicture)
    }
    let unit = AccessUnitSummary(scanning: payload.firstBlock)
    if !unit.hasPicture, unit.hasSequenceParameterSet || unit.hasPictureParameterSet {
      hasKeptParameterSets = true
      return .kept
    }
    if unit.isKeyFrame { payload.markKeyFrame() }
    if needsKeyFrame {
      guard unit.isKeyFrame, begin(payload, unit) else {
        keyFrameMissed()
        return .dropped(.waitingForKeyFrame)
      }
    } else if hasKeptParameterSets, !unit.hasSequenceParameterSet {
      _ = putParameterSetsInFront(payload, unit)
    }
    hasKeptParameterSets = false
    for index in 0..<payload.segmentCount where repeatPicture.observe(payload.segment(at: index)) { break }
    return .filled
  }

  /// The first frame of a stream starts with its parameter sets, behind a delimiter if it has one, as the standard orders
  /// them (7.4.1.2.3). What else stands before them is left out, and what is missing is put in front. False when they
  /// are not known.
  private func begin(_ payload: FramePayload, _ unit: AccessUnitSummary) -> Bool {
    if let parameterSet = unit.sequenceParameterSet, unit.hasPictureParameterSet {
      if unit.firstNALUnit != .accessUnitDelimiter {
        payload.skip(ParameterSets.startCodeOffset(before: parameterSet.lowerBound, in: payload.firstBlock))
      }
    } else if !putParameterSetsInFront(payload, unit) {
      return false
    }
    keyFrameRequest = nil
    return true
  }

  /// Puts the stream's parameter sets in front of a picture, but behind its delimiter. False when they are not known.
  private func putParameterSetsInFront(_ payload: FramePayload, _ unit: AccessUnitSummary) -> Bool {
    guard var front = parameterSets.bytes else { return false }
    var units = AnnexB(inFrontOfPictureIn: payload.firstBlock).makeIterator()
    if payload.segmentCount == 1, let delimiter = units.next(), delimiter.type == .accessUnitDelimiter {
      front = ParameterSets.startCode + payload.firstBlock[delimiter.range] + front
      payload.skip(delimiter.range.upperBound)
    }
    front.withUnsafeBytes { payload.store($0, isKeyFrame: unit.isKeyFrame) }
    return true
  }

  /// Puts a picture that looks like the last one into a payload; false when the stream does not allow one.
  func fillWithRepeat(_ payload: FramePayload) -> Bool {
    guard let bytes = repeatPicture.accessUnit() else { return false }
    bytes.withUnsafeBytes { payload.store($0, isKeyFrame: false) }
    return true
  }

  /// A key frame is looked at as a whole: h264parse puts access unit delimiters into a block of their own.
  private static func mayBeKeyFrame(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DELTA_UNIT) == 0
  }
}

/// Key frames that upstream is asked for.
extension H264Passthrough {
  /// Another service begins, or goes on: upstream may be asked again.
  func forgetKeyFrameRequest() {
    keyFrameRequest = nil
  }

  /// Whether upstream has to be asked because it sends nothing else before; it counts as asked then.
  func mustRequestKeyFrame(now: Duration) -> Bool {
    guard keyFrameRequest == nil else { return false }
    keyFrameRequest = KeyFrameRequest(time: now)
    return true
  }

  /// Nothing can be shown before the next key frame: upstream is asked for one. If none comes, a warning is posted.
  private func keyFrameMissed() {
    let now = time.now
    guard let request = keyFrameRequest else {
      keyFrameRequest = KeyFrameRequest(time: now)
      return sink.requestKeyFrame()
    }
    guard !request.isOverdue, now - request.time >= Self.keyFrameTimeout else { return }
    keyFrameRequest?.isOverdue = true
    sink.warn(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "No key frame for \(Self.keyFrameTimeout.components.seconds) s, and nothing can be shown before one: let the encoder make them more often (key-int-max of x264enc)."
      ))
  }
}

extension VideoSink {
  /// Asks upstream for a key frame. Without locks; what upstream makes of it may come back on this thread.
  func requestKeyFrame() {
    counters.withLock { $0.keyFramesForced &+= 1 }
    log(GST_LEVEL_INFO, "asking upstream for a key frame")
    Event(owning: gst_video_event_new_upstream_force_key_unit(.max, 1, 0))?.push(on: pad)
  }
}

/// Frame rates.
extension H264Passthrough {
  /// - Parameter inputRate: what the caps say; nil when they leave it open.
  func restartRateMeter(inputRate: Fraction?) {
    self.inputRate = inputRate
    rateMeter = FrameRateMeter()
  }

  /// With each frame: what is too fast can't be thinned out, since frames depend on each other.
  ///
  /// - Parameters:
  ///   - time: when the frame is shown, in ns.
  ///   - limit: what user and head unit want; nil if neither says.
  func observeRate(at time: UInt64, limit: Fraction?) {
    guard !hasWarnedAboutRate else { return }
    let measured = rateMeter.observe(time)
    guard let rate = inputRate?.value ?? measured else { return }
    guard let limit, rate > limit.value * Self.rateTolerance else { return }
    hasWarnedAboutRate = true
    let shown = Fraction(Int((rate * 1000).rounded()), 1000) ?? limit
    sink.warn(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "The H.264 stream has \(shown) frames per second, but \(limit) are wished for: all are sent, since H.264 can't be thinned out. Encode it at the lower rate, or leave the encoding to sdlvideosink."
      ))
  }
}
