import CGStreamerApp
import GStreamerKit

/// An appsrc of a pipeline, with the name "src".
struct FrameSource {
  private let element: Element
  private var source: UnsafeMutablePointer<GstAppSrc> { element.pointer.cast() }
  /// Frames per second, for the time stamps.
  private let frameRate: Int
  let liveBuffers: LiveBuffers

  init(_ pipeline: Pipeline, caps: String, frameRate: Int = 30) throws {
    element = try pipeline["src"]
    liveBuffers = try LiveBuffers(from: element)
    self.frameRate = frameRate
    setCaps(caps)
  }

  func setCaps(_ text: String) {
    let caps = gst_caps_from_string(text)
    gst_app_src_set_caps(source, caps)
    gst_caps_unref(caps)
  }

  /// Pushes bytes as the `index`th frame.
  @discardableResult
  func push(_ bytes: [UInt8], at index: Int, flags: GstBufferFlags = GstBufferFlags(rawValue: 0)) -> GstFlowReturn {
    guard let buffer = buffer(of: bytes) else { return GST_FLOW_ERROR }
    return push(buffer, at: index, flags: flags)
  }

  /// Pushes bytes as a frame without a time.
  func pushUnstamped(_ bytes: [UInt8]) -> GstFlowReturn {
    guard let buffer = buffer(of: bytes) else { return GST_FLOW_ERROR }
    return gst_app_src_push_buffer(source, buffer)
  }

  /// Pushes a buffer that belongs to the caller so far.
  @discardableResult
  func push(
    _ buffer: UnsafeMutablePointer<GstBuffer>, at index: Int, flags: GstBufferFlags = GstBufferFlags(rawValue: 0)
  ) -> GstFlowReturn {
    let time = UInt(index) * 1_000_000_000 / UInt(frameRate)
    buffer.pointee.pts = time
    buffer.pointee.dts = time
    buffer.pointee.duration = 1_000_000_000 / UInt(frameRate)
    gst_buffer_set_flags(buffer, flags)
    return gst_app_src_push_buffer(source, buffer)
  }

  func buffer(of bytes: [UInt8]) -> UnsafeMutablePointer<GstBuffer>? {
    guard let buffer = gst_buffer_new_allocate(nil, gsize(bytes.count), nil) else { return nil }
    _ = bytes.withUnsafeBytes { gst_buffer_fill(buffer, 0, $0.baseAddress, gsize($0.count)) }
    return buffer
  }

  func end() {
    gst_app_src_end_of_stream(source)
  }

  /// Sends an event downstream, in the order of the frames.
  func send(_ event: UnsafeMutablePointer<GstEvent>?) {
    gst_element_send_event(element.pointer, event)
  }
}
