import CGStreamerApp
import GStreamerKit
import SDLMessages

/// An appsrc of a pipeline, with the name "src", that brings sound.
struct SoundSource {
  private let element: Element
  private var source: UnsafeMutablePointer<GstAppSrc> { element.pointer.cast() }
  let liveBuffers: LiveBuffers

  init(_ pipeline: Pipeline, _ format: PCMFormat = PCMFormat()) throws {
    element = try pipeline["src"]
    liveBuffers = try LiveBuffers(from: element)
    setCaps(Self.caps(format))
  }

  static func caps(_ format: PCMFormat) -> String {
    let name = format.sampleSize == .bits8 ? "U8" : "S16LE"
    return "audio/x-raw,format=\(name),layout=interleaved,rate=\(format.samplingRate.hertz),channels=1"
  }

  func setCaps(_ text: String) {
    let caps = gst_caps_from_string(text)
    gst_app_src_set_caps(source, caps)
    gst_caps_unref(caps)
  }

  /// - Parameters:
  ///   - time: nil for a buffer without a time stamp.
  ///   - duration: nil for a buffer that does not say how long it is.
  @discardableResult
  func push(
    _ bytes: [UInt8], at time: Duration?, duration: Duration? = nil, flags: GstBufferFlags = GstBufferFlags(rawValue: 0)
  ) -> GstFlowReturn {
    guard let buffer = gst_buffer_new_allocate(nil, gsize(bytes.count), nil) else { return GST_FLOW_ERROR }
    _ = bytes.withUnsafeBytes { gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count)) }
    buffer.pointee.pts = time.map { GstClockTime(nanoseconds($0)) } ?? GstClockTime.max
    buffer.pointee.duration = duration.map { GstClockTime(nanoseconds($0)) } ?? GstClockTime.max
    gst_buffer_set_flags(buffer, flags)
    return gst_app_src_push_buffer(source, buffer)
  }

  /// Sends an event downstream, in the order of the buffers.
  func send(_ event: UnsafeMutablePointer<GstEvent>?) {
    gst_element_send_event(element.pointer, event)
  }

  func sendGap(at time: Duration, _ duration: Duration) {
    send(gst_event_new_gap(GstClockTime(nanoseconds(time)), GstClockTime(nanoseconds(duration))))
  }

  func end() {
    gst_app_src_end_of_stream(source)
  }

  private func nanoseconds(_ time: Duration) -> Int {
    let (seconds, attoseconds) = time.components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
  }
}

/// Sound that differs from sample to sample, and never is silence.
func testSound(_ sampleCount: Int, seed: Int = 0) -> [UInt8] {
  (0..<sampleCount).flatMap { index in
    let value = Int16(truncatingIfNeeded: (index &* 37 &+ seed &* 1009) % 20_000 + 1)
    return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
  }
}

func silence(_ sampleCount: Int) -> [UInt8] { [UInt8](repeating: 0, count: 2 * sampleCount) }

/// On a busy machine samples are late, mostly at the start, before there is a lead; what was left out, at once or in
/// several steps with a ramp after each, is missing between the beginning and the end.
func isComplete(_ heard: [UInt8], of sound: [UInt8], but late: Int) -> Bool {
  guard late > 0 else { return heard == sound }
  let beginning = zip(heard, sound).prefix { $0 == $1 }.count
  let end = zip(heard.reversed(), sound.reversed()).prefix { $0 == $1 }.count
  return heard.count == sound.count - late && beginning + end >= heard.count / 2
}
