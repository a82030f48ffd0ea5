import GStreamerKit
import SDLApp
import SDLMessages
import X264Encoder

/// How pictures are turned and mirrored before they are encoded: first mirrored along one or both axes, then across the
/// diagonal from the upper left to the lower right, which exchanges their sides.
struct PictureTurn: Equatable, Sendable {
  var mirrorsHorizontally = false
  var mirrorsVertically = false
  /// Width and height change places.
  var swapsSides = false

  static let none = PictureTurn()

  /// GStreamer's name for it; nil for one that is no turn by itself (`auto`, `custom`).
  init?(_ method: GstVideoOrientationMethod) {
    switch method {
    case GST_VIDEO_ORIENTATION_IDENTITY: self.init()
    case GST_VIDEO_ORIENTATION_90R: self.init(mirrorsVertically: true, swapsSides: true)
    case GST_VIDEO_ORIENTATION_180: self.init(mirrorsHorizontally: true, mirrorsVertically: true)
    case GST_VIDEO_ORIENTATION_90L: self.init(mirrorsHorizontally: true, swapsSides: true)
    case GST_VIDEO_ORIENTATION_HORIZ: self.init(mirrorsHorizontally: true)
    case GST_VIDEO_ORIENTATION_VERT: self.init(mirrorsVertically: true)
    case GST_VIDEO_ORIENTATION_UL_LR: self.init(swapsSides: true)
    case GST_VIDEO_ORIENTATION_UR_LL:
      self.init(mirrorsHorizontally: true, mirrorsVertically: true, swapsSides: true)
    default: return nil
    }
  }

  private init(mirrorsHorizontally: Bool = false, mirrorsVertically: Bool = false, swapsSides: Bool = false) {
    self.mirrorsHorizontally = mirrorsHorizontally
    self.mirrorsVertically = mirrorsVertically
    self.swapsSides = swapsSides
  }

  /// The size of turned pictures; and of pictures that have this size when they are turned.
  func size(_ size: VideoSize) -> VideoSize { swapsSides ? VideoSize(size.height, size.width) : size }

  /// Where a point of the turned picture, of `size`, is in the picture.
  func origin(of point: TouchPosition, in size: VideoSize) -> TouchPosition {
    let size = self.size(size)
    let (x, y) = swapsSides ? (point.y, point.x) : (point.x, point.y)
    return TouchPosition(
      x: mirrorsHorizontally ? Double(size.width) - x : x, y: mirrorsVertically ? Double(size.height) - y : y)
  }

  /// Where a rectangle of the picture is in the turned one, of `size`.
  func turned(_ rectangle: HapticRectangle, in size: VideoSize) -> HapticRectangle {
    let size = self.size(size)
    var turned = rectangle
    if mirrorsHorizontally { turned.x = Double(size.width) - rectangle.x - rectangle.width }
    if mirrorsVertically { turned.y = Double(size.height) - rectangle.y - rectangle.height }
    guard swapsSides else { return turned }
    return HapticRectangle(
      id: turned.id, x: turned.y, y: turned.x, width: turned.height, height: turned.width)
  }

  /// The display for pictures that are turned to fit it.
  func input(for display: VideoDisplay) -> VideoDisplay {
    guard swapsSides else { return display }
    var input = VideoDisplay(
      size: size(display.size), scale: display.scale, diagonal: display.diagonal, pixelsPerInch: display.pixelsPerInch,
      frameRate: display.frameRate)
    input.maximumBitrate = display.maximumBitrate
    input.formats = display.formats
    input.takesHapticData = display.takesHapticData
    input.isFallback = display.isFallback
    return display.streamSize.map { input.streaming(size($0)) } ?? input
  }
}

// MARK: Pixels

