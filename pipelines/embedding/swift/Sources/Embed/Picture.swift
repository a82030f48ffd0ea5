/// A grey picture, drawn into memory that belongs to GStreamer.
struct Picture {
  static let width = 400
  static let height = 240

  /// A byte for each pixel, 0 for black, row by row.
  let pixels: UnsafeMutableBufferPointer<UInt8>

  /// Draws a rectangle, as far as it is within the picture.
  func fill(x: Int, y: Int, width: Int, height: Int, brightness: UInt8) {
    let columns = (x..<x + width).clamped(to: 0..<Self.width)
    for row in (y..<y + height).clamped(to: 0..<Self.height) {
      let start = row * Self.width
      pixels[start + columns.lowerBound..<start + columns.upperBound].update(repeating: brightness)
    }
  }
}
