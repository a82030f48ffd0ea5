import CarWindow
import GStreamerKit

/// The place of a screen in a picture of perhaps another size: as large as possible, with the rest of the picture
/// black.
struct PictureFit: Equatable, Sendable {
  let x: Int
  let y: Int
  let size: ScreenSize
  private let screen: ScreenSize

  init(_ screen: ScreenSize, in picture: ScreenSize) {
    self.screen = screen
    let scale = min(
      Double(picture.width) / Double(max(1, screen.width)), Double(picture.height) / Double(max(1, screen.height)))
    // Even, because most formats share chroma between two pixels.
    let even = { (length: Int) in max(2, Int((Double(length) * scale).rounded()) / 2 * 2) }
    size = screen == picture ? picture : ScreenSize(even(screen.width), even(screen.height))
    x = (picture.width - size.width) / 2 / 2 * 2
    y = (picture.height - size.height) / 2 / 2 * 2
  }

  /// A position in the picture as one on the screen.
  func onScreen(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (
      (x - Double(self.x)) * Double(screen.width) / Double(size.width),
      (y - Double(self.y)) * Double(screen.height) / Double(size.height)
    )
  }
}

extension PictureFit {
  func inPicture(_ area: ScreenArea) -> ScreenArea {
    let (across, down) = (
      Double(size.width) / Double(max(1, screen.width)), Double(size.height) / Double(max(1, screen.height))
    )
    return ScreenArea(
      x: x + Int(Double(area.x) * across), y: y + Int(Double(area.y) * down),
      width: max(1, Int(Double(area.width) * across)), height: max(1, Int(Double(area.height) * down)))
  }
}

/// Converts copies of the screen to pictures of the stream.
///
/// `@unchecked Sendable`: only the streaming thread uses it, and its owner's lock orders its end after that.
final class PictureConverter: @unchecked Sendable {
  let screen: ScreenSize
  let fit: PictureFit
  private var input = GstVideoInfo()
  private var output: GstVideoInfo
  private let converter: OpaquePointer
  private let pool: UnsafeMutablePointer<GstBufferPool>

  /// - Parameters:
  ///   - screen: its pixels are BGRx.
  ///   - caps: of the stream.
  init?(_ screen: ScreenSize, _ caps: consuming Caps) {
    guard let output = Self.info(caps),
      gst_video_info_set_format(
        &input, GST_VIDEO_FORMAT_BGRx, guint(clamping: screen.width), guint(clamping: screen.height)) != 0
    else { return nil }
    // The converter does not change the frame rate.
    (input.fps_n, input.fps_d) = (output.fps_n, output.fps_d)
    self.screen = screen
    self.output = output
    fit = PictureFit(screen, in: ScreenSize(Int(output.width), Int(output.height)))
    let options = Structure("GstVideoConverter")
    options.set("GstVideoConverter.dest-x", Int32(clamping: fit.x))
    options.set("GstVideoConverter.dest-y", Int32(clamping: fit.y))
    options.set("GstVideoConverter.dest-width", Int32(clamping: fit.size.width))
    options.set("GstVideoConverter.dest-height", Int32(clamping: fit.size.height))
    guard let pool = gst_video_buffer_pool_new() else { return nil }
    let configuration = gst_buffer_pool_get_config(pool)
    gst_buffer_pool_config_set_params(configuration, caps.pointer, guint(clamping: output.size), 2, 0)
    guard gst_buffer_pool_set_config(pool, configuration) != 0, gst_buffer_pool_set_active(pool, 1) != 0,
      let converter = gst_video_converter_new(&input, &self.output, options.take())
    else {
      gst_object_unref(pool)
      return nil
    }
    self.pool = pool
    self.converter = converter
  }

  deinit {
    gst_video_converter_free(converter)
    gst_buffer_pool_set_active(pool, 0)
    gst_object_unref(pool)
  }

  static func info(_ caps: borrowing Caps) -> GstVideoInfo? {
    var info = GstVideoInfo()
    return gst_video_info_from_caps(&info, caps.pointer) != 0 ? info : nil
  }

  /// - Parameter memory: of the screen.
  func convert(_ memory: UnsafeRawPointer) -> Buffer? {
    var acquired: UnsafeMutablePointer<GstBuffer>?
    guard gst_buffer_pool_acquire_buffer(pool, &acquired, nil) == GST_FLOW_OK, let buffer = Buffer(owning: acquired),
      let screen = Buffer(
        owning: gst_buffer_new_wrapped_full(
          GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: memory), input.size, 0, input.size, nil, nil))
    else { return nil }
    var (source, target) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&source, &input, screen.pointer, GST_MAP_READ) != 0 else { return nil }
    defer { gst_video_frame_unmap(&source) }
    guard gst_video_frame_map(&target, &output, buffer.pointer, GST_MAP_WRITE) != 0 else { return nil }
    gst_video_converter_frame(converter, &source, &target)
    gst_video_frame_unmap(&target)
    return buffer
  }
}
