import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import X264Encoder

/// A frame that comes from upstream, and what its way to the head unit depends on.
struct InputFrame {
  let buffer: UnsafeMutablePointer<GstBuffer>
  let time: FrameTime
  /// Running time at which it is shown, in ns; `GST_CLOCK_TIME_NONE` when it does not say.
  let runningTime: UInt64
  /// Whether it is sent whatever the frame rate: it replaces a frame that was due and waited for the link, or was due
  /// itself.
  var isDue = false

  init(_ buffer: UnsafeMutablePointer<GstBuffer>, of sink: VideoSink) {
    self.buffer = buffer
    time = FrameTime(of: buffer)
    runningTime = UInt64(sink.runningTime(of: buffer.pointee.pts))
  }

  /// It is not shown, but others need it, before the start of a segment.
  var isOutOfSegment: Bool { time.presentation != .max && runningTime == .max }
}

/// When a frame is shown, by its buffer; `GST_CLOCK_TIME_NONE` if that has no time.
struct FrameTime {
  let presentation: UInt64
  let duration: UInt64

  init(of buffer: UnsafeMutablePointer<GstBuffer>) {
    presentation = UInt64(buffer.pointee.pts)
    duration = UInt64(buffer.pointee.duration)
  }
}

enum FrameOutcome {
  /// It is in the connection's queue, or is kept to be sent later.
  case queued
  /// It has no picture; its parameter sets are sent with the next one.
  case parametersKept
  /// It is not sent, and counts as dropped, but is remembered for the next decoder.
  case remembered(FrameDropReason)
  /// The decoder shows the same picture already; nothing is sent.
  case unchanged
  case dropped(FrameDropReason, GstFlowReturn = GST_FLOW_OK)
  /// It can't be used, and the stream fails, or has failed.
  case failed(ElementError?, FrameDropReason = .noPicture)
}

/// The path of raw pictures, or of H.264, once it is decided that a frame may be sent.
protocol FormatPath: AnyObject {
  var output: FrameOutput { get }
  /// The size in the stream itself, which counts whatever the caps say; nil if it has none, or none yet.
  var encodedSize: VideoSize? { get }
  /// How many frames wait, none of which another one replaces.
  var waitingCount: Int { get }
  /// Frames of a live stream come, of which no decoder can show any yet.
  var lacksPicture: Bool { get }

  /// The size of the pictures that are sent of an input, as far as its caps or the stream tell.
  func size(of input: InputCaps) -> VideoSize?
  /// Why a frame is not part of what is shown; nil if it is.
  func reasonToLeaveOut(_ buffer: UnsafeMutablePointer<GstBuffer>) -> FrameDropReason?
  /// A frame has come; whether it is sent is not decided.
  ///
  /// - Returns: false when it can't be read.
  /// - Throws: an error that ends the stream.
  func begin(_ frame: InputFrame) throws(ElementError) -> Bool
  /// A frame of a service is about to be sent.
  func begin(_ grant: VideoGrant)
  /// Encodes or refers to a frame, and queues it.
  func send(_ frame: InputFrame, _ permission: VideoNegotiation.Permission) -> FrameOutcome
  /// The base class prerolls with a frame, which is seen while the pipeline stays in PAUSED: it waits for the permission.
  ///
  /// - Throws: an error that ends the stream.
  func preroll(_ frame: InputFrame) throws(ElementError)
  /// Whether a frame was put into a payload last.
  func isLast(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool
  /// A frame may not be sent now.
  func pass(_ frame: InputFrame, _ reason: FrameDropReason) -> FrameOutcome
  /// Sends waiting frames, as far as the link takes them. On any thread; it does not block.
  ///
  /// - Parameter isLast: whether no frame follows, so that none is too late.
  /// - Returns: when to look again; nil when nothing waits, so that the last picture may be repeated.
  func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool, now: Duration) -> Duration?
  /// Gives up the frames that ``waitingCount`` counts.
  func dropWaiting(_ reason: FrameDropReason)
  /// Another picture replaces the one that waits for the link; returns its time, or nil if there was none.
  func takeDeferred() -> FrameTime?
  /// When to send a picture that has come too early; nil if there is none.
  func nextTimer(now: Duration) -> Duration?
  /// The input has ended: a picture that has come too early is not shown later.
  func inputEnded()
  /// A frame is lost, or a new stream follows: later frames may depend on frames that were not sent.
  func resynchronize()
  /// Whether upstream may send nothing that can be shown before it is asked for a key frame; it then counts as asked.
  func mustRequestKeyFrame(now: Duration) -> Bool
  /// The last picture once more; nil when there is none, or it can't be repeated.
  ///
  /// - Parameter isNew: whether it has not been sent before; then it may be the key frame that is due.
  func payloadOfLastPicture(_ permission: VideoNegotiation.Permission, isNew: Bool) -> FramePayload?
}

extension FormatPath {
  /// Queues the last picture once more, if there is one and room for it.
  ///
  /// - Parameters:
  ///   - isNew: whether it has not been sent before.
  ///   - isLast: whether no picture of this service follows.
  ///   - time: when it counts as sent.
  func sendLastPicture(
    _ permission: VideoNegotiation.Permission, isNew: Bool = false, isLast: Bool = false, at time: Duration
  ) {
    guard !output.connection.video.isFull else { return }
    begin(permission.grant)
    guard let payload = payloadOfLastPicture(permission, isNew: isNew) else { return }
    _ = output.submitNow(payload, permission.grant, countedAt: time, isLast: isLast)
  }
}