extension PictureTurn {
  /// A turned copy of a picture of the format `info`; nil when the picture can't be read.
  func turned(_ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo) -> Buffer? {
    var input = info
    var output = turned(info)
    guard let copy = Buffer(owning: gst_buffer_new_allocate(nil, output.size, nil)) else { return nil }
    var (source, target) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&source, &input, picture, GST_MAP_READ) != 0 else { return nil }
    defer { gst_video_frame_unmap(&source) }
    guard gst_video_frame_map(&target, &output, copy.pointer, GST_MAP_WRITE) != 0 else { return nil }
    defer { gst_video_frame_unmap(&target) }
    guard let planes = Planes(source), let turnedPlanes = Planes(target) else { return nil }
    let size = VideoSize(Int(info.width), Int(info.height))
    let chroma = VideoSize((size.width + 1) / 2, (size.height + 1) / 2)
    turn(planes.first, to: turnedPlanes.first, UInt8.self, size)
    if let third = planes.third, let turnedThird = turnedPlanes.third {
      turn(planes.second, to: turnedPlanes.second, UInt8.self, chroma)
      turn(third, to: turnedThird, UInt8.self, chroma)
    } else {
      // Both kinds of chroma alternate.
      turn(planes.second, to: turnedPlanes.second, UInt16.self, chroma)
    }
    return copy
  }

  /// The format of turned pictures.
  func turned(_ info: GstVideoInfo) -> GstVideoInfo {
    var (info, turned) = (info, GstVideoInfo())
    let size = size(VideoSize(Int(info.width), Int(info.height)))
    gst_video_info_set_format(&turned, cgst_video_info_format(&info), guint(size.width), guint(size.height))
    (turned.fps_n, turned.fps_d) = (info.fps_n, info.fps_d)
    (turned.par_n, turned.par_d) = swapsSides ? (info.par_d, info.par_n) : (info.par_n, info.par_d)
    (turned.colorimetry, turned.chroma_site) = (info.colorimetry, info.chroma_site)
    return turned
  }

  /// Turns a plane.
  ///
  /// - Parameters:
  ///   - Pixel: as large as a pixel of the plane.
  ///   - size: of the source, in pixels of the plane.
  private func turn<Pixel: FixedWidthInteger>(
    _ source: Plane, to target: Plane, _: Pixel.Type, _ size: VideoSize
  ) {
    let bytes = MemoryLayout<Pixel>.size
    let column = mirrorsHorizontally ? -bytes : bytes
    let row = mirrorsVertically ? -source.stride : source.stride
    let origin =
      source.base + (mirrorsHorizontally ? (size.width - 1) * bytes : 0)
      + (mirrorsVertically ? (size.height - 1) * source.stride : 0)
    // From pixel to pixel, and from row to row, of the target.
    let (step, rowStep) = swapsSides ? (row, column) : (column, row)
    let turned = self.size(size)
    for y in 0..<turned.height {
      var pixel = origin + y * rowStep
      let targetRow = UnsafeMutableRawPointer(mutating: target.base + y * target.stride)
      for x in 0..<turned.width {
        targetRow.storeBytes(of: pixel.loadUnaligned(as: Pixel.self), toByteOffset: x * bytes, as: Pixel.self)
        pixel += step
      }
    }
  }
}

/// The property `video-direction`: GstVideoOrientationMethod, but for `custom`.
enum VideoDirection: ObjectEnumeration {
  case identity
  case clockwise
  case upsideDown
  case counterclockwise
  case mirroredHorizontally
  case mirroredVertically
  case mirroredAtUpperLeft
  case mirroredAtUpperRight
  case auto

  static let objectType = EnumerationType<VideoDirection>(existing: gst_video_orientation_method_get_type())

  var row: EnumerationRow {
    switch self {
    case .identity: .init(0, "identity", "Not turned")
    case .clockwise: .init(1, "90r", "Turned by 90° clockwise")
    case .upsideDown: .init(2, "180", "Turned by 180°")
    case .counterclockwise: .init(3, "90l", "Turned by 90° counterclockwise")
    case .mirroredHorizontally: .init(4, "horiz", "Mirrored, left and right exchanged")
    case .mirroredVertically: .init(5, "vert", "Mirrored, top and bottom exchanged")
    case .mirroredAtUpperLeft: .init(6, "ul-lr", "Mirrored at the diagonal from the upper left")
    case .mirroredAtUpperRight: .init(7, "ur-ll", "Mirrored at the diagonal from the upper right")
    case .auto: .init(8, "auto", "As the tag image-orientation says")
    }
  }

  /// Nil for `auto`.
  var turn: PictureTurn? { PictureTurn(GstVideoOrientationMethod(rawValue: UInt32(row.number))) }
}

extension PictureTurn {
  /// What the tag `image-orientation` says; nil without one.
  init?(tagIn event: UnsafeMutablePointer<GstEvent>) {
    var tags: UnsafeMutablePointer<GstTagList>?
    gst_event_parse_tag(event, &tags)
    var method = GST_VIDEO_ORIENTATION_IDENTITY
    guard let tags, gst_video_orientation_from_tag(tags, &method) != 0 else { return nil }
    self.init(method)
  }
}
