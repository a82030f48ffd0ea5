/// The relation of stream pixels to display pixels: the picture fills the display, whatever the aspect ratios.
struct VideoGeometry: Equatable, Sendable {
  /// Size of the encoded pictures.
  var stream: VideoSize
  /// Size of the same picture in head-unit pixels.
  var display: VideoSize
  /// The head unit wants touchable rectangles (`hapticSpatialDataSupported`).
  var takesHapticRectangles = false

  init(stream: VideoSize) {
    self.stream = stream
    display = stream
  }

  /// Creates the geometry of the first of `displays` that shows pictures of size `stream`; nil when none does.
  init?(stream: VideoSize, displays: [VideoDisplay]) {
    guard let shown = displays.first(where: { $0.streamSize == stream }) else { return nil }
    self.stream = stream
    display = shown.size
    takesHapticRectangles = shown.takesHapticData
  }

  /// Creates the geometry of pictures that the head unit enlarges by the scale of `display`.
  init(stream: VideoSize, enlargedLike display: VideoDisplay) {
    self.stream = stream
    self.display = VideoSize(
      Int((Double(stream.width) * display.scale).rounded()), Int((Double(stream.height) * display.scale).rounded()))
    takesHapticRectangles = display.takesHapticData
  }

  /// The rectangle in head-unit pixels, clipped to the display; nil when it is outside the display. Scaled by the ratio
  /// of the sizes and not by the head unit's `scale`, because encoded sizes are made even.
  func onDisplay(_ rectangle: HapticRectangle) -> HapticRectangle? {
    guard stream.width > 0, stream.height > 0 else { return nil }
    let width = Double(display.width)
    let height = Double(display.height)
    func horizontal(_ x: Double) -> Double { min(max(x * width / Double(stream.width), 0), width) }
    func vertical(_ y: Double) -> Double { min(max(y * height / Double(stream.height), 0), height) }
    let left = horizontal(rectangle.x)
    let top = vertical(rectangle.y)
    let right = horizontal(rectangle.x + rectangle.width)
    let bottom = vertical(rectangle.y + rectangle.height)
    // Also false for NaN.
    guard right > left, bottom > top else { return nil }
    return HapticRectangle(id: rectangle.id, x: left, y: top, width: right - left, height: bottom - top)
  }

  /// The position of a touch in the picture. Scaled by the ratio of the sizes and not by the head unit's `scale`,
  /// because encoded sizes are made even; clamped to the last pixel.
  func inPicture(_ sample: OnTouchEvent.Sample) -> TouchPosition {
    func map(_ coordinate: Int, _ picture: Int, _ display: Int) -> Double {
      guard picture > 0, display > 0 else { return 0 }
      return min(max(Double(coordinate) * Double(picture) / Double(display), 0), Double(picture - 1))
    }
    return TouchPosition(
      x: map(sample.x, stream.width, display.width), y: map(sample.y, stream.height, display.height))
  }
}