/// The state that all threads share for frames.
struct FrameState: StreamPathState {
  var counters = VideoSinkCounters()
  var settings = VideoSinkSettings().frames
  /// Payloads that come back from the connection, to be used again.
  var payloads: [FramePayload] = []
  var isPathTaken = false
}

/// The state between frames, and their way to the format of the input: ``RawPath`` or ``H264Path``, which end in
/// ``FrameOutput``.
///
/// Frames are encoded in render, after the wait for the clock, so that only frames that are sent are encoded: a picture
/// that the decoder never gets would break the pictures that refer to it.
///
/// Only the thread that has it through ``PathAccess`` may use it.
final class FramePath: StreamPath {
  typealias Stream = VideoStream

  let output: FrameOutput
  private let raw: RawPath
  private let h264: H264Path
  /// The format of the present input; nil before the first caps.
  private(set) var format: (any FormatPath)?
  /// No frame has come since the last caps.
  var isInputNew = false
  private var wasLackTaken = false
  private var regions = FrameRegions()
  private var regionsPictureSize: VideoSize?

  init(_ output: FrameOutput, keyFrameRequest: AtomicFlag) {
    self.output = output
    raw = RawPath(output, keyFrameRequest: keyFrameRequest)
    h264 = H264Path(output)
  }

  var waitingCount: Int { format?.waitingCount ?? 0 }

  /// What ``FormatPath/lacksPicture`` says; nil if that is as it was.
  fileprivate func takeLack() -> Bool? {
    let lacks = format?.lacksPicture == true
    defer { wasLackTaken = lacks }
    return lacks == wasLackTaken ? nil : lacks
  }

  /// The settings of the open encoder; nil without one.
  var encoderSettings: EncoderSettings? { raw.encoderSettings }

  /// No picture is encoded for a while.
  func closeEncoder() { raw.close() }

  func taken(_ state: inout FrameState) {
    output.taken(&state)
  }
}

// MARK: The input

extension FramePath {
  /// Frames of another format or rate follow. Forgets the last picture, which is never sent again then.
  ///
  /// - Returns: the size of the pictures that are sent; nil if the frames will tell.
  func setInput(_ input: InputCaps) -> VideoSize? {
    raw.forget()
    let next: any FormatPath
    switch input.format {
    case .raw(let info):
      raw.info = info
      next = raw
    case .h264(let configuration):
      if h264.passthrough.setConfiguration(configuration) { h264.resynchronize() }
      next = h264
    }
    if next !== format {
      raw.close()
      h264.resynchronize()
      h264.passthrough.forgetKeyFrameRequest()
    }
    format = next
    output.setInput(input.frameRate, isEncoded: !input.isRaw, input.pixelWarning)
    // Upstream may have other elements now. It is queried with the first frame: an element that sends a CAPS event may
    // hold a lock that its answers need.
    isInputNew = true
    return next.size(of: input)
  }

  func resynchronize() {
    format?.resynchronize()
  }

  func flush() {
    raw.flush()
    h264.flush()
    resynchronize()
  }

  func end() {
    h264.flush()
    h264.forget()
    raw.forget()
    raw.close()
  }

  /// A frame has come: passes it to its format.
  func begin(_ frame: InputFrame) throws(ElementError) -> Bool {
    guard let format else {
      throw .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "The input has no caps: put h264parse before sdlvideosink for a file of H.264, otherwise decodebin.")
    }
    return try format.begin(frame)
  }

  /// Reads the touchable regions of a frame.
  ///
  /// - Returns: the regions, if they differ from those before, or belong to pictures of another size.
  func changedRegions(of buffer: UnsafeMutablePointer<GstBuffer>, pictureSize: VideoSize?) -> [HapticRectangle]? {
    // Usually neither this frame nor the last one has any.
    guard
      !regions.rectangles.isEmpty
        || gst_buffer_get_meta(buffer, gst_video_region_of_interest_meta_api_get_type()) != nil
    else { return nil }
    let hasChanged = regions.update(from: buffer)
    guard hasChanged || (!regions.rectangles.isEmpty && regionsPictureSize != pictureSize) else { return nil }
    regionsPictureSize = pictureSize
    return regions.rectangles
  }
}

// MARK: One service

extension FramePath {
  func send(_ frame: InputFrame, _ permission: VideoNegotiation.Permission) -> FrameOutcome {
    guard let format else { return .dropped(.noPicture, GST_FLOW_NOT_NEGOTIATED) }
    format.begin(permission.grant)
    output.observeLink(permission.targets)
    return format.send(frame, permission)
  }

  /// Whether the decoder shows a frame already, with which the base class has prerolled.
  func isShown(_ buffer: UnsafeMutablePointer<GstBuffer>, in grant: VideoGrant) -> Bool {
    output.isShowing(grant) && format?.isLast(buffer) == true
  }

  /// The service is about to end: if the delimiter of a next picture is there already, repeats the last one behind it.
  func close(_ permission: VideoNegotiation.Permission) {
    guard output.announcesNext(in: permission.grant) else { return }
    format?.sendLastPicture(permission, isLast: true, at: output.time.now)
  }
}

extension HeldPath where Path == FramePath {
  /// Gives the path back, and counts a frame under the same lock.
  consuming func giveBack(counting outcome: FrameOutcome? = nil) -> FrameResults {
    let now = stream.time.now
    return giveBack { path, state in
      switch outcome {
      case nil, .queued: break
      case .parametersKept: state.counters.frameDropped(.noPicture)
      case .unchanged: state.counters.frameUnchanged()
      case .dropped(let reason, _), .remembered(let reason), .failed(_, let reason): state.counters.frameDropped(reason)
      }
      var results = path.output.takeResults(&state.counters, now: now)
      results.lacksPicture = path.takeLack()
      return results
    }
  }
}
